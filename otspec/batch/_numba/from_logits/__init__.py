"""Rules row by row that are given logits: what rows are, and how they become probabilities."""
