"""From checked rows to series, ratios, verdicts and comparisons."""
