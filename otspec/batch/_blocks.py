"""The fronts of block verification: arguments are checked, and go to the kernels."""

from __future__ import annotations

from otspec.batch._arguments import as_block_problem, as_paths_problem
from otspec.batch._kernels import drafted_block, greatest_path
from otspec.batch._kernels.library import Array, quiet
from otspec.batch._results import VerifiedBlock, VerifiedPath


@quiet
def block_verification(
    draft: Array, target: Array, drafts: Array, uniforms: Array, /, *, mask: Array | None = None
) -> VerifiedBlock:
    """Decide jointly how much of a block of L drafts to keep.

    With w_0 = 1 and w_i = min(1, w_{i−1} q_i(x_i) / p_i(x_i)), Z_i = Σ (w_i q_{i+1} − p_{i+1})₊
    and h_i = Z_i / (Z_i + 1 − w_i), or w_L at the end, the block is kept up to the last i whose
    uniform number is below h_i. Then one token is drawn from (w_i q_{i+1} − p_{i+1})₊, or
    from the target after a whole block.

    Law: the kept tokens, the drawn one, and the target's own continuation are distributed as the
    target's text; no such rule keeps more in the mean; :class:`otspec.blocks.BlockVerifyPublished`.
    Source: block verification, published version, alg. 2.

    Parameters
    ----------
    draft : array, shape (..., L, V)
        What each token of the block was drawn from, p_1 to p_L.
    target : array, shape (..., L + 1, V)
        The target at the same places, and after the block.
    drafts : array of token ids, shape (..., L)
        The block.
    uniforms : array, shape (..., L + 1)
        One for each place, the last one for the draw.
    mask : array of bool, shape (..., L), optional
        True for the tokens of a shorter block, which come first: the target after a block of
        ℓ tokens is then ``target[..., ℓ, :]``.

    Returns
    -------
    VerifiedBlock
        ``length`` and ``token``, each of shape (...).

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; also blocks that do not fit.

    Notes
    -----
    Each place goes through the sums of :func:`otspec.batch.maximal_coupling`, whose total variation
    is at most 3e-8 in float32 and 3e-16 in float64. Cost: one pass over the block.
    """
    return drafted_block.verify(as_block_problem(draft, target, drafts, uniforms, mask))


@quiet
def greedy_multi_path(
    draft: Array, target: Array, drafts: Array, uniforms: Array, /
) -> VerifiedPath:
    """Choose the greatest of K drafted paths of L tokens, and verify it as one block.

    At each place the path goes on with the drafted token of the highest q(x)/p(x), of equal ones
    the largest. The law of that path has a closed form, which stands in place of p in
    :func:`block_verification` of the chosen path.

    Law: the kept tokens, the drawn one, and the target's own continuation are distributed as the
    target's text; :class:`otspec.blocks.GreedyMultiPath`. Source: GBV.

    Parameters
    ----------
    draft : array, shape (..., K, L, V)
        What each token of each path was drawn from. Paths that begin alike have equal rows there.
    target : array, shape (..., K, L + 1, V)
        The target at the same places, and after each path.
    drafts : array of token ids, shape (..., K, L)
        The paths, each drawn independently of the others.
    uniforms : array, shape (..., L + 1)
        One for each place, the last one for the draw.

    Returns
    -------
    VerifiedPath
        ``path``, ``length`` and ``token``, each of shape (...).

    Raises
    ------
    ValueError
        As :func:`block_verification`.

    Notes
    -----
    Cost: a stable sort of the vocabulary at each of L places, whatever K is. Where there is no
    float64, the sum over the ranks is one of float32.
    """
    return greatest_path.verify(as_paths_problem(draft, target, drafts, uniforms))
