"""Batches of answers: the harness draws drafts, the verifier verifies, and texts are counted."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec._base import Frozen, IntArray, cached_property
from otspec.auditing.sandbox import attempt
from otspec.conformance.cases.arrays import plain
from otspec.conformance.cases.calling import Randomness, Verifier, copied, written
from otspec.conformance.cases.cases import Answer, Case, ImpossibleError
from otspec.conformance.cases.drafting import UNKNOWN, Sample, completed
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.text_cases import MOST_TEXTS
from otspec.conformance.evidence.statistics import (
    Statistic,
    TextsOnly,
    among_tokens,
    fine_counts,
    text_statistics,
)
from otspec.conformance.evidence.trial import FaultError

MOST_COUNTED = 1 << 12  # most rows that are counted in a call of very many
APART = 8  # rows of a batch for one that is counted: others reach it after so many steps at least
CHOSEN = 16  # one in so many tokens is chosen
EARLIER = 1 << 11  # rows that tokens are chosen from
AT_ONCE = 32  # of them in each call
PROBE = 64  # rows of the batch that shows whether a verifier writes to its arrays


@dataclass(frozen=True, eq=False)
class KernelBatches(Frozen):
    """Batches of drafts of one case, verified and completed."""

    verifier: Verifier
    kind: Kind
    case: Case
    randomness: Randomness  # of the verifier
    rng: np.random.Generator  # of the drafts, and of what follows the token
    marked: bool = False  # whether the verifier has to tell what it accepts
    # Rows of each call that come before those that are counted; of them there are as many as come
    # before, or MOST_COUNTED. 0 if all rows are counted.
    before: int = 0

    calls: ClassVar[int] = 1  # rows that are verified for one that is counted
    series: ClassVar[int] = 1  # calls of one batch

    @classmethod
    def statistics(cls, kind: Kind, case: Case) -> list[Statistic]:
        """Return what is compared, coarse before fine."""
        return text_statistics(kind, case)

    def __call__(self, size: int) -> IntArray:
        """Return how often each mark came with each text."""
        rows = sum(long_call(self.before)) if self.before else size
        sample = self.drawn(rows)
        texts, marks = self._texts(sample)
        texts, marks = texts[self.before :], None if marks is None else marks[self.before :]
        return fine_counts(self.kind, self.case, texts, marks, sample.variants[self.before :])

    def drawn(self, rows: int) -> Sample:
        """Return the drafts of a call."""
        return self.kind.draw(self.case, rows, self.rng)

    def _texts(self, sample: Sample) -> Answer:
        """Return whole texts: the target goes on, or where there are corrections further blocks."""
        if not self.verifier.corrects:
            answer = self.answer(sample)
            texts = completed(answer.texts, self.case, sample.variants, self.rng)
            return answer._replace(texts=texts)
        stepped, n, length = self.case.after_any_symbol, self.case.n, self.kind.length
        batches, first = replace(self, case=stepped), sample.variants * (n + 1)
        block, corrections, marks = sample._replace(variants=first), None, None
        # Each block adds a token at least, and at most as many as are looked at.
        texts = np.full((len(first), length**2), UNKNOWN, dtype=np.intp)
        known = np.zeros(len(first), dtype=np.intp)
        rows = np.arange(len(first))
        while (known < length).any():
            answer, corrections = batches.verified(block, corrections)
            marks = answer.marks if marks is None else marks
            texts[rows[:, None], known[:, None] + np.arange(length)] = answer.texts
            known += (answer.texts != UNKNOWN).sum(axis=1)
            after = first + np.minimum(texts[rows, known - 1], n - 1) + 1
            block = self.kind.drafted(stepped, after, self.rng)
        return Answer(texts[:, :length], marks)

    def answer(self, sample: Sample) -> Answer:
        """Return what the verifier says of drafts; raises as a call does."""
        return self.verified(sample)[0]

    def verified(self, sample: Sample, corrections: Any = None) -> tuple[Answer, Any]:
        """Return what the verifier says of drafts, and what it is handed with the next block."""
        answer, corrections = self.returned(sample, corrections)
        return read_answer(answer, self.kind, self.case, sample, self.marked), corrections

    def returned(self, sample: Sample, corrections: Any = None) -> tuple[Any, Any]:
        """Return what the verifier says of drafts as it says it, and what it is handed next."""
        given = self.verifier.given(self.kind, self.case, sample, self.randomness, corrections)
        found, crash = attempt(self.verifier.raw, given)
        if crash is not None:
            raise FaultError("call", f"the {self.verifier.argument} {crash.what}", crash.traceback)
        answer, corrections = self.verifier.parted(found)
        return plain(answer), corrections


class AmongTokens(KernelBatches):
    """First tokens of texts in a large vocabulary, by what earlier calls said.

    Of each symbol's tokens a fixed number is chosen: those that earlier calls said most often, and
    others at random. Given the choice, later calls of a correct verifier are independent of it and
    have the target's law, so they say a chosen token with a probability that is known before.
    """

    calls = 2  # about as many rows come before as are counted

    @classmethod
    def statistics(cls, _kind: Kind, case: Case) -> list[Statistic]:
        """Return the law of the first token: its symbol, and whether it is a chosen one."""
        return [among_tokens(case, case.sizes // CHOSEN)]

    def __call__(self, size: int) -> IntArray:
        """Return how often each part of a symbol came, and a token of probability 0."""
        found = self.parts[self.first(self.drawn(size))]
        return np.bincount(found, minlength=2 * self.case.n + 1)[None]

    @cached_property
    def parts(self) -> IntArray:
        """Each token's symbol if it is chosen, or n more, shape (vocabulary,)."""
        case = self.case
        often = self.rng.random(case.vocabulary)  # equal ones in a random order
        for _ in range(EARLIER // AT_ONCE):
            np.add.at(often, self.first(self.drawn(AT_ONCE)), 1)
        parts = case.symbols + case.n
        for symbol, count in enumerate(case.sizes // CHOSEN):
            tokens = np.flatnonzero(case.symbols == symbol)
            parts[tokens[np.argsort(-often[tokens])[:count]]] = symbol
        return parts

    def first(self, sample: Sample) -> IntArray:
        """Return the first token of each text, shape (size,)."""
        case = replace(self.case, symbols=np.arange(self.case.vocabulary))
        answer, _ = self.returned(sample)
        tokens = sample._replace(drafts=sample.tokens)
        return read_answer(answer, self.kind, case, tokens, self.marked).texts[:, 0]


class BesideRejected(KernelBatches):
    """Calls of two rows, of which one keeps nothing; they are followed exactly only."""


class BesideOthers(KernelBatches):
    """Texts that stand far apart among others of one pair of models."""

    calls = APART

    def __call__(self, size: int) -> IntArray:
        """Return how often each mark came with each text, of those that stand apart."""
        variants = np.full(size * APART, self.case.other)
        counted = np.arange(APART // 2, len(variants), APART)
        variants[counted] = self.rng.integers(self.case.variants, size=size)
        sample = self.kind.drafted(self.case, variants, self.rng)
        texts = self.answer(sample).texts[counted]
        return fine_counts(self.kind, self.case, texts, None, variants[counted])


def long_call(before: int) -> tuple[int, int]:
    """Return the rows of a call that come before those that are counted, and how many these are."""
    return before, min(before, MOST_COUNTED)


def read_answer(answer: Any, kind: Kind, case: Case, sample: Sample, marked: bool) -> Answer:
    """Read what a verifier returned for drafts."""
    try:
        read = kind.read(answer, case, sample)
    except ImpossibleError as error:
        raise FaultError("impossible", str(error), fault=error.fault) from error
    if read.marks is None and marked:
        raise ValueError("rule says what is accepted: return the accepted index with the token")
    return read


class Probed(NamedTuple):
    """What is seen of a verifier in one small batch."""

    marked: bool  # whether it returns what it accepts
    written: list[str]  # names of the arrays that it writes to


def probed(verifier: Verifier, kind: Kind, case: Case, seed: int) -> Probed:
    """Look at one small batch; nothing is seen of a verifier that fails."""
    rng = np.random.default_rng(seed)
    sample = kind.draw(case, PROBE, rng)
    given = verifier.given(kind, case, sample, verifier.randomness(seed))
    before = copied(given)
    answer, crash = attempt(verifier, given)
    if crash is not None:
        return Probed(False, [])
    try:
        marked = kind.read(verifier.parted(answer)[0], case, sample).marks is not None
    except ImpossibleError:
        marked = False
    return Probed(marked, written(before, given))


STEPS = 2  # calls of the verifier for one text


def step_texts(kind: Kind, case: Case) -> TextsOnly:
    """Return how much of such texts is looked at: what all steps may give, if that is not much."""
    length = 2
    while length < STEPS * kind.length and case.n ** (length + 1) <= MOST_TEXTS:
        length += 1
    return TextsOnly(length)


class StepBatches(KernelBatches):
    """Texts of which each step begins where the step before has ended."""

    calls = STEPS

    @classmethod
    def statistics(cls, kind: Kind, case: Case) -> list[Statistic]:
        """Return the laws of the first token, the first two, and so on."""
        return text_statistics(step_texts(kind, case), case)

    def __call__(self, size: int) -> IntArray:
        """Return how often each text came, which the target goes on with after the last step."""
        looked, stepped = step_texts(self.kind, self.case), self.case.after_any_symbol
        batches = replace(self, case=stepped)
        rows, places = np.arange(size)[:, None], np.arange(self.kind.length)
        whole = max((STEPS + 1) * self.kind.length, looked.length)
        texts = np.full((size, whole), UNKNOWN, dtype=np.intp)
        known, after = np.zeros(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
        for _ in range(STEPS):
            step = batches.answer(self.kind.drafted(stepped, after, self.rng)).texts
            texts[rows, known[:, None] + places] = step
            known += (step != UNKNOWN).sum(axis=1)
            after = np.minimum(texts[rows[:, 0], known - 1], self.case.n - 1) + 1
        start = np.zeros(size, dtype=np.intp)
        texts = completed(texts[:, : looked.length], self.case, start, self.rng)
        return fine_counts(looked, self.case, texts, None, start)
