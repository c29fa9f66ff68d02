"""What one report shows: results, sections, charts, previews."""
