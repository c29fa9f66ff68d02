"""The content of one report: results, sections, charts, previews."""
