"""TLS performance reports: from raw benchmark output to results, charts and pages."""
