"""Faults in the residual: what is left of the target after a rejection."""

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import Row

SUBTRACT = "after each rejection the residual is (target − draft)₊ of what was wanted, over its sum"


@known("residual not subtracted", SUBTRACT)
class NotSubtracted(Machine):
    """A rejection leaves the target as it is."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return normalized(wanted, wanted)


@known("residual of the first round", SUBTRACT)
class FirstRound(Machine):
    """Every round takes the residual of the target, not of the round before."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return super().residual(node, self.target(node), offered)


@known("residual subtracted after the last draft only", SUBTRACT)
class LastRound(Machine):
    """Every draft is tested with the target, and what is drawn after the last is its residual."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return normalized(wanted, wanted)

    def correction(self, node: int, weights: Row) -> int:
        return super().correction(node, super().residual(node, self.target(node), self.draft(node)))


@known("residual not renormalized", SUBTRACT)
class NotRenormalized(Machine):
    """The residual is used as it is, so that the tests after it pass too rarely."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return [max(q - p, 0.0) for q, p in zip(wanted, offered, strict=True)]


@known("draw from a residual that is not renormalized", SUBTRACT)
class LastTakesRest(Machine):
    """The draw takes the residual for a distribution: its last token gets what lacks to 1."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        rest = [max(q - p, 0.0) for q, p in zip(wanted, offered, strict=True)]
        return [*rest[:-1], 1 - sum(rest[:-1])]


@known("absolute difference for a residual", SUBTRACT)
class Absolute(Machine):
    """The residual is the absolute difference of target and draft."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return normalized([abs(q - p) for q, p in zip(wanted, offered, strict=True)], wanted)


@known("residual upside down", SUBTRACT)
class Reversed(Machine):
    """The residual is (draft − target)₊."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return super().residual(node, offered, wanted)


@known("residual clipped", SUBTRACT)
class Clipped(Machine):
    """Masses of the residual below 0.1 are lost."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        rest = super().residual(node, wanted, offered)
        return normalized([mass if mass >= 0.1 else 0.0 for mass in rest], rest)


@known("residual kept above 0", SUBTRACT)
class KeptAbove(Machine):
    """The residual has a small number added, so that its sum is never 0."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        rest = super().residual(node, wanted, offered)
        return normalized([mass + 0.01 for mass in rest], rest)


@known("half of the draft subtracted", SUBTRACT)
class HalfSubtracted(Machine):
    """The draft that is subtracted is scaled, so that too little is taken off."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return super().residual(node, wanted, [p / 2 for p in offered])


@known("rejected tokens removed from the target", SUBTRACT)
class OnlyToken(Machine):
    """A rejection sets the target of the rejected tokens to 0, as is right for certain drafts."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        drafted = {self.token(child) for child in self.children(node)}
        rest = [0.0 if x in drafted else q for x, q in enumerate(wanted)]
        return normalized(rest, wanted)


@known("residual of rows that follow", SUBTRACT, ("block", "tree"))
class ResidualOfNext(Machine):
    """The draft that is subtracted is that of the place after the rejected draft."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        below = self.children(node)
        return super().residual(node, wanted, self.draft(below[0]) if below else offered)


@known("distinct drafts verified as independent", "take earlier siblings out of the draft's row")
class AsIndependent(Machine):
    """Siblings are drawn without replacement, and every ratio has the whole row of the draft."""

    def left(self, offered: Row, token: int) -> Row:
        return offered


@known("independent drafts verified as distinct", "leave earlier siblings in the draft's row")
class AsDistinct(Machine):
    """Siblings are independent, and are taken out of the draft's row one after another."""

    def left(self, offered: Row, token: int) -> Row:
        return normalized([0.0 if x == token else p for x, p in enumerate(offered)], offered)


@known("draft's row not renormalized without siblings", "renormalize it after a sibling is removed")
class LeftTooLight(Machine):
    """Earlier siblings are taken out of the draft's row, which then sums to less than 1."""

    def left(self, offered: Row, token: int) -> Row:
        return [0.0 if x == token else p for x, p in enumerate(offered)]


@known("draft removed before the residual", "subtract the row that the draft was drawn from")
class RemovedBefore(Machine):
    """A sibling is taken out of the draft's row before the residual is taken."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        for child in self.children(node)[:1]:
            drafted = self.token(child)
            left = [0.0 if x == drafted else p for x, p in enumerate(offered)]
            offered = normalized(left, offered)
        return super().residual(node, wanted, offered)
