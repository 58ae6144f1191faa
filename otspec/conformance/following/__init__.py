"""Every random choice of a verifier is followed."""
