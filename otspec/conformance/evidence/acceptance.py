"""How much a verifier accepted of the drafts of a case, and the most that there is to accept."""

from functools import lru_cache

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.blocks import BlockVerificationPreprint
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.policies import model_of
from otspec.conformance.report.report import Tried
from otspec.drafts import LAWS
from otspec.estimate import Estimate
from otspec.optimum import optimal_acceptance


def accepted(kind: Kind, counts: IntArray) -> Estimate | None:
    """Return how much was accepted in the mean; None of fewer than two rows.

    Parameters
    ----------
    counts : ndarray of int, shape (marks, fine cells)
    """
    by_mark = counts.sum(axis=1)
    if by_mark.sum() < 2:
        return None
    worth = np.minimum(np.arange(kind.marks), 1) if kind.name == "tokens" else kind.kept
    values = np.repeat(np.array(worth, dtype=float), by_mark)
    return Estimate.of_mean(values, most=float(max(worth)))


def most_accepted(kind: Kind, case: Case) -> float | None:
    """Return the most that any lossless rule accepts in the mean, if that is cheap to tell.

    Parameters
    ----------
    case : Case
        Of i.i.d. drafts the optimum; of a block that of one block (Block, thm. 1).
    """
    known = kind.name == "block" or (kind.name == "tokens" and kind.law == "iid")
    if case.uneven or case.sizes.max() > 1 or not known:
        return None
    # A case in a large vocabulary has the rows of the small one.
    return _most_of(kind, case.draft.shape, case.draft.tobytes(), case.target.tobytes())


@lru_cache(maxsize=1024)
def _most_of(kind: Kind, shape: tuple[int, ...], draft: bytes, target: bytes) -> float:
    """Return the most that is accepted of models whose numbers are these bytes."""
    draft_rows, target_rows = (np.frombuffer(each).reshape(shape) for each in (draft, target))
    pairs = zip(draft_rows, target_rows, strict=True)
    if kind.name == "block":
        length = len(kind.parents)
        each = [
            BlockVerificationPreprint(model_of(p), model_of(q), length).expected() for p, q in pairs
        ]
    else:
        each = [_of_tokens(kind, p[0], q[0]) for p, q in pairs]
    return float(np.mean([float(most) for most in each]))


def _of_tokens(kind: Kind, draft: Array, target: Array) -> float:
    law = LAWS[kind.law](draft, len(kind.parents))
    return float(optimal_acceptance(law, target).acceptance)


def acceptance_note(tried: Tried) -> tuple[str, ...]:
    """Return what is to be said of a case in a note; nothing if its acceptance is not known."""
    seen = tried.accepted
    if seen is None:
        return ()
    error = max(seen.high - seen.value, seen.value - seen.low)
    known = (
        "" if tried.optimum is None else f"; the optimum for these drafts is {tried.optimum:.4f}"
    )
    return (f"on {tried.case!r} it accepts {seen:.4f} ± {error:.4f} per row{known}",)
