"""Language models: tables, chains, n-grams, any callable, files, random pairs, logged texts."""

from otspec.models.base import CallableModel, LanguageModel, Model, Prefix, as_models
from otspec.models.derived import EndingModel, WithNull, masked
from otspec.models.ngrams import NGramModel
from otspec.models.tables import TableModel, load_model, markov, memoryless, random_pair
from otspec.models.warped import WarpedModel

__all__ = [
    "CallableModel",
    "EndingModel",
    "LanguageModel",
    "Model",
    "NGramModel",
    "Prefix",
    "TableModel",
    "WarpedModel",
    "WithNull",
    "as_models",
    "load_model",
    "markov",
    "masked",
    "memoryless",
    "random_pair",
]
