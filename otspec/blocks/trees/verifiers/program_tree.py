"""A user's own program as a rule for drafted blocks and trees."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from otspec._base import as_callable, as_flag
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.chance import Chance
from otspec.rules.base.law_rule import as_returned_row


@dataclass(frozen=True, eq=False)
class ProgramTree(TreeRule):
    """A rule for blocks or trees that is written as one function ``verify(drafts, chance)``.

    Drafts are i.i.d. A tree without branches, such as ``"1x1x1"``, is a drafted block. After the
    corrected token the target goes on. :func:`otspec.auditing.audit_blocks` says whether texts are
    the target's. Errors: :class:`TreeRule`; also for no callable, and later for an answer that is
    none of the three.

    Parameters
    ----------
    draft, target, tree
        As for :class:`otspec.blocks.TreeRule`.
    function : callable
        Takes a :class:`otspec.blocks.DraftedTree` and a :class:`otspec.chance.Chance`, and answers
        as :meth:`otspec.blocks.BlockRule.verify`: a node, a node and a distribution, or a
        distribution.
    merge : bool
        Whether equal children are one node, with the children of all; else the first goes on.

    Examples
    --------
    >>> from otspec.auditing import audit_blocks
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> def verify(drafts, chance):  # keep what the target draws, and its token after that
    ...     for node, token in enumerate(drafts, start=-1):
    ...         drawn = chance.choose(drafts.target(node))
    ...         if drawn != token:
    ...             return node, [int(y == drawn) for y in range(2)]
    ...     return len(drafts) - 1
    >>> report = audit_blocks(ProgramTree(draft, target, "1x1", verify))
    >>> report.lossless, report.expected, report.optimum
    (True, Fraction(3, 4), Fraction(23, 16))
    """

    function: Callable[[DraftedTree, Chance], Any]
    merge: bool = field(default=True, kw_only=True)

    name: ClassVar[str] = "program"
    title: ClassVar[str] = "own program"
    renews: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_callable(self.function, "function", "a function verify(drafts, chance)")
        as_flag(self.merge, "merge")

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Run the function; ``ValueError`` if it returns neither a node nor n masses, nor both."""
        found, row = self.function(drafts, chance), None
        if isinstance(found, tuple) and len(found) == 2 and _is_integer(found[0]):
            found, row = found[0], as_returned_row(found[1], drafts.target(ROOT))
        if not _is_integer(found):
            return as_returned_row(found, drafts.target(ROOT))
        node = operator.index(found)
        if not ROOT <= node < len(drafts):
            raise ValueError(
                f"verify returned node {node}: return a node from -1 to {len(drafts) - 1}, the "
                "masses of the next token, or both"
            )
        return node if row is None else (node, row)


def _is_integer(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True
