"""Small cases followed exactly: all drafts, and every way that a verifier's chances can go."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, children_of
from otspec.auditing.sandbox import attempt
from otspec.chance import CannotFollowError
from otspec.conformance.cases.arrays import plain
from otspec.conformance.cases.calling import CORRECTIONS, Randomness, Verifier, copy_of
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import UNKNOWN, Sample, left_by, patterns, siblings_of
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.evidence.batches import BesideRejected, read_answer
from otspec.conformance.evidence.statistics import add_answer, no_answers
from otspec.conformance.evidence.trial import FaultError, Tested
from otspec.conformance.exact import exact_law
from otspec.conformance.following.numpy_draws import FollowedGenerator
from otspec.conformance.following.streams import current, streams
from otspec.conformance.following.torch.streams import NEW
from otspec.conformance.report.report import Finding, Tried
from otspec.drafts import LAWS

AS_OFTEN = 10**8  # probabilities are reported as counts of so many samples
MOST_DRAFTED = 20_000  # most tuples of drafts that are followed


class Drafted(NamedTuple):
    """One way that drafts can be drawn."""

    mass: float
    variant: int
    drafts: tuple[int, ...]
    there: tuple[bool, ...]


class Followed(Randomness):
    """Where a verifier that is followed gets its random numbers from."""

    def of(self, name: str, size: int, nodes: int) -> Any:
        """Return randomness by a name of :data:`otspec.conformance.cases.calling.RANDOMNESS`."""
        if name == "generator":
            return self.form.generator(NEW + self.seed)
        if name == "seed":
            return self.seed
        if name == "rng":
            return FollowedGenerator()
        if self.form.library == "torch":
            import torch

            return torch.rand((size, nodes + 1), device=self.form.device)
        return FollowedGenerator().random((size, nodes + 1))


class OutOfTimeError(Exception):
    """A case was not followed to its end."""


def exactly_tried(
    task: Task, tests: Sequence[Tested], rounding: float, deadline: float = math.inf
) -> tuple[Tried, Finding | None]:
    """Follow all drafts of one case, and compare the laws of what comes out."""
    tested, case = tests[0].last, task.case
    cells = len(tested.expected)
    needs = replace(tests[0].needs, detect=min(1.0, cells * rounding / 2), size=0)
    law = no_answers(task.kind, case)
    try:
        law, off = exact_counts(task, rounding / 10, len(tests) > 1, deadline)
        finding = _first_off(case.name, law, tests, rounding)
        if finding is None and off > rounding:
            words = f"the row beside has an impossible token with probability {off:.9f}"
            raise FaultError("impossible", words)
    except FaultError as fault:
        if task.batches is BesideRejected and fault.statistic == "call":
            raise  # a function of one row can be followed, too
        finding = fault.on(case.name)
    evidence = 0.0 if finding is None else math.inf
    counts = np.rint(law * AS_OFTEN).astype(np.int64)
    return Tried(case.name, needs, 0, evidence, counts, tested.expected), finding


def _first_off(name: str, law: Array, tests: Sequence[Tested], rounding: float) -> Finding | None:
    """Return the first statistic that is off by more than rounding."""
    for statistic in [statistic for test in tests for statistic in test.statistics]:
        seen = statistic.counts(law)
        errors = np.abs(seen - statistic.expected)
        # Written so that NaN is off.
        if not (errors <= rounding).all():
            worst = int(np.argmax(errors))
            return Finding(
                name,
                statistic.name,
                f"{statistic.labels[worst]} has probability {seen[worst]:.9f}, and should have "
                f"{statistic.expected[worst]:.9f}",
                tuple(seen.tolist()),
                tuple(statistic.expected.tolist()),
                labels=statistic.labels,
            )
    return None


def exact_counts(
    task: Task, least: float, marked: bool, deadline: float = math.inf
) -> tuple[Array, float]:
    """Return the law of marks and texts, (marks, fine cells), and how often a row beside is off."""
    # The verifier is handed one row at a time, or it before and behind one that keeps nothing.
    kind, case = task.kind, task.case
    law, off = no_answers(kind, case), 0.0
    shown = case.with_rejected if case.beside else case
    for drafted, place in product(drafted_ways(kind, case), range(1 + case.beside)):
        sample = sample_of(drafted, case, kind if case.beside else None, place)
        for (answer,), chance in answers(task.verifier, kind, shown, sample, least, deadline):
            try:
                read = read_answer(answer, kind, shown, sample, marked)
            except FaultError as error:
                raise FaultError(
                    error.statistic, f"drafts {drafted.drafts}: {error.reason}", fault=error.fault
                ) from error
            mark = 0 if read.marks is None else int(read.marks[place])
            text = [symbol for symbol in read.texts[place].tolist() if symbol != UNKNOWN]
            mass = drafted.mass * chance / (1 + case.beside)
            add_answer(law, case, drafted.variant, mark, text, mass)
            # The row beside can only say the last symbol.
            off += mass * bool(case.beside and read.texts[1 - place, 0] != case.n - 1)
    return law, off


def drafted_ways(kind: Kind, case: Case) -> Iterator[Drafted]:
    """Yield all ways that drafts can be drawn, as they are drawn for samples."""
    sets = patterns(kind.parents) if case.uneven else [(True,) * len(kind.parents)]
    share = 1 / (case.variants * len(sets))
    number = 0
    for variant in range(case.variants):
        for drafts, found, mass in drawn_from(kind, case.draft[variant]):
            for there in sets:
                number += 1
                if number > MOST_DRAFTED:
                    raise CannotFollowError(f"there are more than {MOST_DRAFTED:,} ways to draft")
                both = tuple(a and b for a, b in zip(found, there, strict=True))
                yield Drafted(mass * share, variant, drafts, both)


def drawn_from(kind: Kind, rows: Any) -> Iterator[tuple[tuple[int, ...], tuple[bool, ...], Any]]:
    """Return drafts of all nodes, which of them there are, and their mass."""
    if kind.policy is not None:
        return iter(left_by(kind.policy, kind.parents, rows))
    count = len(kind.parents)
    ways: list[Any] = [((0,) * count, (True,) * count, 1)]
    for parent, children in enumerate(children_of(kind.parents), start=-1):
        if children:
            ways = [
                (
                    _put(drafts, children, tokens),
                    _put(there, children, [parent < 0 or there[parent]] * many + [False] * short),
                    mass * chance,
                )
                for drafts, there, mass in ways
                for row in [rows[0 if parent < 0 else drafts[parent] + 1]]
                for many in [siblings_of(row, kind.law, len(children))]
                for short in [len(children) - many]
                for tokens, chance in _siblings(row, kind.law, many)
            ]
    return iter(ways)


def _siblings(row: Any, law: str, many: int) -> Iterator[tuple[tuple[int, ...], Any]]:
    tuples, masses = LAWS[law](row, many).tuples()
    for tokens, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
        if mass > 0:
            yield tuple(tokens), mass


def _put(values: tuple[Any, ...], places: Any, new: Any) -> tuple[Any, ...]:
    changed = list(values)
    for place, value in zip(places, new, strict=False):
        changed[place] = value
    return tuple(changed)


def sample_of(drafted: Drafted, case: Case, beside: Kind | None = None, place: int = 0) -> Sample:
    """Return a row of drafts, at a place beside one of the last models with distinct siblings."""
    rows = [(drafted.variant, drafted.drafts, drafted.there)]
    if beside is not None:
        drafts = [0] * len(drafted.drafts)
        for children in children_of(beside.parents):
            drafts = list(_put(tuple(drafts), children, range(len(children))))
        rows.insert(1 - place, (case.variants, tuple(drafts), (True,) * len(drafts)))
    variants, tokens, there = map(np.array, zip(*rows, strict=True))
    return Sample(variants, tokens.astype(np.intp), case.places[tokens], there)


def answers(
    verifier: Verifier,
    kind: Kind,
    case: Case,
    sample: Sample,
    least: float,
    deadline: float = math.inf,
    followed: Sequence[bool] = (True,),
) -> Iterator[tuple[list[Any], float]]:
    """Yield what the verifier can answer in some calls, in NumPy's arrays, and how likely."""
    # Of other calls one way is taken, and nothing said: they are there for the verifier's state.
    makes: list[Any] = []
    raised: list[float] = []
    calls = _calls(verifier, kind, case, sample, len(followed))

    def answer() -> Any:
        if time.monotonic() > deadline:
            raise OutOfTimeError
        found = []
        for call, wanted in zip(calls, followed, strict=True):
            current().idle = not wanted
            try:
                said = call()
            except Exception:
                raised.append(float(current().mass))
                raise
            found += [said] if wanted else []
        current().idle = False
        makes.append(_maker(found[0]))
        return tuple(found)

    law, crash = attempt(partial(exact_law, answer, least=least))
    if crash is not None:
        if isinstance(crash.error, (CannotFollowError, OutOfTimeError)):
            raise crash.error
        chance = f", with probability {raised[-1]:.1g}" if raised else ""
        if raised and raised[-1] < 10 * least:
            chance += ", which is less than counts as rounding"
        raise FaultError(
            "call",
            f"for drafts {sample.tokens[0].tolist()}{chance}, the verifier {crash.what}",
            crash.traceback,
        )
    for found, chance in law.items():
        yield [makes[0](each) for each in found], float(chance)


