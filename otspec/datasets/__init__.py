"""Data that ships with the package: a real language-model trace."""

from otspec.datasets.smollm2 import load_smollm2

__all__ = ["load_smollm2"]
