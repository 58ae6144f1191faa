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
        Whether the token is one of the drafts, including residual draws that equal a draft.
    index : array of int, shape (...)
        Which draft was accepted; −1 if the token was drawn from the residual distribution.
    """

    token: Array
    accepted: Array
    index: Array


class Drafted(NamedTuple):
    """Drafts, and the probabilities that they were drawn from.

    Parameters
    ----------
    drafts : array of token ids, shape (..., k)
    probabilities : array, shape (..., V)
        float64 for float64 logits, else float32.
    """

    drafts: Array
    probabilities: Array


class VerifiedBlock(NamedTuple):
    """How many tokens of a block are kept in each row, and the token that follows.

    Parameters
    ----------
    length : array of int, shape (...)
        The number of kept tokens, from 0 to L.
    token : array of token ids, shape (...)
        The token after them. −1 where the target there is zero everywhere.
    """

    length: Array
    token: Array


class Corrections(NamedTuple):
    """The corrections that earlier blocks still demand, the oldest block first.

    Parameters
    ----------
    ratio : array, shape (..., L − 1)
        M_s/M_b of the text since the block began; below 1.
    left : array of int, shape (..., L − 1)
        How many further tokens the block corrects; 0 if it is over.
    """

    ratio: Array
    left: Array


class CorrectedBlock(NamedTuple):
    """How many tokens of a block are kept in each row, the token that follows, and corrections.

    Parameters
    ----------
    length, token : array, shape (...)
        As in :class:`VerifiedBlock`.
    corrections : Corrections
        For the next block.
    """

    length: Array
    token: Array
    corrections: Corrections


class VerifiedPath(NamedTuple):
    """Which drafted path is kept in each row and how far, and the token that follows.

    Parameters
    ----------
    path : array of int, shape (...)
        The chosen path; the first of equal ones.
    length : array of int, shape (...)
        The number of its kept tokens, from 0 to L.
    token : array of token ids, shape (...)
        The token after them. −1 where the target there is zero everywhere.
    """

    path: Array
    length: Array
    token: Array


class VerifiedTree(NamedTuple):
    """How much of a drafted tree is kept in each row, and the token that follows.

    Parameters
    ----------
    node : array of int, shape (...)
        The last kept node; its ancestors are kept, too. −1 if none is kept.
    length : array of int, shape (...)
        The number of kept tokens, which is the depth of the node.
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
