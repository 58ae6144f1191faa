"""SpecTr, tables 1 and 4: block efficiency against K and L, on the letters and on the trace."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

from figures.contract import Cell, Numbers, Settings, Table
from figures.long_trace import TREE_RULES, kept_by_tree
from figures.means import mean_in_words, of_calls
from figures.on_letters import LetterTrees, Warping, letter_pair
from figures.registry import item
from otspec.blocks.trees.token_tree import as_text
from otspec.rules import KSequential

PLACES = tuple((count, length) for length in (4, 8) for count in (1, 2, 4, 8))
"""K and L, row by row."""
PRINTED: dict[str, dict[tuple[int, int], str]] = {
    "table 1, PaLM 2 Gecko": {(1, 4): "2.4", (8, 4): "3.1", (1, 8): "2.9", (8, 8): "4.0"},
    **{
        f"table 4, {size}M": dict(zip(PLACES, row.split(), strict=True))
        for size, row in {
            2: "1.86±0.02 2.07±0.01 2.32±0.00 2.56±0.01 1.91±0.01 2.15±0.01 2.41±0.00 2.68±0.01",
            6: "2.21±0.01 2.43±0.01 2.74±0.01 2.99±0.02 2.33±0.01 2.61±0.02 2.96±0.03 3.27±0.02",
            20: "2.71±0.01 2.96±0.00 3.28±0.02 3.49±0.03 3.12±0.02 3.48±0.04 3.85±0.05 4.15±0.04",
        }.items()
    },
}
"""The paper's table and draft model → (K, L) → its block efficiency, as printed."""
DRAFTED = (("unigram", KSequential), *(("bigram", rule) for rule in TREE_RULES))
"""The draft models of the letters, the weaker one first, and the rules that are applied to them."""

Ours: TypeAlias = tuple[str, str]
"""A draft of the letters, or "trace", and the title of a rule."""


def sequences(count: int, length: int) -> tuple[int, ...]:
    """Return the tree of K sequences of L tokens."""
    return (count, *(1,) * (length - 1))


@item("spectr_tab1", "SpecTr, tables 1 and 4", traced=True)
class BlockEfficiencies(Table):
    """Tokens per call by K and L.

    Parameters
    ----------
    letters : dict
        A draft of the letters and a rule → (K, L) → tokens per call at a random place.
    trace : dict
        Rule → (K, L) → tokens per call on each drafted block of the trace that is long enough.
    """

    title = "Block efficiency of K sequences of L tokens, other models than the paper's"

    letters: dict[Ours, dict[tuple[int, int], float]]
    trace: dict[str, dict[tuple[int, int], tuple[float, ...]]]

    @classmethod
    def compute(cls, settings: Settings) -> BlockEfficiencies:
        """Return all numbers; if quick those of at most two sequences."""
        places = [place for place in PLACES if place[0] <= (2 if settings.quick else 8)]
        letters = {}
        for draft, rule in DRAFTED:
            trees = LetterTrees(letter_pair(Warping(draft=draft)), rule, merge=True)
            letters[draft, rule.title] = {
                place: trees.tokens_per_call(sequences(*place)) for place in places
            }
        kept = kept_by_tree(settings)
        trace: dict[str, dict[tuple[int, int], tuple[float, ...]]] = {}
        for place in places:
            for title, values in kept.get(as_text(sequences(*place)), {}).items():
                trace.setdefault(title, {})[place] = tuple(1 + each for each in values)
        return cls(letters, trace)

    def numbers(self) -> Numbers:
        """Return one row for each K and L."""
        columns = ["K", "L", *(f"paper: {models}" for models in PRINTED)]
        columns += [f"letters, {draft}: {rule}" for draft, rule in self.letters]
        columns += [part for rule in self.trace for part in (f"trace: {rule}", "95% interval")]
        rows = []
        for place in next(iter(self.letters.values())):
            cells: list[Cell] = [*place, *(printed.get(place, "") for printed in PRINTED.values())]
            cells += [found[place] for found in self.letters.values()]
            for found in self.trace.values():
                cells += (
                    mean_in_words(found[place], of_calls(place[1])) if place in found else ("", "")
                )
            rows.append(tuple(cells))
        return Numbers(tuple(columns), tuple(rows))

    def columns(self) -> dict[str, dict[tuple[int, int], float]]:
        """Return what can be compared: the paper's models and ours → (K, L) → tokens per call."""
        found = {
            f"paper, {models}": {place: _number(cell) for place, cell in printed.items()}
            for models, printed in PRINTED.items()
        }
        found |= {
            f"letters, {draft}, {rule}": found for (draft, rule), found in self.letters.items()
        }
        return found | {
            f"trace, {rule}": {place: mean_in_words(each)[0] for place, each in found.items()}
            for rule, found in self.trace.items()
        }

    def notes(self) -> list[str]:
        """Return what can be compared."""
        said = [
            (
                "Other models: ours are n-grams of the letters, with one target and two drafts, at "
                "a random place of the text, exact but for rounding; and drafted blocks of the "
                "trace. The paper's are transformers. The course in K and L can be compared."
            ),
            (
                "On the letters equal drafts go on together, as in the paper's algorithm; on the "
                "trace they stay apart. K distinct drafts differ in their first token."
            ),
        ]
        for axis, name in ((0, "K"), (1, "L")):
            not_rising = [models for models, of in self.columns().items() if not rises(of, axis)]
            said.append(
                f"Does the efficiency rise in {name} everywhere? "
                + (f"Not for {', '.join(not_rising)}." if not_rising else "Yes, for all of them.")
            )
        for length in (4, 8):
            parts = [
                f"{models} {factor:.2f}"
                for models, of in self.columns().items()
                if (factor := gain(of, length)) is not None
            ]
            said.append(f"K = 8 over K = 1 at L = {length}, times: {'; '.join(parts)}.")
        said.append(
            "Wall-clock speedups of the paper depend on its machines and have no counterpart."
        )
        return said


def gain(found: dict[tuple[int, int], float], length: int) -> float | None:
    """Return by what factor eight sequences beat one, if both are known."""
    both = [found.get((count, length)) for count in (1, 8)]
    return None if both[0] is None or both[1] is None else both[1] / both[0]


def rises(found: dict[tuple[int, int], float], axis: int) -> bool:
    """Return whether the efficiency rises in K (axis 0) and in L (axis 1) wherever it is known."""
    lines: dict[int, list[tuple[int, float]]] = {}
    for place, value in found.items():
        lines.setdefault(place[1 - axis], []).append((place[axis], value))
    return all(
        first[1] < second[1] for line in lines.values() for first, second in pairwise(sorted(line))
    )


def _number(cell: str) -> float:
    """Return a printed efficiency without its error."""
    return float(cell.partition("±")[0])
