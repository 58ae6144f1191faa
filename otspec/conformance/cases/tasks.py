"""What a check consists of: a case, what is counted of it, and how its batches are made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from otspec._base import Frozen, cached_property
from otspec.conformance.cases import library
from otspec.conformance.cases.arrays import placed
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import Case, memoryless, narrowed
from otspec.conformance.cases.drafting import patterns
from otspec.conformance.cases.generated import (
    WithHistory,
)
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.batches import (
    AmongTokens,
    BesideOthers,
    BesideRejected,
    KernelBatches,
    StepBatches,
    long_call,
)
from otspec.conformance.evidence.dependence import (
    CallPairs,
    DraftlessCallPairs,
    DraftlessPairs,
    FewerCallPairs,
    FewerPairs,
    Pairs,
    RowPairs,
    WarpedCallPairs,
    WarpedPairs,
)
from otspec.conformance.evidence.sizes import (
    FewBeside,
    FewRows,
    OddRows,
    RowsApart,
    RowsBeside,
    SingleRows,
)
from otspec.conformance.evidence.statistics import Statistic

MANY_ROWS = 1 << 16  # rows of one call before those that are counted: over 16 bits
DEPENDENT: tuple[type[Pairs], ...] = (RowPairs, CallPairs)  # what may depend on each other
WARPED: tuple[type[Pairs], ...] = (WarpedPairs, WarpedCallPairs)
FEWER: tuple[type[Pairs], ...] = (FewerPairs, FewerCallPairs)
DRAFTLESS: tuple[type[Pairs], ...] = (DraftlessPairs, DraftlessCallPairs)
MOST_DRAFTED = 1_000  # drafts of a case that exact mode follows, if fewer symbols can be had
PLAIN = "all with drafts and without settings"  # in the names of cases
SINGLE = "one row in each call"  # the name of a case
GROSS = 4  # dependence is looked for from so many times detect on, or half of coarse
MOST_GROSS = 0.15  # or from here on: two calls in three that share all numbers are farther off
IN_CALLS: tuple[tuple[type[KernelBatches], str], ...] = (
    (SingleRows, SINGLE),
    (FewRows, "a few rows in each call"),
    (OddRows, "31 to 255 rows in each call"),
)
"""Calls of certain numbers of rows, and the names of their cases."""
BESIDE: tuple[tuple[type[KernelBatches], str], ...] = (
    (FewBeside, "rows beside each other in calls of a few rows"),
    (RowsBeside, "rows beside each other in calls of 31 to 255 rows"),
    (RowsApart, "rows up to 32 apart in calls of many rows"),
)
SPECIAL = {  # faults that only such cases show
    "vocabulary": "what only many tokens show, such as token ids of 16 bits or sums of few digits",
    "single": "the axis of rows lost in a call of one row",
    "few": "what only calls of a few rows show, or calls of rows that all lack drafts",
    "odd": "rows behind the last whole tile of rows, or of a number of rows that is no power of 2",
    "beside": "a row that has the answer, models or random numbers of the row beside it",
    "long": "an index of rows or entries that overflows in a long call",
    "history": "a state of penalties, bad words or a grammar that is not that of the text before "
    "each draft, because it is that of the block's beginning or counts a token twice",
}


@dataclass(frozen=True, eq=False)
class Task(Frozen):
    """A test of a verifier on one case."""

    verifier: Verifier
    kind: Kind  # of what it is given, and says
    case: Case  # what it is given
    law: Case  # whose target's law its texts have: the case, but for warping
    batches: type[KernelBatches] = KernelBatches  # how they are made and counted
    before: int = 0  # rows of a call that come before those that are counted; 0 if all are counted
    large: bool = False  # whether the case is in the large vocabulary

    @property
    def numbers(self) -> int:
        """How many probabilities of the target a counted text takes."""
        return -(-self.handed // self.together)

    @property
    def handed(self) -> int:
        """How many probabilities of the target the smallest call takes."""
        rows = {"tokens": 1, "texts": self.kind.length}
        each = rows.get(self.kind.name, len(self.kind.parents) + 1)
        # With corrections a text may be as many blocks as it has tokens.
        blocks = self.kind.length if self.verifier.corrects else 1
        calls = self.batches.calls * blocks * max(sum(long_call(self.before)), 1)
        return self.case.vocabulary * each * calls

    @property
    def together(self) -> int:
        """How many texts the smallest call counts."""
        return max(long_call(self.before)[1], 1)

    @property
    def special(self) -> str | None:
        """What only this case has, one of :data:`SPECIAL`; None if it is as small as may be."""
        past = isinstance(self.law, WithHistory)
        few = (self.batches is each for each in (SingleRows, FewRows, OddRows))
        beside = self.batches in (FewBeside, RowsBeside)
        there = (self.large, *few, beside, self.before > 0, past)
        return next((name for name, has in zip(SPECIAL, there, strict=True) if has), None)

    @property
    def costly(self) -> bool:
        """Whether rows cost much: in a large vocabulary, or as calls of one row or of many."""
        return self.special not in (None, "odd", "history")

    def wanted(self, detect: float, coarse: float) -> float:
        """Return the total variation to be found, of what is to be found in general."""
        if self.before:  # a row that is another's is far off
            return min(2 * coarse, 1.0)
        if self.costly:
            return coarse
        gross = issubclass(self.batches, (Pairs, BesideOthers, OddRows, RowsApart))
        return min(GROSS * detect, coarse / 2, MOST_GROSS) if gross else detect

    def placed(self, least: int, reserved: tuple[int, ...]) -> "Task":
        """Return the task with at least so many tokens, none of which is reserved."""
        case = placed(self.case, least, reserved)
        law = case if self.law is self.case else placed(self.law, least, reserved)
        return self if case is self.case else replace(self, case=case, law=law)

    @cached_property
    def statistics(self) -> list[Statistic]:
        """What is compared, coarse before fine."""
        return self.batches.statistics(self.kind, self.law)


def kernel_tasks(verifier: Verifier, kind: Kind, vocabulary: int, entries: int) -> list[Task]:
    """Return the tasks of a verifier of drafts that are drawn here."""
    verifier.check_kind(kind)
    uneven, wanted = verifier.uneven, tuple(verifier.wanted)
    cases = library.cases_of(kind, vocabulary, uneven)
    if not cases:
        raise ValueError(
            "verifier takes neither lengths nor a mask, and shape has more distinct drafts than "
            "any case has tokens: let it take one of them, or use a smaller shape"
        )
    dense = [replace(it, name=f"{it.name}, one by one") for it in cases if it.sizes.max() > 1]
    warped = library.settings_cases(kind, wanted, uneven)
    # Texts of blocks with corrections are in steps themselves.
    steps = [] if verifier.corrects else library.plain_cases(kind, uneven, "two steps")
    shared = library.taken_cases(kind, [memoryless("", *library.SHARED)], uneven)
    changed: list[Case] = [
        own
        for case in library.shared_warped(kind, uneven)
        for own in library.taken_with_settings(kind, case, uneven, wanted, alike=True)
        if isinstance(own, Warped)
    ]
    named = [replace(case, name=f", with settings{case.name}") for case in changed]

    @cache
    def of_pairs(pairs: int) -> list[Case]:
        """Return the cases of calls with all that is taken, and with nothing."""
        made = library.in_calls(kind, "", uneven, wanted, pairs=pairs)
        simple = library.in_calls(kind, f", {PLAIN}", uneven=False, pairs=pairs)
        return [*made, *simple] if uneven or any(isinstance(it, Warped) for it in made) else made

    def of_calls(words: str, *, pairs: int = 3) -> list[Case]:
        return [replace(case, name=f"{words}{case.name}") for case in of_pairs(pairs)]

    sized = [
        (case, each)
        for each, words in IN_CALLS
        for case in (
            *of_calls(words, pairs=1 if each is SingleRows else 3),
            *library.certain_cases(kind, f"{words}, of which some are certain", uneven),
        )
    ]
    sized += [(case, each) for each, words in BESIDE for case in of_calls(words, pairs=2)]
    apart = "rows up to 32 apart"
    sized += [(replace(case, name=apart), RowsApart) for case in shared]
    sized += [(replace(case, name=f"{apart}{case.name}"), RowsApart) for case in named]
    fewer = (*FEWER, *DRAFTLESS) if len(kind.parents) > 1 else DRAFTLESS
    return [
        *tasks_of(verifier, kind, [*cases, *warped, *library.large_settings(warped, vocabulary)]),
        *(Task(verifier, kind, case, case, StepBatches) for case in steps),
        *pair_tasks(verifier, kind, shared, DEPENDENT),
        *pair_tasks(verifier, kind, [*shared, *named[:1]], fewer if uneven else ()),
        *pair_tasks(verifier, kind, changed, WARPED),
        *(Task(verifier, kind, case, case, each) for case, each in sized),
        *(Task(verifier, kind, case, case, AmongTokens, large=True) for case in dense),
        *long_calls(verifier, kind, of_pairs(3), vocabulary, entries),
    ]


def followable(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks whose drafts can be followed: where they are too many with fewer symbols."""
    simple = (each.case for each in tasks if not _too_many(each.kind, each.case))
    few = {pair for case in simple for pair in _settings_of(case)}
    found = []
    for task in tasks:
        case = task.case
        if isinstance(case, Warped):
            # Models that are warped are not made narrower: those with fewer symbols are there, too.
            if not _too_many(task.kind, case) or not _settings_of(case) <= few:
                found.append(task)
            continue
        if case.variants > 1 and not task.costly:  # one row is handed over: each pair has its case
            continue
        while not task.costly and case.n > 2 and _too_many(task.kind, case):
            case = narrowed(case)
        if task.verifier.uneven or not library.needs_lengths(task.kind, case):
            found.append(task if case is task.case else replace(task, case=case, law=case))
    return found


