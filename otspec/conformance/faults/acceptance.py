"""Faults in the test of a draft: a ratio that is another, or that is shortened."""

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, Row

RATIO = "accept with probability min(1, target / draft), and nothing else"
INNER = "inner drafts have chance S / (S + 1 − w)"
WEIGHTED = ("block", "tree")


@known("ratio upside down", RATIO)
class UpsideDown(Machine):
    """A draft is accepted with probability min(1, draft / target)."""

    def odds(self, wanted: float, offered: float) -> float:
        return super().odds(offered, wanted)


@known("draft's probability left out of the ratio", RATIO)
class NotDivided(Machine):
    """A draft is accepted with the target's probability."""

    def odds(self, wanted: float, offered: float) -> float:
        return wanted


@known("ratio without randomness", RATIO)
class Deterministic(Machine):
    """A draft is accepted if the target likes it at least as much as the draft."""

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(float(chance >= 1), child)


@known("lenience factor", "set the factor to 1: any other changes the output")
class Lenient(Machine):
    """The ratio is multiplied by a factor above 1."""

    strength, strengths = 1.25, (1.0, 10.0)

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(min(1.0, self.strength * chance), child)


@known("strictness factor", "set the factor to 1: any other changes the output")
class Strict(Machine):
    """The ratio is multiplied by a factor below 1."""

    strength, strengths = 0.9, (0.1, 1.0)

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(self.strength * chance, child)


@known("drafts accepted above a ratio", RATIO)
class NearlyCertain(Machine):
    """A draft with a ratio above 0.7 is accepted without a random number."""

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(1.0 if chance > 0.7 else chance, child)


@known("drafts rejected below a ratio", RATIO)
class NearlyHopeless(Machine):
    """A draft with a ratio below 0.3 is rejected without a random number."""

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(0.0 if chance < 0.3 else chance, child)


@known("drafts accepted above a probability", RATIO)
class LikelyAccepted(Machine):
    """A draft that the target gives more than 0.3 is accepted without a random number."""

    def odds(self, wanted: float, offered: float) -> float:
        return 1.0 if wanted > 0.3 else super().odds(wanted, offered)


@known("0 / 0 accepted", "reject where the target is 0, before dividing")
class NothingAccepted(Machine):
    """A draft that the target never says counts as ratio 1."""

    def odds(self, wanted: float, offered: float) -> float:
        return super().odds(wanted, offered) if wanted > 0 else 1.0


@known("unlikely drafts always accepted", "divide in float32, or compare u draft with target")
class TinyDraft(Machine):
    """A draft's probability below 0.1 counts as 0, and the ratio as infinite."""

    def odds(self, wanted: float, offered: float) -> float:
        return float("inf") if offered < 0.1 else super().odds(wanted, offered)


@known("last draft is never tested", "test as many drafts as there are")
class LastNotTested(Machine):
    """The last sibling is rejected untested, and the residual taken as if it had been."""

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(0.0 if child == self.siblings(child)[-1] else chance, child)


@known("first draft is never tested", "begin with the first draft")
class FirstNotTested(Machine):
    """The first sibling is rejected untested, and the residual taken as if it had been."""

    def passes(self, chance: float, child: int) -> bool:
        return super().passes(0.0 if child == self.siblings(child)[0] else chance, child)


@known("duplicates skipped", "go through equal drafts as through others, a residual for each")
class DuplicatesSkipped(Machine):
    """A draft equal to an earlier one is left out, without taking the residual once more."""

    def children(self, node: int) -> list[int]:
        first: dict[int, int] = {}
        for child in super().children(node):
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


@known("full block accepted without the running cap", "test the whole block with the capped weight",
       ("block",))  # fmt: skip
class FullBlock(Machine):
    """The whole block is tested with the product of all ratios, without the running cap."""

    def last_weight(self, drafts: Machine, weight: float) -> float:
        product = 1.0
        for node, token in enumerate(self, start=TEXT):
            ratio = self.odds(self.target(node)[token], self.draft(node)[token])
            product = product * ratio if product > 0 else 0.0
        return product


@known("weight of the last draft only", "multiply the weight of the draft before", WEIGHTED)
class NoProduct(Machine):
    """The weight of a draft is its own ratio, whatever that of the draft before."""

    def weight(self, above: float, wanted: float, offered: float) -> float:
        return super().weight(1.0, wanted, offered)


@known("inner drafts tested with their weight", INNER, WEIGHTED)
class InnerWeight(Machine):
    """An inner draft is kept with its weight w, not with S / (S + 1 − w)."""

    def allowed(self, total: float, weight: float) -> float:
        return weight


@known("inner drafts tested with the residual's sum", INNER, WEIGHTED)
class InnerRest(Machine):
    """An inner draft is kept with the sum S of the residual, not with S / (S + 1 − w)."""

    def allowed(self, total: float, weight: float) -> float:
        return total


@known("residual without the weight", "take the residual of w target − draft", WEIGHTED)
class NotScaled(Machine):
    """The residual is that of the target, not of the target times the weight."""

    def scaled(self, weight: float, wanted: Row) -> Row:
        return wanted
