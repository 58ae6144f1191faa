"""Canonical, table 3: mean acceptance of four schemes, here on the trace and on the letters.

Importance sampling also with the numbers of free tokens of the paper's ablation (table 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

import otspec
from figures.contract import Cell, Numbers, Settings, Table
from figures.on_letters import letter_pair
from figures.registry import item
from otspec._base.arithmetic import Array, Number
from otspec.distributions import Distribution
from otspec.estimate import Estimate, Exact, Known, average
from otspec.rules import ImportanceSampling, KSequential, NotExactError, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

KS = (2, 3, 4)
TASKS = ("XSum", "Dolly")
SAMPLING, SPECTR, SPECINFER = (
    rule.title for rule in (ImportanceSampling, KSequential, RecursiveRejection)
)
SCHEMES = {
    OPTIMUM: "Optimal",
    SAMPLING: "IS",
    SPECTR: "SpecTr",
    SPECINFER: "SpecInfer",
}
"""The paper's names beside ours."""
PRINTED = {
    OPTIMUM: ("0.5009 0.5226 0.5419", "0.6384 0.6731 0.6962"),
    SAMPLING: ("0.4933 0.5145 0.5333", "0.6348 0.6691 0.6919"),
    SPECTR: ("0.4889 0.5083 0.5263", "0.6246 0.6560 0.6800"),
    SPECINFER: ("0.4875 0.5058 0.5227", "0.6202 0.6489 0.6722"),
}
"""Scheme → the paper's acceptances for K = 2, 3, 4 of each task, as printed."""
CUT = {f"{SAMPLING}, s = {free}": free for free in (5, 10, 15)}
"""The paper's ablation: a row for so many free tokens, of which table 2 has block efficiencies."""
ROWS = (OPTIMUM, SAMPLING, *CUT, SPECTR, SPECINFER)
TOP_P = 0.95
"""Of the paper's appendix F."""
FREE = {"full vocabulary": 32, f"top-p {TOP_P}": 128}
"""How the distributions are warped → the free tokens of importance sampling's programs."""
TUPLES = 40_000
"""How many tuples of drafts estimate importance sampling's residual hits for more than two."""
SEED = 0


def warped(settings: Settings, warping: str) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield draft and target of the positions, without tokens that neither of them has."""
    top_p = None if warping == "full vocabulary" else TOP_P
    pairs = settings.logged().pairs(top_p=top_p)
    for _, (_, draft, target) in zip(settings.pairs(), pairs, strict=False):
        possible = (draft > 0) | (target > 0)
        yield draft[possible], target[possible]


def sampled(
    draft: Distribution, target: Distribution, ks: tuple[int, ...], free: int
) -> list[Known]:
    """Return what importance sampling accepts for each k, or an estimate of it."""
    longest = ImportanceSampling(draft, target, max(ks), free=free).verified
    found: list[Known] = []
    for verified in map(longest.of_first, ks):
        try:
            found.append(Exact(verified.acceptance()))
        except NotExactError:
            found.append(verified.estimate(TUPLES, SEED).probability)
    return found


def acceptances(
    draft: Distribution, target: Distribution, ks: tuple[int, ...], free: int
) -> dict[str, Sequence[Number | Known]]:
    """Return what each scheme accepts at one position for each k."""
    return {
        OPTIMUM: otspec.optimal_acceptances(draft, target, ks).tolist(),
        **{
            name: sampled(draft, target, ks, each) for name, each in {SAMPLING: free, **CUT}.items()
        },
        SPECTR: [KSequential(draft, target, k).acceptance() for k in ks],
        SPECINFER: [RecursiveRejection(draft, target, k).acceptance() for k in ks],
    }


@lru_cache(maxsize=2)
def on_letters(ks: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    """Return what all schemes accept at a random place of the letters for each k."""
    pair = letter_pair()
    found: dict[str, Array] = {scheme: np.zeros(len(ks)) for scheme in ROWS}
    for draft, target, share in zip(pair.draft, pair.target, pair.places, strict=True):
        if share:
            for scheme, accepted in acceptances(draft, target, ks, len(draft)).items():
                found[scheme] += share * np.array(accepted, float)
    return {scheme: tuple(values.tolist()) for scheme, values in found.items()}


def printed(scheme: str, task: str, k: int) -> str:
    """Return the paper's acceptance as printed; nothing of the ablation."""
    if scheme not in PRINTED:
        return ""
    return PRINTED[scheme][TASKS.index(task)].split()[KS.index(k)]


def printed_loss(scheme: str, task: str, k: int) -> float:
    """Return how far the paper's acceptance is below its optimum."""
    return float(printed(OPTIMUM, task, k)) - float(printed(scheme, task, k))


def _interval(value: Known) -> str:
    if isinstance(value, Estimate):
        return f"{value.low:.4f} to {value.high:.4f} ({value.confidence:.1%})"
    return "exact"


def _rises(data: Acceptances, warping: str) -> bool:
    return all(all(a < b for a, b in pairwise(values)) for values in data.mean[warping].values())


def _share(loss: float, other: float) -> str:
    return f"{loss / other:.2f}" if other > 0 else "nothing"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


