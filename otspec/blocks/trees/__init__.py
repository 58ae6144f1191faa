"""Trees of drafted tokens, the rules that verify them, and which tree is best."""
