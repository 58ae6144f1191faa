"""Rules that verify a draft tree."""
