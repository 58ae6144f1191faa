"""Texts that an engine says over several steps: their exact law, and tests of samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from otspec._base import Array, Number, Shown
from otspec._base.arguments import as_callable, as_float_above, as_integer, as_real, as_seed
from otspec.auditing.blocks import judgment
from otspec.auditing.declared import rounding
from otspec.auditing.exact import checked_tolerance
from otspec.auditing.sandbox import attempt
from otspec.chance import LEAST
from otspec.conformance.cases.arrays import DTYPES, Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.check import LEAST as LEAST_ALARM
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.case_by_case import COARSE, Check
from otspec.conformance.evidence.dependence import CallPairs, RowPairs
from otspec.conformance.evidence.evidence import LARGEST
from otspec.conformance.exact import MOST_WAYS, checked_limits, exact_law
from otspec.conformance.report.report import Report
from otspec.distributions import as_k
from otspec.models.base import CallableModel, LanguageModel, Model, Prefix, as_models


@dataclass(frozen=True, eq=False)
class TextAudit(Shown):
    """What following all random choices of an engine says about its texts.

    Parameters
    ----------
    lossless : bool or None
        Texts are distributed as the target's, within ``tolerance``. None if that could not be
        followed: ``reason`` says why.
    texts : dict
        The law of the engine's texts.
    total_variation : float, Fraction or None
        Between the engine's texts and the target's.
    tolerance : float
        The error per text that counts as rounding.
    witness : tuple of int or None
        The text whose probability is most wrong, if the engine is not lossless.
    error : float, Fraction or None
        Probability of that text when the engine says it minus by the target; 0 if it is lossless.
    reason : str or None
        Why there are no texts: what the engine raised, what of it cannot be followed, or an answer
        that is no text. Then each number that follows from them is None.
    traceback : str or None
        Of what the engine raised, if it did.
    """

    lossless: bool | None
    texts: dict[Prefix, Number]
    total_variation: Number | None
    tolerance: float
    witness: Prefix | None
    error: Number | None
    reason: str | None = None
    traceback: str | None = field(default=None, repr=False)


def exact_texts(
    generate: Callable[[Any, Any, int], Sequence[int]],
    draft: Any,
    target: Any,
    length: int,
    *,
    tolerance: float | None = None,
    least: float = LEAST,
    most: int = MOST_WAYS,
) -> TextAudit:
    """Follow all random choices of an engine to a text, and compare its law with the target's.

    The engine drafts and verifies with random numbers of its own, over as many steps as it takes:
    a number that is drawn once and used again, in another step or for the draft as well, is
    followed as what it is.

    Parameters
    ----------
    generate : callable
        (draft, target, length) → at least ``length`` tokens, of which the first are looked at. Its
        state has to begin anew in every call.
    draft, target : callable
        Language models: maps from a prefix, a tuple of token ids, to a distribution. They are
        handed to ``generate`` as :class:`otspec.models.Model` objects.
    length : int
        Number of tokens of the texts.
    tolerance : float, optional
        The error per text that counts as rounding, from 0 to below 1; by default one rounding error
        of float64 per text and eight per token of it, none if the target is exact and all that the
        engine compares with random numbers is. Code in float32 needs about 1e-6.
    least, most
        As for :func:`exact_law`.

    Raises
    ------
    ValueError
        Models that do not fit, no such length, or limits that are none. If the engine raises
        something, or cannot be followed, ``lossless`` is None.

    Examples
    --------
    >>> import random
    >>> from otspec.models import memoryless
    >>> def generate(draft, target, length):
    ...     text = ()
    ...     while len(text) < length:
    ...         p, q = draft(text), target(text)
    ...         x = random.choices(range(2), p)[0]
    ...         if random.random() * p[x] >= q[x]:
    ...             x = random.choices(range(2), [max(b - a, 0) for a, b in zip(p, q)])[0]
    ...         text += (x,)
    ...     return text
    >>> report = exact_texts(generate, memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"]), 2)
    >>> report.lossless, report.texts[0, 0]
    (True, Fraction(1, 16))
    """
    as_callable(generate, "generate", "a function from draft, target and length to tokens")
    tolerance = checked_tolerance(tolerance)
    length = as_k(length, "length")
    checked_limits(least, most)
    models = as_models(draft, target)
    wanted = dict(models[1].texts(length))

    def run() -> Prefix:
        return _text(generate(*models, length), models[1], length)

    law, crash = attempt(lambda: exact_law(run, least=least, most=most))
    exact = models[1].exact and (
        crash is not None or not any(isinstance(mass, float) for mass in law.values())
    )
    number: Callable[[Any], Number] = models[1].number if exact else float
    allowed = (0.0 if exact else rounding(len(wanted), length)) if tolerance is None else tolerance
    if crash is not None:
        what = f"the engine {crash.what}"
        return TextAudit(None, {}, None, allowed, None, None, what, crash.traceback)
    texts, right = ({t: number(mass) for t, mass in each.items()} for each in (law, wanted))
    return TextAudit(*judgment(texts, right, number, allowed))


def _text(tokens: Any, target: Model, length: int) -> Prefix:
    """Return the first tokens of what an engine said."""
    given = tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)
    text = tuple(token.item() if hasattr(token, "item") else token for token in given)
    kept = target.up_to_end(text[:length])
    if len(kept) < length and not target.ended(kept):
        raise ValueError(f"generate returned {len(text)} tokens: it must return {length}")
    return kept


MOST_TEXTS = 4_096  # most texts that are told apart


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
    """Test whether the texts of an engine have the law of its target model.

    The engine has models, caches and a state of its own, and generates texts over several steps.
    The test is of the law of the text, and of whether texts of one call, and of two, depend on each
    other.

    Parameters
    ----------
    engine : callable
        Takes ``size``, how many texts to generate, and its randomness as ``rng``, ``generator`` or
        ``seed``; one that names none of these has the global generators, which are seeded. It
        returns token ids, shape (size, length).
    target : callable
        From a text, a tuple of token ids, to the distribution of the next token.
    length : int
        Tokens of each text, at most 12; there are at most 4,096 texts of this length.
    detect, false_alarm, seed
        As for :func:`check`.
    budget : int
        The most texts that the engine generates.
    rounding : float
        The errors of a probability of the target that count as rounding, at least 1e-15.

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
    sampler, kind = Sampler(engine, Form()), Texts(Block(), count=number, argument="engine")
    batches: tuple[type[KernelBatches], ...] = (RowPairs, CallPairs, KernelBatches)
    return Check(
        tuple(Task(sampler, kind, case, case, each) for each in batches),
        "texts",
        "pipeline",
        None,
        found,
        float(as_real(false_alarm, "false_alarm", LEAST_ALARM, 0.5)),
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
        return self.law.reshape(self.n**length, -1).sum(axis=1)[None]


class Sampler(Verifier):
    """An engine with models of its own."""

    argument = "engine"
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
