"""The front of the rules for trees: arguments are checked, and go to the kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from otspec._base import as_choice, as_flag, as_parents, children_of, depths_of
from otspec.batch import _arguments as arguments
from otspec.batch._array_api.library import Array, Problem, quietly
from otspec.batch._array_api.sequences import by_depth
from otspec.batch._arrays import as_grades
from otspec.batch._calls import completed, selected
from otspec.batch._results import Verified, VerifiedTree
from otspec.batch._running import RULES, traversed


def tree_verification(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    tree: Any,
    /,
    *,
    rule: str = "recursive_rejection",
    mask: Array | None = None,
    partial: bool = False,
    grades: int = 6,
    checked: bool = False,
) -> VerifiedTree:
    """Verify a tree depth by depth: a rule for one token selects among the children of a node.

    If the returned token is a child, the first child with this token is kept, and the rule goes on
    with its children. Otherwise the token is the output. After a leaf the output is drawn from the
    target. The rule sees as many drafts as the node has children.

    Law: the kept tokens, the drawn one, and the target's own continuation are distributed as the
    target's text; :class:`otspec.blocks.DraftSelection` with ``merge=False``.
    Source: MCSD, alg. 1 and 2; SpecTr, alg. 3 where no drafts are equal. Cost: at each depth a copy
    of two rows and one call of the rule for the whole batch; one row and one sum for the token
    after a leaf.

    Parameters
    ----------
    draft : array, shape (..., nodes + 1, V)
        The distributions of the children of the text, then of the children of each node. Rows of
        leaves are ignored.
    target : array, shape (..., nodes + 1, V)
        The target after the text, then after each node.
    drafts : array of token ids, shape (..., nodes)
        The tree's tokens. Siblings must be drawn as the drafts of the rule.
    uniforms : array, shape (..., depth + 1, widest + 1)
        A row for each depth. A node with w children uses the first w numbers and the last one, as
        the rule takes them. The very last number draws the token after a leaf.
    tree : TokenTree or sequence of int
        The parent of each node, −1 for the text; parents come first. The same for all rows.
    rule : str
        A function of this module for one token: ``maximal_coupling``, ``recursive_rejection``,
        ``k_sequential``, ``pooled_selection``, ``spechub``, or one for distinct drafts,
        ``recursive_rejection_without_replacement`` or ``pooled_selection_without_replacement``.
    mask : array of bool, shape (..., nodes), optional
        True where a node was drafted, so that each row may have its own tree. Nothing counts below
        an undrafted node. Distinct siblings are left out from the last one on; SpecHub's siblings
        count both or not at all. Mask what follows an end-of-text token, and distinct drafts
        beyond the draft's number of tokens.
    partial, checked
        As for :func:`otspec.batch.maximal_coupling`. Nothing is drafted below a withdrawn draft.
        The tree and the options are always checked.
    grades : int
        As for :func:`otspec.batch.pooled_selection`; other rules ignore it.

    Returns
    -------
    VerifiedTree
        ``node``, ``length`` and ``token``, each of shape (...).

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; also an invalid tree, or one that does not fit the
        rule or the arrays.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verify_tree(
            (draft, target), drafts, uniforms, tree, rule=rule, mask=mask, grades=grades,
            checked=checked,
        )  # fmt: skip


def verify_tree(
    given: tuple[Array, Array],
    drafts: Array,
    uniforms: Array,
    tree: Any,
    models: Callable[[Array], tuple[Array, Array]] | None = None,
    *,
    rule: str = "recursive_rejection",
    mask: Array | None = None,
    grades: int = 6,
    checked: bool = False,
) -> VerifiedTree:
    """Check :func:`tree_verification`'s arguments and run it, with rows by node from ``models``."""
    # The models are given where the arrays have only their shape and their dtype.
    row = RULES[as_choice(rule, "rule", RULES)]
    shape = as_tree_shape(tree)
    if row.k is not None:
        check_numbers_of_children(shape, rule, row.k)
    numbers = len(shape.widths) + 1, max(shape.widths) + 1
    whole = *given, drafts, uniforms, mask
    problem = arguments.problem_of(whole, checked, lambda given: check_tree(shape, numbers, given))
    options = (as_grades(grades),) if row.graded else ()

    def select(at: Problem) -> Verified:
        return selected(rule, at, *options)

    return by_depth.verify(problem, shape.parents, shape.widths, select, not row.masked, models)


