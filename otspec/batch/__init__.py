"""Verification of drafts for whole batches at full vocabulary, on any array library.

Every function takes arrays that follow the Python array API standard (NumPy, PyTorch, CuPy, JAX)
with the vocabulary on the last axis and any leading axes, and returns arrays of the same library
on the same device. Randomness comes in as uniform numbers. Nothing waits for the device: shapes,
dtypes and devices are checked, values are not (but token ids in NumPy's arrays, and in tensors on a
CPU where these go row by row in machine code, for which Numba must be there).

Notes
-----
Precision. With draft and target rows that sum to 1, the law of the token is the target up to a
total variation that rounding gives it, measured at vocabularies of 300 to 128,256 tokens and k up
to 8, on random rows and on a language model:

========  ===================  ============  ================  =======
dtype     recursive rejection  k-sequential  pooled selection  SpecHub
========  ===================  ============  ================  =======
float32   1.3e-7               0.9e-7        1.3e-7            1.1e-7
float64   0.9e-15              0.3e-15       0.8e-15           0.7e-15
========  ===================  ============  ================  =======

Pooled selection of distinct drafts is off by 4e-8 and, for its quadrature, 4e-14. The others go
through the same sums and are at most as far off (a draw alone in float32: 2e-8,
where one float32 cumulative sum is off by 2e-5). float16 and bfloat16 rows are
computed in float32, but do not sum to 1 themselves: the law is off by their rounding, 3e-4 in
float16. Uniform numbers of float32 are multiples of 2⁻²⁴: each place where the outcome changes is
moved by as much at most. A draft of which one token leaves next to nothing to the others keeps this
precision, down to a single subnormal number; JAX on a CPU and CuPy in float32 treat subnormal
numbers as zeros. Where the device or the library has no float64 (Apple's MPS; JAX unless 64 bits
are switched on), sums over blocks are added up in float32, and float64 rows do not exist.
"""

from otspec.batch import acceptance
from otspec.batch._blocks import (
    block_verification,
    block_verification_preprint,
    greedy_multi_path,
    token_verification,
)
from otspec.batch._drafters import (
    draft_from_logits,
    sample_iid,
    sample_spechub,
    sample_without_replacement,
    top_tokens,
)
from otspec.batch._from_logits.verification import from_logits, warp
from otspec.batch._pooled_rules import pooled_selection, pooled_selection_without_replacement
from otspec.batch._results import (
    CorrectedBlock,
    Corrections,
    Drafted,
    Verified,
    VerifiedBlock,
    VerifiedPath,
    VerifiedTree,
)
from otspec.batch._rules import (
    k_sequential,
    maximal_coupling,
    recursive_rejection,
    recursive_rejection_without_replacement,
    spechub,
)
from otspec.batch._shared_noise import gumbel_coupling, sample_from_noise, shared_noise
from otspec.batch._trees import traversal_verification, tree_verification
from otspec.batch.acceptance import optimal_acceptance

__all__ = [
    "CorrectedBlock",
    "Corrections",
    "Drafted",
    "Verified",
    "VerifiedBlock",
    "VerifiedPath",
    "VerifiedTree",
    "acceptance",
    "block_verification",
    "block_verification_preprint",
    "draft_from_logits",
    "from_logits",
    "greedy_multi_path",
    "gumbel_coupling",
    "k_sequential",
    "maximal_coupling",
    "optimal_acceptance",
    "pooled_selection",
    "pooled_selection_without_replacement",
    "recursive_rejection",
    "recursive_rejection_without_replacement",
    "sample_from_noise",
    "sample_iid",
    "sample_spechub",
    "sample_without_replacement",
    "shared_noise",
    "spechub",
    "token_verification",
    "top_tokens",
    "traversal_verification",
    "tree_verification",
    "warp",
]
