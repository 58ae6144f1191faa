"""Logging traces from a pair of language models, which are imported where they are used."""

from otspec.traces.collect.command import main
from otspec.traces.collect.models import Models, load_gguf, load_models
from otspec.traces.collect.sampling import Script, collect

__all__ = ["Models", "Script", "collect", "load_gguf", "load_models", "main"]
