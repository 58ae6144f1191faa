"""Drafts of a model with another vocabulary than the target's (Theory, 44)."""

from collections.abc import Iterable

import numpy as np

from otspec._base.arguments import as_tokens
from otspec._base.arithmetic import sums_by
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
    tokens : sequence of int
        The tokens of the draft model that have a counterpart, each once.
    become : sequence of int
        The token of the target that each becomes; several may become one.
    n : int
        Vocabulary size of the target.

    Returns
    -------
    ndarray, shape (n,)
        It sums to 1.

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
