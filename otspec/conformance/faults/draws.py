"""Faults in the draw of the token that follows what is kept."""

from otspec.conformance.faults.base import known
from otspec.conformance.faults.declared import at_temperature
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import TEXT, MarkedText, Row

SEVERAL = ("block", "tree")
RESIDUAL = "draw what follows a rejection from the residual of the place of the rejection"
BONUS = "after all drafts of a path are kept, draw from the target's row after the last one"


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


@known("correction drawn from the draft", RESIDUAL)
class CorrectionOfDraftRow(Machine):
    """After all rejections the token is drawn from the draft."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw(self.draft(node))


@known("correction is the likeliest token", RESIDUAL)
class CorrectionGreedy(Machine):
    """After all rejections the likeliest token of the residual is taken, not drawn."""

    def correction(self, node: int, weights: Row) -> int:
        return max(range(len(weights)), key=lambda x: (weights[x], -x))


@known("correction is the target's likeliest token", RESIDUAL)
class CorrectionOfBest(Machine):
    """After all rejections the likeliest token of the target is taken."""

    def correction(self, node: int, weights: Row) -> int:
        row = self.target(node)
        return max(range(len(row)), key=lambda x: (row[x], -x))


@known("correction uniform over the residual", RESIDUAL)
class CorrectionUniform(Machine):
    """Every token that the residual has is equally likely."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw([float(mass > 0) for mass in weights])


@known("correction at another temperature", RESIDUAL)
class CorrectionSharper(Machine):
    """The residual is warped by the temperature once more."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw(at_temperature(weights, 0.5))


@known("correction of the first place at every place", RESIDUAL, SEVERAL)
class CorrectionOfFirst(Machine):
    """The correction is that of the first place, wherever the rejection was."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw(self.residual(TEXT, self.target(TEXT), self.draft(TEXT)))


@known("correction of the first rejected draft only", RESIDUAL)
class CorrectionOfOneRound(Machine):
    """The correction is drawn from the residual of one round, whatever rounds there were."""

    def correction(self, node: int, weights: Row) -> int:
        return self.draw(self.residual(node, self.target(node), self.draft(node)))


@known("correction may be a rejected draft", RESIDUAL)
class CorrectionOfDrafts(Machine):
    """The correction is now and then the first draft, though it was rejected."""

    def correction(self, node: int, weights: Row) -> int:
        below = self.children(node)
        if below and self.chance.accept(0.1):
            return self.token(below[0])
        return super().correction(node, weights)


@known("last token never drawn", "draw with the sum of all weights, the last one included")
class LastNeverDrawn(Machine):
    """The draw ends one token before the end of the vocabulary."""

    def draw(self, weights: Row) -> int:
        return super().draw(normalized([*weights[:-1], 0.0], weights))


@known(
    "first token drawn too often", "count how many sums are at most u: index 0 needs u < first sum"
)
class FirstTooOften(Machine):
    """The draw is off by one: it returns the token before the one that was drawn."""

    def draw(self, weights: Row) -> int:
        return max(super().draw(weights) - 1, 0)


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


@known("bonus token is the likeliest one", BONUS, SEVERAL)
class BonusGreedy(Machine):
    """After a whole path is kept the target's likeliest token follows."""

    def bonus(self, node: int) -> int:
        row = self.target(node)
        return max(range(len(row)), key=lambda x: (row[x], -x))


@known("bonus token from the row before", BONUS, SEVERAL)
class BonusOfParent(Machine):
    """After a whole path is kept the token is drawn from the row before its last draft."""

    def bonus(self, node: int) -> int:
        return self.draw(self.target(node if node == TEXT else self.kind.parents[node]))


@known("bonus token from the draft", BONUS, SEVERAL)
class BonusOfDraft(Machine):
    """After a whole path is kept the token is drawn from the draft."""

    def bonus(self, node: int) -> int:
        return self.draw(self.draft(node))


@known("bonus token before warping", BONUS + ", warped as all others", SEVERAL)
class BonusUnwarped(Machine):
    """After a whole path is kept the token is drawn at temperature 1."""

    def bonus(self, node: int) -> int:
        return self.draw(self.before("target", node, at_temperature(self.target(node), 1.5)))


@known("bonus token from a residual", BONUS, SEVERAL)
class BonusOfResidual(Machine):
    """After a whole path is kept the draft is subtracted before the token is drawn."""

    def bonus(self, node: int) -> int:
        return self.draw(self.residual(node, self.target(node), self.draft(node)))


@known("bonus token repeats the last draft", BONUS, SEVERAL)
class BonusRepeats(Machine):
    """After a whole path is kept its last token is written once more."""

    def bonus(self, node: int) -> int:
        return super().bonus(node) if node == TEXT else self.token(node)
