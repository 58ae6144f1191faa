"""The cases of a check: small, and each with something that verifiers get wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np

from otspec.conformance.cases.cases import (
    BEHIND,
    FEWER,
    Case,
    embedded,
    memoryless,
    mixed,
    remembering,
    spread,
)
from otspec.conformance.cases.drafting import siblings_of
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.settings import of_logits
from otspec.conformance.cases.warping import FAR_AWAY, Warped, warped_cases, with_settings

LOGITS = np.array([2.0, 1.0, 0.0, -1.5])  # of the cases of extreme temperatures
COLD = tuple(np.exp(LOGITS / 0.05 - 40))  # weights from 1 down to 4e-31, at temperature 0.05
WARM = tuple(np.exp(LOGITS / 20))  # nearly equal weights, at temperature 20
ULP = 2.0**-24  # between two float32 numbers just below 1/4 and 1/2, and less

ROWS = {  # weights of draft and target, by what is hard about them
    "all positive": ((4, 2, 1, 1), (1, 2, 4, 1)),
    "draft and target alike": ((3, 2, 2, 1), (3, 2, 2, 1)),
    "nearly alike": ((64, 32, 16, 16), (63, 33, 15, 17)),
    "alike but for the last bit": (
        (0.25, 0.25, 0.25, 0.25),
        (0.25 + 2 * ULP, 0.25 - ULP, 0.25 - ULP, 0.25),
    ),
    "ties": ((2, 2, 2, 2), (1, 1, 3, 3)),
    "disjoint supports": ((3, 1, 0, 0), (0, 0, 1, 3)),
    "a drafted token that the target never says": ((4, 2, 2, 0), (0, 4, 1, 3)),
    "a token that is never drafted": ((4, 4, 0, 0), (2, 2, 3, 1)),
    "one certain draft": ((1, 0, 0, 0), (4, 2, 1, 1)),
    "one certain target": ((4, 2, 1, 1), (0, 0, 1, 0)),
    "both certain, of one token": ((0, 1, 0, 0), (0, 1, 0, 0)),
    "both certain, of two tokens": ((0, 1, 0, 0), (0, 0, 0, 1)),
    "a vocabulary of one token": ((1,), (1,)),
    "a target that is nearly certain": ((4, 2, 1, 1), (1, 10_000, 1, 1)),
    "a draft that is nearly certain": ((10_000, 1, 1, 1), (2, 2, 3, 1)),
    "temperatures far apart": ((8, 4, 2, 1), (4096, 256, 16, 1)),
    "a cold draft and a warm target": (COLD, WARM),
    "a warm draft and a cold target": (WARM, COLD[::-1]),
    "subnormal weights": ((1, 1, 1e-30, 1e-40), (1, 1e-40, 1, 1e-30)),
    "a grammar that forbids the likeliest drafts": ((8, 4, 2, 2), (0, 0, 3, 1)),
    # Rejections that come together: one random number for two tests; a residual that is clipped.
    "a residual with next to nothing for one token": ((13, 0, 0, 3), (5, 1, 19, 7)),
    # A shortcut keeps what both models find nearly certain without a random number.
    "both nearly certain, of one token": ((9_990, 4, 3, 3), (9_920, 20, 30, 30)),
    "both all but certain, of one token": ((99_997, 1, 1, 1), (99_950, 20, 20, 10)),
    # K-Seq rejects an unlikely draft that the target likes still less.
    "an unlikely draft": ((1, 11), (1, 19)),
}

MORE_ROWS = {  # those of which no known fault needs the law to be told from others
    "a uniform target": ((4, 2, 1, 1), (1, 1, 1, 1)),
}
DIFFERENT = ((8, 4, 2, 1), (2, 5, 3, 6))  # no two weights alike: each top-k keeps others
BESIDE_OTHERS = (  # what code asks of a row, and answers for a whole batch
    "all positive",
    "disjoint supports",
    "one certain draft",
    "one certain target",
    "both certain, of one token",
    "a uniform target",
)
BETWEEN = {  # of which the large vocabulary is so many times smaller, where it is still large
    "ties": 31,
    "a token that is never drafted": 13,
    "a grammar that forbids the likeliest drafts": 5,
    "a uniform target": 2,
}
STILL_LARGE = 1024  # tokens
MOST_CELLS = 4096  # most texts of a case with more symbols than others have

TABLES = {  # the row after the text, and that after each symbol
    "rows that depend on the text": (
        ((2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 0)),
        ((1, 1, 2), (2, 1, 1), (0, 3, 1), (1, 1, 2)),
    ),
    "good drafts after bad ones": (
        ((3, 1, 0), (1, 1, 2), (2, 2, 4), (1, 4, 3)),
        ((1, 3, 0), (1, 1, 2), (4, 2, 2), (4, 1, 3)),
    ),
}
SHARED = ((4, 4, 1, 1), (1, 1, 4, 4))  # the same random numbers mostly give the same answer
# The same with settings, all of which are clear, also without any of the tokens.
SHARED_WARPED = ((3, 4, 2, 20, 1), (3, 5, 6, 8, 10))
STEP = 0.75  # of weights of which each is so many times the one before
DIFFER = "rows of a batch that differ"
BEHIND_WORDS = {"same": "", "garbage": ", garbage behind them", "nan": ", NaN behind them"}
BORDERS = ((31, 32), (127, 128), (255, 256), (1023, 1024), (32_767, 32_768), (65_535, 65_536))
"""Tokens beside the borders of warps, blocks and 16 bits, of which the large cases have two."""


def cases_of(kind: Kind, vocabulary: int, uneven: bool) -> list[Case]:
    """Return the cases of a kind: small ones, and each again in a large vocabulary."""
    more = (memoryless(name, *pair) for name, pair in MORE_ROWS.items())
    small = taken_cases(kind, (*small_cases(kind), *more), uneven)
    if not small:
        return []
    sizes = [vocabulary // BETWEEN.get(case.name, 1) for case in small]
    sizes = [size if size > STILL_LARGE else vocabulary for size in sizes]
    large = [among(case, sizes[turn], turn) for turn, case in enumerate(small)]
    if (even := 1 << vocabulary.bit_length() - 1) < vocabulary:
        # A multiple of all blocks: none is left over. The correction is the last token there.
        large.append(among(small[0], even, turn=3))
    # Other laws of siblings of symbols are no such laws of tokens.
    dense = [spread(small[0], vocabulary)] if kind.law == "iid" else []
    several = certain_cases(kind, "rows of a batch of which some are certain", uneven)
    return [*small, *several, *taken_cases(kind, many_symbols(kind), uneven), *large, *dense]


def certain_cases(kind: Kind, name: str, uneven: bool) -> list[Case]:
    """Return the case of rows of which some are certain, if any is taken."""
    pairs = ROWS | MORE_ROWS
    rows = taken_cases(kind, (memoryless(each, *pairs[each]) for each in BESIDE_OTHERS), uneven)
    return [mixed(name, rows)] if rows else []


def many_symbols(kind: Kind) -> list[Case]:
    """Return the case of more tokens than siblings; for i.i.d. ones the dense case is it."""
    n = max(6, 2 + kind.widest)
    if kind.law == "iid" or n**kind.length > MOST_CELLS:
        return []
    weights = np.arange(1, n + 1)
    return [memoryless(f"{n} tokens", weights[::-1], weights**2)]


def settings_cases(kind: Kind, wanted: Sequence[str], uneven: bool) -> list[Case]:
    """Return the cases of a verifier that warps or masks the models itself."""
    names = ("all positive", "a drafted token that the target never says")
    bases: dict[str, Any] = {name: ROWS[name] for name in names}
    if kind.name != "tokens":
        bases |= {name: TABLES[name] for name in ("rows that depend on the text",)}
    many = {case.name: (case.draft[0, 0], case.target[0, 0]) for case in many_symbols(kind)}
    bases |= many | {"no ties": DIFFERENT}
    cases = warped_cases(bases, wanted, lambda made: is_taken(kind, made, uneven), uneven)
    return taken_cases(kind, cases, uneven)


def large_settings(cases: Sequence[Case], vocabulary: int) -> list[Case]:
    """Return the cases whose settings, and whose mask, change most, among many tokens."""
    # Those of several settings come before others.

    def changed(case: Warped) -> tuple[int, float]:
        moved = np.abs(case.target - of_logits(case.target_logits, {}))
        return case.variants, float(moved.sum(axis=-1).mean())

    warped = [case for case in cases if isinstance(case, Warped) and case.name != FAR_AWAY]
    masked = [case for case in warped if not case.allowed.all()]
    free = [case for case in warped if case.allowed.all()]
    return [among(max(group, key=changed), vocabulary) for group in (free, masked) if group]


def small_cases(kind: Kind) -> tuple[Case, ...]:
    """Return all small cases of a kind, the same ones in each check: laws on them are kept."""
    return _small_cases(kind.name)


@lru_cache
def _small_cases(kind: str) -> tuple[Case, ...]:
    rows = [memoryless(name, *pair) for name, pair in ROWS.items()]
    tables = [remembering(name, *pair) for name, pair in TABLES.items()]
    if kind == "tokens":
        tables = []
    hard = [rows[0], rows[6], *tables]
    uneven = [
        replace(it, name=f"{it.name}, {FEWER}{BEHIND_WORDS[behind]}", uneven=True, behind=behind)
        for behind in (BEHIND if kind != "tokens" else BEHIND[:2])
        # What stands behind is looked at or not, whatever the rows: one case tells.
        for it in (hard if behind == "same" else hard[-1:])
    ]
    # Where rows have other models and other lengths, each order of rows shows.
    apart = mixed(DIFFER, [rows[0], *rows[6:8]] if kind == "tokens" else tables)
    uneven.append(replace(apart, name=f"{DIFFER}, {FEWER}", uneven=True))
    return (*rows, mixed(DIFFER, rows[:3]), *tables, *uneven)


def plain_cases(
    kind: Kind, uneven: bool, name: str = "", *, pairs: int | None = 1, **options: Any
) -> list[Case]:
    """Return the simplest case, of one pair of models or all like it; none if all need lengths."""
    groups = [[memoryless(each, *ROWS[each]) for each in list(ROWS)[:3]]]
    if kind.name != "tokens":
        groups.insert(0, [remembering(each, *pair) for each, pair in TABLES.items()])
    cases = taken_cases(kind, (mixed(name, group[:pairs]) for group in groups), uneven)
    return [replace(case, **options) for case in cases[:1]]


def among(case: Case, vocabulary: int, turn: int = 0) -> Case:
    """Return a case in a large vocabulary; its tokens go round with the turn."""
    return embedded(case, vocabulary, _places(case.n, vocabulary, turn))


def in_calls(
    kind: Kind, name: str, uneven: bool, wanted: Sequence[str] = (), *, pairs: int = 3
) -> list[Case]:
    """Return the cases of calls of certain numbers of rows that are taken: one for each setting.

    Rows, if of several pairs, and their places have other models, lengths, settings and masks.
    """
    # The likelier a draft is, the less it is wanted; in some rows all drafts are kept. The largest
    # probability differs between rows, and each has a token that is never drafted.
    n = 4 if kind.law == "iid" else max(4, 2 * kind.widest)
    # Of distinct drafts most settings leave as many as are drafted. A limit that is clear of the
    # powers of a number is clear of those of its square, behind any mask.
    last, iid = n - 1, kind.law == "iid"
    draft = STEP ** (np.arange(last) * (5 if iid else 1))
    target = STEP ** np.array([last + 2, *range(last)[::-1]])
    twice = np.array([(np.append(draft, 0), row) for row in (target, target**2)])
    turns = np.array([np.roll(twice[turn % 2], turn, axis=1) for turn in range(pairs + n)])
    tables = [turns[turn : turn + n + 1].swapaxes(0, 1) for turn in range(pairs)]
    tables[-1] = tables[-1][[int(iid)] * 2] if pairs > 1 else tables[-1]
    case = mixed(name, [remembering("", *pair) for pair in tables])
    case = replace(case, uneven=True, behind="garbage") if uneven else case
    taken = taken_cases(kind, [case], uneven)
    return [own for each in taken for own in taken_with_settings(kind, each, uneven, wanted)]


def shared_warped(kind: Kind, uneven: bool) -> list[Case]:
    """Return the case of pairs of rows with settings, if it is taken."""
    steps = STEP ** np.arange(max(5, 3 + kind.widest))
    base = SHARED_WARPED if kind.law == "iid" else (steps, steps[::-1])
    return taken_cases(kind, [memoryless("", *base)], uneven)


def taken_with_settings(
    kind: Kind, case: Case, uneven: bool, wanted: Sequence[str], *, alike: bool = False
) -> list[Case]:
    """Return a case with settings and masks as far as they are asked for, and it is taken."""
    return with_settings(case, wanted, lambda made: is_taken(kind, made, uneven), alike=alike)


def taken_cases(kind: Kind, cases: Iterable[Case], uneven: bool) -> list[Case]:
    """Return the cases that a verifier takes, whose rows may have different numbers of drafts."""
    return [case for case in cases if is_taken(kind, case, uneven)]


def is_taken(kind: Kind, case: Case, uneven: bool) -> bool:
    """Return whether a verifier takes a case, as :func:`taken_cases` does."""
    return uneven or not needs_lengths(kind, case)


def needs_lengths(kind: Kind, case: Case) -> bool:
    """Return whether some rows have fewer drafts, of their own or for want of distinct ones."""
    most = kind.widest
    rows = case.draft.reshape(-1, case.n)
    return case.uneven or any(siblings_of(row, kind.law, most) < most for row in rows)


def _places(n: int, vocabulary: int, turn: int) -> list[int]:
    """Return the tokens of symbols: the first, the last, and some beside a border of warps."""
    # Which symbol is where goes round with the turn.
    pairs = [pair for pair in BORDERS if pair[1] < vocabulary - 1]
    borders = pairs[turn % len(pairs)] if pairs else ()
    others = chain(borders, (place for place in range(1, vocabulary - 1) if place not in borders))
    places = [0, vocabulary - 1, *islice(others, max(n - 2, 0))][:n]
    return [places[(symbol + turn) % n] for symbol in range(n)]