def _too_many(kind: Kind, case: Case) -> bool:
    sets = len(patterns(kind.parents)) if case.uneven else 1
    return bool(sets * case.n ** len(kind.parents) > MOST_DRAFTED)


def _settings_of(case: Case) -> set[str]:
    """Return how the pairs of models of a case are warped and masked."""
    if not isinstance(case, Warped):
        return set()
    pairs = zip(case.settings, case.draft_settings, case.allowed, strict=True)
    return {repr((*settings, bool(allowed.all()))) for *settings, allowed in pairs}


def beside_tasks(verifier: Verifier, kind: Kind) -> list[Task]:
    """Return the task of two rows, of which one keeps nothing, with drafts at all places."""
    most = kind.widest
    uneven = verifier.uneven
    plain = library.plain_cases(kind, uneven, "a row beside", beside=True)
    cases = (replace(case, uneven=uneven) for case in plain if most < case.n)
    return [Task(verifier, kind, case, case, BesideRejected) for case in cases]


def tasks_of(verifier: Verifier, kind: Kind, cases: list[Case]) -> list[Task]:
    """Return the tasks of cases in calls of many rows."""
    return [Task(verifier, kind, case, case, large=case.vocabulary > case.n) for case in cases]


def pair_tasks(
    verifier: Verifier, kind: Kind, cases: list[Case], pairs: Sequence[type[Pairs]]
) -> list[Task]:
    """Return the tasks of rows and calls that may depend on each other."""
    named = [(f"{each.between}{case.name}", case, each) for case in cases for each in pairs]
    made = [(replace(case, name=name), each) for name, case, each in named]
    return [Task(verifier, kind, case, case, each) for case, each in made]


def long_calls(
    verifier: Verifier, kind: Kind, cases: list[Case], vocabulary: int, entries: int
) -> list[Task]:
    """Return the tasks of calls of very many rows, and of very many entries of each array.

    The names of the cases, if any, come behind what the calls are.
    """
    least = {"tokens": 1, "texts": kind.length - 1}.get(kind.name, len(kind.parents))
    few, many = min(MANY_ROWS, entries), -(-entries // (vocabulary * least))
    wide = [(library.among(case, vocabulary), case.name) for case in cases[:1]]
    tasks = []
    for made, before, words in (
        ([(case, case.name) for case in cases], few, "rows"),
        (wide, many, "rows of many tokens"),
    ):
        calls = f"{sum(long_call(before)):,} {words} in one call"
        for case, name in made:
            named = replace(case, name=f"{calls}{name}")
            tasks.append(Task(verifier, kind, named, named, before=before))
    return tasks
