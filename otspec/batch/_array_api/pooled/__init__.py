"""Pooled selection with the array API."""
