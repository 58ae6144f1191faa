"""What is said of each choice: what it keeps, what it costs, and how much faster it is."""

import math
from dataclasses import dataclass

from otspec.frames import Probability, Tokens

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)


@dataclass(frozen=True)
class Choice:
    """A rule on a tree of drafts, with what it is worth.

    Parameters
    ----------
    rule : str
        Its title; ``"no draft"`` for decoding token by token.
    drafts : str
        The law of the children of a node, by name; empty without any.
    tree : str
        As :func:`otspec.blocks.as_shape` reads it; empty without drafts.
    nodes, depth, widest : int
        Drafted tokens, levels, and the most children of a node.
    tokens : float or Fraction
        The mean tokens per call of the target, E[τ] + 1.
    tokens_interval : tuple of float
        Where that lies over more such text, with 95% confidence; NaN if it is exact, or of one
        text only.
    seconds : float
        Of drafting and verifying, in the unit of the costs.
    speed_up : float
        Tokens per second over those without drafts.
    speed_up_interval : tuple of float
        As ``tokens_interval``.
    lossy : float or Fraction
        By how much the law of each token may be off, in total variation; 0 if it is lossless.
    """

    rule: str
    drafts: str
    tree: str
    nodes: int
    depth: int
    widest: int
    tokens: Tokens
    tokens_interval: Interval
    seconds: float
    speed_up: float
    speed_up_interval: Interval
    lossy: Probability = 0

    @property
    def expected(self) -> Tokens:
        """E[τ], the drafted tokens that are kept."""
        return self.tokens - 1

    @property
    def speed(self) -> float:
        """Tokens per second."""
        return float(self.tokens) / self.seconds

    @property
    def is_chain(self) -> bool:
        """Whether every node has at most one child."""
        return self.nodes == self.depth


@dataclass(frozen=True)
class Loss:
    """What the fastest choice of a simpler kind loses against the best of all.

    Parameters
    ----------
    kind : str
        In what it is simpler.
    rule, drafts, tree : str
        As of the :class:`Choice`.
    speed_up : float
    loss : float
        The part of the best choice's speed that is lost.
    loss_interval : tuple of float
        Where that lies over more such text, with 95% confidence; NaN if it is exact, or of one
        text only.
    """

    kind: str
    rule: str
    drafts: str
    tree: str
    speed_up: float
    loss: float
    loss_interval: Interval
