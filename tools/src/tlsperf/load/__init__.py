"""Reads all files: raw formats, runs, archives."""
