"""What verification returns."""

from typing import NamedTuple

from otspec.batch._array_api.library import Array


class Verified(NamedTuple):
    """One output token per row.

    Parameters
    ----------
    token : array of token ids, shape (...)
        The output. −1 for a row whose target is zero everywhere.
    accepted : array of bool, shape (...)
        Whether the token is one of the drafts, also where a residual draw happens to be.
    index : array of int, shape (...)
        Which draft was accepted; −1 if the token was drawn instead.
    """

    token: Array
    accepted: Array
    index: Array


class Drafted(NamedTuple):
    """Drafts, and what their verification needs.

    Parameters
    ----------
    drafts : array of token ids, shape (..., k)
    probabilities : array, shape (..., V)
        What they were drawn from: float64 for float64 logits, else float32.
    """

    drafts: Array
    probabilities: Array


class VerifiedBlock(NamedTuple):
    """How much of a draft block is kept, per row, and the token that follows.

    Parameters
    ----------
    length : array of int, shape (...)
        How many of the block's tokens are kept, from 0 to L.
    token : array of token ids, shape (...)
        The token after them. −1 where the target there is zero everywhere.
    """

    length: Array
    token: Array


class Corrections(NamedTuple):
    """What earlier blocks still correct: the oldest first, as many as may be.

    Parameters
    ----------
    ratio : array, shape (..., L − 1)
        M_s/M_b of the text since the block began, as its target says it; below 1.
    left : array of int, shape (..., L − 1)
        How many further tokens the block corrects; 0 if it is over.
    """

    ratio: Array
    left: Array


class CorrectedBlock(NamedTuple):
    """How much of a draft block is kept, per row, the token that follows, and what is left over.

    Parameters
    ----------
    length, token : array, shape (...)
        As in :class:`VerifiedBlock`.
    corrections : Corrections
        For the block after them.
    """

    length: Array
    token: Array
    corrections: Corrections


class VerifiedPath(NamedTuple):
    """Which of several drafted paths is kept and how far, per row, and the token that follows.

    Parameters
    ----------
    path : array of int, shape (...)
        The path that was chosen, the first of those that are alike.
    length : array of int, shape (...)
        How many of its tokens are kept, from 0 to L.
    token : array of token ids, shape (...)
        The token after them. −1 where the target there is zero everywhere.
    """

    path: Array
    length: Array
    token: Array


class VerifiedTree(NamedTuple):
    """How much of a tree of drafts is kept, per row, and the token that follows.

    Parameters
    ----------
    node : array of int, shape (...)
        The last node that is kept, whose path is; −1 if none is.
    length : array of int, shape (...)
        How many tokens are kept: the depth of the node.
    token : array of token ids, shape (...)
        The token after them. −1 where the target there is zero everywhere.
    """

    node: Array
    length: Array
    token: Array


KINDS: dict[type, tuple[str, ...]] = {
    Verified: ("int64", "bool", "int64"),
    VerifiedBlock: ("int64", "int64"),
}
"""The dtypes of what PyTorch and machine code return."""
