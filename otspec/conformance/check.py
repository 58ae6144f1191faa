"""Is an engine's verification lossless: a check with a stated power and a stated rate of alarms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_choice, as_integer, as_real, as_seed
from otspec.auditing.seeding import seeded
from otspec.conformance.calling import DTYPES, LIBRARIES, Form, Verifier
from otspec.conformance.cases import Case
from otspec.conformance.evidence import affordable, requirement
from otspec.conformance.kernel import KernelBatches
from otspec.conformance.kinds import Block, Kind, Tokens, Tree
from otspec.conformance.library import cases_of
from otspec.conformance.report import Finding, Report, Tried
from otspec.conformance.statistics import text_statistics
from otspec.conformance.trial import tried
from otspec.frozen import Frozen
from otspec.trees.shapes import as_shape

BUDGET = 600_000_000
"""Probabilities of the target that a verifier is handed by default."""
VOCABULARY = 32_003
"""Tokens of the large cases: a prime, so no multiple of a warp."""
KINDS = ("tokens", "block", "tree")
MODES = ("kernel", "pipeline")
MOST_ROWS = 1 << 14
"""Rows of one call."""
MOST_NUMBERS = 1 << 22
"""Probabilities of one call."""
LARGE = 0.25
"""The least share of the budget for the large cases."""


def check(
    verifier: Callable[..., Any],
    *,
    kind: str = "tokens",
    mode: str = "kernel",
    detect: float = 0.005,
    false_alarm: float = 1e-6,
    budget: int = BUDGET,
    seed: int = 0,
    shape: Any = None,
    distinct: bool = False,
    arrays: str = "numpy",
    dtype: str = "float32",
    device: str = "cpu",
    vocabulary: int = VOCABULARY,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Try a verifier on small adversarial cases, and say whether its output is the target's.

    Parameters
    ----------
    verifier : callable
        Takes arrays of a batch by the names of its parameters, as many as it wants of ``draft``,
        ``target``, ``drafts``, ``lengths``, ``parents``, and its randomness as ``rng`` (of
        NumPy), ``generator`` (of torch), ``seed`` or ``uniforms``; one that names none of these
        has the global generators, which are seeded. See Notes for shapes and answers.
    kind : str
        ``"tokens"``, ``"block"`` or ``"tree"``.
    mode : str
        ``"kernel"``: drafts are drawn here. ``"pipeline"``: by the engine.
    detect : float
        The total variation between output and target to be found with probability 0.999.
    false_alarm : float
        The probability with which a right verifier has findings.
    budget : int
        The most probabilities of the target that the verifier is handed. Where it is not enough
        for ``detect``, the report says what was detectable.
    seed : int
    shape : int, or a tree as :func:`otspec.trees.as_shape` takes it, optional
        How many drafts of one token (3), how long a block (2), or which tree (``"2x1"``).
    distinct : bool
        Whether drafts of one token, and siblings of a tree, are drawn without replacement.
    arrays : str
        ``"numpy"`` or ``"torch"``.
    dtype : str
        Of probabilities, such as ``"float32"``.
    device : str
        Of torch tensors.
    vocabulary : int
        Tokens of the large cases.
    progress : callable, optional
        Takes after each case how many are done, and how many there are.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        Unusable options, or a verifier that takes or returns something else.

    Notes
    -----
    Shapes, for B rows and V tokens:

    ======  =========================  ====================================================
    kind    draft, target, drafts      answer
    ======  =========================  ====================================================
    tokens  (B, V), (B, V), (B, k)     token (B,), alone or with the accepted index, or −1
    block   (B, L, V), (B, L + 1, V),  kept length (B,) and token (B,), or tokens
            (B, L)                     (B, L + 1) with −1 behind
    tree    (B, N + 1, V) twice: after last kept node (B,), −1 for none, and token (B,)
            the text, and each node;
            (B, N)
    ======  =========================  ====================================================
    """
    as_choice(kind, "kind", KINDS)
    as_choice(mode, "mode", MODES)
    form = Form(
        as_choice(arrays, "arrays", LIBRARIES), as_choice(dtype, "dtype", DTYPES), str(device)
    )
    tried_verifier = Verifier(verifier, form)
    return Check(
        tried_verifier,
        _kind(kind, shape, distinct),
        float(as_real(detect, "detect", 0, 1, open_below=True)),
        float(as_real(false_alarm, "false_alarm", 0, 0.5, open_below=True)),
        as_integer(budget, "budget", 1),
        as_seed(seed),
        as_integer(vocabulary, "vocabulary", 8),
    ).run(progress or _unseen)


def _unseen(_done: int, _cases: int) -> None:
    """Show no progress."""


def _kind(kind: str, shape: Any, distinct: bool) -> Kind:
    if kind == "tokens":
        return Tokens(as_integer(3 if shape is None else shape, "shape", 1, 8), distinct)
    if kind == "block":
        return Block.of_length(as_integer(2 if shape is None else shape, "shape", 1, 5))
    return Tree(as_shape("2x1" if shape is None else shape, "shape").tree().parents, distinct)


@dataclass(frozen=True, eq=False)
class Check(Frozen):
    """A check of one verifier, with what was asked for. Parameters: :func:`check`."""

    verifier: Verifier
    kind: Kind
    detect: float
    false_alarm: float
    budget: int
    seed: int
    vocabulary: int

    def run(self, progress: Callable[[int, int], object]) -> Report:
        """Try all cases: the small ones first, then the large ones with what is left."""
        cases = cases_of(self.kind, self.vocabulary, self.verifier.uneven)
        alarm = self.false_alarm / len(cases)
        small = [case for case in cases if case.vocabulary < self.vocabulary]
        large = [case for case in cases if case.vocabulary >= self.vocabulary]
        results: list[tuple[Tried, Finding | None]] = []
        with seeded(self.seed):
            rng = np.random.default_rng(self.seed)
            left = self.budget * (1 - LARGE if large else 1)
            for count, group in ((len(small), small), (len(large), large)):
                for place, case in enumerate(group):
                    # Most stop at half of what they may take.
                    share = min(left, 2 * left / (count - place))
                    result = self._tried(case, alarm, share, rng)
                    results.append(result)
                    progress(len(results), len(cases))
                    left -= result[0].size * numbers_per_row(self.kind, case)
                left += self.budget * LARGE
        findings = tuple(finding for _, finding in results if finding is not None)
        return Report(
            self.kind.name,
            "kernel",
            findings,
            tuple(tried for tried, _ in results),
            self.false_alarm,
            verifier=self.verifier.name,
        )

    def _tried(
        self, case: Case, alarm: float, numbers: float, rng: np.random.Generator
    ) -> tuple[Tried, Finding | None]:
        """Try one case with at most so many probabilities."""
        form = self.verifier.form
        statistics = text_statistics(self.kind, case)
        cells, per_row = len(statistics[-1].expected), numbers_per_row(self.kind, case)
        most = max(1, int(numbers / per_row))
        needs = requirement(cells, self.detect, alarm, DTYPES[form.dtype])
        if needs.size > most:
            needs = affordable(cells, most, alarm, DTYPES[form.dtype])
        randomness = self.verifier.randomness(int(rng.integers(2**31)))
        batch = KernelBatches(self.verifier, self.kind, case, randomness, rng)
        largest = max(1, min(MOST_ROWS, MOST_NUMBERS // per_row))
        return tried(case.name, batch, statistics, needs, largest)


def numbers_per_row(kind: Kind, case: Case) -> int:
    """Return how many probabilities of the target a row has."""
    return case.vocabulary * (1 if kind.name == "tokens" else len(kind.parents) + 1)
