"""Verification of blocks, paths and trees, row by row."""
