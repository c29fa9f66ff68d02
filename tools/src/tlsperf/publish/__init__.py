"""Writes what is published: results, pages, the index, drafts."""
