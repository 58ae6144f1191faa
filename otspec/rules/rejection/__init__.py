"""Rules that verify one draft after the other."""
