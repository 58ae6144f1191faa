"""Faults in the test of a draft: a ratio that is another, or that is shortened."""

from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, Row

RATIO = "accept with probability min(1, target / draft), and nothing else"
FACTOR = "set the factor to 1: any other changes the output"
INNER = "inner drafts have chance S / (S + 1 − w)"
WEIGHTED = ("block", "tree")
odds, passes, children, last_weight, weight, allowed, scaled = map(
    part, ("odds", "passes", "children", "last_weight", "weight", "allowed", "scaled")
)


@odds("ratio upside down", RATIO)
def upside_down(self: Machine, wanted: float, offered: float) -> float:
    """A draft is accepted with probability min(1, draft / target)."""
    return Machine.odds(self, offered, wanted)


@odds("draft's probability left out of the ratio", RATIO)
def not_divided(self: Machine, wanted: float, offered: float) -> float:
    """A draft is accepted with the target's probability."""
    return wanted


@passes("ratio without randomness", RATIO)
def deterministic(self: Machine, chance: float, child: int) -> bool:
    """A draft is accepted if the target likes it at least as much as the draft."""
    return Machine.passes(self, float(chance >= 1), child)


@passes("lenience factor", FACTOR, strength=(1.25, 1.0, 10.0))
def lenient(self: Machine, chance: float, child: int) -> bool:
    """The ratio is multiplied by a factor above 1."""
    return Machine.passes(self, min(1.0, self.strength * chance), child)


@passes("strictness factor", FACTOR, strength=(0.9, 0.1, 1.0))
def strict(self: Machine, chance: float, child: int) -> bool:
    """The ratio is multiplied by a factor below 1."""
    return Machine.passes(self, self.strength * chance, child)


@passes("drafts accepted above a ratio", RATIO)
def nearly_certain(self: Machine, chance: float, child: int) -> bool:
    """A draft with a ratio above 0.7 is accepted without a random number."""
    return Machine.passes(self, 1.0 if chance > 0.7 else chance, child)


@passes("drafts rejected below a ratio", RATIO)
def nearly_hopeless(self: Machine, chance: float, child: int) -> bool:
    """A draft with a ratio below 0.3 is rejected without a random number."""
    return Machine.passes(self, 0.0 if chance < 0.3 else chance, child)


@odds("drafts accepted above a probability", RATIO)
def likely_accepted(self: Machine, wanted: float, offered: float) -> float:
    """A draft that the target gives more than 0.3 is accepted without a random number."""
    return 1.0 if wanted > 0.3 else Machine.odds(self, wanted, offered)


@odds("0 / 0 accepted", "reject where the target is 0, before dividing")
def nothing_accepted(self: Machine, wanted: float, offered: float) -> float:
    """A draft that the target never says counts as ratio 1."""
    return Machine.odds(self, wanted, offered) if wanted > 0 else 1.0


@odds("unlikely drafts always accepted", "divide in float32, or compare u draft with target")
def tiny_draft(self: Machine, wanted: float, offered: float) -> float:
    """A draft's probability below 0.1 counts as 0, and the ratio as infinite."""
    return float("inf") if offered < 0.1 else Machine.odds(self, wanted, offered)


@passes("last draft is never tested", "test as many drafts as there are")
def last_not_tested(self: Machine, chance: float, child: int) -> bool:
    """The last sibling is rejected untested, and the residual taken as if it had been."""
    return Machine.passes(self, 0.0 if child == self.siblings(child)[-1] else chance, child)


@passes("first draft is never tested", "begin with the first draft")
def first_not_tested(self: Machine, chance: float, child: int) -> bool:
    """The first sibling is rejected untested, and the residual taken as if it had been."""
    return Machine.passes(self, 0.0 if child == self.siblings(child)[0] else chance, child)


@children("duplicates skipped", "go through equal drafts as through others, a residual for each")
def duplicates_skipped(self: Machine, node: int) -> list[int]:
    """A draft equal to an earlier one is left out, without taking the residual once more."""
    first: dict[int, int] = {}
    for child in Machine.children(self, node):
        first.setdefault(self.token(child), child)
    return list(first.values())


@known("best draft taken", RATIO)
class BestFirst(Machine):
    """Drafts are tested in the order of the target's probability, not in that of drawing."""

    def children(self, node: int) -> list[int]:
        row = super().target(node)
        return sorted(super().children(node), key=lambda child: -row[self.token(child)])


@known("running product without the cap", "cap the weight at 1 after every draft", WEIGHTED)
class NoCap(Machine):
    """Ratios are multiplied on, without the cap at 1 after each draft."""

    def weight(self, above: float, wanted: float, offered: float) -> float:
        return above * self.odds(wanted, offered) if above > 0 else 0.0

    def allowed(self, total: float, weight: float) -> float:
        return super().allowed(total, min(weight, 1.0))


@last_weight("full block accepted without the running cap",
             "test the whole block with the capped weight", ("block",))  # fmt: skip
def full_block(self: Machine, drafts: Machine, weight: float) -> float:
    """The whole block is tested with the product of all ratios, without the running cap."""
    product = 1.0
    for node, token in enumerate(self, start=TEXT):
        ratio = self.odds(self.target(node)[token], self.draft(node)[token])
        product = product * ratio if product > 0 else 0.0
    return product


@weight("weight of the last draft only", "multiply the weight of the draft before", WEIGHTED)
def no_product(self: Machine, above: float, wanted: float, offered: float) -> float:
    """The weight of a draft is its own ratio, whatever that of the draft before."""
    return Machine.weight(self, 1.0, wanted, offered)


@allowed("inner drafts tested with their weight", INNER, WEIGHTED)
def inner_weight(self: Machine, total: float, weight: float) -> float:
    """An inner draft is kept with its weight w, not with S / (S + 1 − w)."""
    return weight


@allowed("inner drafts tested with the residual's sum", INNER, WEIGHTED)
def inner_rest(self: Machine, total: float, weight: float) -> float:
    """An inner draft is kept with the sum S of the residual, not with S / (S + 1 − w)."""
    return total


@scaled("residual without the weight", "take the residual of w target − draft", WEIGHTED)
def not_scaled(self: Machine, weight: float, wanted: Row) -> Row:
    """The residual is that of the target, not of the target times the weight."""
    return wanted
