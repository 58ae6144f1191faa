"""Verification by shared Gumbel noise."""
