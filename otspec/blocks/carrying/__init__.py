"""Block verification that carries over what is easy to draft (Theory, 47)."""
