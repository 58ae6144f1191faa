"""The fronts of the rules for blocks: arguments are checked, and go to the kernels."""

from otspec.batch import _arguments as arguments
from otspec.batch._array_api.library import Array, quietly
from otspec.batch._array_api.sequences import drafted_block
from otspec.batch._calls import completed, verified
from otspec.batch._results import CorrectedBlock, Corrections, VerifiedBlock, VerifiedPath
from otspec.batch._running import greatest


def token_verification(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> VerifiedBlock:
    """Keep the tokens of a block one by one, until one is rejected, and correct that one.

    Token i is kept if its uniform number is below q_i(x_i)/p_i(x_i) and all before it are. Then
    one token is drawn from (q_{i+1} − p_{i+1})₊, or from the target after a whole block.

    Law: :class:`otspec.blocks.TokenVerification`;
    :func:`otspec.batch.block_verification` keeps more. Source: Block, alg. 2.
    Cost: a copy of two rows of each block, and one pass over them.

    Parameters, result and errors are those of :func:`otspec.batch.block_verification`.
    """
    given = draft, target, drafts, uniforms, mask
    return verified("token_verification", given, partial=partial, checked=checked)


def block_verification(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> VerifiedBlock:
    """Decide jointly how much of a block of L drafts to keep.

    With w_0 = 1 and w_i = min(1, w_{i−1} q_i(x_i) / p_i(x_i)), Z_i = Σ (w_i q_{i+1} − p_{i+1})₊
    and h_i = Z_i / (Z_i + 1 − w_i), or w_L at the end, the block is kept up to the last i whose
    uniform number is below h_i. Then one token is drawn from (w_i q_{i+1} − p_{i+1})₊, or
    from the target after a whole block.

    Law: the kept tokens, the drawn one, and the target's own continuation are distributed as the
    target's text. No such rule keeps more on average. :class:`otspec.blocks.BlockVerification`.
    Source: block verification, published version, alg. 2. Each place goes through the sums of
    :func:`otspec.batch.maximal_coupling`, with the same precision. Cost: one pass over the block,
    and what :func:`otspec.batch.token_verification` costs.

    Parameters
    ----------
    draft : array, shape (..., L, V)
        The distributions that the tokens of the block were drawn from, p_1 to p_L.
    target : array, shape (..., L + 1, V)
        The target at the same places, and after the block.
    drafts : array of token ids, shape (..., L)
        The block.
    uniforms : array, shape (..., L + 1)
        One for each place, and the last one for the draw.
    mask : array of bool, shape (..., L), optional
        True for the tokens of a shorter block, which come first. The target after a block of
        ℓ tokens is then ``target[..., ℓ, :]``. Use it to end a block with an end-of-text token.
    partial, checked
        As for :func:`otspec.batch.maximal_coupling`.

    Returns
    -------
    VerifiedBlock
        ``length`` and ``token``, each of shape (...).

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; also blocks that do not fit.
    """
    given = draft, target, drafts, uniforms, mask
    return verified("block_verification", given, partial=partial, checked=checked)


def block_verification_preprint(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    corrections: Corrections | None = None,
    reach: Array | None = None,
    checked: bool = False,
) -> CorrectedBlock:
    """Decide jointly how much of a block to keep, and correct it to its end.

    With r_i = Π_{j ≤ i} q_j(x_j) / p_j(x_j) and Z_i = Σ (r_i q_{i+1} − p_{i+1})₊ the thresholds are
    min(1, Z_i / (Z_i + 1 − r_i)), or min(1, r_L) at the end; otherwise as
    :func:`otspec.batch.block_verification`. One token is drawn from (r_i q_{i+1} − p_{i+1})₊. The
    L − i − 1 tokens after it have residuals of the whole text as their target, too: pass the
    returned ``corrections``, with plain rows, to the call for the next block.

    Law: the text decoded block by block is the target's. No coupling of blocks of L tokens
    keeps more of the first block, but later blocks keep less.
    :class:`otspec.blocks.BlockVerificationPreprint`. Source: Block, alg. 3. Cost: as
    :func:`otspec.batch.block_verification`; with corrections L (L − 1)/2 more passes over a place.

    Parameters
    ----------
    draft, target, drafts, uniforms, mask, partial, checked
        As for :func:`otspec.batch.block_verification`. Rows are the models' own, and ``partial`` is
        the same in all blocks of a text. If corrections reach beyond a shorter block, they need the
        draft's row after it, too.
    corrections : Corrections, optional
        From the previous block; None at the beginning of a text.
    reach : array of int, shape (...), optional
        The planned length of each block, at most L; by default its actual length. They differ if
        an end-of-text token ended the block: corrections reach to the planned end.

    Returns
    -------
    CorrectedBlock
        ``length``, ``token`` and ``corrections``.

    Raises
    ------
    ValueError
        As :func:`otspec.batch.block_verification`; also corrections of blocks of another length.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        given = draft, target, drafts, uniforms, mask
        problem = arguments.problem_of(given, checked, arguments.check_block)
        if corrections is not None and not checked:
            arguments.check_corrections(corrections, drafts)
        if reach is not None and not checked:
            arguments.check_reach(reach, drafts)
        return drafted_block.preprint(problem, corrections, reach)


def greedy_multi_path(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    partial: bool = False,
    checked: bool = False,
) -> VerifiedPath:
    """Choose the greatest of K drafted paths of L tokens, and verify it as one block.

    At each place the path goes on with the drafted token of the highest q(x)/p(x), the largest id
    among equal ones. The law of this path has a closed form, which replaces p in
    :func:`block_verification` of the chosen path.

    Law: as of :func:`block_verification`; :class:`otspec.blocks.GreedyMultiPath`. Source: GBV.
    Cost: a stable sort of the vocabulary at each of L places, whatever K is; row by row only at
    places whose residual is asked for. Where there is no float64, the sum over the ranks is one of
    float32.

    Parameters
    ----------
    draft : array, shape (..., K, L, V)
        What each token of each path was drawn from. Paths that begin alike have equal rows there,
        also behind withdrawn drafts.
    target : array, shape (..., K, L + 1, V)
        The target at the same places, and after each path.
    drafts : array of token ids, shape (..., K, L)
        The paths, each drawn independently of the others.
    uniforms, partial, checked
        As for :func:`block_verification`, as are the errors.

    Returns
    -------
    VerifiedPath
        ``path``, ``length`` and ``token``, each of shape (...).
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        given = draft, target, drafts, uniforms, None
        return greatest(arguments.problem_of(given, checked, arguments.check_paths))
