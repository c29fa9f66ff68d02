"""Writes what is published: results, overviews, the index, drafts."""
