"""Faults in the draw of the token that follows what is kept."""

from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.declared import at_temperature
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import TEXT, MarkedText, Row

SEVERAL = ("block", "tree")
RESIDUAL = "draw what follows a rejection from the residual of the place of the rejection"
BONUS = "after all drafts of a path are kept, draw from the target's row after the last one"
correction, draw, bonus = map(part, ("correction", "draw", "bonus"))


@known("correction drawn from the target", RESIDUAL)
class CorrectionOfTarget(Machine):
    """After all rejections the token is drawn from the target, not from the residual."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw(self.target(node))


@known("second draw after a mismatch", "keep the token that was drawn, where it is not the draft")
class SecondDraw(CorrectionOfTarget):
    """A token is drawn from the target for each draft; if it differs, another one is drawn."""

    def odds(self, wanted: float, offered: float) -> float:
        return wanted

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        return normalized(wanted, wanted)


@correction("correction drawn from the draft", RESIDUAL)
def correction_of_draft_row(self: Machine, node: int, weights: Row) -> int:
    """After all rejections the token is drawn from the draft."""
    return self.draw(self.draft(node))


@correction("correction is the likeliest token", RESIDUAL)
def correction_greedy(self: Machine, node: int, weights: Row) -> int:
    """After all rejections the likeliest token of the residual is taken, not drawn."""
    return max(range(len(weights)), key=lambda x: (weights[x], -x))


@correction("correction is the target's likeliest token", RESIDUAL)
def correction_of_best(self: Machine, node: int, weights: Row) -> int:
    """After all rejections the likeliest token of the target is taken."""
    row = self.target(node)
    return max(range(len(row)), key=lambda x: (row[x], -x))


@correction("correction uniform over the residual", RESIDUAL)
def correction_uniform(self: Machine, node: int, weights: Row) -> int:
    """Every token that the residual has is equally likely."""
    return self.draw([float(mass > 0) for mass in weights])


@correction("correction at another temperature", RESIDUAL)
def correction_sharper(self: Machine, node: int, weights: Row) -> int:
    """The residual is warped by the temperature once more."""
    return self.draw(at_temperature(weights, 0.5))


@correction("correction of the first place at every place", RESIDUAL, SEVERAL)
def correction_of_first(self: Machine, node: int, weights: Row) -> int:
    """The correction is that of the first place, wherever the rejection was."""
    return self.draw(self.residual(TEXT, self.target(TEXT), self.draft(TEXT)))


@correction("correction of the first rejected draft only", RESIDUAL)
def correction_of_one_round(self: Machine, node: int, weights: Row) -> int:
    """The correction is drawn from the residual of one round, whatever rounds there were."""
    return self.draw(self.residual(node, self.target(node), self.draft(node)))


@correction("correction may be a rejected draft", RESIDUAL)
def correction_of_drafts(self: Machine, node: int, weights: Row) -> int:
    """The correction is now and then the first draft, though it was rejected."""
    below = self.children(node)
    if below and self.chance.accept(0.1):
        return self.token(below[0])
    return Machine.correction(self, node, weights)


@draw("last token never drawn", "draw with the sum of all weights, the last one included")
def last_never_drawn(self: Machine, weights: Row) -> int:
    """The draw ends one token before the end of the vocabulary."""
    return Machine.draw(self, normalized([*weights[:-1], 0.0], weights))


@draw(
    "first token drawn too often", "count how many sums are at most u: index 0 needs u < first sum"
)
def first_too_often(self: Machine, weights: Row) -> int:
    """The draw is off by one: it returns the token before the one that was drawn."""
    return max(Machine.draw(self, weights) - 1, 0)


@known("bonus token overwrites the last kept draft", "write the bonus token behind the kept drafts",
       SEVERAL)  # fmt: skip
class BonusOverwrites(Machine):
    """After a whole path is kept the token behind it is written in place of its last draft."""

    _whole = False

    def bonus(self, node: int) -> int:
        self._whole = node != TEXT
        return super().bonus(node)

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(self.kind.parents[node] if self._whole else node, token)


@bonus("bonus token is the likeliest one", BONUS, SEVERAL)
def bonus_greedy(self: Machine, node: int) -> int:
    """After a whole path is kept the target's likeliest token follows."""
    row = self.target(node)
    return max(range(len(row)), key=lambda x: (row[x], -x))


@bonus("bonus token from the row before", BONUS, SEVERAL)
def bonus_of_parent(self: Machine, node: int) -> int:
    """After a whole path is kept the token is drawn from the row before its last draft."""
    return self.draw(self.target(node if node == TEXT else self.kind.parents[node]))


@bonus("bonus token from the draft", BONUS, SEVERAL)
def bonus_of_draft(self: Machine, node: int) -> int:
    """After a whole path is kept the token is drawn from the draft."""
    return self.draw(self.draft(node))


@bonus("bonus token before warping", BONUS + ", warped as all others", SEVERAL)
def bonus_unwarped(self: Machine, node: int) -> int:
    """After a whole path is kept the token is drawn at temperature 1."""
    return self.draw(self.before("target", node, at_temperature(self.target(node), 1.5)))


@bonus("bonus token from a residual", BONUS, SEVERAL)
def bonus_of_residual(self: Machine, node: int) -> int:
    """After a whole path is kept the draft is subtracted before the token is drawn."""
    return self.draw(self.residual(node, self.target(node), self.draft(node)))


@bonus("bonus token repeats the last draft", BONUS, SEVERAL)
def bonus_repeats(self: Machine, node: int) -> int:
    """After a whole path is kept its last token is written once more."""
    return Machine.bonus(self, node) if node == TEXT else self.token(node)
