"""Linear programs for drafted blocks and trees."""
