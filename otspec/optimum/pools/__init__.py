"""Selecting one of the drafts: pools of tokens, laws of the selected draft, barriers for them."""
