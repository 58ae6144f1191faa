"""Drafts of a model with another vocabulary than the target's (Theory, 44 and 51)."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from otspec._base import as_callable, as_instance, as_list, as_tokens, sums_by
from otspec.distributions import Distribution, DistributionLike, as_distribution, as_k


def on_target_tokens(
    draft: DistributionLike, tokens: Iterable[int], become: Iterable[int], n: int
) -> Distribution:
    """Return the distribution of drafts from another vocabulary, over the target's.

    A draft is drawn again until it is a token that has a counterpart, and becomes that. So a rule
    that is told this distribution is lossless. With common tokens it is the token-level
    intersection of two vocabularies.

    Parameters
    ----------
    draft : array_like, shape (m,)
        Over the vocabulary of the draft model.
    tokens, become : sequence of int
        The tokens of the draft model that have a counterpart, each once, and the token of the
        target that each becomes; several may become one.
    n : int
        Vocabulary size of the target.

    Raises
    ------
    ValueError
        Unusable probabilities or tokens, two lists of different lengths, or tokens that are never
        drafted.

    Examples
    --------
    >>> law = on_target_tokens(["1/2", "1/4", "1/4"], tokens=[0, 2], become=[3, 1], n=4)
    >>> [str(mass) for mass in law]
    ['0', '1/3', '0', '2/3']
    """
    checked, size = as_distribution(draft, "draft"), as_k(n, "n")
    kept = as_tokens(tokens, len(checked), "tokens")
    mapped = as_tokens(become, size, "become")
    if len(kept) != len(mapped) or len({*kept}) != len(kept):
        raise ValueError(
            f"tokens has {len({*kept})} different tokens of the draft and become {len(mapped)} of "
            "the target: pass each token of the draft once, with the one that it becomes"
        )
    masses = checked[list(kept)]
    if not masses.sum() > 0:
        raise ValueError("no token of tokens is ever drafted: pass tokens of positive probability")
    index = np.array(mapped, dtype=np.intp)
    return as_distribution(sums_by(index, masses, size) / masses.sum(), "the drafts")


def on_target_strings(
    draft: Callable[[tuple[int, ...]], Any], writes: Sequence[str], strings: Sequence[str]
) -> Distribution:
    """Return the distribution of the target token that a drafted string begins with.

    The draft model writes a string of any length, and a tokenizer takes the longest target token
    that the string begins with. A string that begins with none is drawn again. So a rule that is
    told this distribution is lossless; one that is told how likely each token's string is written
    is not, where one token's string begins another's.

    Law: with ψ(y) the probability that the string begins with token y, p(y) = ψ(y) − Σ ψ(z) over
    the tokens z that y begins, with no token between them, scaled to sum to 1 (Theory, 51).

    Parameters
    ----------
    draft : callable
        From a tuple of draft tokens to the distribution of the next one, array_like, shape (m,).
    writes : sequence of str
        What each draft token writes, m strings, none of them empty.
    strings : sequence of str
        The n different strings of the target's tokens; an empty one is never drafted.

    Returns
    -------
    ndarray, shape (n,)
        It sums to 1.

    Raises
    ------
    ValueError
        Unusable probabilities, an empty string of a draft token, equal strings of two target
        tokens, or strings that never begin with a target token.

    Examples
    --------
    >>> law = on_target_strings(lambda text: ["1/2", "1/2"], ["a", "b"], ["a", "b", "ab"])
    >>> [str(mass) for mass in law]
    ['1/4', '1/2', '1/4']
    """
    as_callable(draft, "draft", "a function of a tuple of draft tokens")
    written, read = _as_strings(writes, "writes"), _as_strings(strings, "strings")
    if not all(written):
        raise ValueError("writes has an empty string: leave out draft tokens that write nothing")
    if len({*filter(None, read)}) != len([*filter(None, read)]):
        raise ValueError("strings has equal ones: pass each string of the target's tokens once")

    @cache
    def row(text: tuple[int, ...]) -> Distribution:
        after = as_distribution(draft(text), "draft")
        if len(after) != len(written):
            raise ValueError(
                f"draft returned {len(after)} probabilities for {len(written)} strings in writes: "
                "pass one string for each draft token"
            )
        return after

    def begins(text: tuple[int, ...], rest: str) -> Any:
        """Return how likely the draft goes on after a text with a string that begins with rest."""
        chance: Any = 0
        for token, mass in enumerate(row(text)):
            own = written[token]
            if mass > 0 and own.startswith(rest):
                chance += mass
            elif mass > 0 and rest.startswith(own):
                chance += mass * begins((*text, token), rest[len(own) :])
        return chance

    psi = {string: begins((), string) for string in read if string}
    law = np.array([0 * row(())[0] + psi.get(string, 0) for string in read])
    place = {string: y for y, string in enumerate(read)}
    for longer, chance in psi.items():
        shorter = [longer[:end] for end in range(1, len(longer)) if longer[:end] in place]
        if shorter:  # the longest token that begins this one
            law[place[shorter[-1]]] -= chance
    if not law.sum() > 0:
        raise ValueError("nothing made of writes begins with one of strings: pass others")
    return as_distribution(np.maximum(law, 0 * law) / law.sum(), "the drafts", normalize=True)


def _as_strings(values: Sequence[str], name: str) -> list[str]:
    """Return strings in a list."""
    listed = as_list(values, name, "a list of strings")
    for each in listed:
        as_instance(each, f"an entry of {name}", str, "a string")
    return listed
