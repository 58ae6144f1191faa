"""What outcomes say about a verifier."""
