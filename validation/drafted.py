"""Trees of drafted tokens, exactly: the law of the drafts, what a verifier keeps, its output."""

from ast import literal_eval
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeVar

from validation import block_algorithms as blocks
from validation import verified_blocks
from validation.block_algorithms import Model
from validation.claim import at_least
from validation.domains import Domain
from validation.instances import Exact
from validation.model_domain import models
from validation.models import Prefix
from validation.notation import ONE, Tokens, collect, distinct, iid, normalised, total

Shape = tuple["Shape", ...]
"""The children of a node, each with its own."""
Forest = tuple[tuple[int, "Forest"], ...]
"""The drafted children of a node, in order: each a token and the children of its own."""
Drafted = TypeVar("Drafted", bound=Hashable)


class Ending(NamedTuple):
    """One way in which a verifier can end: what is kept, and the law of the token after it."""

    mass: Fraction
    kept: Prefix
    row: Sequence[Fraction]
    """Up to a factor."""


Verify = Callable[[Forest], Iterable[Ending]]
"""What is done with a drafted tree: endings whose masses sum to 1."""
Verifier = Callable[[Model, Model, str], Verify]
"""(target, draft, how children are drafted) to what is done."""


@lru_cache(maxsize=256)
def named(text: str) -> Shape:
    """Return the shape of a text such as ``"2x1"`` or ``"[[][]][]"``."""
    if "[" in text:
        shape: Shape = literal_eval(text.replace("[", "(").replace("]", "),"))
        return shape
    return reduce(lambda below, width: (below,) * int(width), reversed(text.split("x")), ())


@lru_cache(maxsize=4096)
def top_plus_one(draft: Exact, k: int) -> Mapping[Tokens, Fraction]:
    """Return the law of the k − 1 likeliest tokens, ties by number, and one drawn of the others."""
    order = sorted(range(len(draft)), key=lambda token: (-draft[token], token))
    first, others = tuple(order[: k - 1]), order[k - 1 :]
    whole = total(draft[token] for token in others)
    return {(*first, token): draft[token] / whole for token in others if draft[token]}


CHILDREN = {"iid": iid, "distinct": distinct, "top plus one": top_plus_one}
"""How the children of a node may be drafted: (draft, k) to their law, empty if k are too many."""


@lru_cache(maxsize=512)
def drafts(
    shape: Shape, draft: Model, children: str = "iid", prefix: Prefix = ()
) -> dict[Forest, Fraction]:
    """Return the law of the drafted tree; mass is missing where there are not enough tokens."""
    if not shape:
        return {(): ONE}
    law: dict[Forest, Fraction] = {}
    for tokens, mass in CHILDREN[children](draft(prefix), len(shape)).items():
        below = [
            drafts(child, draft, children, (*prefix, token)).items()
            for child, token in zip(shape, tokens, strict=True)
        ]
        for each in product(*below):
            forest = tuple(zip(tokens, (one for one, _ in each), strict=True))
            law[forest] = mass * prod((chance for _, chance in each), start=ONE)
    return law


def paths(forest: Forest) -> Iterator[Prefix]:
    """Yield the paths of a drafted tree to its leaves, in order."""
    for token, below in forest:
        for rest in paths(below) if below else [()]:
            yield (token, *rest)


class Ended:
    """What a verifier does over all drafts, which have a law."""

    def __init__(
        self, verify: Callable[[Drafted], Iterable[Ending]], law: Mapping[Drafted, Fraction]
    ) -> None:
        self.endings = [
            Ending(chance * mass, kept, row)
            for drafted, chance in law.items()
            for mass, kept, row in verify(drafted)
            if mass
        ]

    @cached_property
    def kept(self) -> dict[Prefix, Fraction]:
        """The law of what is kept."""
        return collect((ending.kept, ending.mass) for ending in self.endings)

    @cached_property
    def released(self) -> dict[Prefix, Fraction]:
        """The law of what is kept with the token after it."""
        return collect(
            ((*ending.kept, token), ending.mass * chance)
            for ending in self.endings
            for token, chance in enumerate(normalised(ending.row))
            if chance
        )

    def mean(self) -> Fraction:
        """Return E[tau], how many tokens are kept."""
        return total(mass * len(kept) for kept, mass in self.kept.items())

    def texts(self, target: Model, length: int) -> dict[Prefix, Fraction]:
        """Return the law of the first length + 1 tokens, where the plain target follows."""
        return collect(
            (some + more, mass * chance)
            for some, mass in self.released.items()
            for more, chance in target.after(some).blocks(length + 1 - len(some)).items()
        )

    def lossless(self, target: Model, length: int) -> Fraction:
        """Return slack 0 if the text is the target's up to one token after the deepest path."""
        wanted = target.blocks(length + 1)
        return verified_blocks.same_law(self.texts(target, length), wanted, "the law of the text")


