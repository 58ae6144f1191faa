"""Several --draft: the optimum and the rules for one draft of each of several models."""

from typing import TYPE_CHECKING, NamedTuple

from otspec._base import Number
from otspec._base.tables import print_table, say
from otspec.cli.shared.output import percent, print_json, shown, shown_set
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.optimum import optimal_acceptance
from otspec.rules import PriorityMixture, RecursiveRejectionIndependent
from otspec.rules.base.accepted import acceptance_or_estimate

if TYPE_CHECKING:
    from otspec.traces import Comparison

LAW = "independent"  # what tables call the law of one draft of each model
FEW_TUPLES = 10_000  # most tuples for which the optimum itself is computed: about a second
FEW_TOKENS = 200  # most tokens without pools
PROVED = (
    "The cut proves it: no lossless rule accepts more than target(A) + 1 - P(all drafts in A), "
    "and for this A the bound is the optimum."
)
POOLS, GAP = 256, 1e-4
MOST_ORDERED = 5  # most models for which all orders are tried


class Certified(NamedTuple):
    """The optimum as far as it is known."""

    attained: Number  # what a rule accepts
    at_most: Number  # the bound of the cut
    cut: tuple[int, ...]


def accept_models(law: Independent, target: Distribution, as_json: bool) -> None:
    """Print the optimum for one draft of each model."""
    best = certified(law, target)
    if as_json:
        row = {"k": law.k, "acceptance": best.attained, "at_most": best.at_most, "cut": best.cut}
        print_json({"drafts": LAW, "n": law.n, "results": [row]})
        return
    numbers = dict.fromkeys(shown(number, 6) for number in best[:2])
    row_shown = (str(law.k), " to ".join(numbers), shown_set(best.cut))
    print_table(("models", "optimum", "cut A"), [row_shown], text=3)
    say()
    say(*_meaning(law.k, best))


def compare_models(law: Independent, target: Distribution) -> "list[Comparison]":
    """Compare the optimum and the rules for one draft of each model."""
    from otspec.traces.comparison import OPTIMUM, Comparison

    mixture = mixture_for(law, target)
    best = certified(law, target, mixture)
    rows = {OPTIMUM: best.at_most, mixture.title: acceptance_or_estimate(mixture)}
    rejection = RecursiveRejectionIndependent(law, target)
    given = tuple(range(law.k))
    order = rejection.best_order() if law.k <= MOST_ORDERED else given
    for tried in dict.fromkeys((given, order)):
        what = "best order" if tried == order and law.k <= MOST_ORDERED else "order"
        models = ", ".join(str(1 + i) for i in tried)
        title = f"recursive rejection ({what} {models})"
        rows[title] = rejection.in_order(tried).acceptance()
    return [Comparison(rule, LAW, law.k, rate, best.at_most) for rule, rate in rows.items()]


def certified(
    law: Independent, target: Distribution, mixture: PriorityMixture | None = None
) -> Certified:
    """Return the optimum, or where that takes long what a mixture of priority orders certifies."""
    if law.table_rows() <= FEW_TUPLES:
        best = optimal_acceptance(law, target)
        return Certified(best.acceptance, best.acceptance, best.cut)
    found = mixture or mixture_for(law, target)
    return Certified(found.mixture.accepted, found.bound, found.cut)


def mixture_for(law: Independent, target: Distribution) -> PriorityMixture:
    """Return a mixture of priority orders, of pools where there are many tokens."""
    if law.exact and law.table_rows() > FEW_TUPLES:
        raise ValueError(
            f"exact results for {law.k} models over {law.n:,} tokens take minutes: use decimals "
            "such as 0.25 without --exact"
        )
    if law.n > FEW_TOKENS:
        return PriorityMixture(law, target, gap=GAP, pools=POOLS)
    return PriorityMixture(law, target, gap=0 if law.exact else 1e-6)


def _meaning(k: int, best: Certified) -> tuple[str, str]:
    most = f"With one draft of each of {k} models, a draft is accepted with probability"
    if best.attained == best.at_most:
        return (f"{most} {percent(best.at_most)} at best.", PROVED)
    return (
        f"{most} {percent(best.at_most)} at best, up to the last digits.",
        "The cut proves the second number, and a priority mixture accepts the first.",
    )
