"""Accept lengths as engines count them, and in the forms that they take for load tests."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, IntArray, cached_property
from otspec._base.arguments import as_instance, as_seed, as_size, as_steps
from otspec.blocks.trees.shapes import Shape
from otspec.logged.block import LoggedBlock
from otspec.logged.chances import logged_chances
from otspec.logged.comparison import Ratio, Tally, as_blocks
from otspec.logged.replay import Replay, as_rule_tree, is_block_rule, replay

_CALLS, _TOKENS, _LEVELS = 0, 1, 2
"""Where in the counts of a text: calls, tokens that came out, calls that keep at least 1, 2, …"""


@dataclass(frozen=True, eq=False)
class AcceptLengths(Frozen):
    """How many drafted tokens the calls of the target keep, as engines count it.

    Every number is a ratio of sums over all calls of all texts, with an interval that takes whole
    texts as independent; those of more texts are added with ``+``.

    Parameters
    ----------
    drafted : int
        Drafted tokens of a call.
    tally : Tally
        Of each text its calls, its tokens, and how many calls keep at least 1, 2, … tokens.
    bounded : bool
        Whether counts are of possible calls (texts of the target), so that rates are at most 1; of
        drafted blocks they are means of weighted estimates.
    """

    drafted: int
    tally: Tally
    bounded: bool

    @property
    def depth(self) -> int:
        """The most drafted tokens that a call keeps."""
        return len(self.tally.sums) - _LEVELS

    @property
    def marginal(self) -> list[Ratio]:
        """P(τ ≥ ℓ) for ℓ = 1, 2, …: vLLM's per-position acceptance rate."""
        return [self._rate(self._level(at), self._unit(_CALLS)) for at in range(self.depth)]

    @property
    def conditional(self) -> list[Ratio]:
        """P(τ ≥ ℓ given τ ≥ ℓ − 1) for ℓ = 1, 2, …; NaN where the condition never holds."""
        before = [self._unit(_CALLS), *map(self._level, range(self.depth - 1))]
        return [self._rate(self._level(at), below) for at, below in enumerate(before)]

    @property
    def accepted(self) -> Ratio:
        """Drafted tokens that are kept per call: the accept length without the bonus token."""
        return self._within(self._accepted(), self._unit(_CALLS), 0, self.depth)

    @property
    def acceptance_length(self) -> Ratio:
        """The same with the token that the target adds: vLLM's mean acceptance length."""
        with_bonus = self._accepted() + self._unit(_CALLS)
        return self._within(with_bonus, self._unit(_CALLS), 1, self.depth + 1)

    @property
    def tokens_per_call(self) -> Ratio:
        """Tokens that come out per call: less than the above where a text ends with a kept one."""
        return self._within(self._unit(_TOKENS), self._unit(_CALLS), 0, self.depth + 1)

    @property
    def acceptance_rate(self) -> Ratio:
        """Drafted tokens that are kept of those that were drafted: the draft acceptance rate."""
        return self._rate(self._accepted(), self.drafted * self._unit(_CALLS))

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """:attr:`marginal` as probabilities of one law, without the noise of weighted estimates."""
        values = np.array([max(0.0, min(1.0, rate.value)) for rate in self.marginal])
        return tuple(np.minimum.accumulate(values).tolist())

    @property
    def law(self) -> tuple[float, ...]:
        """P(τ = 0), P(τ = 1), …, as :attr:`rates` have it."""
        least = (1.0, *self.rates, 0.0)
        return tuple(one - other for one, other in pairwise(least))

    def draw(self, size: int, seed: int = 0) -> IntArray:
        """Draw accept lengths of calls, independent of each other.

        Those of the calls of one text, in order, are drawn by :meth:`Replay.walk`.

        Parameters
        ----------
        size : int
        seed : int

        Returns
        -------
        ndarray of int, shape (size,)
            From the law of a call that is taken at random from all texts.

        Raises
        ------
        ValueError
            Estimates from drafted blocks: of these only means are known without bias.
        """
        number, seed = as_size(size), as_seed(seed)
        if not self.bounded:
            raise ValueError(
                "drafted blocks, whose tokens are weighted, give means and no law of one call: "
                "draw from texts of the target"
            )
        rng = np.random.default_rng(seed)
        bounds = np.cumsum(self.law)[:-1]
        return np.searchsorted(bounds, rng.random(number), side="right")

    def __add__(self, other: "AcceptLengths") -> "AcceptLengths":
        as_instance(other, "other", AcceptLengths, "the AcceptLengths of other texts")
        if (self.drafted, self.depth) != (other.drafted, other.depth):
            raise ValueError(
                f"other is of {other.drafted} drafted tokens and {other.depth} levels, and this of "
                f"{self.drafted} and {self.depth}: add those of one tree"
            )
        return AcceptLengths(self.drafted, self.tally + other.tally, self.bounded and other.bounded)

    def _unit(self, place: int) -> Array:
        return 1.0 * (np.arange(len(self.tally.sums)) == place)

    def _level(self, at: int) -> Array:
        return self._unit(_LEVELS + at)

    def _accepted(self) -> Array:
        return 1.0 * (np.arange(len(self.tally.sums)) >= _LEVELS)

    def _rate(self, above: Array, below: Array) -> Ratio:
        return self._within(above, below, 0, 1)

    def _within(self, above: Array, below: Array, least: float, most: float) -> Ratio:
        """Return a ratio, and its interval within the range of what it estimates."""
        value, *ends = self.tally.ratio(above, below)
        return Ratio(value, *np.clip(ends, least, most).tolist())


