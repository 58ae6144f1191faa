"""Faults in rows: those that a verifier is told, and those that drafts are drawn from."""

import numpy as np

from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine, normalized
from otspec.conformance.faults.setting import TEXT, Row

SEVERAL = ("block", "tree")
BY_NODE = "index rows by node, not by depth or place among siblings"
SAME = "hand the verifier the very row that the token was drawn from, after all warping"
draft, target = part("draft"), part("target")


def at_temperature(row: Row, temperature: float) -> Row:
    """Return a row warped by a temperature."""
    return normalized([mass ** (1 / temperature) for mass in row], row)


def likeliest(row: Row, kept: int) -> Row:
    """Return a row of which so many tokens are left."""
    best = sorted(range(len(row)), key=lambda x: (-row[x], x))[:kept]
    return normalized([mass if x in best else 0.0 for x, mass in enumerate(row)], row)


@draft("draft declared at another temperature", SAME, strength=(1.5, 1.0, 10.0))
def draft_temperature(self: Machine, node: int) -> Row:
    """Drafts are drawn at one temperature, and the probabilities are those of another."""
    return self.before("draft", node, at_temperature(Machine.draft(self, node), self.strength))


@draft("draft declared sharper than sampled", SAME, strength=(0.6, 0.1, 1.0))
def draft_sharper(self: Machine, node: int) -> Row:
    """The probabilities are those of a lower temperature than drafts are drawn at."""
    return at_temperature(Machine.draft(self, node), self.strength)


@draft("draft declared truncated", SAME)
def draft_truncated(self: Machine, node: int) -> Row:
    """Drafts are drawn from the whole row, and the row handed over is cut to its likeliest."""
    return likeliest(Machine.draft(self, node), 2)


@draft("uniform distribution mixed into the declared draft", SAME)
def draft_smoothed(self: Machine, node: int) -> Row:
    """The declared row is smoothed, and drafts are drawn from the one before."""
    row = Machine.draft(self, node)
    return [0.8 * mass + 0.2 / len(row) for mass in row]


@draft("drawn drafts taken for certain", "hand over the draft's row, not one of a single 1")
def draft_certain(self: Machine, node: int) -> Row:
    """Drawn drafts are verified as if the draft gave them probability 1."""
    row = Machine.draft(self, node)
    below = self.children(node)
    return row if not below else [float(x == self.token(below[0])) for x in range(len(row))]


@draft("draft's row of the place before", "take row i for draft i: the row after i drafts", SEVERAL)
def draft_shifted(self: Machine, node: int) -> Row:
    """Each draft is verified with the row that the draft before it was drawn from."""
    return Machine.draft(self, node if node == TEXT else self.kind.parents[node])


@draft("draft's first row at every place", "take row i for draft i", SEVERAL)
def draft_first(self: Machine, node: int) -> Row:
    """The draft's row after the text is used at all places."""
    return Machine.draft(self, TEXT)


@target("target's row of the place before", "the row after i drafts verifies draft i + 1", SEVERAL)
def target_shifted(self: Machine, node: int) -> Row:
    """Each draft is verified with the target's row of the place before."""
    return Machine.target(self, node if node == TEXT else self.kind.parents[node])


@target("target's first row at every place", "the row after i drafts verifies draft i + 1", SEVERAL)
def target_first(self: Machine, node: int) -> Row:
    """The target's row after the text is used at all places."""
    return Machine.target(self, TEXT)


def behind(machine: Machine, node: int) -> int:
    """Return the first draft after a node, whatever of it is looked at; the last node itself."""
    below = machine.setting.below[node]
    return next((child for child in below if machine.there[child]), node)


@target("target's row of the place after", "the row after i drafts verifies draft i + 1", SEVERAL)
def target_ahead(self: Machine, node: int) -> Row:
    """Each draft is verified with the target's row behind it, the last one with its own."""
    return Machine.target(self, behind(self, node))


@draft("draft's row of the place after", "take row i for draft i: the row after i drafts", SEVERAL)
def draft_ahead(self: Machine, node: int) -> Row:
    """Each draft is verified with the row of the draft behind it, the last one with its own."""
    child = behind(self, node)
    return Machine.draft(self, node if behind(self, child) == child else child)


