"""The exact law of the texts that an engine says, over all its steps and random choices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import Number
from otspec._base.frozen import Shown
from otspec.auditing.blocks import TextErrors
from otspec.auditing.declared import rounding
from otspec.auditing.exact import checked_tolerance
from otspec.auditing.sandbox import attempt
from otspec.chance import LEAST
from otspec.conformance.exact import MOST_WAYS, checked_limits, exact_law
from otspec.distributions import as_k
from otspec.models.base import Model, Prefix, as_models


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

    Returns
    -------
    TextAudit

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
        return TextAudit(
            None, {}, None, allowed, None, None, f"the engine {crash.what}", crash.traceback
        )
    texts = {text: number(mass) for text, mass in law.items()}
    errors = TextErrors.of(texts, {t: number(mass) for t, mass in wanted.items()}, number)
    lossless = bool(-allowed <= errors.largest <= allowed)
    return TextAudit(
        lossless,
        texts,
        errors.total_variation,
        allowed,
        None if lossless else errors.worst,
        number(0) if lossless else errors.largest,
    )


def _text(tokens: Any, target: Model, length: int) -> Prefix:
    """Return the first tokens of what an engine said."""
    given = tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)
    text = tuple(token.item() if hasattr(token, "item") else token for token in given)
    kept = target.up_to_end(text[:length])
    if len(kept) < length and not target.ended(kept):
        raise ValueError(f"generate returned {len(text)} tokens: it must return {length}")
    return kept
