"""Following PyTorch's random choices."""
