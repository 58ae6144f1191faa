"""Trees of drafted tokens, exactly: the law of the drafts, what a verifier keeps, its output.

A shape is the tuple of a node's children, each a shape; a forest has the drafted children of a node
in order, each a token and the forest below it. A verifier takes (target, draft, how children are
drafted), then a forest, and returns its endings, whose masses sum to 1."""

from ast import literal_eval
from collections import namedtuple
from dataclasses import replace
from functools import cached_property, lru_cache, reduce
from itertools import product
from math import prod

from validation import verified_blocks
from validation.claim import at_least
from validation.models import models
from validation.notation import ONE, collect, distinct, iid, mass_of, normalized, total

Ending = namedtuple("Ending", "mass kept row")
"""One way in which a verifier can end: what is kept, and the law of what follows, up to scale."""


@lru_cache(maxsize=256)
def named(text):
    """Return the shape of a text such as ``"2x1"`` or ``"[[][]][]"``."""
    if "[" in text:
        return literal_eval(text.replace("[", "(").replace("]", "),"))
    return reduce(lambda below, width: (below,) * int(width), reversed(text.split("x")), ())


@lru_cache(maxsize=4096)
def top_plus_one(draft, k):
    """Return the law of the k − 1 likeliest tokens, ties by number, and one drawn of the others."""
    order = sorted(range(len(draft)), key=lambda token: (-draft[token], token))
    whole = mass_of(draft, order[k - 1 :])
    return {(*order[: k - 1], x): draft[x] / whole for x in order[k - 1 :] if draft[x]}


CHILDREN = {"iid": iid, "distinct": distinct, "top plus one": top_plus_one}
"""How the children of a node may be drafted: (draft, k) to their law, empty if k are too many."""


@lru_cache(maxsize=512)
def drafts(shape, draft, children="iid", prefix=()):
    """Return the law of the drafted tree; mass is missing where there are not enough tokens."""
    if not shape:
        return {(): ONE}
    law = {}
    for tokens, mass in CHILDREN[children](draft(prefix), len(shape)).items():
        below = [drafts(child, draft, children, (*prefix, token)).items()
                 for child, token in zip(shape, tokens, strict=True)]  # fmt: skip
        for each in product(*below):
            forest = tuple(zip(tokens, (one for one, _ in each), strict=True))
            law[forest] = mass * prod(chance for _, chance in each)
    return law


def paths(forest):
    """Yield the paths of a drafted tree to its leaves, in order."""
    for token, below in forest:
        for rest in paths(below) if below else [()]:
            yield (token, *rest)


class Ended:
    """What a verifier does over all drafts, which have a law."""

    def __init__(self, verify, law):
        self.endings = [Ending(chance * mass, kept, row) for drafted, chance in law.items()
                        for mass, kept, row in verify(drafted) if mass]  # fmt: skip

    @cached_property
    def kept(self):
        """The law of what is kept."""
        return collect((ending.kept, ending.mass) for ending in self.endings)

    @cached_property
    def released(self):
        """The law of what is kept with the token after it."""
        return collect(((*kept, token), mass * chance) for mass, kept, row in self.endings
                       for token, chance in enumerate(normalized(row)))  # fmt: skip

    def mean(self):
        """Return E[tau], how many tokens are kept."""
        return total(mass * len(kept) for kept, mass in self.kept.items())

    def texts(self, target, length):
        """Return the law of the first length + 1 tokens, where the plain target follows."""
        return collect((some + more, mass * chance) for some, mass in self.released.items()
                       for more, chance in target.after(some).blocks(length + 1 - len(some)).items()
                       )  # fmt: skip

    def lossless(self, target, length):
        """Return slack 0 if the text is the target's up to one token after the deepest path."""
        wanted = target.blocks(length + 1)
        return verified_blocks.same_law(self.texts(target, length), wanted, "the law of the text")


def ended(verifier, draft, target, tree, children="iid", **_):
    """Return what a verifier of trees does over all drafted trees."""
    return Ended(verifier(target, draft, children), drafts(named(tree), draft, children))


def kept(verifier, **drafting):
    """Return how many tokens a verifier of trees keeps on average."""
    return ended(verifier, **drafting).mean()


def lossless(verifier, target, length, **drafting):
    """Return slack 0 if the text of a verifier of trees has the target's law."""
    return ended(verifier, target=target, **drafting).lossless(target, length)


def keeps_more(better, other, **drafting):
    """Check that one verifier keeps at least as many tokens as another."""
    return at_least(kept(better, **drafting), kept(other, **drafting), "kept, against the other")


def same(one, other):
    """Check that two verifiers keep the same texts with the same tokens after them."""
    verified_blocks.same_law(one.kept, other.kept, "what is kept")
    return verified_blocks.same_law(one.released, other.released, "and the token after it")


def best_kept(draft, target, tree, children="iid", **_):
    """Return the most that any coupling of drafted trees with the target's text keeps."""
    law = drafts(named(tree), draft, children)
    sets = collect((frozenset(paths(forest)), mass) for forest, mass in law.items())
    length = max(len(path) for some in sets for path in some)
    return verified_blocks.best_transport(sets, target.blocks(length), lambda some, block: max(
        verified_blocks.common_prefix((*path, -1), (*block, -2)) for path in some))  # fmt: skip


def one_path(verify, draft, target, length, **_):
    """Return what a verifier of one block that corrects one token does over all blocks."""
    return Ended(lambda block: endings(verify, target, draft, block), draft.blocks(length))


def endings(verify, target, draft, block):
    """Yield the endings of a verifier of one block that corrects one token."""
    for branch in verify(target, draft, block):
        yield Ending(branch.mass, block[: branch.accepted], branch.following(()))


TREES = {(2, 1): ("1", "2", "3"), (2, 2): ("1x1", "1x2", "2x1", "[[][]][]", "[][[]]", "2x2", "3x1"),
         (2, 3): ("1x1x1", "1x1x2", "1x2x1", "2x1x1", "[[[]][]][]"), (3, 1): ("2", "1"),
         (3, 2): ("1x1", "1x2", "[[]][]")}  # fmt: skip
"""Trees of up to six nodes, by the number of tokens and the depth."""
CHAINS = {(2, 1): ["1"], (2, 2): ["1x1"], (2, 3): ["1x1x1"], (3, 1): ["1"], (3, 2): ["1x1"]}
PATHS = {(2, 1): (1, 2, 3), (2, 2): (1, 2, 3), (2, 3): (1, 2), (3, 1): (1, 2, 3), (3, 2): (1, 2)}
"""Numbers of paths, by the number of tokens and the depth."""


def trees(*children, of=TREES):
    """Return the domain of pairs of models, a tree, and ways to draft children that can be."""
    some = models(tuple(of)).one(tree=lambda draft, length, **_: of[draft.n, length])
    return replace(some, note="trees of up to 6 nodes").each(children=children).where(
        lambda draft, tree, children, **_: children == "iid"
        or sum(drafts(named(tree), draft, children).values()) == 1)  # fmt: skip


def several_paths(of=PATHS):
    """Return the domain of pairs of models and k paths of as many tokens as ``length`` says."""
    return models(tuple(of)).each(k=lambda draft, length, **_: of[draft.n, length])
