"""apple/ml-recurrent-drafter: candidates of one beam or several."""

from __future__ import annotations

from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, of_block, of_paths, padded
from verdict import Case, of_verifier

REPOSITORY = "apple/ml-recurrent-drafter"
COMMIT = "bd8586bb9bbfa761644c36f932a0cd1eb3f1cdf9"
FILE = "recurrent_drafting/recurrent_drafting.py"
NAMES = "_choose_from_candidates", "_prepare_next_input", "_select_one_per_row"


def paths(checkout: Checkout) -> Any:
    """Return a verifier of paths: which is kept, how many tokens of it, and the one after."""
    code = checkout.load(FILE, *NAMES)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        beams = torch.nn.functional.pad(drafts, (1, 0))
        rows = target.log(), draft.log()
        kept, path = code._choose_from_candidates(beams, *rows)
        states = torch.zeros(*beams.shape, 1)
        token = code._prepare_next_input(rows[1], rows[0], states, path, kept)[1]
        return path, kept, token

    return verify


def block(checkout: Checkout) -> Any:
    """Return a verifier of one path, a block."""
    verify_paths = paths(checkout)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        _, kept, token = verify_paths(draft[:, None], target[:, None], drafts[:, None])
        return padded(torch.cat([drafts[0, : int(kept)], token]), target.shape[1])

    return verify


def tree(checkout: Checkout) -> Any:
    """Return the verifier of paths as one of trees."""
    from otspec.conformance.adapters import paths_tree

    verify_paths = paths(checkout)

    def verify(draft: Any, target: Any, drafts: Any, _: Any) -> Any:
        return verify_paths(draft, target, drafts)

    return paths_tree(verify)


CASES = [
    of_verifier("_choose_from_candidates, one beam", FILE, NAMES[0], block, of_block, kind="block"),
    Case(
        "_choose_from_candidates, two beams",
        FILE,
        NAMES[0],
        "exact",
        TWO._replace(cells=4),
        2,
        lambda checkout: of_paths(paths(checkout)),
        lambda checkout: (tree(checkout), {"kind": "tree", "shape": "2", "arrays": "torch"}),
    ),
]
