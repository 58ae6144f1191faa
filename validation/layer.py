"""Layer Verification: scores of the nodes of a layer, and a walk from the deepest layer up.

Of the paper we have the abstract, and what a public audit says of its sections 4.1 and 4.2. A node
of score a wants a M_b. The nodes of a layer share one draw of their children: node v has the share
λ = a/Σ a of it. So the rule for one token sees the target (A M_b, 1 − A) after v, A = Σ a, and
child i of v gets the score λ times the probability that it is selected. What the children leave of
a M_b on average over their drafts is the residual of v. From the deepest layer up a layer ends the
tree with probability r/(r + 1 − A), r the mass of its residuals, and then node and correction are
drawn from these."""

from functools import cache

from validation import drafted
from validation import tree_rules as rules
from validation.block_algorithms import block_verify_one_token
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import pairs
from validation.drafted import CHILDREN, Ending, trees
from validation.models import memoryless
from validation.notation import ONE, ZERO, collect, total


def proportional(scores, inner):
    """Return the shares as the paper has them: all nodes of the layer have one."""
    del inner
    whole = total(scores)
    return [own / whole for own in scores]


def of_inner_nodes(scores, inner):
    """Return shares of nodes with children only."""
    whole = total(own for own, has in zip(scores, inner, strict=True) if has)
    return [own / whole if has and whole else ZERO for own, has in zip(scores, inner, strict=True)]


def evenly(scores, inner):
    """Return shares that divide what is left over evenly among nodes with children."""
    some = sum(inner)
    spare = ONE - total(own for own, has in zip(scores, inner, strict=True) if has)
    return [own + spare / some if has else ZERO for own, has in zip(scores, inner, strict=True)]


def layered(rule, shares=proportional):
    """Return Layer Verification with a rule for one token, and a way to share out the drafts."""

    def verifier(target, draft, children):
        @cache
        def chosen(prefix, tokens, weight):
            wanted = (*(weight * mass for mass in target(prefix)), 1 - weight)
            return rules.choice(rule, wanted, draft(prefix), tokens, children)[0]

        @cache
        def flow(prefix, k, weight):
            """Return how often each token is selected of k children, over their drafts."""
            law = CHILDREN[children](draft(prefix), k) if k else {}
            return collect((y, mass * chance) for tokens, mass in law.items()
                           for y, chance in zip(tokens, chosen(prefix, tokens, weight), strict=True)
                           )  # fmt: skip

        def ends(nodes, going):
            """Yield the endings in a layer and below; return what is left of ``going``."""
            scores = [score for _, _, score in nodes]
            sums = total(scores)
            if not sums:
                return going
            below, residuals = [], []
            owned = shares(scores, [bool(forest) for _, forest, _ in nodes])
            for (prefix, forest, score), share in zip(nodes, owned, strict=True):
                grown = forest if share else ()
                weight = score / share if share else ZERO
                taken = flow(prefix, len(grown), weight)
                residuals.append([score * mass - share * taken.get(y, ZERO)
                                  for y, mass in enumerate(target(prefix))])  # fmt: skip
                tokens = tuple(token for token, _ in grown)
                for (token, rest), chance in zip(
                    grown, chosen(prefix, tokens, weight), strict=True
                ):
                    below.append(((*prefix, token), rest, share * chance))
            going = yield from ends(below, going)
            reach = total(map(total, residuals)) + 1 - sums
            if not reach:
                return ZERO
            for (prefix, _, _), row in zip(nodes, residuals, strict=True):
                yield Ending(going * total(row) / reach, prefix, row)
            return going * (1 - sums) / reach

        return lambda forest: list(ends([((), forest, ONE)], ONE))

    return verifier


RULES = {
    "optimal": rules.optimal,
    "rejection": rules.rejection,
    "sequential": rules.sequential,
}
"""Rules for one token that are lossless, the last of them for i.i.d. children only."""
BOTH = ("optimal", "rejection")
STARS = {(2, 1): ("1", "2", "3"), (3, 1): ("1", "2", "3")}
FLAT = {size: some for size, some in drafted.TREES.items() if size[1] < 3}
COINS = pairs(2, 2).where(lambda draft, **_: all(draft)).of(
    lambda **pair: {name: memoryless(row) for name, row in pair.items()})  # fmt: skip
