"""What means over positions come to: what is possible, who gets there, and what is left."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otspec.drafts import LAWS
from otspec.traces.comparison import OPTIMUM
from otspec.traces.statistics import Statistic
from otspec.traces.summary import TemperaturePair, attained_by, attains, begun, temperatures_of


class Findings(NamedTuple):
    """What the means at one pair of temperatures come to, for the most drafts that there are."""

    optimum: Statistic  # of the best draft law
    rules: list[Statistic]  # of the rules for the same drafts
    second: Statistic | None  # the optimum of the best of the other draft laws that are worse

    @property
    def temperatures(self) -> TemperaturePair:
        """The temperatures."""
        return temperatures_of(self.optimum)

    @property
    def attaining(self) -> list[str]:
        """The rules that attain the optimum."""
        return [row.rule for row in self.rules if attains(row.acceptance, self.optimum.optimum)]

    @property
    def below(self) -> Statistic | None:
        """The best of the rules that do not."""
        others = [row for row in self.rules if row.rule not in self.attaining]
        return max(others, key=lambda row: row.acceptance, default=None)

    @property
    def drafts(self) -> str:
        """The drafts in words, such as ``4 distinct drafts``."""
        k = self.optimum.k
        return f"{k} {LAWS[self.optimum.drafts].words} draft{'s' if k > 1 else ''}"


def findings_of(rows: Sequence[Statistic]) -> Findings:
    """Return what the means of one pair of temperatures come to."""
    k = max(row.k for row in rows)
    optima = [row for row in rows if (row.rule, row.k) == (OPTIMUM, k)]
    most = max(row.acceptance for row in optima)
    best = next(row for row in optima if attains(row.acceptance, most))
    others = [row for row in optima if not attains(row.acceptance, most)]
    same = [row for row in rows if (row.drafts, row.k) == (best.drafts, k)]
    rules = [row for row in same if row.rule != OPTIMUM]
    return Findings(best, rules, max(others, key=lambda row: row.acceptance, default=None))


def tokens_per_call(row: Statistic) -> float:
    """Return the mean tokens of a call of the target that verifies k drafts of one token."""
    # It always gives a token, and one more behind an accepted draft: 1 + acceptance.
    return 1 + row.acceptance


def three_sentences(findings: Findings) -> Iterator[str]:
    """Yield how much can be accepted, which rule gets how much, and what the gap is."""
    best, below, attaining = findings.optimum, findings.below, findings.attaining
    yield (
        f"With {findings.drafts} at {findings.temperatures}, a draft is accepted with mean "
        f"probability {percent(best.acceptance)} at best, whatever the rule: "
        f"{tokens_per_call(best):.3f} tokens per call of the target."
    )
    if below is None:
        yield f"{begun(attained_by(attaining))}." if attaining else "No rule was compared."
        yield "So there is no gap between the rules compared and what is possible."
        return
    reached = f"{below.rule}, gets {percent(below.acceptance)}"
    if attaining:
        yield f"{begun(attained_by(attaining))}. The best of the other rules, {reached}."
    else:
        yield f"No rule compared gets there; the best, {reached}."
    yield (
        f"The gap is {100 * below.gap:.1f} points, or {below.gap:.3f} tokens per call: "
        f"{percent(below.gap / tokens_per_call(below))} more than {below.rule} gives."
    )


def uncertainties(findings: Findings, units: str, skipped: int) -> Iterator[str]:
    """Yield what is not known, and what was assumed."""
    best, below = findings.optimum, findings.below
    if best.units < 2:
        yield "All numbers are from one position, so that there are no intervals."
    else:
        gap = ""
        if below is not None:
            low, high = below.gap_interval
            gap = f", and the mean gap {100 * low:z.1f} to {100 * high:z.1f} points"
        low, high = best.acceptance_interval
        yield (
            f"Over all such {units} the mean optimum is {percent(low)} to {percent(high)}{gap}, "
            f"with 95% confidence, if the {best.units:,} {units} ({best.positions:,} positions) "
            "are a random sample of those that matter. Picked by hand they say how much they "
            "differ, and no more."
        )
        if units == "positions":
            yield (
                "All positions are of one text, and taken for independent of each other: if they "
                "depend on each other, intervals are too narrow."
            )
        if below is not None:
            yield (
                f"{begun(below.rule)} was found to be the best of the others on the same {units}: "
                "the best of several looks a little better than it is."
            )
    yield (
        "Tokens per call are those of calls that verify drafts of one token: always a token, and "
        "one more behind an accepted draft. That is 1 + acceptance, whatever the texts. Blocks and "
        "trees of drafts give more; otspec blocks and otspec simulate say how much."
    )
    yield (
        "Logged numbers are taken as what the models say. A few rules have no formula at large "
        "vocabularies, and are estimated at each position from simulated drafts: recursive "
        "rejection of more than two distinct drafts, and the residual draws of importance sampling."
    )
    if skipped:
        yield f"{skipped:,} chunk{'s were' if skipped > 1 else ' was'} skipped, and counts nowhere."


def percent(value: float) -> str:
    """Return a probability as a percentage."""
    return f"{100 * value:.1f}%"
