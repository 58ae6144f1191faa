"""Faults in rows: those that a verifier is told, and those that drafts are drawn from."""

import numpy as np

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import TEXT, Row

SEVERAL = ("block", "tree")
BY_NODE = "index rows by node, not by depth or place among siblings"
SAME = "hand the verifier the very row that the token was drawn from, after all warping"


def at_temperature(row: Row, temperature: float) -> Row:
    """Return a row warped by a temperature."""
    return normalized([mass ** (1 / temperature) for mass in row], row)


def likeliest(row: Row, kept: int) -> Row:
    """Return a row of which so many tokens are left."""
    best = sorted(range(len(row)), key=lambda x: (-row[x], x))[:kept]
    return normalized([mass if x in best else 0.0 for x, mass in enumerate(row)], row)


@known("draft declared at another temperature", SAME)
class DraftTemperature(Machine):
    """Drafts are drawn at one temperature, and the probabilities are those of another."""

    strength, strengths = 1.5, (1.0, 10.0)

    def draft(self, node: int) -> Row:
        return self.before("draft", node, at_temperature(super().draft(node), self.strength))


@known("draft declared sharper than sampled", SAME)
class DraftSharper(Machine):
    """The probabilities are those of a lower temperature than drafts are drawn at."""

    strength, strengths = 0.6, (0.1, 1.0)

    def draft(self, node: int) -> Row:
        return at_temperature(super().draft(node), self.strength)


@known("draft declared truncated", SAME)
class DraftTruncated(Machine):
    """Drafts are drawn from the whole row, and the row handed over is cut to its likeliest."""

    def draft(self, node: int) -> Row:
        return likeliest(super().draft(node), 2)


@known("uniform distribution mixed into the declared draft", SAME)
class DraftSmoothed(Machine):
    """The declared row is smoothed, and drafts are drawn from the one before."""

    def draft(self, node: int) -> Row:
        row = super().draft(node)
        return [0.8 * mass + 0.2 / len(row) for mass in row]


@known("drawn drafts taken for certain", "hand over the draft's row, not one of a single 1")
class DraftCertain(Machine):
    """Drawn drafts are verified as if the draft gave them probability 1."""

    def draft(self, node: int) -> Row:
        row = super().draft(node)
        below = self.children(node)
        return row if not below else [float(x == self.token(below[0])) for x in range(len(row))]


@known("draft's row of the place before", "take row i for draft i: the row after i drafts", SEVERAL)
class DraftShifted(Machine):
    """Each draft is verified with the row that the draft before it was drawn from."""

    def draft(self, node: int) -> Row:
        return super().draft(node if node == TEXT else self.kind.parents[node])


@known("draft's first row at every place", "take row i for draft i", SEVERAL)
class DraftFirst(Machine):
    """The draft's row after the text is used at all places."""

    def draft(self, node: int) -> Row:
        return super().draft(TEXT)


@known("target's row of the place before", "the row after i drafts verifies draft i + 1", SEVERAL)
class TargetShifted(Machine):
    """Each draft is verified with the target's row of the place before."""

    def target(self, node: int) -> Row:
        return super().target(node if node == TEXT else self.kind.parents[node])


@known("target's first row at every place", "the row after i drafts verifies draft i + 1", SEVERAL)
class TargetFirst(Machine):
    """The target's row after the text is used at all places."""

    def target(self, node: int) -> Row:
        return super().target(TEXT)


def behind(machine: Machine, node: int) -> int:
    """Return the first draft after a node, whatever of it is looked at; the last node itself."""
    below = machine.setting.below[node]
    return next((child for child in below if machine.there[child]), node)


@known("target's row of the place after", "the row after i drafts verifies draft i + 1", SEVERAL)
class TargetAhead(Machine):
    """Each draft is verified with the target's row behind it, the last one with its own."""

    def target(self, node: int) -> Row:
        return super().target(behind(self, node))


@known("draft's row of the place after", "take row i for draft i: the row after i drafts", SEVERAL)
class DraftAhead(Machine):
    """Each draft is verified with the row of the draft behind it, the last one with its own."""

    def draft(self, node: int) -> Row:
        child = behind(self, node)
        return super().draft(node if behind(self, child) == child else child)


@known("target's row of a sibling", BY_NODE, ("tree",))
class TargetOfSibling(Machine):
    """Below a node the target's row of its first sibling is used."""

    def target(self, node: int) -> Row:
        return super().target(node if node == TEXT else self.siblings(node)[0])


