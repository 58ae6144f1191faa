"""Rules that say of themselves what is not so, or that fail in every way that code can fail."""

from __future__ import annotations

import os
import signal
from fractions import Fraction

import numpy as np

import otspec
from otspec.drafts import named_law
from otspec.rules import RecursiveRejection


class Right:
    """A right rule that declares everything rightly; the others change one thing."""

    def __init__(self, draft, target, k):
        self.rule = RecursiveRejection(draft, target, k)
        self.draft, self.target, self.law, self.k = draft, target, self.rule.law, k

    def kernel(self, x):
        return self.rule.kernel(x)


class DraftAsTarget(Right):
    """Outputs the first draft, and says that the draft is its target."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.target = draft

    def kernel(self, x):
        return [Fraction(int(token == x[0])) for token in range(len(self.draft))]


class LawOfTheTarget(Right):
    """Outputs the first draft, and says that the drafts come from the target."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.law = otspec.IID(target, k)

    def kernel(self, x):
        return [Fraction(int(token == x[0])) for token in range(len(self.draft))]


class AlwaysOneDraft(Right):
    """Is for one draft, whatever k is."""

    def __init__(self, draft, target, _k):
        super().__init__(draft, target, 1)


class LawWithoutLength(Right):
    """Its law is no law."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.law = "iid"


class LawThatLies(otspec.IID):
    """Has the draft of another law, and only one tuple in its table."""

    def _table(self):
        return np.zeros((1, self.k), dtype=int), np.array([Fraction(1)], dtype=object)


class LyingLaw(Right):
    """Its own law object says that only zeros are drafted, for which it is right."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.law = LawThatLies(draft, k)

    def kernel(self, x):
        return self.target if set(x) == {0} else [Fraction(1), *[Fraction(0)] * len(x)]


class UnknownDrafts(Right):
    drafts = "urn"


class DistinctDrafts(Right):
    """Is for i.i.d. drafts, and names another law."""

    drafts = "without-replacement"


class TargetOfAnotherLength(Right):
    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.target = [*target, Fraction(0)]


class WordsAsTarget(Right):
    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.target = "the target"


class Believed(Right):
    """Outputs the first draft in floats, and says that its accuracy is 1."""

    accuracy = 1.0

    def kernel(self, x):
        return [float(token == x[0]) for token in range(len(self.draft))]


class Lenient(Fraction):
    """A fraction that is never different from another."""

    def __sub__(self, other):
        return Fraction(0)

    __rsub__ = __sub__

    def __mul__(self, other):
        return self

    __rmul__ = __mul__


class LenientNumbers(Right):
    """Outputs the first draft in numbers that compute as they like."""

    def kernel(self, x):
        return [Lenient(int(token == x[0])) for token in range(len(self.draft))]


class SharedBuffer(Right):
    """Always returns one array, a right answer when it is given; later it is the target's."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.answer = np.zeros(len(draft))

    def kernel(self, x):
        self.answer[:] = [float(token == x[0]) for token in range(len(self.draft))]
        self.answer.flags.writeable = False
        answer, self.answer = self.answer, self.answer.copy()
        return answer


class Alternating(Right):
    """Right at every odd call."""

    calls = 0

    def kernel(self, x):
        self.calls += 1
        right = self.rule.kernel(x)
        return right if self.calls % 2 else right[::-1]


class RightOnce(Right):
    """Right when asked about a tuple for the first time."""

    def __init__(self, draft, target, k):
        super().__init__(draft, target, k)
        self.seen = set()

    def kernel(self, x):
        right = self.rule.kernel(x)
        new = x not in self.seen
        self.seen.add(x)
        return right if new else [Fraction(1), *[Fraction(0)] * (len(right) - 1)]


DISAGREEING = {
    DraftAsTarget: "the rule says that its target is",
    LawOfTheTarget: "the rule's law gives drafts",
    AlwaysOneDraft: "the rule says that k is 1, and was made for k = 2",
    LawWithoutLength: "the rule's law is str, and no draft law",
    LyingLaw: "the rule's law gives drafts",
    UnknownDrafts: "its drafts are 'urn', which names no draft law",
    DistinctDrafts: "without-replacement drafts",
    TargetOfAnotherLength: "the rule says that its target is",
    WordsAsTarget: "the rule's target cannot be used",
    Believed: "comes out too",
    LenientNumbers: "comes out too",
    SharedBuffer: "comes out too",
    Alternating: "",  # wrong at once, or when asked again
    RightOnce: "asked a second time",
}


class FailsToSay(BaseException):
    """Fails also when it is printed."""

    def __str__(self):
        raise SystemExit(0)


def deep(n=0):
    return deep(n + 1)


def raising(error):
    raise error


FAILURES = {
    "SystemExit: 0": lambda: raising(SystemExit(0)),
    "SystemExit": lambda: raising(SystemExit()),
    "KeyboardInterrupt": lambda: raising(KeyboardInterrupt()),
    "GeneratorExit": lambda: raising(GeneratorExit()),
    "MemoryError": lambda: raising(MemoryError()),
    "RecursionError": deep,
    "FailsToSay": lambda: raising(FailsToSay()),
    "BaseException: plain": lambda: raising(BaseException("plain")),
    "KeyError: 'k'": lambda: {}["k"],
    "StopIteration": lambda: next(iter(())),
    "AssertionError: on \\ two lines": lambda: raising(AssertionError("on \\\ntwo lines")),
}


class FailingArray:
    """Fails only when it is read."""

    def __init__(self, fail):
        self.fail = fail

    def __array__(self, dtype=None, copy=None):
        return self.fail()


def failing_where(place, fail):
    """Return a factory of rules that fail at one place."""

    def making(draft, target, k):
        return fail() if place == "making" else made(draft, target, k)

    def made(draft, target, k):
        def asked(_self):
            return fail()

        def kernel(_self, x):
            if place == "answer":
                return FailingArray(fail)
            if place == "second":
                _self.calls += 1
                return fail() if _self.calls > 2 ** max(k, 1) * 99 else target
            return fail() if place == "call" else target

        members = {"kernel": kernel, "calls": 0}
        if place in ("law", "target", "k", "drafts", "kernel"):
            members[place] = property(asked)
        return type("Failing", (), members)()

    return making


PLACES = ("making", "call", "answer", "law", "target", "k", "drafts", "kernel")


def named(name, draft, k):
    return named_law(name, np.array(draft, dtype=object), k)


def interrupt():
    """What the system does at Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
