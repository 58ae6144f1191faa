"""Pooled selection: pools, barriers and the selected draft."""
