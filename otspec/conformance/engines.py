"""Calling an engine that drafts and verifies: small models in its own arrays, and warping."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, as_array, as_callable, depths_of
from otspec.conformance.cases.arrays import Form, plain
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.generated import HISTORIES, NO_HISTORY
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.settings import SETTINGS, logits_of
from otspec.conformance.cases.warping import SHIFTS


class SmallModel:
    """A language model in an engine's arrays whose next token depends on the last one.

    ``table`` has a row for each symbol, shape (n, n). Texts are token ids, shape (B, t), at least
    the last token of each. After −1 and other ids of no symbol, all symbols are equally likely.
    """

    def __init__(self, table: Array, case: Case, form: Form, shift: float = 0.0) -> None:
        n = case.n
        rows = np.concatenate([table, np.full((1, n), 1 / n)])
        known = np.append(case.symbols, n)  # the last one, also that of −1, is no token
        wide = case.rows(rows)
        self._known = form.own(known, "int64")
        self._rows = form.own(wide)
        self._logits = form.own(logits_of(wide) + shift)

    def __call__(self, texts: Any) -> Any:
        """Return the distributions of the token that follows, shape (B, V)."""
        return self.rows(texts[:, -1:])[:, 0]

    def rows(self, texts: Any) -> Any:
        """Return the distributions after each token, shape (B, t, V)."""
        return self._rows[self._known[texts]]

    def logits(self, texts: Any) -> Any:
        """Return logits after each token, shape (B, t, V), −∞ for a probability 0."""
        return self._logits[self._known[texts]]


@dataclass(frozen=True, eq=False)
class Engine(Verifier):
    """A callable that drafts and verifies."""

    options: Mapping[str, Any] = field(default_factory=dict)  # values of some of HISTORIES
    settings: Case | None = None  # how it has to warp: a case with these settings

    random: ClassVar[tuple[str, ...]] = ("rng", "generator", "seed")

    def arrays(self, kind: Kind, case: Case, sample: Sample) -> dict[str, Any]:
        """Return what it asks for, but for randomness."""
        made = self.settings_of(self.settings or case, sample.variants) | {
            "k": len(kind.parents),
            "length": kind.length,
            "parents": kind.parents,
            "block": max(depths_of(kind.parents), default=0),
        }
        return made | NO_HISTORY | dict(self.options) | self.models(case, sample)

    @abstractmethod
    def models(self, case: Case, sample: Sample) -> dict[str, Any]:
        """Return what it has of draft and target."""


class TokenEngine(Engine):
    """An engine for one token, which is given rows."""

    names = ("draft", "target", "draft_logits", "target_logits", "k", *SETTINGS)

    def models(self, case: Case, sample: Sample) -> dict[str, Any]:
        """Return the rows of each batch entry, shape (size, V)."""
        made: dict[str, Any] = {}
        for name in ("draft", "target"):
            rows = case.rows(getattr(case, name)[:, 0])
            if name in self.wanted:
                made[name] = self.form.own(rows[sample.variants])
            if f"{name}_logits" in self.wanted:
                logits = logits_of(rows)[sample.variants] + SHIFTS[name]
                made[f"{name}_logits"] = self.form.own(logits)
        return made


class TextEngine(Engine):
    """An engine for texts, which is given models."""

    names = ("draft", "target", "prompts", "length", "block", "parents", *SETTINGS, *HISTORIES)

    def models(self, case: Case, sample: Sample) -> dict[str, Any]:
        """Return two models, and prompts of one token, shape (size, 1)."""
        made: dict[str, Any] = {
            name: SmallModel(getattr(case, name)[0, 1:], case, self.form, shift)
            for name, shift in SHIFTS.items()
        }
        return made | {"prompts": self.form.own(case.places[sample.variants][:, None], "int64")}


def one_by_one(engine: Callable[..., Any]) -> Callable[..., Any]:
    """Return an engine of batches, from one that takes a single row at a time.

    Parameters
    ----------
    engine : callable
        As ``check`` takes it in pipeline mode, but that its batches have one row: ``prompts`` of
        shape (1, 1), say. It returns one text of shape (T,) or (1, T), or one token.

    Returns
    -------
    callable
        Of the same parameters. A ``seed`` is another for each row.

    Raises
    ------
    ValueError
        What is given is no callable.
    """
    as_callable(engine, "engine", "a callable that takes a batch of one row")
    known = signature(engine)

    @wraps(engine)
    def batched(*given: Any, **named: Any) -> Any:
        arguments = known.bind(*given, **named).arguments
        seeds = None
        if "seed" in arguments:
            seeds = np.random.default_rng(arguments["seed"]).integers(2**31, size=_size(arguments))
        answers = []
        for row in range(_size(arguments)):
            own = {
                name: value[row : row + 1] if hasattr(value, "shape") else value
                for name, value in arguments.items()
            }
            if seeds is not None:
                own["seed"] = int(seeds[row])
            answers.append(engine(**own))
        return _joined(answers)

    return batched


def _size(arguments: Mapping[str, Any]) -> int:
    return next((len(value) for value in arguments.values() if hasattr(value, "shape")), 1)


def _joined(answers: Sequence[Any]) -> Any:
    if isinstance(answers[0], tuple):
        return tuple(_joined(part) for part in zip(*answers, strict=True))
    rows = [as_array(plain(answer), "what engine returns").reshape(-1) for answer in answers]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise ValueError(
            f"engine returns {sizes[0]} tokens for one row and {sizes[-1]} for another"
        )
    whole = np.stack(rows)
    return whole[:, 0] if sizes == [1] else whole