@target("target's row of a sibling", BY_NODE, ("tree",))
def target_of_sibling(self: Machine, node: int) -> Row:
    """Below a node the target's row of its first sibling is used."""
    return Machine.target(self, node if node == TEXT else self.siblings(node)[0])


@draft("draft's row of a sibling", BY_NODE, ("tree",))
def draft_of_sibling(self: Machine, node: int) -> Row:
    """Below a node the draft's row of its first sibling is used."""
    return Machine.draft(self, node if node == TEXT else self.siblings(node)[0])


@target("warping applied to the draft only", "warp the target's logits by the same settings")
def target_temperature(self: Machine, node: int) -> Row:
    """The target's rows are those of another temperature than was asked for."""
    return self.before("target", node, at_temperature(Machine.target(self, node), 1.5))


@target("target warped twice", "warp the target's logits once")
def target_sharper(self: Machine, node: int) -> Row:
    """A temperature below 1 is applied to the target twice."""
    return self.before("twice", node, at_temperature(Machine.target(self, node), 0.6))


@target(
    "target truncated once more", "truncate both models by the settings that were asked for, once"
)
def target_truncated(self: Machine, node: int) -> Row:
    """The target's row is cut to its likeliest tokens, which nobody asked for."""
    return likeliest(Machine.target(self, node), 2)


@target("grammar's mask not applied to the target", "mask the target's logits before softmax")
def target_unmasked(self: Machine, node: int) -> Row:
    """Tokens that the mask forbids keep some probability."""
    row = Machine.target(self, node)
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


@target("last token of the vocabulary lost", "cover the vocabulary to its end: round blocks up")
def last_token_lost(self: Machine, node: int) -> Row:
    """The end of the vocabulary is never looked at in the target."""
    row = Machine.target(self, node)
    return normalized([*row[:-1], 0.0], row)


@target("rows in half precision", "compute probabilities and residuals in float32")
def half_precision(self: Machine, node: int) -> Row:
    """The target's rows are rounded to 8 bits of mantissa."""
    bits = np.array(Machine.target(self, node), dtype=np.float32).view(np.uint32)
    return [float(mass) for mass in ((bits + 0x8000) & 0xFFFF0000).view(np.float32)]


@target("target's row does not sum to 1", "renormalize after top-k and top-p")
def target_too_light(self: Machine, node: int) -> Row:
    """The target is truncated elsewhere and not renormalized: its rows sum to less than 1."""
    return [0.8 * mass for mass in Machine.target(self, node)]


@draft("draft's row does not sum to 1", "renormalize after top-k and top-p")
def draft_too_light(self: Machine, node: int) -> Row:
    """The draft is truncated elsewhere and not renormalized: its rows sum to less than 1."""
    return [0.8 * mass for mass in Machine.draft(self, node)]


@known("draft and target exchanged", "hand over the draft's rows as draft")
class Exchanged(Machine):
    """The two models' rows are passed in the wrong order."""

    def draft(self, node: int) -> Row:
        return super().target(node)

    def target(self, node: int) -> Row:
        return super().draft(node)


class Declared(Machine):
    """A verifier that is told the rows as they are, whatever drafts are drawn from."""

    def draft(self, node: int) -> Row:
        return Machine.sampled(self, node)


sampled, drafted = part("sampled", Declared), part("drafted", Declared)


@sampled("drafts drawn at another temperature", SAME, pipeline=True, strength=(0.8, 0.1, 10.0))
def drafted_temperature(self: Machine, node: int) -> Row:
    """Drafts are drawn at another temperature than that of the rows which are handed over."""
    row = at_temperature(Machine.sampled(self, node), self.strength)
    return self.before("draft", node, row)


@sampled("draft truncated and declared whole", SAME, pipeline=True)
def drafted_truncated(self: Machine, node: int) -> Row:
    """Drafts are drawn from the likeliest tokens, and the row handed over is the whole one."""
    return likeliest(Machine.sampled(self, node), 2)


@drafted(
    "drafts are the likeliest tokens", SAME + "; a certain token has a row of one 1", pipeline=True
)
def drafted_greedily(self: Machine, node: int, weights: Row) -> int:
    """Drafts are the likeliest tokens, and the probabilities are those of drawn ones."""
    return max(range(len(weights)), key=lambda x: (weights[x], -x))
