"""The gradient of the optimum in the draft's logits, in fractions or floats (Theory, 2)."""

import numpy as np

from otspec._base import Array, IntArray, as_choice, zeros
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import IID, LAWS, WithoutReplacement
from otspec.drafts.race.increments import check_steps
from otspec.drafts.single import FixedButOne
from otspec.optimum import optimal_acceptance

GRADIENTS = IID, WithoutReplacement, FixedButOne  # the laws, with the subclasses of each


def acceptance_gradient(
    draft: DistributionLike, target: DistributionLike, k: int, law: str = IID.name
) -> Array:
    """Return the derivative of the optimal acceptance by each logit of the draft: exact.

    With A the cut of :func:`otspec.optimal_acceptance`, α = q(A) + 1 − f(A), f(A) = P(all drafts in
    A): the derivative is −∂f(A)/∂z, where p = softmax(z). It sums to 0. By the probabilities the
    derivative in the direction of tokens x and y is g(x)/p(x) − g(y)/p(y).

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    k : int
    law : str
        ``"iid"``, ``"without-replacement"``, ``"hub"`` or ``"top-plus-one"``.

    Returns
    -------
    ndarray, shape (n,)
        Fractions for exact input. If several sets are minimal it is a subgradient, that of the cut.

    Raises
    ------
    ValueError
        As :func:`otspec.optimal_acceptance`; for distinct drafts also where there are too many sets
        of drafts, as for exact numbers.

    Examples
    --------
    >>> gradient = acceptance_gradient(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2)
    >>> [str(part) for part in gradient]
    ['-1/4', '3/20', '1/10']
    """
    draft, target = as_pair(draft, target)
    drafts = LAWS[as_choice(law, "law", LAWS)](draft, as_k(k))
    if not isinstance(drafts, GRADIENTS):
        raise ValueError(f"law is {law!r}, whose gradient is not known: use iid or another one")
    cut = np.array(optimal_acceptance(drafts, target).cut, dtype=np.intp)
    if isinstance(drafts, WithoutReplacement):
        return -_of_distinct(draft, k, cut)
    if isinstance(drafts, FixedButOne):
        return -_of_free(drafts, cut)
    # f(A) = p(A)^k.
    inside = draft[cut].sum() if len(cut) else draft[0] * 0
    return -k * inside ** (k - 1) * _of_mass(draft, cut)


def _of_mass(law: Distribution, members: IntArray) -> Array:
    """Return the derivative of the mass of a set by the logits: p (1[A] − p(A))."""
    found = zeros(len(law), like=law)
    found[members] = law[members]
    found -= law * found.sum()
    return found


def _of_free(drafts: FixedButOne, members: IntArray) -> Array:
    """Return the derivative of P(the free draft is in A); the fixed ones have none."""
    free = drafts.free()
    if not free.any() or np.setdiff1d(drafts.fixed, members).size:
        return zeros(len(free), like=free)
    return _of_mass(free, members)


def _of_distinct(draft: Distribution, k: int, members: IntArray) -> Array:
    """Return the derivative of P(all distinct drafts in A), set by set of drafts."""
    # The next draft after a set S is x with probability w = p(x)/(1 − p(S)), whose logarithm has
    # the derivative 1[y = x] − 1[y ∉ S] p(y)/(1 − p(S)) by logit y.
    tokens = [int(token) for token in members if draft[token]]
    check_steps(len(tokens), k)
    one = draft[0] * 0 + 1
    # By the drafts so far: the probability of the set, and its derivatives.
    sets = {frozenset[int](): (one, zeros(len(draft), like=draft))}
    for _ in range(k):
        larger: dict[frozenset[int], tuple[Array, Array]] = {}
        for drafted, (mass, slope) in sets.items():
            left = draft.copy()
            for token in drafted:
                left[token] = left[token] * 0
            rest = left.sum()
            for token in tokens:
                if token in drafted:
                    continue
                step = -left / rest
                step[token] = step[token] + one
                chance = draft[token] / rest
                added = mass * chance, chance * (slope + mass * step)
                both = drafted | {token}
                so_far = larger.get(both, (one * 0, zeros(len(draft), like=draft)))
                larger[both] = so_far[0] + added[0], so_far[1] + added[1]
        sets = larger
    return sum((slope for _, slope in sets.values()), zeros(len(draft), like=draft))
