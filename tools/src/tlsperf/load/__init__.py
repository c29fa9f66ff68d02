"""Reads everything that is on disk: raw formats, runs, archives."""
