"""A known fault, the table of all of them, their exact laws, and how likely they make counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, Registry, instance_of
from otspec.chance import LEAST, Branch, CannotFollowError, law_of
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.evidence import Evidence, Requirement
from otspec.conformance.evidence.statistics import add_answer, no_answers
from otspec.conformance.faults.last_draw import MOST_WAYS, law_of_step
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule
from otspec.conformance.faults.setting import setting_of
from otspec.models import Prefix

Part = TypeVar("Part", bound=type[Any])
Replacement = Callable[[Callable[..., Any]], type[Any]]
EVERY = ("tokens", "block", "tree")


@dataclass(frozen=True)
class Fault:
    """A mistake that verifiers are known to make."""

    name: str  # in plain words, such as ``"residual not renormalized"``
    sentence: str  # what goes wrong
    fix: str  # what to do about it
    # A Machine that has the fault, whatever rule runs
    # it; or a SharedNoise
    machine: type[Any]
    kinds: tuple[str, ...] = EVERY  # the kinds it can be in
    # Whether only an engine that drafts can have it: drafts that are given hide it
    pipeline: bool = False

    @property
    def same_seed(self) -> bool:
        """Whether only engines that promise the same text for the same seed can have it."""
        return not issubclass(self.machine, Machine)


FAULTS: Registry[Fault] = Registry("known fault", "otspec.faults", instance_of(Fault))
"""Known faults by name."""


def faults_of(kind: str, *, same_seed: bool = False) -> list[Fault]:
    """Return the known faults that drafts of a kind can show: of shared noise, or all others."""
    found = (fault for fault in FAULTS.values() if kind in fault.kinds)
    return [fault for fault in found if fault.same_seed == same_seed]


def known(
    name: str, fix: str, kinds: tuple[str, ...] = EVERY, *, pipeline: bool = False
) -> Callable[[Part], Part]:
    """Add a fault: a decorator for its machine, whose docstring says what goes wrong."""

    def add(machine: Part) -> Part:
        sentence = " ".join((machine.__doc__ or "").split())
        FAULTS.register(Fault(name, sentence, fix, machine, kinds, pipeline))
        return machine

    return add


def part(replaced: str, of: type[Any] = Machine) -> Callable[..., Replacement]:
    """Return :func:`known` for a function that replaces one method of a correct verifier."""

    def known_part(
        *facts: Any, strength: tuple[float, float, float] | None = None, **options: Any
    ) -> Replacement:
        def add(method: Callable[..., Any]) -> type[Any]:
            body: dict[str, Any] = {it: getattr(method, it) for it in ("__doc__", "__module__")}
            body[replaced] = method
            if strength is not None:  # of the fault, and the range in which it is fitted
                body |= {"strength": strength[0], "strengths": strength[1:]}
            return known(*facts, **options)(type(method.__name__, (of,), body))

        return add

    return known_part


@lru_cache(maxsize=16384)
def joint_law(machine: Any, rule: RightRule, kind: Kind, case: Case) -> Array:
    """Return how likely each mark is with each text, shape (marks, fine cells).

    Cells are those of ``fine_counts``; the target draws what follows. Raises CannotFollowError if
    there are more than :data:`MOST_WAYS` ways through the verifier.
    """
    law = no_answers(kind, case)
    if not isinstance(kind, Texts):
        one_step = Machine if machine.across else machine
        for variant, laws in enumerate(_steps(one_step, rule, kind, case)):
            for (mark, text), mass in laws.items():
                add_answer(law, case, variant, mark, text, float(mass))
    elif machine.reads_others and case.other is None:
        raise CannotFollowError("where other texts of the batch have got to is not known")
    elif machine.numbered:
        for variant, text, chance in _said_in_turn(machine, rule, kind, case):
            add_answer(law, case, variant, 0, text, chance)
    else:
        law[0] = _said(machine, rule, kind, case)
    law /= case.variants
    law.flags.writeable = False
    return law


def law_or_none(machine: type[Machine], rule: RightRule, kind: Kind, case: Case) -> Array | None:
    """Return the joint law; None if there are too many ways through the verifier."""
    try:
        return joint_law(machine, rule, kind, case)
    except CannotFollowError:
        return None


def _steps(machine: Any, rule: RightRule, kind: Kind, case: Case) -> list[dict[Any, Number]]:
    """Return the law of what one step says, for each pair of models: one object for equal pairs."""
    setting = setting_of(kind, case)

    def law(variant: int) -> dict[Any, Number]:
        return law_of_step(partial(machine, setting, variant), lambda made: made.says(rule.run))

    laws: list[dict[Any, Number]] = []
    for variant, first in enumerate(setting.firsts[: case.variants]):
        laws.append(law(variant) if first == variant else laws[first])
    return laws


def _said(machine: Any, rule: RightRule, kind: Texts, case: Case) -> Array:
    """Return how likely each text of several steps is, of all pairs of models: (fine cells,)."""
    setting, n, starts = setting_of(kind.step, case.after_any_symbol), case.n, case.n + 1

    @cache
    def steps(start: int, handed: Any, left: int) -> dict[tuple[Prefix, int, Any], Number]:
        """Return the law of what a step says, the symbol that the next follows, what it gets."""

        def says(made: Any) -> tuple[Prefix, int, Any]:
            if made.across:
                made.needed = left
            if handed is not None:
                made.goes_on(handed)
            text = made.says(rule.run).text
            return text, text[-1] if made.last is None else made.last, made.handed()

        return law_of_step(partial(machine, setting, start), says)

    @cache
    def parts(start: int, handed: Any, left: int) -> tuple[Array, dict[tuple[int, Any], float]]:
        """Return the law of texts that a step goes on with, and where it goes without a symbol."""
        law = np.zeros(n**left + 1)
        stays: dict[tuple[int, Any], float] = {}
        known = steps(setting.firsts[start], handed, left if machine.across else 0)
        for (text, last, after), chance in known.items():
            said, mass = text[:left], float(chance)
            if n in (*said, last):
                law[-1] += mass
                continue
            begins = start - start % starts + last + 1, after
            if not said:
                stays[begins] = stays.get(begins, 0.0) + mass
                continue
            rest = left - len(said)
            following = mass * (goes_on(*begins, rest) if rest else WHOLE)
            law[:-1].reshape((n,) * left)[said] += following[:-1].reshape((n,) * rest)
            law[-1] += following[-1]
        return law, stays

    @cache
    def goes_on(start: int, handed: Any, left: int) -> Array:
        """Return how likely each text of so many symbols is, and one that is impossible."""
        keys, laws = [(start, handed)], []
        share: dict[tuple[int, int], float] = {}
        for row, key in enumerate(keys):  # grows
            law, stays = parts(*key, left)
            laws.append(law)
            keys += [each for each in stays if each not in keys]
            share |= {(row, keys.index(each)): mass for each, mass in stays.items()}
        if not share:
            return laws[0]
        matrix = np.eye(len(keys))
        for place, mass in share.items():
            matrix[place] -= mass
        try:
            whole: Array = np.linalg.solve(matrix, np.array(laws))[0]
        except np.linalg.LinAlgError as error:
            raise CannotFollowError("texts do not end") from error
        return whole

    laws = [goes_on(variant * starts, None, kind.length) for variant in range(case.variants)]
    return np.append(np.concatenate([law[:-1] for law in laws]), sum(law[-1] for law in laws))


WHOLE = np.array([1.0, 0.0])  # what follows a whole text: nothing, and it is not impossible


def _said_in_turn(
    machine: Any, rule: RightRule, kind: Texts, case: Case
) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Yield the same where a step gets the random numbers of the steps before."""
    setting, starts = setting_of(kind.step, case.after_any_symbol), case.n + 1

    def text(variant: int, chance: Branch) -> tuple[int, ...]:
        said: tuple[int, ...] = ()
        step: Any = None
        while len(said) < kind.length and case.n not in said:
            after = said[-1] + 1 if said else 0
            before, step = step, machine(setting, variant * starts + after, chance)
            if before is not None:
                step.goes_on(before.handed())
            said += step.says(rule.run).text
        return said[: kind.length]

    for variant in range(case.variants):
        law = law_of(partial(text, variant), least=LEAST, most=MOST_WAYS)
        for said, mass in law.items():
            yield variant, said, float(mass)


