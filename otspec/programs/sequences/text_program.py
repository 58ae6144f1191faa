"""What i.i.d. paths keep at best, with tangents (Programs, 6), and other trees (Theory, 17)."""

from dataclasses import dataclass

import numpy as np

from otspec._base import Frozen, as_callable, as_instance, as_real, cached_property, plain
from otspec._base.arithmetic import IntArray, Number, as_number, is_exact, zeros
from otspec.distributions import check_alike
from otspec.models.base import LanguageModel
from otspec.programs.formulation import Size, check_size
from otspec.programs.sequences.drafted_nodes import DraftedNodes
from otspec.programs.sequences.drafted_texts import Drafted, Levels, Marks, added_up, text_masses
from otspec.programs.sequences.kept_texts import CORRECTIONS, KeptTexts, as_corrects
from otspec.solvers import LinearProgram, Sense, solve


def depth_cuts(drafted: DraftedNodes, target: LanguageModel) -> list[Marks]:
    """Return for each depth the texts of so many tokens that bound most what is kept of it."""
    # What one may keep of these is at most P(a text of W is drafted) + M_b(the others).
    found: list[Marks] = []
    wanted = text_masses(target, drafted.depth, "target")
    for length in range(1, drafted.depth + 1):
        alone = tuple(
            level if depth == length else zeros(len(level), like=level)
            for depth, level in enumerate(wanted)
        )
        found += [_of_length(marks, length, drafted.n) for marks in drafted.crossed(alone)[:1]]
    return found


def _of_length(marks: Marks, length: int, n: int) -> Marks:
    """Return the texts of a length that begin with marked texts: they are met as often."""
    beyond = np.zeros(1, dtype=bool)
    for level in marks[1 : length + 1]:
        beyond = np.repeat(beyond, n) | level
    return tuple(
        beyond if depth == length else np.zeros(len(level), dtype=bool)
        for depth, level in enumerate(marks)
    )


def depth_bound(
    drafted: DraftedNodes, target: LanguageModel, corrects: str = "block"
) -> "PriceBound":
    """Return the bound of :func:`depth_cuts`: the price of a text counts its marked beginnings.

    Parameters
    ----------
    drafted : DraftedNodes
    target : callable
        Language model: prefix → distribution.
    corrects : {"block", "one"}

    Raises
    ------
    ValueError
        Another alphabet or arithmetic than the target's, or anything else than these.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> depth_bound(DraftedNodes(coin, (2, 1, 1)), biased).value
    Fraction(43, 16)
    """
    as_instance(drafted, "drafted", DraftedNodes, "a DraftedNodes")
    as_callable(target, "target", "a language model, a callable from a prefix")
    as_corrects(corrects)
    wanted = text_masses(target, drafted.depth, "target")
    check_alike("drafted", drafted.masses()[1], "target()", wanted[1])
    weights = [zeros(len(level), like=level) for level in wanted]
    for marks in depth_cuts(drafted, target):
        for level, marked in zip(weights, marks, strict=True):
            level[marked] += 1
    return PriceBound.of(drafted, target, corrects, added_up(tuple(weights), drafted.n))


CLOSEST = 1e-6  # the smallest share that tangents may add, with some thousand tangents
FEWEST = 1e-6  # where the tangents begin: the smallest mass of paths at which one touches, but 0


