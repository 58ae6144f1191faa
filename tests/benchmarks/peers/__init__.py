"""Verification as others run it, timed beside the batch rules of otspec."""
