"""Layer Verification: a tree is settled layer by layer, from the deepest one up (Theory, 50)."""

from dataclasses import dataclass, field
from typing import ClassVar

from otspec._base import Array, Number, as_callable, as_flag, positive_part
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.leaf_to_root import rule_of_weight
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.chance import Chance
from otspec.distributions import normalized
from otspec.drafts import DraftLaw
from otspec.models.base import Prefix
from otspec.rules import PooledSelection


@dataclass(frozen=True, eq=False)
class LayerVerification(TreeRule):
    """Score the nodes of each layer with a rule for one token, and keep one from the deepest up.

    The root has the score 1. In a layer whose scores sum to A, a node of score a has the share
    a/A. There the rule for one token has the draft (M_s, 0) and the target (A M_b, 1 − A), over
    one token more, and a drafted child has the score a/A times the probability that it is the
    output. R_v = a M_b − (a/A)·(how often each token is accepted) is left of node v. From the
    deepest layer up a layer of sum R = Σ_v Σ_x R_v(x) ends the walk with probability R/(R + 1 − A):
    v is kept, and x is the correction after it, with probability R_v(x)/R.

    Law: what is kept and its continuation is the target's text, for every lossless rule for one
    token. One token is corrected. E[τ] is the sum of E[A] over all layers but the root. On a chain,
    with a rule that couples one draft maximally, it is the published block verification. On two
    levels :class:`otspec.blocks.UniversalTree` of the same rule keeps at least as much; on more,
    either may (Theory, 50). Source: Layer Verification (Cha, Cho, Yun, AdaptFM at ICML 2026), as
    public descriptions of its sections 4.1 and 4.2 have it. That leaves have shares, and that equal
    i.i.d. children may be one node, is our reading. Parameters and errors:
    :class:`otspec.blocks.UniversalTree`; without ``merge`` only the first of equal children has a
    score.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> LayerVerification(draft, target, "2x1x1").expected()
    Fraction(21, 8)
    """

    rule: TokenRule = PooledSelection
    merge: bool = field(default=True, kw_only=True)

    name: ClassVar[str] = "layer"
    title: ClassVar[str] = "layer verification"
    renews: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_callable(self.rule, "rule", "a class of otspec.rules, or a function of draft, target, k")
        as_flag(self.merge, "merge")

    def children_law(self, prefix: Prefix, k: int) -> DraftLaw:
        """Return the law of k children of a node; distinct ones may be fewer."""
        draft, target = self.draft(prefix), self.target(prefix)
        return rule_of_weight(self.rule, draft, target, self.target.number(1), k).law

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Score the nodes from the root on, then walk up from the deepest layer."""
        scores: dict[int, Number] = {ROOT: self.target.number(1)}
        layers = []
        while scores:
            left, below = self._layer(drafts, scores)
            layers.append((1 - _whole(scores), left))
            scores = below
        for missing, left in reversed(layers):
            masses = [row.sum() for row in left.values()]
            total = sum(masses)
            if left.keys() == {ROOT} or (total > 0 and chance.accept(total, total + missing)):
                break
        node = list(left)[chance.choose(masses)] if len(masses) > 1 else next(iter(left))
        return node, normalized(left[node], drafts.target(node))

    def _layer(
        self, drafts: DraftedTree, scores: dict[int, Number]
    ) -> tuple[dict[int, Array], dict[int, Number]]:
        """Return what is left of the target at each node of a layer, and its children's scores."""
        total = _whole(scores)
        left: dict[int, Array] = {}
        below: dict[int, Number] = {}
        for node, score in scores.items():
            wanted = score * drafts.target(node)
            if children := drafts.children(node):
                tokens = [drafts[child] for child in children]
                rule = rule_of_weight(
                    self.rule, drafts.draft(node), drafts.target(node), total, len(tokens)
                )
                share = score / total
                wanted = wanted - share * rule.accepted().by_token[:-1]
                output = rule.kernel(tokens)
                # Of equal drafts, which may be one node, the first has the score of all.
                first = dict(zip(reversed(tokens), reversed(children), strict=True))
                below |= {child: share * output[y] for y, child in first.items() if output[y] > 0}
            left[node] = positive_part(wanted)
        return left, below


def _whole(scores: dict[int, Number]) -> Number:
    """Return the sum of a layer's scores, which only the rounding of floats lifts above 1."""
    return min(sum(scores.values()), 1)
