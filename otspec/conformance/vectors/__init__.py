"""Test vectors."""
