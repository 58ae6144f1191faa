"""The front of logits: settings that are checked, and rules that take logits."""
