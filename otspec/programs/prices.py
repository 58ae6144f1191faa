"""Upper bounds that prove themselves: prices of what is drafted (Theory, 17)."""

from __future__ import annotations

from dataclasses import dataclass

from otspec._base.arithmetic import Number, as_number, is_exact
from otspec._base.digits import plain
from otspec._base.frozen import Frozen
from otspec.models.base import LanguageModel
from otspec.programs.sequences.corrections import CORRECTIONS, as_corrects
from otspec.programs.sequences.drafted import Drafted, Levels, text_masses


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
    ) -> PriceBound:
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