"""Two coins without memory, as models."""


def layers(rule, shares=proportional, **some):
    """Return what Layer Verification does with a rule for one token, over all drafts."""
    return drafted.ended(layered(RULES[rule], shares), **some)


def lift(rule, **some):
    """Return what the lift with scaled targets, from the leaves to the root, keeps."""
    return drafted.kept(rules.scaled(RULES[rule]), **some)


@claim("layer.lossless", "Losslessness", trees("iid", "distinct").each(rule=BOTH))
def returns_the_target(target, length, **some):
    """With a lossless rule for one token it returns the law of the target's text."""
    return layers(target=target, **some).lossless(target, length)


@claim("layer.shares", "The same, our readings of the shares", trees("iid", "distinct"))
def lossless_with_any_shares(target, length, **some):
    """It does so for any shares of sum 1 that are at least the scores: those of nodes with children
    only, or those that divide what is left over evenly."""
    return min(layers("optimal", shares, target=target, **some).lossless(target, length)
               for shares in (of_inner_nodes, evenly))  # fmt: skip


@claim("layer.level", "Optimality for one step with several candidates, with Global Resolution",
       trees("iid", "distinct", of=STARS))  # fmt: skip
def is_best_of_one_level(**some):
    """With an optimal rule it keeps the most that one level of drafts allows."""
    return equal(layers("optimal", **some).mean(), drafted.best_kept(**some), "kept")


@claim("layer.chain", "Optimality for several steps with one candidate",
       trees("iid", of=drafted.CHAINS).each(rule=BOTH))  # fmt: skip
def is_block_verification(draft, target, length, **some):
    """Of a single path it keeps what block verification keeps, with the same probabilities."""
    single = drafted.one_path(block_verify_one_token, draft, target, length)
    return drafted.same(layers(draft=draft, target=target, **some), single)


@corrected("layer.better", Severity.CONDITION, trees("iid", "distinct").each(rule=BOTH))
@claim("layer.better", "Comparison with token verification",
       COINS.one(length=[3], tree=["[[[]][][]]"], children=["iid"], rule=["sequential"])
       )  # fmt: skip
def keeps_more_than_from_the_root(rule, **some):
    r"""It keeps at least as many tokens in expectation as the same rule at each node from the root
    on keeps of the same tree.
    Corrected: It does with every rule that selects a child of a node of weight $w$ with at least
    $w$ times the probability of weight 1 (Theory, 50). K-Seq does not."""
    above = drafted.kept(rules.top_down(RULES[rule]), **some)
    return at_least(layers(rule, **some).mean(), above, "kept, against the root on")


@claim("layer.lift", "Our question: is it the lift of the rule from the leaves to the root?",
       trees("iid").each(rule=BOTH))  # fmt: skip
def is_the_lift(**some):
    """It keeps as many tokens as the same rule with scaled targets, from the leaves to the root.
    Corrected: It does on a single path and on one level of drafts."""
    return equal(layers(**some).mean(), lift(**some), "kept")


corrected("layer.lift", Severity.CONDITION,
          trees("iid", of={**STARS, **drafted.CHAINS}).each(rule=BOTH))(is_the_lift)  # fmt: skip


@corrected("layer.below", Severity.CONDITION, trees("iid", "distinct", of=FLAT).each(rule=BOTH))
@claim("layer.below", "Our question: does that lift keep at least as much?",
       COINS.one(length=[3], tree=["[[[]][]][]"], children=["iid"], rule=["optimal"]))  # fmt: skip
def lift_keeps_more(**some):
    """The same rule with scaled targets, from the leaves to the root, keeps at least as much.
    Corrected: It does on trees of two levels (Theory, 50)."""
    return at_least(lift(**some), layers(**some).mean(), "the lift")