def _calls(
    verifier: Verifier, kind: Kind, case: Case, sample: Sample, count: int
) -> list[Callable[[], Any]]:
    """Return calls of a verifier, with new random numbers each."""
    arrays = verifier.arrays(kind, case, sample) | {CORRECTIONS: None}

    def call(chance: Followed) -> Any:
        own = {name: copy_of(arrays[name]) for name in verifier.wanted if name in arrays}
        return verifier.raw(verifier.with_numbers(own, chance, sample.drafts.shape))

    chances = (Followed(verifier.form, np.random.default_rng(0), each) for each in range(count))
    return [partial(call, chance) for chance in chances]


def seeds_set(
    verifier: Verifier, kind: Kind, case: Case, sample: Sample, count: int
) -> list[set[Any]]:
    """Return the seeds that each of some calls sets, in one way that they can go."""
    found: list[set[Any]] = []
    calls = _calls(verifier, kind, case, sample, count)

    def run() -> None:
        current().idle = True
        for call in calls:
            call()
            found.append(set(streams().begun))
            streams().begun.clear()
        current().idle = False

    attempt(partial(exact_law, run))  # what cannot be followed is said of fewer calls
    return found


def _maker(answer: Any) -> Any:
    """Return what makes an answer of arrays of nested tuples."""
    if not isinstance(answer, tuple):
        return np.array
    make = getattr(answer, "_make", tuple)
    return lambda parts: plain(make([np.array(part) for part in parts]))
