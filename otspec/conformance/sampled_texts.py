"""Whole texts of an engine with models of its own, by samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable, as_float_above, as_integer, as_real, as_seed
from otspec._base.arithmetic import Array
from otspec.conformance.cases.arrays import DTYPES, Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.generated import Said
from otspec.conformance.cases.kinds import Block, Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.check import LEAST
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.case_by_case import COARSE, Check
from otspec.conformance.evidence.dependence import CallPairs, RowPairs, SlotPairs
from otspec.conformance.evidence.evidence import LARGEST
from otspec.conformance.report.report import Report
from otspec.models.base import CallableModel, LanguageModel, Model

MOST_TEXTS = 4_096
"""The most texts that are told apart."""


def check_texts(
    engine: Callable[..., Any],
    target: LanguageModel,
    length: int,
    *,
    detect: float = 0.01,
    false_alarm: float = 1e-6,
    budget: int = 1_000_000,
    seed: int = 0,
    rounding: float = DTYPES["float32"],
) -> Report:
    """Test whether the texts that an engine says have the law of its target model.

    The engine has models, caches and a state of its own, and generates texts over several steps.

    Parameters
    ----------
    engine : callable
        Takes ``size``, how many texts to say, and its randomness as ``rng``, ``generator`` or
        ``seed``; one that names none of these has the global generators, which are seeded. It
        returns token ids, shape (size, length).
    target : callable
        From a text, a tuple of token ids, to the distribution of the next token.
    length : int
        Tokens of each text, at most 12; there are at most 4,096 texts of this length.
    detect : float
        The total variation between texts and target to be found with probability 0.999.
    false_alarm : float
        The probability with which a right engine has findings.
    budget : int
        The most texts that the engine says.
    seed : int
    rounding : float
        The errors of a probability of the target that count as rounding, at least 1e-15.

    Returns
    -------
    Report
        Of the law of the text, and of whether texts of one call, and of two, depend on each other.

    Raises
    ------
    ValueError
        Unusable options, too many texts, or an engine that takes or returns something else.
    """
    as_callable(engine, "engine", "a callable that takes size, and its randomness")
    as_callable(target, "target", "a callable from a prefix to a distribution")
    model = target if isinstance(target, Model) else CallableModel(target, "target")
    number = as_integer(length, "length", 1, 12)
    if model.n**number > MOST_TEXTS:
        raise ValueError(
            f"length is {number}: of {model.n} tokens there are {model.n**number:,} texts; pass "
            f"one of which there are at most {MOST_TEXTS:,}, or a model of fewer tokens"
        )
    case = _case(model, number)
    found = as_float_above(detect, "detect", 0, 1)
    sampler, kind = Sampler(engine, Form()), Said(Block(), count=number)
    batches: tuple[type[KernelBatches], ...] = (RowPairs, SlotPairs, CallPairs, KernelBatches)
    return Check(
        tuple(Task(sampler, kind, case, case, each) for each in batches),
        "texts",
        "pipeline",
        None,
        found,
        float(as_real(false_alarm, "false_alarm", LEAST, 0.5)),
        float(as_real(rounding, "rounding", 1e-15, 0.1)),
        as_integer(budget, "budget", 1, LARGEST) * model.n * number,
        as_seed(seed),
        max(COARSE, found),
        model.n * number,
    ).run(lambda _done, _cases: None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Spoken(Case):
    """A case whose target depends on whole texts."""

    law: Array  # of the target's texts of T tokens

    def texts(self, length: int) -> Array:
        """Return the law of the beginnings of texts, shape (1, n ** length)."""
        summed: Array = self.law.reshape(self.n**length, -1).sum(axis=1)
        return summed[None]


class Sampler(Verifier):
    """An engine with models of its own."""

    names = ("size",)
    random = ("rng", "generator", "seed")

    def arrays(self, kind: Kind, case: Case, sample: Sample) -> dict[str, Any]:  # noqa: ARG002
        """Return how many texts are asked for."""
        return {"size": len(sample.variants)}


def _case(model: Model, length: int) -> Spoken:
    law = np.zeros((model.n,) * length)
    for text, mass in model.texts(length):
        if len(text) < length:
            raise ValueError(f"target ends with {text}: pass a model of texts without an end")
        law[text] = float(mass)
    none = np.broadcast_to(law.reshape(model.n, -1).sum(axis=1), (1, model.n + 1, model.n))
    symbols = np.arange(model.n)
    return Spoken(name="texts of the engine", draft=none, target=none, symbols=symbols, law=law)
