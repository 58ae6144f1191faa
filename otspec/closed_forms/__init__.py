"""Formulas, as numbers and as expressions: acceptance and kept tokens where theory gives them.

Every function takes floats or exact numbers and answers in kind; every ``…_expression`` returns
the same formula in the symbols named in its docstring, into which ``xreplace`` puts numbers.
"""

from otspec.closed_forms.bounds import (
    entropy_bound,
    missing_divergence,
    set_bound,
    set_bound_expression,
)
from otspec.closed_forms.iid_drafts import (
    always_accepted,
    always_accepted_expression,
    hub_acceptance,
    iid_acceptance,
    iid_expression,
    limit_acceptance,
    single_draft_acceptance,
    single_draft_expression,
    top_plus_one_acceptance,
)
from otspec.closed_forms.named_pairs import (
    bernoulli_acceptance,
    bernoulli_expression,
    block_verification_tokens,
    block_verification_tokens_expression,
    k_sequential_guarantee,
    k_sequential_guarantee_expression,
    token_verification_tokens,
    token_verification_tokens_expression,
    uniform_acceptance,
    uniform_expression,
    uniform_rho,
    uniform_rho_expression,
)

__all__ = [
    "always_accepted",
    "always_accepted_expression",
    "bernoulli_acceptance",
    "bernoulli_expression",
    "block_verification_tokens",
    "block_verification_tokens_expression",
    "entropy_bound",
    "hub_acceptance",
    "iid_acceptance",
    "iid_expression",
    "k_sequential_guarantee",
    "k_sequential_guarantee_expression",
    "limit_acceptance",
    "missing_divergence",
    "set_bound",
    "set_bound_expression",
    "single_draft_acceptance",
    "single_draft_expression",
    "token_verification_tokens",
    "token_verification_tokens_expression",
    "top_plus_one_acceptance",
    "uniform_acceptance",
    "uniform_expression",
    "uniform_rho",
    "uniform_rho_expression",
]
