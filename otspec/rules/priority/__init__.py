"""Rules for drafts of different models: priority orders and their mixtures."""
