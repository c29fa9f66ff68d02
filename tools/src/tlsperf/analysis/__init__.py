"""Makes series, ratios, verdicts and comparisons from checked rows."""
