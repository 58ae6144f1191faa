"""Blocks and trees with the array API."""
