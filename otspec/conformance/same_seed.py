"""Does the same seed give the same text: an engine is compared with plain decoding, by equality."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, IntArray
from otspec.chance import CannotFollowError
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import UNKNOWN, Sample
from otspec.conformance.cases.generated import DrawnToken, Texts
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.library import cases_of
from otspec.conformance.cases.tasks import Task, kernel_tasks
from otspec.conformance.cases.text_cases import text_cases
from otspec.conformance.evidence.batches import KernelBatches, long_call
from otspec.conformance.evidence.case_by_case import without_lengths
from otspec.conformance.evidence.evidence import Requirement
from otspec.conformance.evidence.sizes import FewRows, OddRows, SingleRows
from otspec.conformance.evidence.trial import FaultError
from otspec.conformance.exact_check import drafted_ways
from otspec.conformance.faults.base import faults_of
from otspec.conformance.faults.explanations import OR, in_words
from otspec.conformance.faults.shared_noise import Seen
from otspec.conformance.keyed import PROBED, Keyed, Plain, Rows
from otspec.conformance.report.report import Finding, Report, Tried

ROWS, FEW_ROWS = 32, 8  # rows of a case, and of one in the large vocabulary
SINGLE_ROWS = 64  # calls of one row
STREAMS, FEW_STREAMS = 16, 4  # pairs of a seed and a beginning, in the same order
SEEDS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1)
"""The ends of the ranges that numbers of 31, 32 and 63 bits have; other seeds are between."""
BEGINNINGS = (0, 1, 2**12, 2**16)  # texts begin here, beyond numbers of 12 and 16 bits, or
FARTHEST = 1 << 10  # before this position
STEPS = 6  # length of a text, in longest steps
LOOKED_AT = 4  # most cases with findings that known faults are compared on
STATISTIC = "the same seed"
MEND = (
    "What to do: let the token at a position be a function of the target's row, the seed of the "
    "request and the position in its text, and of nothing else."
)


@dataclass(frozen=True, eq=False)
class SameSeed(Frozen):
    """A check that the same seed gives the same text."""

    engine: Keyed
    plain: Plain
    kind: Kind
    mode: str
    seed: int
    vocabulary: int  # as for :func:`otspec.conformance.check`
    entries: int

    def run(self, progress: Callable[[int, int], object]) -> Report:
        """Try all cases."""
        tasks, rng = list(self._tasks()), np.random.default_rng(self.seed)
        seen: list[Seen] = []
        results = [] if self.plain.given else [self._probed(tasks[0].kind)]
        if any(finding for _, finding in results):
            tasks = []  # without plain decoding there is nothing to compare with
        for done, task in enumerate(tasks, start=1):
            results.append(self._tried(task, rng, seen))
            progress(done, len(tasks))
        findings = [finding for _, finding in results if finding is not None]
        causes = self._causes(seen) if seen else [cause for f in findings for cause in f.looks_like]
        if causes:
            likely = (OR.join(causes),)
            findings = [
                replace(each, looks_like=likely) if each.statistic == STATISTIC else each
                for each in findings
            ]
        mend = [MEND] * any(finding.judged for finding in findings)
        return Report(
            self.kind.name,
            self.mode,
            tuple(findings),
            tuple(trial for trial, _ in results),
            0.0,
            (*([in_words(cause) for cause in causes] or mend), *self._left_out()),
            verifier=self.engine.name,
            same_seed=True,
        )

    def _left_out(self) -> Iterator[str]:
        """Yield what was not looked at, in words."""
        close = sum(not sure for _, sure in self._known.values())
        if close:
            yield (
                f"{close:,} of {len(self._known):,} tokens of plain decoding are left out: the "
                "first two arrive within rounding of each other"
            )
        if self.mode != "pipeline":
            yield from without_lengths(self.engine, self.kind)

    def _tasks(self) -> Iterator[Task]:
        if self.mode != "pipeline":
            exact = self.mode == "exact"
            looked_at = (KernelBatches, *([] if exact else [SingleRows, FewRows, OddRows]))
            for task in kernel_tasks(self.engine, self.kind, self.vocabulary, self.entries):
                if task.batches in looked_at and not (exact and task.costly):
                    yield task
            return
        if self.kind.name == "tokens":
            kind: Kind = DrawnToken(len(self.kind.parents), self.kind.law)
            cases = cases_of(kind, self.vocabulary, uneven=False)
        else:
            kind = Texts(self.kind, count=STEPS * self.kind.length)
            cases = text_cases(2, self.vocabulary)
        for case in cases:
            yield Task(self.engine, kind, case, case, large=case.vocabulary > case.n)

    def _tried(
        self, task: Task, rng: np.random.Generator, seen: list[Seen]
    ) -> tuple[Tried, Finding | None]:
        """Compare the texts of one case."""
        texts, name = 0, task.case.name
        for rows in self._calls(task, rng):
            try:
                answer = self.engine.say(task.kind, task.case, rows)
                wanted = self._plain_texts(task, rows)
            except FaultError as fault:
                finding = Finding(name, fault.statistic, fault.reason, traceback=fault.traceback)
                return _trial(name, texts, 1), finding
            known = (answer.texts != UNKNOWN) & (wanted != UNKNOWN)
            off = known & (answer.texts != wanted)
            off[: task.before] = False
            wrong, size = int(off.any(axis=1).sum()), len(off) - task.before
            texts += size
            if wrong:
                if not task.before:
                    seen.append(Seen(task.kind, task.case, rows, answer.texts))
                first = _first(task.case, rows, answer.texts, wanted, off)
                differs = f"{first}; {wrong:,} of {size:,} texts differ"
                return _trial(name, texts, wrong), Finding(name, STATISTIC, differs)
        return _trial(name, texts, 0), None

    def _calls(self, task: Task, rng: np.random.Generator) -> Iterator[Rows]:
        """Yield the rows of each call: several, one in each call, or after very many others."""
        costly = task.large or task.before > 0
        streams = FEW_STREAMS if costly else STREAMS
        seeds, starts = (some[:streams] for some in _streams(rng))
        one_seed = "seed" in self.engine.wanted and not isinstance(task.kind, Texts)
        if self.mode == "exact":
            samples = [_enumerated(task)]
        elif task.batches is SingleRows:
            samples = [task.kind.draw(task.case, 1, rng) for _ in range(SINGLE_ROWS)]
        elif issubclass(task.batches, OddRows):
            sizes = sorted(set(task.batches.sizes))
            samples = [task.kind.draw(task.case, rows, rng) for rows in sizes]
        else:
            size = sum(long_call(task.before)) or (FEW_ROWS if task.large else ROWS)
            if isinstance(task.kind, Texts):
                size = min(size, STREAMS)
            samples = [task.kind.draw(task.case, size, rng)]
        for sample in samples:
            which = rng.integers(streams, size=len(sample.variants))
            begin = starts[which] * (not isinstance(task.kind, Texts))
            own = np.full(len(which), next(self._in_turn)) if one_seed else seeds[which]
            yield Rows(sample, own, begin)

    def _plain_texts(self, task: Task, rows: Rows) -> IntArray:
        """Return plain decoding's texts; unknown from where rounding decides on."""
        kind, case, count = task.kind, task.case, len(rows.seeds)
        if isinstance(kind, Texts):
            return self.plain.text(kind, case, rows)
        texts = np.full((count, kind.length), UNKNOWN, dtype=np.intp)
        after, sure = np.zeros(count, dtype=np.intp), np.ones(count, dtype=bool)
        sure[: task.before] = False
        for depth in range(kind.length):
            going = np.flatnonzero(sure)
            keys = (rows.sample.variants, after, rows.seeds, rows.starts + depth)
            unique, which = np.unique(np.stack(keys)[:, going], axis=1, return_inverse=True)
            tokens = np.array(
                [
                    self._token(kind, case, case.target[variant, last], seed, position)
                    for variant, last, seed, position in unique.T.tolist()
                ]
            ).reshape(-1, 2)[which.reshape(-1)]
            sure[going] = tokens[:, 1] > 0
            texts[going, depth] = np.where(tokens[:, 1] > 0, tokens[:, 0], UNKNOWN)
            after[going] = np.minimum(tokens[:, 0], case.n - 1) + 1
        return texts

    def _token(
        self, kind: Kind, case: Case, weights: Array, seed: int, position: int
    ) -> tuple[int, bool]:
        key = case.name, weights.tobytes(), seed, position
        if key not in self._known:
            self._known[key] = self.plain.token(kind, case, weights, seed, position)
        return self._known[key]

    @cached_property
    def _in_turn(self) -> Iterator[int]:
        return cycle(SEEDS)

    @cached_property
    def _known(self) -> dict[Any, tuple[int, bool]]:
        return {}

    def _probed(self, kind: Kind) -> tuple[Tried, Finding | None]:
        """Look at plain decoding itself, where four tokens are equally likely at all positions."""
        name = "plain decoding"
        try:
            words, causes = self.plain.wrong(kind)
        except FaultError as fault:
            return _trial(name, 0, 1), Finding(
                name,
                fault.statistic,
                f"with nothing drafted {fault.reason}: pass plain decoding as same_seed",
                traceback=fault.traceback,
            )
        if not words:
            return _trial(name, 3, 0), None
        likely = f"{words}, of four equally likely tokens at {PROBED} positions"
        return _trial(name, 3, 1), Finding(name, STATISTIC, likely, looks_like=causes)

    def _causes(self, seen: Sequence[Seen]) -> list[str]:
        """Return the known faults that give all that was said, token for token."""
        small = [each for each in seen if each.case.vocabulary == each.case.n][:LOOKED_AT]
        if self.mode == "pipeline" or not small:
            return []

        def race(each: Seen, weights: Array, row: int, ahead: int) -> int:
            position = max(int(each.rows.starts[row]) + ahead, 0)
            seed = int(each.rows.seeds[row])
            return self._token(each.kind, each.case, weights, seed, position)[0]

        faults = [it for it in faults_of(self.kind.name, same_seed=True) if not it.pipeline]
        return [
            fault.name
            for fault in faults
            if all(each.explained(fault.machine, partial(race, each)) for each in small)
        ]