def ended(verifier: Verifier, draft: Model, target: Model, tree: str,
          children: str = "iid", **_: Any) -> Ended:  # fmt: skip
    """Return what a verifier of trees does over all drafted trees."""
    return Ended(verifier(target, draft, children), drafts(named(tree), draft, children))


def kept(verifier: Verifier, **drafting: Any) -> Fraction:
    """Return how many tokens a verifier of trees keeps on average."""
    return ended(verifier, **drafting).mean()


def lossless(verifier: Verifier, target: Model, length: int, **drafting: Any) -> Fraction:
    """Return slack 0 if the text of a verifier of trees has the target's law."""
    return ended(verifier, target=target, **drafting).lossless(target, length)


def keeps_more(better: Verifier, other: Verifier, **drafting: Any) -> Fraction:
    """Check that one verifier keeps at least as many tokens as another."""
    return at_least(kept(better, **drafting), kept(other, **drafting), "kept, against the other")


def best_kept(draft: Model, target: Model, tree: str, children: str = "iid", **_: Any) -> Fraction:
    """Return the most that any coupling of drafted trees with the target's text keeps."""
    law = drafts(named(tree), draft, children).items()
    sets = collect((frozenset(paths(forest)), mass) for forest, mass in law)
    length = max(len(path) for some in sets for path in some)

    def value(some: Any, block: Prefix) -> int:
        return max(verified_blocks.common_prefix((*path, -1), (*block, -2)) for path in some)

    return verified_blocks.best_transport(sets, target.blocks(length), value)


def one_path(verify: blocks.Verifier, draft: Model, target: Model, length: int,
             **_: Any) -> Ended:  # fmt: skip
    """Return what a verifier of one block that corrects one token does over all blocks."""
    return Ended(lambda block: endings(verify, target, draft, block), draft.blocks(length))


def endings(verify: Any, target: Model, draft: Model, block: Prefix) -> Iterator[Ending]:
    """Yield the endings of a verifier of one block that corrects one token."""
    for branch in verify(target, draft, block):
        yield Ending(branch.mass, block[: branch.accepted], branch.following(()))


TREES = {
    (2, 1): ("1", "2", "3"),
    (2, 2): ("1x1", "1x2", "2x1", "[[][]][]", "[][[]]", "2x2", "3x1"),
    (2, 3): ("1x1x1", "1x1x2", "1x2x1", "2x1x1", "[[[]][]][]"),
    (3, 1): ("2", "1"),
    (3, 2): ("1x1", "1x2", "[[]][]"),
}
"""Trees of up to six nodes, by the number of tokens and the depth."""
CHAINS = {(2, 1): ["1"], (2, 2): ["1x1"], (2, 3): ["1x1x1"], (3, 1): ["1"], (3, 2): ["1x1"]}
PATHS = {(2, 1): (1, 2, 3), (2, 2): (1, 2, 3), (2, 3): (1, 2), (3, 1): (1, 2, 3), (3, 2): (1, 2)}
"""Numbers of paths, by the number of tokens and the depth."""


def trees(*children: str, of: Mapping[tuple[int, int], Sequence[str]] = TREES) -> Domain:
    """Return the domain of pairs of models, a tree, and each of some ways to draft children.

    Only of those for which there are enough tokens."""
    some = models(tuple(of)).one(tree=lambda draft, length, **_: of[draft.n, length])
    some = replace(some, note="trees of up to 6 nodes").each(children=children)
    return some.where(
        lambda draft, tree, children, **_: (
            children == "iid" or total(drafts(named(tree), draft, children).values()) == 1
        )
    )


def several_paths(of: Mapping[tuple[int, int], Sequence[int]] = PATHS) -> Domain:
    """Return the domain of pairs of models and k paths of as many tokens as ``length`` says."""
    return models(tuple(of)).each(k=lambda draft, length, **_: of[draft.n, length])
