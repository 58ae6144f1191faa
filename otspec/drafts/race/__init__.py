"""Drafts without replacement as a race of exponential clocks."""