@dataclass(frozen=True, eq=False)
class TextProgram(KeptTexts):
    """Maximize Σ A(s) for K i.i.d. paths, where no texts hold more than how likely one is drafted.

    Texts W of which none goes on from another, and of mass p(W) under the draft, are met with
    probability g(p(W)), g(t) = 1 − (1 − t)^K. In place of A(W) ≤ g(p(W)) for all W there are
    tangents, A(W) ≤ g(τ) + g'(τ)(p(W) − τ), each of which says by a variable V(s) for each text
    that max A(W) − g'(τ) p(W) ≤ g(τ) − τ g'(τ): V(s) ≥ A(s) − g'(τ) p(s) and V(s) ≥ Σ_y V(sy).
    So the program bounds the optimum from above, by at most the share :attr:`loss`.

    Parameters
    ----------
    drafted : DraftedNodes
        Of i.i.d. children, with several for the first token only.
    target, corrects
        As for :class:`otspec.programs.sequences.kept_texts.KeptTexts`.
    within : float
        The largest share of the optimum that tangents may add.
    """

    drafted: DraftedNodes
    within: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = "a DraftedNodes of i.i.d. paths"
        as_instance(self.drafted, "drafted", DraftedNodes, wanted)
        wanted = f"a share from {CLOSEST} to 1"
        self._hold(within=float(as_real(self.within, "within", CLOSEST, 1, wanted=wanted)))
        branching = tuple(self.drafted.branching)
        if branching[1:] != (1,) * (len(branching) - 1) or not self.drafted.iid:
            raise ValueError(
                f"drafted has the branching {branching}: the program is for i.i.d. paths, K x 1 x "
                "... x 1; for other trees use PathProgram, or depth_bound"
            )

    @property
    def k(self) -> int:
        """K, the number of paths."""
        return self.drafted.branching[0]

    def _met(self, mass: float) -> float:
        return float(1 - (1 - mass) ** self.k)

    def _slope(self, mass: float) -> float:
        return float(self.k * (1 - mass) ** (self.k - 1))

    @cached_property
    def touches(self) -> tuple[float, ...]:
        """The masses at which a tangent touches, so dense that none loses more than ``within``."""
        masses = [0.0]
        step = FEWEST
        while self.k > 1 and masses[-1] < 1:
            while self._lost(masses[-1], min(masses[-1] + 1.3 * step, 1)) <= self.within:
                step *= 1.3
                if masses[-1] + step >= 1:
                    break
            while self._lost(masses[-1], min(masses[-1] + step, 1)) > self.within:
                step /= 1.3
            masses.append(min(masses[-1] + step, 1.0))
        return tuple(masses)

    def _lost(self, low: float, high: float) -> float:
        """Return the largest share by which two tangents are above g between their points."""
        slopes = self._slope(low), self._slope(high)
        begin, end = (
            self._met(x) - slope * x for x, slope in zip((low, high), slopes, strict=True)
        )
        where = (end - begin) / (slopes[0] - slopes[1])
        return (begin + slopes[0] * where) / self._met(where) - 1

    def size(self) -> Size:
        """Return the size of the program."""
        texts, tangents = self.texts, len(self.touches)
        rows = texts + (2 * texts + 1) * tangents
        return Size(rows, texts * (1 + tangents), texts * (3 + 4 * tangents))

    def build(self) -> LinearProgram:
        """Build the linear program, in floats; errors as :meth:`PathProgram.build`."""
        check_size("text", self.size(), "use fewer tokens, or depth_bound")
        model, texts = self._begun()
        masses = text_masses(self.drafted.draft, self.drafted.depth, "draft")
        drafted = self.flat(masses).astype(float)
        names, length = texts[:, None], len(self.places[1])
        parents = self._above()
        for number, touch in enumerate(self.touches):
            slope = self._slope(touch)
            named = np.insert(names, 0, number, axis=1)
            most = self._met(touch) - slope * touch
            over = model.columns("V", named, 0, np.inf)
            whole = model.rows("met", np.array([[number]]), -np.inf, most)
            model.put(np.repeat(whole, length), over[:length])
            below = model.rows("below", named, 0, np.inf)
            model.put(below, over)
            model.put(below[parents], over[length:], -1)
            held = model.rows("held", named, -slope * drafted, np.inf)
            model.put(held, over)
            model.put(held, texts, -1)
        return model.program(f"texts ({self.corrects})", Sense.MAXIMIZE, texts)

    def _above(self) -> IntArray:
        """Return the variable of the text without its last token, for each text of two or more."""
        pairs = zip(self.columns()[1:], self.places[2:], strict=False)
        found = [columns[places // self.drafted.n] for columns, places in pairs]
        return np.concatenate([*found, np.zeros(0, dtype=np.intp)])

    def solve(self) -> "TextOptimum":
        """Return what can be kept, in floats, with prices that bound it.

        Raises
        ------
        ValueError
            As :func:`otspec.solvers.solve`.
        """
        solution = solve(self.build(), "highs")
        rows = len(solution.duals) - (2 * self.texts + 1) * len(self.touches)
        duals = solution.duals[rows:].reshape(len(self.touches), -1)
        prices = self.prices(-duals[:, -self.texts :].sum(axis=0))
        bound = PriceBound.of(self.drafted, self.target, self.corrects, prices)
        least = float(solution.value) / (1 + self.within)
        return TextOptimum(bound, least, float(solution.value), self.at_least(solution))


@dataclass(frozen=True, eq=False)
class TextOptimum(Frozen):
    """What can be kept of i.i.d. paths, in floats, from both sides.

    Parameters
    ----------
    bound : PriceBound
        No more can be kept.
    least : float
        So much can be kept, up to the solver's tolerance: A less the share that tangents add.
    most : float
        The optimum of the program, which has tangents in place of the drafts' law.
    at_least : Levels
        A(s), how likely what is kept begins with s, within that share.
    """

    bound: "PriceBound"
    least: float
    most: float
    at_least: Levels


@dataclass(frozen=True, eq=False)
class PriceBound(Frozen):
    """A bound of what any rule keeps of drafted texts, from a price u(s) for each text s.

    Law: E[τ] = E[u(kept)] + E[τ − u(kept)]. The first is at most the expectation of the highest
    price of the drafted texts. For the second nothing is left of the drafts but that what is
    kept begins the target's text: it is at most E[max over beginnings s of len(s) − u(s)], and
    where only one token is corrected, the most that whoever stops the text without knowing more
    of it than the next token gets of len(s) − u(s). So any prices give a bound; the best give
    the optimum.

    Parameters
    ----------
    drafted : Drafted
    target : callable
        Language model: prefix → distribution.
    corrects : {"block", "one"}
    prices : Levels
        Entry ℓ has the prices of the texts of ℓ tokens, shape (n**ℓ,).
    value : float or Fraction
        The bound.
    """

    drafted: Drafted
    target: LanguageModel
    corrects: str
    prices: Levels
    value: Number

    @classmethod
    def of(
        cls, drafted: Drafted, target: LanguageModel, corrects: str, prices: Levels
    ) -> "PriceBound":
        """Return the bound of prices."""
        masses = text_masses(target, drafted.depth, "target")
        left = CORRECTIONS[as_corrects(corrects)].left(prices, masses, drafted.n)
        value = as_number(drafted.highest(prices) + left, like=masses[0])
        return cls(drafted, target, corrects, prices, value)

    def check(self) -> None:
        """Check the bound from the prices alone.

        Raises
        ------
        ValueError
            It is below what the prices prove: at all in exact arithmetic, in floats by more than
            rounding.
        """
        again = PriceBound.of(self.drafted, self.target, self.corrects, self.prices).value
        slack = 0 if is_exact(self.prices[0]) else self.drafted.depth * 1e-12
        if not self.value >= again - slack:
            raise ValueError(f"value is {plain(self.value)}: the prices prove {plain(again)} only")
