"""Trees of drafted tokens, exactly: the law of the drafts, what a verifier keeps, its output."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple, TypeVar

from validation.instances import Exact
from validation.models import LanguageModel, Prefix
from validation.notation import ONE, ZERO, Tokens, collect, distinct, iid, support, total
from validation.verified_blocks import Law, same_law

Shape = tuple["Shape", ...]
"""The children of a node, each with its own."""
Forest = tuple[tuple[int, "Forest"], ...]
"""The drafted children of a node, in order: each a token and the children of its own."""
ChildrenLaw = Callable[[Exact, int], Mapping[Tokens, Fraction]]
"""(draft, k) to the law of k children of a node."""
Drafted = TypeVar("Drafted", bound=Hashable)


class Ending(NamedTuple):
    """One way in which a verifier can end: what is kept, and the law of the token after it."""

    mass: Fraction
    kept: Prefix
    row: Exact


Verifier = Callable[[LanguageModel, LanguageModel, Forest], Iterable[Ending]]
"""(target, draft, drafted tree) to endings whose masses sum to 1."""


def branching(*widths: int) -> Shape:
    """Return the shape with the same number of children at each depth."""
    shape: Shape = ()
    for width in reversed(widths):
        shape = (shape,) * width
    return shape


def depth(shape: Shape) -> int:
    """Return how deep a shape is."""
    return max((1 + depth(child) for child in shape), default=0)


def named(text: str) -> Shape:
    """Return the shape of a text such as ``"2x1"`` or ``"[[][]][]"``."""
    if "[" not in text:
        return branching(*map(int, text.split("x")))
    open_nodes: list[list[Shape]] = [[]]
    for letter in text:
        if letter == "[":
            open_nodes.append([])
        else:
            children = tuple(open_nodes.pop())
            open_nodes[-1].append(children)
    return tuple(open_nodes[0])


@lru_cache(maxsize=4096)
def top_plus_one(draft: Exact, k: int) -> Mapping[Tokens, Fraction]:
    """Return the law of the k − 1 likeliest tokens, ties by number, and one drawn of the others."""
    order = sorted(range(len(draft)), key=lambda token: (-draft[token], token))
    first, others = tuple(order[: k - 1]), order[k - 1 :]
    whole = total(draft[token] for token in others)
    return {(*first, token): draft[token] / whole for token in others if draft[token]}


CHILDREN: dict[str, ChildrenLaw] = {"iid": iid, "distinct": distinct, "top plus one": top_plus_one}
"""How the children of a node may be drafted."""


def possible(children: str, shape: Shape, draft: LanguageModel, prefix: Prefix = ()) -> bool:
    """Whether there are enough tokens for distinct children wherever the draft may come."""
    row = draft(prefix)
    if children != "iid" and len(shape) > support(row):
        return False
    return all(
        possible(children, child, draft, (*prefix, token))
        for child in set(shape)
        for token, mass in enumerate(row)
        if mass
    )


def drafts(
    shape: Shape, draft: LanguageModel, children: str = "iid", prefix: Prefix = ()
) -> dict[Forest, Fraction]:
    """Return the law of the drafted tree."""
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
    """What a verifier does over all drafts.

    Parameters
    ----------
    verify : callable
        From what is drafted to its endings.
    law : mapping
        The law of what is drafted.
    """

    def __init__(
        self, verify: Callable[[Drafted], Iterable[Ending]], law: Mapping[Drafted, Fraction]
    ) -> None:
        self.kept: dict[Prefix, Fraction] = {}
        self.released: dict[Prefix, Fraction] = {}
        for drafted, chance in law.items():
            for mass, kept, row in verify(drafted):
                self._add(chance * mass, kept, row)

    def _add(self, mass: Fraction, kept: Prefix, row: Exact) -> None:
        if mass:
            self.kept[kept] = self.kept.get(kept, ZERO) + mass
            for token, chance in enumerate(row):
                if chance:
                    text = (*kept, token)
                    self.released[text] = self.released.get(text, ZERO) + mass * chance

    def mean(self) -> Fraction:
        """Return E[tau], how many tokens are kept."""
        return total(mass * len(kept) for kept, mass in self.kept.items())

    def lengths(self) -> dict[int, Fraction]:
        """Return the law of tau."""
        return collect((len(kept), mass) for kept, mass in self.kept.items())

    def texts(self, target: LanguageModel, length: int) -> dict[Prefix, Fraction]:
        """Return the law of the first tokens, where the plain target follows the next token."""
        law = dict(self.released)
        for short in range(1, length):
            for text in [text for text in law if len(text) == short]:
                mass = law.pop(text)
                for token, chance in enumerate(target(text)):
                    if chance:
                        longer = (*text, token)
                        law[longer] = law.get(longer, ZERO) + mass * chance
        return law


def lossless(ended: Ended, target: LanguageModel, most: int) -> Fraction:
    """Return slack 0 if the text is the target's up to one token after the deepest path."""
    return same_law(ended.texts(target, most + 1), target.blocks(most + 1), "the law of the text")


def over_drafts(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, law: Law | dict[Forest, Fraction]
) -> Ended:
    """Return what a verifier of trees does over all drafted trees."""
    return Ended(lambda forest: verify(target, draft, forest), law)
