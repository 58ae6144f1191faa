"""Data that ships with the package: a real language-model trace, and models of English letters."""

from otspec.datasets.english_letters import Letters, letters, logged_letters
from otspec.datasets.smollm2 import load_smollm2

__all__ = ["Letters", "letters", "load_smollm2", "logged_letters"]
