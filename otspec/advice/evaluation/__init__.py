"""How choices are evaluated."""