def traversal_verification(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    tree: Any,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    distinct: bool = False,
    checked: bool = False,
) -> VerifiedTree:
    """Verify a tree from its leaves to its root: each node after everything below it.

    The text has the weight w = 1, and a child x that of recursive rejection of (w q, 1 − w), one
    outcome more: min(1, (w q − c p)₊/(W p)) at x, where c is the sum of W over the siblings that
    were deleted before, and W = Σ (w q − c p)₊ + 1 − w. Once its children are deleted, a node is
    kept with probability Σ (w q − c p)₊/W, a leaf with w, and one token is drawn from
    (w q − c p)₊. For distinct siblings p is rescaled without the deleted ones.

    Law: as of :func:`tree_verification`; :class:`otspec.blocks.TraversalVerify` with
    ``merge=False``, or :class:`otspec.blocks.TraversalVerifyWithoutReplacement`. It keeps at least
    what recursive rejection keeps by :func:`tree_verification`; on a chain it is
    :func:`block_verification`. Source: Traversal Verification. Cost: one pass over a row for each
    node, with ``distinct`` also a sum for each inner node; and a copy of two rows with one pass.

    Parameters
    ----------
    draft, target, drafts, tree, mask, partial, checked
        As for :func:`tree_verification`, as are the result and the errors. Rows of leaves in the
        draft must be finite.
    uniforms : array, shape (..., nodes + 1)
        One for each node, and the last one for the draw.
    distinct : bool
        Whether siblings are drawn without replacement; else they are independent.
    """
    with quietly(draft):
        shape = as_tree_shape(tree)
        draft, target, drafts = completed(partial, draft, target, drafts)
        given = draft, target, drafts, uniforms, mask
        problem = arguments.problem_of(
            given, checked, lambda given: check_tree(shape, (len(shape) + 1,), given)
        )
        return traversed(problem, shape.parents, as_flag(distinct, "distinct"))


@dataclass(frozen=True)
class TreeShape:
    """Parents (−1: the text), numbers of children (first the text's), and the most by depth."""

    parents: tuple[int, ...]
    children: tuple[int, ...]
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.parents)


def as_tree_shape(tree: Any) -> TreeShape:
    """Return a tree, which is given by its parents or has them."""
    parents = as_parents(getattr(tree, "parents", tree), "tree")
    if not parents:
        raise ValueError("tree has no nodes: it must have at least one")
    children = tuple(map(len, children_of(parents)))
    depths = [0, *depths_of(parents)]
    widths = [0] * max(depths)
    for depth, count in zip(depths, children, strict=True):
        if count:
            widths[depth] = max(widths[depth], count)
    return TreeShape(parents, children, tuple(widths))


def check_numbers_of_children(shape: TreeShape, rule: str, only_k: int) -> None:
    """Refuse a tree with other numbers of children than a rule takes."""
    for node, count in enumerate(shape.children, start=-1):
        if count not in (0, only_k):
            where = "the text" if node < 0 else f"node {node}"
            raise ValueError(
                f"tree has {count} children of {where}: {rule} takes exactly {only_k}, or none"
            )


def check_tree(tree: TreeShape, numbers: tuple[int, ...], given: arguments.Given) -> None:
    """Check the arguments of the verification of a tree; ``numbers``: last axes of the uniforms."""
    draft, target, drafts, uniforms, mask = given
    check_rows(tree, draft, target)
    lead, nodes = draft.shape[:-2], len(tree)
    if drafts.shape != (*lead, nodes):
        raise ValueError(f"drafts has shape {drafts.shape}: it must be {(*lead, nodes)}")
    arguments.check_tokens(drafts)
    arguments.check_uniforms(uniforms, (*lead, *numbers))
    arguments.check_mask(mask, drafts)


def check_rows(
    tree: TreeShape, draft: Array, target: Array, names: arguments.Names = arguments.PAIR
) -> None:
    """Refuse models that do not have a row for the text and one for each node."""
    arguments.check_pair(draft, target, names)
    nodes = len(tree)
    if draft.ndim < 2 or draft.shape[-2] != nodes + 1:
        raise ValueError(
            f"{names[0]} has shape {draft.shape}: it must be (..., {nodes + 1}, V), rows for the "
            f"text and the {nodes} nodes of the tree"
        )
