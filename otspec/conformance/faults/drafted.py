"""Faults of drafting: tokens that are drawn from other rows than those that are handed over."""

from otspec.conformance.faults.base import known
from otspec.conformance.faults.declared import SAME, at_temperature, likeliest
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import Row


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