@known("draft's row of a sibling", BY_NODE, ("tree",))
class DraftOfSibling(Machine):
    """Below a node the draft's row of its first sibling is used."""

    def draft(self, node: int) -> Row:
        return super().draft(node if node == TEXT else self.siblings(node)[0])


@known("warping applied to the draft only", "warp the target's logits by the same settings")
class TargetTemperature(Machine):
    """The target's rows are those of another temperature than was asked for."""

    def target(self, node: int) -> Row:
        return self.before("target", node, at_temperature(super().target(node), 1.5))


@known("target warped twice", "warp the target's logits once")
class TargetSharper(Machine):
    """A temperature below 1 is applied to the target twice."""

    def target(self, node: int) -> Row:
        return self.before("twice", node, at_temperature(super().target(node), 0.6))


@known(
    "target truncated once more", "truncate both models by the settings that were asked for, once"
)
class TargetTruncated(Machine):
    """The target's row is cut to its likeliest tokens, which nobody asked for."""

    def target(self, node: int) -> Row:
        return likeliest(super().target(node), 2)


@known("grammar's mask not applied to the target", "mask the target's logits before softmax")
class TargetUnmasked(Machine):
    """Tokens that the mask forbids keep some probability."""

    def target(self, node: int) -> Row:
        row = super().target(node)
        if self.setting.raw:
            return self.before("unmasked", node, row)
        free = [x for x, mass in enumerate(row) if mass == 0]
        share = 0.2 / len(free) if free else 0.0
        return [mass * 0.8 if mass and free else mass or share for mass in row]


@known("small number added to each probability", "compare q with u p instead of adding to p")
class Smoothed(Machine):
    """Both rows have a small number added, so that nothing is divided by 0."""

    def draft(self, node: int) -> Row:
        return [mass + 0.01 for mass in super().draft(node)]

    def target(self, node: int) -> Row:
        return [mass + 0.01 for mass in super().target(node)]


@known("last token of the vocabulary lost", "cover the vocabulary to its end: round blocks up")
class LastTokenLost(Machine):
    """The end of the vocabulary is never looked at in the target."""

    def target(self, node: int) -> Row:
        row = super().target(node)
        return normalized([*row[:-1], 0.0], row)


@known("rows in half precision", "compute probabilities and residuals in float32")
class HalfPrecision(Machine):
    """The target's rows are rounded to 8 bits of mantissa."""

    def target(self, node: int) -> Row:
        bits = np.array(super().target(node), dtype=np.float32).view(np.uint32)
        return [float(mass) for mass in ((bits + 0x8000) & 0xFFFF0000).view(np.float32)]


@known("target's row does not sum to 1", "renormalize after top-k and top-p")
class TargetTooLight(Machine):
    """The target is truncated elsewhere and not renormalized: its rows sum to less than 1."""

    def target(self, node: int) -> Row:
        return [0.8 * mass for mass in super().target(node)]


@known("draft's row does not sum to 1", "renormalize after top-k and top-p")
class DraftTooLight(Machine):
    """The draft is truncated elsewhere and not renormalized: its rows sum to less than 1."""

    def draft(self, node: int) -> Row:
        return [0.8 * mass for mass in super().draft(node)]


@known("draft and target exchanged", "hand over the draft's rows as draft")
class Exchanged(Machine):
    """The two models' rows are passed in the wrong order."""

    def draft(self, node: int) -> Row:
        return super().target(node)

    def target(self, node: int) -> Row:
        return super().draft(node)


@known("drafts drawn at another temperature", SAME, pipeline=True)
class DraftedTemperature(Machine):
    """Drafts are drawn at another temperature than that of the rows which are handed over."""

    strength, strengths = 0.8, (0.1, 10.0)

    def draft(self, node: int) -> Row:
        return super().sampled(node)

    def sampled(self, node: int) -> Row:
        return self.before("draft", node, at_temperature(super().sampled(node), self.strength))


@known("draft truncated and declared whole", SAME, pipeline=True)
class DraftedTruncated(Machine):
    """Drafts are drawn from the likeliest tokens, and the row handed over is the whole one."""

    def draft(self, node: int) -> Row:
        return super().sampled(node)

    def sampled(self, node: int) -> Row:
        return likeliest(super().sampled(node), 2)


@known(
    "drafts are the likeliest tokens", SAME + "; a certain token has a row of one 1", pipeline=True
)
class DraftedGreedily(Machine):
    """Drafts are the likeliest tokens, and the probabilities are those of drawn ones."""

    def draft(self, node: int) -> Row:
        return super().sampled(node)

    def drafted(self, node: int, weights: Row) -> int:
        return max(range(len(weights)), key=lambda x: (weights[x], -x))