def counts_of(replay: Replay) -> Array:
    """Return what is counted in a text: calls, tokens, and how many calls keep at least 1, 2, …."""
    # Counts of texts that depend on each other are added, so that they are one row of a tally.
    lengths = np.array(replay.lengths, dtype=float)
    reached = lengths[::-1].cumsum()[::-1][1:]
    return np.array([float(replay.calls), float(replay.tokens), *reached])


def lengths_on_texts(
    texts: Iterable[LoggedBlock], rule: Any, tree: Any, *, cut: bool = False
) -> AcceptLengths:
    """Count accept lengths along texts of the target: :func:`otspec.logged.replay` for each."""
    shape = as_rule_tree(rule, tree)
    steps = enumerate(as_steps(texts, "texts", "an iterable of LoggedBlock objects"))
    logged = (as_instance(it, f"texts[{i}]", LoggedBlock, "a LoggedBlock") for i, it in steps)
    counts = [counts_of(replay(text, rule, shape, cut=cut)) for text in logged]
    if not counts:
        raise ValueError("texts is empty: at least one logged text is needed")
    return AcceptLengths(shape.size, Tally.of(np.array(counts)), bounded=True)


def lengths_on_blocks(blocks: Iterable[LoggedBlock], rule: Any, tree: Any) -> AcceptLengths:
    """Estimate accept lengths of one call after each prompt, from logged blocks of any law.

    Each block is one call, so that the means are over prompts: of all places of a text only the
    first counts, while :func:`lengths_on_texts` knows where calls begin in a long text. Estimates
    are unbiased; single ones may be above 1.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
        One for each text, at least as long as the tree is deep.
    rule, tree
        As for :func:`otspec.logged.replay`.

    Raises
    ------
    ValueError
        No block, one that is shorter, or a rule or tree that cannot be used.
    """
    shape = as_rule_tree(rule, tree)
    logged = as_blocks(blocks)
    return AcceptLengths(shape.size, Tally.of(block_counts(logged, rule, shape)), bounded=False)


def block_counts(blocks: Sequence[LoggedBlock], rule: Any, tree: Shape) -> Array:
    """Return what is counted of one call at the beginning of each block, a row for each."""
    levels = _levels(blocks, rule, tree)
    ones = np.ones((len(blocks), 1))
    return np.hstack([ones, 1 + levels.sum(axis=1, keepdims=True), levels])


