"""The front of logits: they are warped, and rules take them in place of probabilities."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from otspec._base import as_choice, as_flag
from otspec.batch import _blocks, _rules, _running, _trees
from otspec.batch._arguments import LOGITS, check_drafts, check_pair, check_places
from otspec.batch._array_api.library import Array, Library, library_of, quietly
from otspec.batch._array_api.warping import Settings
from otspec.batch._arrays import check_library
from otspec.batch._from_logits.settings import settings_of, settings_of_both
from otspec.warping import STEPS

RULES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        _rules.maximal_coupling,
        _rules.recursive_rejection,
        _rules.recursive_rejection_without_replacement,
        _rules.k_sequential,
        _rules.spechub,
        _rules.pooled_selection,
        _rules.pooled_selection_without_replacement,
        _blocks.token_verification,
        _blocks.block_verification,
        _blocks.block_verification_preprint,
        _blocks.greedy_multi_path,
        _trees.tree_verification,
        _trees.traversal_verification,
    )
}
"""What verifies drafts, by name."""


def warp(
    logits: Array,
    /,
    *,
    temperature: float | Array = 1.0,
    top_k: int | Array | None = None,
    top_p: float | Array | None = None,
    min_p: float | Array | None = None,
    order: str | Iterable[str] = STEPS,
) -> Array:
    """Turn logits into a distribution: by temperature, top-k, top-p, min-p and a softmax.

    Law: :func:`otspec.traces.warp`, row by row. Verify against the warped distributions, not
    the logits' own softmax: a rule is lossless for the distributions it is given.

    Parameters
    ----------
    logits : array, shape (..., V)
        float32 or float64, or a half-precision type. ``-inf`` masks a token.
    temperature : float or array
        Divides the logits; in the range of the computing dtype. 0 is greedy: the first of the
        largest logits has probability 1, for any other settings.
    top_k : int or array, optional
        Keep the k largest logits, and all ties of the smallest of them.
    top_p : float or array, optional
        Keep the fewest likeliest tokens whose probability (after the earlier steps) reaches
        ``top_p``, in (0, 1]; among ties, those of lowest id.
    min_p : float or array, optional
        Keep the tokens whose probability is at least ``min_p`` times the largest one's, in [0, 1].
    order : str or iterable of str
        The order of the steps, as for :func:`otspec.traces.warp`.

    Returns
    -------
    array, shape (..., V)
        float64 for float64, else float32. NaN for a row without a finite logit.

    Raises
    ------
    ValueError
        An option out of range, or a shape or dtype that does not fit.

    Notes
    -----
    A setting is one number, or an array of the same library with one for each row: its shape is
    that of the first axes of the logits. In an array a ``top_k`` of V, a ``top_p`` of 1 and a
    ``min_p`` of 0 leave a row as it is. Only NumPy's arrays have their values checked. On a CPU
    with Numba, ``top_k`` and ``top_p`` sort only tokens near the border, elsewhere the vocabulary.
    """
    with quietly(logits):
        check_library(logits=logits)
        settings = settings_of("logits", logits, temperature, top_k, top_p, min_p, order)
        return _running.warped(logits, settings)


def from_logits(
    rule: str,
    draft_logits: Array,
    target_logits: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    temperature: Any = 1.0,
    top_k: Any = None,
    top_p: Any = None,
    min_p: Any = None,
    order: Any = STEPS,
    draft_probabilities: bool = False,
    tree: Any = None,
    **options: Any,
) -> Any:
    """Verify drafts with a rule of this module, given logits instead of probabilities.

    Law: that of the rule for ``warp(draft_logits, ...)`` and ``warp(target_logits, ...)``. The
    output is distributed as the warped target.

    Parameters
    ----------
    rule : str
        A function of this module that takes a draft, a target, drafts and uniform numbers.
    draft_logits, target_logits : array, shape (..., V)
        In the shapes of the rule's draft and target; each float32, float16 or bfloat16, or both
        float64. ``-inf`` masks a token. Cut off padding columns with a view, ``logits[..., :V]``.
    drafts, uniforms : array
        As the rule takes them.
    temperature, top_k, top_p, min_p, order
        As for :func:`warp`; a pair ``(draft's, target's)`` gives them different settings.
    draft_probabilities : bool
        True if ``draft_logits`` are the probabilities that the drafts were drawn from. Then only
        the target is warped.
    tree : TokenTree or sequence of int, optional
        For a rule that takes one.
    **options
        Options of the rule, such as ``mask`` or ``grades``.

    Returns
    -------
    Verified, VerifiedBlock, CorrectedBlock, VerifiedPath or VerifiedTree
        What the rule returns.

    Raises
    ------
    ValueError
        As the rule and :func:`warp`; an unknown rule; a pair that is not a tuple of two.

    Notes
    -----
    With Numba, float32 and half-precision logits on a CPU go row by row and are read once.
    :func:`token_verification` reads no place after the corrected one, and
    :func:`tree_verification` only the nodes that it reaches. The other rules for blocks and trees
    get all rows of both models as probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> draft, target = np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])
    >>> drafts, uniforms = np.array([[0]]), np.array([[0.6, 0.1]])
    >>> from_logits("maximal_coupling", draft, target, drafts, uniforms).token.tolist()
    [1]
    """
    with quietly(target_logits):
        function = RULES[as_choice(rule, "rule", RULES)]
        known = as_flag(draft_probabilities, "draft_probabilities")
        given = {"draft_logits": draft_logits, "target_logits": target_logits}
        check_library(**given, drafts=drafts, uniforms=uniforms)
        settings = settings_of_both(given, known, temperature, top_k, top_p, min_p, order)
        more = () if tree is None else (tree,)
        if not more and options.keys() <= {"mask", "grades", "checked"}:
            found = _running.straight(
                rule, (*given.values(), drafts, uniforms), settings, **options
            )
            if found is not None:
                return found
        if rule == "tree_verification" and "partial" not in options:
            return _down_a_tree(
                (draft_logits, target_logits), settings, drafts, uniforms, tree, options
            )
        draft, target = map(_running.warped, given.values(), settings)
        if not options.get("checked", False):
            _check_fit(rule, draft, target, drafts, tree)
        return function(draft, target, drafts, uniforms, *more, **options)


def _check_fit(rule: str, draft: Array, target: Array, drafts: Array, tree: Any) -> None:
    """Refuse models and drafts that do not fit together, which the caller calls logits."""
    if RULES[rule].__module__ == _trees.__name__:
        _trees.check_rows(_trees.as_tree_shape(tree), draft, target, LOGITS)
    elif RULES[rule].__module__ == _blocks.__name__:
        check_places(draft, target, drafts, LOGITS)
    else:
        check_pair(draft, target, LOGITS)
        check_drafts(drafts, draft, name="draft_logits")


def _down_a_tree(
    given: tuple[Array, Array],
    settings: Sequence[Settings | None],
    drafts: Array,
    uniforms: Array,
    tree: Any,
    options: dict[str, Any],
) -> Any:
    """Verify a tree by depth, where only rows that are reached become probabilities."""

    def models(node: Array) -> tuple[Array, Array]:
        draft, target = (
            _running.warped(library.at(rows, node + 1), _settings_at(library, node, own))
            for rows, own in zip(given, settings, strict=True)
        )
        return draft, target

    library = library_of(given[0])
    like = (library_of(rows) for rows in given)
    shapes = (
        own.xp.broadcast_to(own.narrowed(own.full((1,), 0.0)), rows.shape)
        for own, rows in zip(like, given, strict=True)
    )
    draft, target = shapes
    if not options.get("checked", False):
        _trees.check_rows(_trees.as_tree_shape(tree), draft, target, LOGITS)
    return _trees.verify_tree((draft, target), drafts, uniforms, tree, models, **options)


def _settings_at(library: Library, node: Array, settings: Settings | None) -> Settings | None:
    """Return the settings of the row after a node in each row."""
    if settings is None:
        return None

    def at(value: Any) -> Any:
        if not getattr(value, "ndim", 0):
            return value
        return library.at(value, node + 1) if value.shape[-2] > 1 else value[..., 0, :]

    temperature, most, share, least, order = settings
    return Settings(at(temperature), at(most), at(share), at(least), order)
