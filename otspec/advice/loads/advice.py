"""What is said of each batch size: the fastest choice of each kind, as rows and in words."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from otspec._base import ArrowTable, Shown
from otspec.advice.evaluation.choices import Interval
from otspec.frames import Rows, Tabular
from otspec.reports.findings import interval_document, interval_words


@dataclass(frozen=True)
class Load:
    """The fastest choice of a kind at one batch size.

    Parameters
    ----------
    batch : int
        Rows of a call.
    kind, policy : str
        Chains of a fixed length, chains that are cut at a threshold, dynamic trees, or no draft;
        and as :func:`otspec.blocks.policies.policies` calls it. A dynamic tree has all nodes whose
        path is at least as likely as the threshold.
    threshold : float
    length : int
        The most levels.
    drafted, tokens : float
        Mean drafted tokens, and mean tokens (E[τ] + 1), of a row and call.
    rate : float
        Tokens of the batch per second.
    speed_up, speed_up_interval : float, (float, float)
        Over no draft at this batch size, with 95% confidence over texts.
    best : bool
        Whether it is the fastest of all at this batch size.
    held_out : float
        The speed-up of choices among all that were each made on other texts than they were measured
        on; the same for all kinds.
    """

    batch: int
    kind: str
    policy: str
    threshold: float
    length: int
    drafted: float
    tokens: float
    rate: float
    speed_up: float
    speed_up_interval: Interval
    best: bool
    held_out: float


@dataclass(frozen=True)
class LoadAdvice(Tabular, Shown):
    """What to draft at each batch size: the fastest of each kind, from some independent texts."""

    choices: Rows[Load]
    texts: int
    source: str

    @property
    def best(self) -> Rows[Load]:
        """The fastest choice of each batch size."""
        return Rows([one for one in self.choices if one.best], Load, self.source)

    def to_arrow(self) -> ArrowTable:
        """Return the table of the choices."""
        return self.choices.to_arrow()

    def document(self) -> list[dict[str, Any]]:
        """Return the choices, which JSON can hold."""
        return [
            asdict(one) | {"speed_up_interval": interval_document(one.speed_up_interval)}
            for one in self.choices
        ]

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of :data:`COLUMNS`; the fastest of a batch size has a star."""
        return [
            (
                one.kind + " *" * one.best,
                one.policy if one.policy != one.kind else "-",
                str(one.batch),
                f"{one.threshold:g}",
                str(one.length),
                f"{one.drafted:.2f}",
                f"{one.tokens:.3f}",
                f"{one.rate:.4g}",
                f"{one.speed_up:.3f}",
                interval_words(one.speed_up_interval),
            )
            for one in self.choices
        ]

    def sentences(self) -> Iterator[str]:
        """Yield how much is drafted at each batch size, and what that is worth."""
        drafted = ", ".join(f"{one.drafted:.1f} at batch size {one.batch:,}" for one in self.best)
        yield f"* The fastest at its batch size. Mean drafted tokens per request: {drafted}."
        worth = ", ".join(f"{one.held_out:.3f}" for one in self.best)
        yield f"Cross-validated, these choices are {worth} times as fast as no draft."


COLUMNS = (
    "drafts", "policy", "batch", "threshold", "length", "drafted", "tokens per call",
    "tokens per second", "speed-up", "95% interval",
)  # fmt: skip
"""Of tables for people."""
