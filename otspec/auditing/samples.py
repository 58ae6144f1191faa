"""Auditing a black box by its samples: a test with a stated error rate (Auditing, 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from otspec._base import Array, IntArray, Shown, arguments
from otspec.auditing.black_box import Drawn, drawn, seeded
from otspec.auditing.declared import DisagreementError, check_declared
from otspec.auditing.deviation import cumulants, deviations, p_value, resolution
from otspec.auditing.exact import MOST_ACCURACY, told
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import DraftLaw
from otspec.drafts.base import as_law
from otspec.rules.base.rule import Rule


@dataclass(frozen=True)
class SampleAudit(Shown):
    """What samples of a black box say.

    If the sampler raised something, nothing was tested: ``consistent`` and each number that follows
    from the samples is None, and ``reason`` says why.

    Parameters
    ----------
    consistent : bool or None
        Nothing impossible was seen, and the p-value is above ``false_alarm``.
    p_value : float or None
        How often a correct rule deviates at least as much; simulated or bounded, valid at any size.
    false_alarm : float
        The probability that a correct rule is called inconsistent.
    resolution : float or None
        A total-variation distance from the target that is found with probability 0.95.
    total_variation : float or None
        Between the sample and the target; positive also for a correct rule.
    token : int or None
        The token that deviates most.
    size : int
    impossible : str or None
        What was seen that a lossless rule never does, such as a token of probability 0.
    reason : str or None
        Why nothing was tested.
    traceback : str or None
        Of what the sampler raised, if it did.
    """

    consistent: bool | None
    p_value: float | None
    false_alarm: float
    resolution: float | None
    total_variation: float | None
    token: int | None
    size: int
    impossible: str | None
    reason: str | None = None
    traceback: str | None = field(default=None, compare=False, repr=False)


LEAST_FALSE_ALARM = 1 / 5_000  # smallest rate that the number of simulated samples resolves


def audit_samples(
    sampler: Callable[..., Any],
    law: DraftLaw,
    target: DistributionLike,
    size: int,
    seed: int,
    *,
    false_alarm: float = 1e-3,
    batched: bool = False,
    chunk: int | None = None,
    rule: Rule | None = None,
) -> SampleAudit:
    """Test a black box on simulated drafts.

    Parameters
    ----------
    sampler : callable
        Called with a draft tuple, and with its random numbers if it takes two arguments: a
        ``torch.Generator`` if the second is named ``generator``, an integer, another at each
        call, if it is named ``seed``, and a ``numpy.random.Generator`` otherwise. For one
        draft it may also take the bare token, as :func:`otspec.audit` says. Returns a
        token, or a token and either whether it is one of the drafts (bool) or the index of the
        accepted draft (int; −1 for none). NumPy or torch.
    law : DraftLaw
        What the drafts are drawn from.
    target : array_like, shape (n,)
        What the output should be distributed as.
    size : int
        How many drafts.
    seed : int
        Of the drafts, the random numbers that the sampler is given, those of ``random``,
        ``numpy.random`` and ``torch`` while it runs, and the simulated null.
    false_alarm : float
        The probability that a correct rule is called inconsistent, at least 1/5,000.
    batched : bool
        Call the sampler once with all drafts, an array (size, k); it returns arrays (size,).
    chunk : int, optional
        Most drafts in one call of a batched sampler.
    rule : Rule, optional
        What the sampler is said to implement, lossless for this law and target. Then the joint
        law of the token and the accepted index, which the sampler must return, is tested against
        the rule's (small vocabularies).

    Raises
    ------
    ValueError
        A size or chunk below 1, a chunk of a sampler that is not batched, a rate that the
        simulation does not resolve, unusable distributions, a sampler that returns something else,
        or a rule of another law or target, or that is not lossless.

    Notes
    -----
    The statistic is Σ (observed − expected)² / (expected + 1) over tokens, or over tokens and
    accepted indices. Its law under the null is simulated from the target itself, so that the rate
    holds at every size, rare tokens included. A distribution at total variation δ from the
    target raises its mean by at least 4 δ² size / (1 + cells/size) (Cauchy–Schwarz), which gives
    ``resolution``.
    """
    rate = float(arguments.as_real(false_alarm, "false_alarm"))
    if not LEAST_FALSE_ALARM <= rate < 1:
        raise ValueError(f"false_alarm is {false_alarm}: it must be at least 1/5000 and below 1")
    arguments.as_callable(sampler, "sampler", "a callable from a draft tuple to a token")
    checked = as_law(law).as_target(target)
    size = arguments.as_size(size, least=1, width=law.k)
    batched = arguments.as_flag(batched, "batched")
    if rule is not None:
        arguments.as_instance(rule, "rule", Rule, "a Rule, or None")
    seed, chunk = arguments.as_seed(seed), _as_chunk(chunk, batched)
    rng = np.random.default_rng(seed)
    drafts = law.sample(size, rng)
    try:
        with seeded(seed):
            answer = drawn(sampler, drafts, rng, batched, chunk)
    except DisagreementError as crash:
        return SampleAudit(
            None, None, rate, None, None, None, size, None, crash.reason, crash.traceback
        )
    tokens, indices = answer
    if not ((tokens >= 0) & (tokens < law.n)).all():
        raise ValueError(f"sampler returned a token outside 0..{law.n - 1}")
    expected, observed = checked.astype(float), tokens
    if rule is not None:
        expected, observed = _jointly(rule, law, checked, answer)
    impossible = _impossible(drafts, tokens, indices, observed, expected, law.n)
    expected = expected / expected.sum()
    counts, known = np.bincount(observed, minlength=len(expected)), cumulants(size * expected)
    found = float(deviations(counts[None], size * expected)[0])
    # The null is drawn from a generator that the sampler has never held.
    null = np.random.default_rng((seed, 1))
    p = 0.0 if impossible else p_value(found, known, expected, size, null)
    errors = np.bincount(tokens, minlength=law.n) / size - checked.astype(float)
    return SampleAudit(
        p > rate,
        p,
        rate,
        resolution(rate, size, int(np.count_nonzero(expected)), known),
        float(np.abs(errors).sum() / 2),
        int(np.argmax(np.abs(errors))),
        size,
        impossible,
    )


def _as_chunk(chunk: Any, batched: bool) -> int | None:
    if chunk is None:
        return None
    wanted = "how many drafts the sampler takes at a time"
    checked = arguments.as_integer(chunk, "chunk", 1, wanted=wanted)
    if not batched:
        raise ValueError(f"chunk is {checked} for a sampler of one draft tuple: pass batched=True")
    return checked


def _impossible(
    drafts: IntArray,
    tokens: IntArray,
    indices: IntArray | None,
    observed: IntArray,
    expected: Array,
    n: int,
) -> str | None:
    """Return the first thing seen that cannot be."""
    wrong = expected[observed] == 0
    if wrong.any():
        cell = int(observed[np.argmax(wrong)])
        return f"token {cell % n} came out, which has probability 0 there"
    if indices is None:
        return None
    among = (drafts == tokens[:, None]).any(axis=1)
    named = indices >= 0
    claimed = np.where(named, indices, 0)
    mismatch = named & (np.take_along_axis(drafts, claimed[:, None], axis=1)[:, 0] != tokens)
    unfounded = (indices == -2) & ~among
    for what, where in (
        ("the token is not the accepted draft", mismatch),
        ("the token is said to be one of the drafts, but is not", unfounded),
    ):
        if where.any():
            at = int(np.argmax(where))
            return f"drafts {tuple(drafts[at].tolist())}, token {int(tokens[at])}: {what}"
    return None


def _jointly(
    rule: Rule, law: DraftLaw, target: Distribution, answer: Drawn
) -> tuple[Array, IntArray]:
    """Return the law of (accepted index, token) of a rule, flattened, and which cells were seen."""
    tokens, indices = answer
    if indices is None or (indices == -2).any():
        raise ValueError("sampler must return the accepted index when a rule is given")
    try:
        check_declared(rule, "the given", law, target, None)
    except DisagreementError as found:
        raise ValueError(f"rule is not for this law and target: {found.reason}") from found
    expected = told(_joint_law, rule)
    output = expected.reshape(law.k + 1, law.n).sum(axis=0)
    # Written so that NaN is refused.
    if not (
        (expected >= 0).all() and (np.abs(output - target.astype(float)) <= MOST_ACCURACY).all()
    ):
        raise ValueError("rule is not lossless, so that nothing can be held to it: audit it first")
    return expected, np.where(indices < 0, law.k, indices) * law.n + tokens


def _joint_law(rule: Rule) -> Array:
    """Return the law of (accepted index, token) of a rule by enumeration, flattened."""
    total = np.zeros((rule.k + 1, len(rule.target)))
    for x, mass in zip(*rule.law.tuples(), strict=True):
        total += float(mass) * rule.joint_kernel(x.tolist()).astype(float)
    return total.ravel()