def _streams(rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return seeds of 1 to 63 bits and beginnings of texts, those at ends of ranges among them."""
    longest = 1 << rng.integers(1, 63, size=STREAMS - len(SEEDS))
    between = rng.permutation(FARTHEST)[: STREAMS - len(BEGINNINGS)]
    seeds = rng.permutation(np.append(SEEDS, rng.integers(longest)))
    return seeds, rng.permutation(np.append(BEGINNINGS, between))


def _enumerated(task: Task) -> Sample:
    """Return all drafts of a case."""
    try:
        ways = list(drafted_ways(task.kind, task.case))
    except CannotFollowError as error:
        raise ValueError(
            f"mode is 'exact', and on {task.case.name!r} {error}: use mode='kernel'"
        ) from error
    variants, drafts, there = (
        np.array([getattr(way, name) for way in ways]) for name in ("variant", "drafts", "there")
    )
    return Sample(variants, drafts, task.case.places[drafts], there)


def _trial(name: str, texts: int, wrong: int) -> Tried:
    needs = Requirement(2, 0.0, 1.0, 0.0, texts, 1.0)
    counts = np.array([[texts - min(wrong, texts), wrong]])
    return Tried(name, needs, texts, float("inf") if wrong else 0.0, counts, np.array([1.0, 0.0]))


def _first(case: Case, rows: Rows, said: IntArray, wanted: IntArray, off: Array) -> str:
    """Say where the first text that differs does so first."""
    row = int(np.argmax(off.any(axis=1)))
    depth = int(np.argmax(off[row]))
    tokens = np.append(case.places, -1)
    one, other = (int(tokens[min(text[row, depth], case.n)]) for text in (said, wanted))
    words = "a token of probability 0" if one < 0 else f"token {one}"
    return (
        f"seed {rows.seeds[row]} differs first at position {rows.starts[row] + depth} of the text: "
        f"it has {words}, and plain decoding has token {other}"
    )
