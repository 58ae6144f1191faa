"""Cases that a verifier is called with."""
