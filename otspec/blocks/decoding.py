"""Decoding a whole text, block after block: at random, all chances at once, and on average."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from otspec._base import Number, as_generator, as_integer, as_real, as_seed
from otspec.blocks.base import BlockRule, Outcome, as_block_rule
from otspec.distributions import as_k
from otspec.estimate import Estimate
from otspec.models.base import MOST_DEPTH, Prefix

MOST_SIMULATED = 10**9  # most blocks of one simulation


def simulate(rule: BlockRule, size: int, seed: int = 0, *, confidence: float = 0.999) -> Estimate:
    """Estimate the block efficiency of one block from independent blocks.

    Parameters
    ----------
    rule : BlockRule
    size : int
        How many blocks are drafted and verified, at least 2.
    seed : int
    confidence : float
        With which the interval covers the exact :meth:`BlockRule.efficiency`, at least.

    Returns
    -------
    Estimate
        E[τ] + 1 with an empirical Bernstein interval within [0, L + 1].

    Raises
    ------
    ValueError
        Fewer than two blocks.
    """
    if as_k(size, "size") < 2:
        raise ValueError("size is 1: an interval needs at least 2 blocks, better thousands")
    as_integer(size, "size", 2, MOST_SIMULATED, otherwise="simulate several times, with seeds")
    level = float(as_real(confidence, "confidence"))
    if not 0 < level < 1:
        raise ValueError(f"confidence is {confidence}: it must be above 0 and below 1")
    as_block_rule(rule)
    rng = np.random.default_rng(as_seed(seed))
    kept = [len(rule.kept_text(rule.sample(rng))) for _ in range(size)]
    return Estimate.of_mean(np.array(kept, float), level, plus=1.0, most=rule.depth + 1)


MOST_DECODED = 1_000_000  # most tokens that are decoded at once


_Known: TypeAlias = dict[tuple[Any, ...], tuple[BlockRule, dict[Prefix, Any]]]


class Decoded(NamedTuple):
    """A decoded text."""

    tokens: Prefix
    calls: int
    """How often the target model was called: once for each block."""

    @property
    def efficiency(self) -> float:
        """Tokens per call of the target."""
        return len(self.tokens) / self.calls


def decode(rule: BlockRule, tokens: int, rng: np.random.Generator) -> Decoded:
    """Decode a text: verify a block, draw one more token, and go on from there.

    Law: the first ``tokens`` tokens, or those up to the end of the text, are distributed as the
    target's. A rule that corrects more than one token
    (:class:`otspec.blocks.BlockVerificationPreprint`) continues with its corrections as the next
    target.

    Parameters
    ----------
    rule : BlockRule
        With the models of the beginning of the text.
    tokens : int
        How many at least, unless the text ends; what the last block brings is not cut off.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        Fewer than one token, or a text that is over before it begins.
    """
    wanted = _as_length(tokens, MOST_DECODED)
    as_block_rule(rule), as_generator(rng)
    text: Prefix = ()
    calls = 0
    if rule.target.ended(()):
        raise ValueError("rule has the models of a text that is over: nothing follows it")
    while len(text) < wanted and not rule.target.ended(()):
        outcome = rule.sample(rng)
        calls += 1
        text = (*text, *rule.kept_text(outcome))
        if rule.target.ended(outcome.accepted):
            break
        token = rule.next_token(outcome, rng)
        text, rule = (*text, token), _continued(rule, outcome, token)
    return Decoded(text, calls)


def decoded_law(rule: BlockRule, tokens: int) -> dict[Prefix, Number]:
    """Return the law of the first tokens of a text decoded block after block.

    Parameters
    ----------
    rule : BlockRule
    tokens : int
        Length of the texts that do not end before; all ways to decode them are followed, so
        small sizes only.

    Returns
    -------
    dict
        From each text of positive probability to its probability. It is the law of the target's
        texts if the rule is lossless, whatever the number of blocks.

    Raises
    ------
    ValueError
        Fewer than one token.
    """
    law = _decoded(as_block_rule(rule), _as_length(tokens, MOST_DEPTH), {})
    return {text: rule.target.number(mass) for text, mass in sorted(law.items())}


def _decoded(rule: BlockRule, tokens: int, known: _Known) -> dict[Prefix, Any]:
    """Return the law of texts; ``known`` has what was found of equal rules, which it keeps."""
    if tokens == 0 or rule.target.ended(()):
        return {(): 1}
    (draft, drafted), (target, said) = rule.draft.origin, rule.target.origin
    place = (id(draft), drafted, id(target), said, tokens)
    if place in known:
        return known[place][1]
    law: dict[Prefix, Any] = {}
    if type(rule).restarted is BlockRule.restarted:
        known[place] = rule, law
    for outcome in rule.outcomes():
        head = rule.kept_text(outcome)[:tokens]
        if len(head) == tokens or rule.target.ended(outcome.accepted):
            law[head] = law.get(head, 0) + outcome.mass
            continue
        for token, mass, rest in _ways_on(rule, outcome):
            text = (*head, token)
            for more, share in _decoded(rest, tokens - len(text), known).items():
                law[text + more] = law.get(text + more, 0) + mass * share
    return law


def decoded_after(rule: BlockRule, blocks: int) -> Number:
    """Return the expected number of tokens that a number of blocks decodes; small sizes only."""
    as_k(blocks, "blocks", MOST_DEPTH, otherwise="use simulate()")
    rule = as_block_rule(rule)
    total: Any = rule.target.number(0)
    for outcome in rule.outcomes():
        total += outcome.mass * len(rule.kept_text(outcome))
        if rule.target.ended(outcome.accepted):
            continue
        total += outcome.mass
        for _, mass, rest in _ways_on(rule, outcome) if blocks > 1 else ():
            total += mass * decoded_after(rest, blocks - 1)
    return rule.target.number(total)


def _as_length(tokens: Any, most: int) -> int:
    otherwise = "use a shorter text, or decode() it in pieces"
    return as_k(tokens, "tokens", most, otherwise=otherwise)


def _ways_on(rule: BlockRule, outcome: Outcome) -> Iterator[tuple[int, Any, BlockRule]]:
    """Yield each token that may follow, with its probability and the rule for the next block."""
    for token, chance in enumerate(outcome.following(()).tolist()):
        if chance > 0:
            yield token, outcome.mass * chance, _continued(rule, outcome, token)


def _continued(rule: BlockRule, outcome: Outcome, token: int) -> BlockRule:
    """Return the rule for the next block."""
    draft = rule.draft.after((*outcome.accepted, token))
    return rule.restarted(draft, outcome.following.after((token,)))
