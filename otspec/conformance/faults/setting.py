"""What a verifier with a fault is tried on: the models of a case, and what such a verifier says."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from otspec._base import Array, children_of, depths_of
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import patterns
from otspec.conformance.cases.kinds import Kind

Row = Sequence[float]
SELDOM = 1e-4  # a less likely rejection is assumed to be in no batch
TEXT = -1  # the node of the text before the drafts


class MarkedText(NamedTuple):
    """What a verifier says: the mark, and the symbols up to its token, n for none of them."""

    mark: int
    text: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Setting:
    """A case as lists of Python, whose single numbers are read faster than those of arrays."""

    kind: Kind
    draft: list[list[list[float]]]  # as those of Case
    target: list[list[list[float]]]
    sets: list[tuple[bool, ...]]  # which nodes may be there, each equally often
    # Rows before warping, by name: see Warped
    raw: dict[str, list[list[list[float]]]] = field(default_factory=dict)
    others: tuple[int, ...] = ()  # the pairs of models that another row of the batch may have

    @cached_property
    def below(self) -> dict[int, tuple[int, ...]]:
        """The children of each node, and of the text."""
        return dict(enumerate(map(tuple, children_of(self.kind.parents)), start=TEXT))

    @cached_property
    def firsts(self) -> list[int]:
        """For each pair of models, the first one that is equal to it."""
        pairs = list(zip(self.draft, self.target, *self.raw.values(), strict=False))
        return [pairs.index(pair) for pair in pairs]

    @cached_property
    def fewest(self) -> int:
        """The fewest tokens that a row of a large batch keeps: up to the first that may not be."""
        after = {(variant, 0) for variant in range(len(self.target))}
        for depth in range(max(depths_of(self.kind.parents), default=0)):
            rows = [(self.draft[v][text], self.target[v][text]) for v, text in after]
            if any(p - q > SELDOM for pair in rows for p, q in zip(*pair, strict=True)):
                return depth
            drawn = ((v, enumerate(self.draft[v][text], start=1)) for v, text in after)
            after = {(v, x) for v, row in drawn for x, p in row if p > 0}
        return len(self.kind.parents)


@lru_cache(maxsize=256)
def setting_of(kind: Kind, case: Case) -> Setting:
    """Return the setting of a case."""
    sets = patterns(kind.parents) if case.uneven else [(True,) * len(kind.parents)]
    raw = {name: _tables(rows) for name, rows in getattr(case, "raw", {}).items()}
    whole = case.with_rejected if case.beside else case
    if case.other is None:
        others = tuple(range(case.variants * case.beside, whole.variants))
    else:  # at the beginning of its text, where it stays
        others = (case.other * (case.n + 1),)
    return Setting(kind, _tables(whole.draft), _tables(whole.target), sets, raw, others)


def _tables(rows: Array) -> list[list[list[float]]]:
    """Return rows as lists; after a node that is not drafted all symbols are equally likely."""
    last = [1 / rows.shape[-1]] * rows.shape[-1]
    return [[*table, last] for table in rows.tolist()]
