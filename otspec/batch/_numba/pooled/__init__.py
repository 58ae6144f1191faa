"""Pooled selection, row by row."""
