"""Small language models of one text, trained here, and what they say at held-out positions."""