def _levels(blocks: Sequence[LoggedBlock], rule: Any, shape: Shape) -> Array:
    """Return estimates of P(τ ≥ 1), P(τ ≥ 2), … for each block, shape (blocks, levels)."""
    if is_block_rule(rule):
        rows = [block.by_level(rule, shape.depth) for block in blocks]
        return np.array(rows, dtype=float)
    found = logged_chances(blocks, rule, sorted(shape.widths), shape.depth)
    return found.by_level(shape).T


_DIGITS = 6


def vllm(lengths: AcceptLengths) -> dict[str, Any]:
    """Return what goes into vLLM's ``--speculative-config``, beside its method and draft model.

    Its synthetic rejection sampling keeps at least ℓ drafted tokens with the ℓ-th rate, so that the
    law of accept lengths is that of the logs. Read: ``vllm/config/speculative.py`` at commit
    002e77c1f0ef (``synthetic_acceptance_rates`` are without conditions and never rise).
    """
    return {
        "num_speculative_tokens": lengths.depth,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": [round(rate, _DIGITS) for rate in lengths.rates],
    }


def sglang(lengths: AcceptLengths) -> dict[str, Any]:
    """Return environment variables for SGLang, whose accept length counts the bonus token.

    A step keeps one of the two whole numbers around the mean, the same for all rows of its batch:
    the mean is that of the logs, the law is not. Read: ``srt/speculative/spec_utils.py`` at commit
    00731f0bc9fa (its other method, ``multinomial``, does not have the mean).
    """
    return {
        "SGLANG_SIMULATE_ACC_LEN": f"{1 + sum(lengths.rates):.{_DIGITS}f}",
        "SGLANG_SIMULATE_ACC_METHOD": "match-expected",
        "SGLANG_SIMULATE_ACC_TOKEN_MODE": "real-draft-token",
    }


def tensorrt_llm(lengths: AcceptLengths) -> dict[str, Any]:
    """Return the environment variable for TensorRT-LLM, which counts drafted tokens only.

    The whole part is kept in every step, and one token more with the rest as its probability, where
    one engine drafts and verifies; elsewhere only a whole number is read. Read:
    ``_torch/speculative/interface.py`` at commit 00b6d5a25c30.
    """
    return {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": f"{sum(lengths.rates):.{_DIGITS}f}"}


def llama_cpp(lengths: AcceptLengths) -> dict[str, Any]:
    """Return options of llama-server, whose rates are without conditions.

    At least ℓ drafted tokens are kept with the ℓ-th rate, so that the law of accept lengths is
    that of the logs. Read: ``tools/server/README.md`` of llama.cpp at commit 00dc8057ab28 and
    ``common/speculative.h`` at 001d906a6d86; ``--spec-synth-len`` takes a mean alone.
    """
    return {
        "--spec-draft-n-max": str(lengths.depth),
        "--spec-synth-rates": ",".join(f"{rate:.{_DIGITS}f}" for rate in lengths.rates),
    }


def atom(lengths: AcceptLengths) -> dict[str, Any]:
    """Return options of ATOM (ROCm), whose acceptance length counts the target's token.

    A step keeps one of the two whole numbers around the mean: the mean is that of the logs, the
    law is not. Read: ``atom/config.py`` and ``atom/model_ops/rejection_sampler.py`` of ROCm/ATOM
    at commit ffdf3bb5ddf8.
    """
    return {
        "--num-speculative-tokens": str(lengths.depth),
        "--spec-decode-acceptance-length": f"{1 + sum(lengths.rates):.{_DIGITS}f}",
    }


ENGINE_FORMS: dict[str, Callable[[AcceptLengths], dict[str, Any]]] = {
    "vllm": vllm,
    "sglang": sglang,
    "tensorrt-llm": tensorrt_llm,
    "llama.cpp": llama_cpp,
    "atom": atom,
}
"""What each engine takes, by its name."""