MISFIT = 1e-6  # probability that the fault that is there does not fit one case


@dataclass(frozen=True, eq=False)
class Seen(Frozen):
    """What was seen on one case."""

    case: Case
    counts: IntArray  # (marks, fine cells)
    needs: Requirement  # of the test of the case
    off: bool  # whether there is a finding
    # What else the case may have been: an engine drafts from warped logits or not
    other: Case | None = None

    def read_as(self, *, other: bool) -> "Seen":
        """Return what was seen with the case as it may have been."""
        return replace(self, case=self.other) if other and self.other is not None else self

    def likelihood(self, law: Array, *, marked: bool = False) -> float | None:
        """Return the logarithm of the likelihood, None where a law does not fit."""
        evidence, counts = self._compared(law, marked)
        return None if evidence.wrong(counts) else _logarithm(evidence, counts)

    def logarithm(self, law: Array, *, marked: bool = False) -> float:
        """Return the logarithm of the likelihood, however badly a law fits."""
        return _logarithm(*self._compared(law, marked))

    def _compared(self, law: Array, marked: bool) -> tuple[Evidence, IntArray]:
        axis = () if marked else (0,)
        evidence = self._evidence(law.sum(axis=axis).ravel())
        return evidence, self.counts.sum(axis=axis).ravel()

    def first_fits(self, law: Array) -> bool:
        """Return whether a law of the first token fits, whatever follows."""
        return not self._evidence(self._first(law)).wrong(self._first(self.counts))

    def _first(self, cells: Array) -> Array:
        texts = cells.sum(axis=0)
        each = texts[:-1].reshape(self.case.variants * self.case.n, -1).sum(axis=1)
        return np.append(each, texts[-1])

    def _evidence(self, expected: Array) -> Evidence:
        return Evidence(expected, replace(self.needs, false_alarm=MISFIT))


def _logarithm(evidence: Evidence, counts: IntArray) -> float:
    """Return the logarithm of the likelihood of counts under the law of an evidence."""
    seen = counts > 0
    with np.errstate(divide="ignore"):  # without rounding a cell may be impossible
        return float((counts[seen] * np.log(evidence.expected[seen])).sum())
