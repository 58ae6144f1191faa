"""Accept lengths on logged traces, text after text, of any length (Theory, 11, 27 and 28)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from otspec._base import Array, ArrowTable, Registry, meant, needed
from otspec.blocks import BLOCK_RULES, TREE_RULES, Shape, as_shape
from otspec.logged import AcceptLengths, Tally
from otspec.logged.metrics import block_counts, counts_of
from otspec.logged.replay import as_rule_tree, levels_along, replayed
from otspec.rules.base.rule import NotExactError
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import SIDES, Warp, Warping
from otspec.traces.readers.texts import LoggedText
from otspec.traces.runs import Chunk, Work

Asked: TypeAlias = tuple[Any, Shape]  # a rule for one token or for one drafted block, and its tree
_AS_LOGGED = Warp()
_COLUMNS = ("asked", "warping", "cluster", "counts")


@dataclass(frozen=True)
class CountedCalls(Work):
    """Accept lengths by rules and trees on sources with tokens of one model.

    Along texts of the target the calls are counted that decode them, at the warping at which they
    were drawn; after drafted blocks one call for each is estimated.
    """

    asked: tuple[tuple[str, str], ...]  # names of rules in TREE_RULES or BLOCK_RULES, and trees
    warpings: tuple[Warping, ...]  # how both models are looked at
    end: tuple[int, ...] = ()  # tokens that end a text; what is logged behind the first is left out
    cut: bool = False  # as for :func:`otspec.logged.replay`
    drawn: Warp = _AS_LOGGED  # how drafted tokens were drawn from what was logged
    known: bool = False  # leave out rules that only simulation knows, instead of refusing them

    @cached_property
    def rules(self) -> tuple[Asked, ...]:
        """The rules and trees that are named."""
        pairs = [(rule_named(name), as_shape(tree)) for name, tree in self.asked]
        return tuple((rule, as_rule_tree(rule, tree)) for rule, tree in pairs)

    def unit(self, source: Source) -> int:
        """Return how many positions depend on each other."""
        return source.cluster_length

    def table_of(self, chunk: Chunk) -> ArrowTable:
        """Count calls on the texts of a chunk."""
        pa = needed("pyarrow", "a run over traces", "runs")

        found = {
            (asked, number, cluster): counts
            for number, warping in enumerate(self.warpings)
            for asked, cluster, counts in self._rows(chunk, warping)
        }
        columns = [*zip(*found, strict=True)] or [(), (), ()]
        whole = [pa.array(column, pa.int64()) for column in columns]
        counts = [each.tolist() for each in found.values()]
        return pa.table([*whole, pa.array(counts, pa.list_(pa.float64()))], names=list(_COLUMNS))

    def _rows(self, chunk: Chunk, warping: Warping) -> Iterator[tuple[int, int, Array]]:
        """Yield the sums over each cluster of what is counted of each rule."""
        source, sums = chunk.source, dict[tuple[int, int], Array]()
        asked: list[tuple[int, Asked]] = list(enumerate(self.rules))
        for number, text in enumerate(source.texts(chunk.start, chunk.stop, warping, self.drawn)):
            if number == 0 and self.known and source.sampled == "target":
                asked = [each for each in asked if _is_known(text, each[1])]
            counts = self._counts(text, [each for _, each in asked], source.sampled)
            for (place, _), each in zip(asked, counts, strict=True):
                key = place, text.cluster
                sums[key] = sums.get(key, 0) + each
        for (place, cluster), total in sums.items():
            yield place, cluster, total

    def _counts(self, text: LoggedText, asked: Sequence[Asked], drawn: str) -> Iterator[Array]:
        """Yield what is counted of a text."""
        if drawn == "target":
            ends = (i for i, token in enumerate(text.tokens, 1) if token in self.end)
            stop = next(ends, None)
            for levels in levels_along(text.tokens[:stop], text.draft, text.target, asked):
                yield counts_of(replayed(levels, cut=self.cut and stop is None))
            return
        block = text.block(end=self.end)
        for rule, tree in asked:
            yield block_counts([block], rule, tree)[0]

    def lengths_in(
        self, tables: Iterable[tuple[Source, ArrowTable]]
    ) -> dict[tuple[int, int], AcceptLengths]:
        """Add up the parts of a run."""
        found: dict[tuple[int, int], AcceptLengths] = {}
        for source, table in tables:
            numbers = [table[name].to_numpy() for name in _COLUMNS[:2]]
            counts = table["counts"].to_pylist()
            for key in dict.fromkeys(zip(*(each.tolist() for each in numbers), strict=True)):
                at = np.flatnonzero((numbers[0] == key[0]) & (numbers[1] == key[1]))
                tally = Tally.of(np.array([counts[i] for i in at]))
                _, tree = self.rules[key[0]]
                part = AcceptLengths(tree.size, tally, bounded=source.sampled == "target")
                found[key] = found[key] + part if key in found else part
        return dict(sorted(found.items()))


def rule_named(name: str) -> Any:
    """Return the rule for one token or for one block that has a name."""
    tables: tuple[Registry[Any], ...] = (BLOCK_RULES, TREE_RULES)
    for table in tables:
        if name in table:
            return table[name]
    known = [each for table in tables for each in table]
    raise ValueError(
        f"rule is {name[:40]!r}: it must be one of {', '.join(known)}{meant(name, known)}"
    )


def check_depth(sources: Sequence[Source], trees: Iterable[Shape]) -> None:
    """Refuse trees that are deeper than drafted blocks are long."""
    for source in sources:
        tokens = source.tokens.shape[-1] if source.tokens is not None else 0
        for tree in trees:
            if source.sampled == "draft" and tree.depth > tokens:
                raise ValueError(
                    f"the tree {tree.text[:40]} has {tree.depth} levels, but the drafted blocks of "
                    f"{source.name} have {tokens} tokens"
                )


def of_target(sources: Sequence[Source]) -> bool:
    """Return whether the tokens of sources are those of the target's texts."""
    drawn = {source.sampled for source in sources}
    if len(drawn) > 1:
        names = [
            f"{next(s.name for s in sources if s.sampled == side)} ({side}_tokens)"
            for side in SIDES
        ]
        raise ValueError(
            f"sources hold tokens of both models: {' and '.join(names)}; ask about one kind"
        )
    return drawn == {"target"}


def _is_known(text: LoggedText, asked: Asked) -> bool:
    """Whether a rule is known without simulation at the first position of a text."""
    try:
        levels_along(text.tokens[:1], text.draft[:1], text.target[:1], [asked])
    except NotExactError:
        return False
    return True
