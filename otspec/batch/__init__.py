"""Verification of drafts for whole batches at full vocabulary, on any array library.

Every function takes arrays that follow the Python array API standard (NumPy, PyTorch, CuPy, JAX)
with the vocabulary on the last axis and any leading axes. It returns arrays of the same library
on the same device. Randomness is passed in as uniform numbers. Nothing waits for the device:
shapes, dtypes and devices are checked, but values are not. (Token ids are checked in NumPy's
arrays, and in tensors that Numba processes row by row on a CPU.)

Notes
-----
Precision. If draft and target rows sum to 1, the law of the token differs from the target only by
rounding. The table shows the largest total variation measured at vocabularies of 300 to 128,256
tokens and k up to 8, on random rows and on a language model:

========  ===================  ============  ================  =======
dtype     recursive rejection  k-sequential  pooled selection  SpecHub
========  ===================  ============  ================  =======
float32   1.3e-7               0.9e-7        1.3e-7            1.1e-7
float64   0.9e-15              0.3e-15       0.8e-15           0.7e-15
========  ===================  ============  ================  =======

Pooled selection of distinct drafts is off by 4e-8 in float32 and, by its quadrature, 4e-14 in
float64. The other rules use the same sums and are at most as far off (a draw alone in float32:
2e-8). float16 and bfloat16 rows are computed in float32 but do not sum to 1 themselves: the law is
off by their rounding, 3e-4 in float16. Uniform numbers in float32 are multiples of 2⁻²⁴ and move
each place where the outcome changes by at most as much. Rows with one dominant token keep this
precision, down to a single subnormal number; JAX on a CPU and CuPy in float32 treat subnormal
numbers as zeros. Without float64 (Apple's MPS; JAX without 64 bits) sums over blocks are added in
float32.
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
    pooled_selection,
    pooled_selection_without_replacement,
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
