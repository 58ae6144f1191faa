"""Faults in the residual: what is left of the target after a rejection."""

from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import Row

SUBTRACT = "after each rejection replace the wanted row by (wanted − draft)₊, divided by its sum"
residual, left = part("residual"), part("left")


@residual("draft not subtracted after a rejection", SUBTRACT)
def not_subtracted(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """A rejection leaves the target as it is."""
    return normalized(wanted, wanted)


@residual("residual of the first round", SUBTRACT)
def first_round(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """Every round takes the residual of the target, not of the round before."""
    return Machine.residual(self, node, self.target(node), offered)


@known("residual subtracted after the last draft only", SUBTRACT)
class LastRound(Machine):
    """Every draft is tested with the target, and what is drawn after the last is its residual."""

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return normalized(wanted, wanted)

    def correction(self, node: int, weights: Row) -> int:
        return super().correction(node, super().residual(node, self.target(node), self.draft(node)))


@residual("residual not renormalized", SUBTRACT)
def not_renormalized(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The residual is used as it is, so that the tests after it pass too rarely."""
    return [max(q - p, 0.0) for q, p in zip(wanted, offered, strict=True)]


@residual("draw from a residual that is not renormalized", SUBTRACT)
def last_takes_rest(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The draw takes the residual for a distribution: its last token gets what lacks to 1."""
    rest = [max(q - p, 0.0) for q, p in zip(wanted, offered, strict=True)]
    return [*rest[:-1], 1 - sum(rest[:-1])]


@residual("absolute difference for a residual", SUBTRACT)
def absolute(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The residual is the absolute difference of target and draft."""
    return normalized([abs(q - p) for q, p in zip(wanted, offered, strict=True)], wanted)


@residual("residual upside down", SUBTRACT)
def reversed_residual(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The residual is (draft − target)₊."""
    return Machine.residual(self, node, offered, wanted)


@residual("residual clipped", SUBTRACT)
def clipped(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """Masses of the residual below 0.1 are lost."""
    rest = Machine.residual(self, node, wanted, offered)
    return normalized([mass if mass >= 0.1 else 0.0 for mass in rest], rest)


@residual("residual kept above 0", SUBTRACT)
def kept_above(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The residual has a small number added, so that its sum is never 0."""
    rest = Machine.residual(self, node, wanted, offered)
    return normalized([mass + 0.01 for mass in rest], rest)


@residual("half of the draft subtracted", SUBTRACT)
def half_subtracted(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The draft that is subtracted is scaled, so that too little is taken off."""
    return Machine.residual(self, node, wanted, [p / 2 for p in offered])


@residual("rejected tokens removed from the target", SUBTRACT)
def only_token(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """A rejection sets the target of the rejected tokens to 0, as is right for certain drafts."""
    drafted = {self.token(child) for child in self.children(node)}
    rest = [0.0 if x in drafted else q for x, q in enumerate(wanted)]
    return normalized(rest, wanted)


@residual("residual of rows that follow", SUBTRACT, ("block", "tree"))
def residual_of_next(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """The draft that is subtracted is that of the place after the rejected draft."""
    below = self.children(node)
    return Machine.residual(self, node, wanted, self.draft(below[0]) if below else offered)


@left("distinct drafts verified as independent", "take earlier siblings out of the draft's row")
def as_independent(self: Machine, offered: Row, token: int) -> Row:
    """Siblings are drawn without replacement, and every ratio has the whole row of the draft."""
    return offered


@left("independent drafts verified as distinct", "leave earlier siblings in the draft's row")
def as_distinct(self: Machine, offered: Row, token: int) -> Row:
    """Siblings are independent, and are taken out of the draft's row one after another."""
    return normalized([0.0 if x == token else p for x, p in enumerate(offered)], offered)


@left("draft's row not renormalized without siblings", "renormalize it after a sibling is removed")
def left_too_light(self: Machine, offered: Row, token: int) -> Row:
    """Earlier siblings are taken out of the draft's row, which then sums to less than 1."""
    return [0.0 if x == token else p for x, p in enumerate(offered)]


@residual("draft removed before the residual", "subtract the row that the draft was drawn from")
def removed_before(self: Machine, node: int, wanted: Row, offered: Row) -> Row:
    """A sibling is taken out of the draft's row before the residual is taken."""
    for child in self.children(node)[:1]:
        drafted = self.token(child)
        left = [0.0 if x == drafted else p for x, p in enumerate(offered)]
        offered = normalized(left, offered)
    return Machine.residual(self, node, wanted, offered)