@item("canonical_tab3", "Canonical, table 3", seed=SEED, traced=True)
class Acceptances(Table):
    """Mean acceptances over the positions of a trace.

    Parameters
    ----------
    ks : tuple of int
        Numbers of drafts.
    positions : int
    mean : dict
        Warping → scheme → the mean for each k; importance sampling with more than two drafts has
        intervals, and its confidence is that all positions are covered.
    letters : dict
        Scheme → its mean at a random place of the letters for each k; importance sampling has all
        tokens free there, but in the ablation.
    """

    title = "Mean acceptance for K = 2, 3, 4 drafts, other models than the paper's"

    ks: tuple[int, ...]
    positions: int
    mean: dict[str, dict[str, tuple[Known, ...]]]
    letters: dict[str, tuple[float, ...]]

    def loss(self, warping: str, scheme: str, i: int) -> float:
        """Return how far a scheme is below the optimum on average."""
        means = self.mean[warping]
        return float(means[OPTIMUM][i]) - float(means[scheme][i])

    @classmethod
    def compute(cls, settings: Settings) -> Acceptances:
        """Return the means; if quick for two numbers of drafts at few positions."""
        ks = KS[:2] if settings.quick else KS
        mean, count = {}, 0
        for warping, free in FREE.items():
            rows = [acceptances(*pair, ks, free) for pair in warped(settings, warping)]
            count = len(rows)
            mean[warping] = {
                scheme: tuple(average([row[scheme][i] for row in rows]) for i in range(len(ks)))
                for scheme in ROWS
            }
        return cls(ks, count, mean, on_letters(ks))

    def numbers(self) -> Numbers:
        """Return one row for each K and scheme, and at last what each is below the optimum."""
        columns = ["K", "scheme", *(f"paper: {task}" for task in TASKS)]
        columns += [part for warping in FREE for part in (f"ours: {warping}", "interval")]
        columns += [f"below optimum: {name}" for name in (*TASKS, *FREE)]
        columns += ["ours: letters", "below optimum: letters"]
        rows = []
        for i, k in enumerate(self.ks):
            for scheme in ROWS:
                paper = scheme in SCHEMES and scheme != OPTIMUM
                called = f"{scheme} ({SCHEMES[scheme]})" if paper else scheme
                cells: list[Cell] = [k, called, *(printed(scheme, task, k) for task in TASKS)]
                for warping in FREE:
                    value = self.mean[warping][scheme][i]
                    cells += [float(value), _interval(value)]
                known = scheme in PRINTED
                cells += [printed_loss(scheme, task, k) if known else "" for task in TASKS]
                cells += [self.loss(warping, scheme, i) for warping in FREE]
                cells += self._of_letters(scheme, i)
                rows.append(tuple(cells))
        return Numbers(tuple(columns), tuple(rows))

    def _of_letters(self, scheme: str, i: int) -> tuple[Cell, Cell]:
        value = self.letters[scheme][i]
        return value, self.letters[OPTIMUM][i] - value

    def _ablation(self) -> Iterator[str]:
        """Yield what fewer free tokens change, for the first and the last K."""
        yield (
            "The paper's ablation has no acceptances: with s = 5, 10, 15 its block efficiency is "
            "2.05, 2.04, 2.04 (table 2)."
        )
        for name, means in {**self.mean, "letters": self.letters}.items():
            ends = (
                f"K = {self.ks[i]} {', '.join(f'{means[scheme][i]:.4f}' for scheme in CUT)}"
                for i in (0, -1)
            )
            yield f"Ours, s = 5, 10, 15, {name}: {'; '.join(ends)}."

    def notes(self) -> list[str]:
        """Return what can be compared."""
        said = [
            (
                f"Other models: ours are those of the trace, {self.positions} positions at "
                "temperature 1; the paper's are OPT models on two tasks. Only the order of the "
                "schemes and their losses against the optimum can be compared. The letters are at "
                "a random place of their text, exact but for rounding."
            ),
            "Importance sampling has "
            + ", ".join(f"{free} free tokens ({warping})" for warping, free in FREE.items())
            + f", all on the letters, and s where that is said. For more than two drafts of many "
            f"tokens its residual hits are estimated from {TUPLES:,} tuples of drafts a position; "
            "the interval covers the means of all positions with the stated confidence. All else "
            "is exact but for rounding.",
            "Does acceptance rise with K? In the paper for every scheme; ours: "
            + ", ".join(f"{warping} {_yes(_rises(self, warping))}" for warping in FREE)
            + ".",
            *self._ablation(),
            "The paper's order is Optimal > IS > SpecTr > SpecInfer for every K and task.",
        ]
        for warping in FREE:
            for i, k in enumerate(self.ks):
                means = {scheme: float(self.mean[warping][scheme][i]) for scheme in SCHEMES}
                order = sorted(SCHEMES, key=lambda scheme: -means[scheme])
                same = order == list(SCHEMES)
                shares = [_share(self.loss(warping, SAMPLING, i), self.loss(warping, SPECTR, i))]
                shares += [
                    _share(printed_loss(SAMPLING, t, k), printed_loss(SPECTR, t, k)) for t in TASKS
                ]
                said.append(
                    f"Ours, {warping}, K = {k}: {' > '.join(SCHEMES[each] for each in order)}"
                    f"{', as in the paper' if same else ''}; IS loses {shares[0]} of what SpecTr "
                    f"loses (paper: {' and '.join(shares[1:])})."
                )
        return said
