"""The note: a paper on the optimal rules, whose numbers and pictures come from the package."""
