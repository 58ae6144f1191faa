"""Draft laws by name: what command lines, tables and charts call them."""

from __future__ import annotations

from otspec.arguments import as_choice
from otspec.distributions import Distribution, as_k
from otspec.drafts.contract import DraftLaw
from otspec.drafts.hub import Hub, TopPlusOne
from otspec.drafts.independent import IID
from otspec.drafts.without_replacement import WithoutReplacement
from otspec.raw import shown

LAW_NAMES = ("iid", "without-replacement", "hub", "top-plus-one")
"""The laws that are made from one draft distribution."""


def named_law(name: str, draft: Distribution, k: int) -> DraftLaw:
    """Return the law of that name over one draft distribution.

    Parameters
    ----------
    name : str
        One of :data:`LAW_NAMES`.
    draft : ndarray, shape (n,)
    k : int

    Raises
    ------
    ValueError
        An unknown name, or a k that the law does not have for this draft.
    """
    name = as_choice(name, "drafts", LAW_NAMES)
    if name == "iid":
        return IID(draft, k)
    if name == "without-replacement":
        return WithoutReplacement(draft, k)
    if name == "top-plus-one":
        return TopPlusOne(draft, k)
    if as_k(k) != 2:
        raise ValueError(f"k is {shown(k)}, but hub drafts come in pairs: use k = 2 or another law")
    return Hub(draft)
