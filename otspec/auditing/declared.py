"""What a rule under audit says of itself, compared with the instance that it was made for."""

import inspect
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from otspec._base import Array, as_numbers, is_exact, plain
from otspec.auditing.sandbox import Crash, attempt, attribute
from otspec.distributions import Distribution, as_distribution
from otspec.drafts import IID, LAWS, DraftLaw
from otspec.rules.base.law_rule import ProgramRule


class DisagreementError(Exception):
    """What is wrong with what a rule says of itself, or answers.

    ``about``: its attribute, ``making`` it, its ``kernel``, or a ``sampler``. ``reason``: in words.
    ``crash``: if asking for it failed. ``drafts``: those it was asked about. ``tolerance``: what
    was forgiven.
    """

    def __init__(
        self,
        about: str,
        reason: str,
        crash: Crash | None = None,
        drafts: tuple[tuple[int, ...], ...] = (),
        tolerance: float = 0.0,
    ) -> None:
        super().__init__(reason)
        self.about, self.reason, self.crash = about, reason, crash
        self.drafts, self.tolerance = drafts, tolerance
        if crash is not None:
            self.__cause__ = crash.error  # where this is shown, its traceback is, too

    @property
    def traceback(self) -> str | None:
        """Of what the code under audit raised, if it did."""
        return None if self.crash is None else self.crash.traceback


class NoDistributionError(DisagreementError):
    """A kernel answers masses, one for each token, that are no distribution."""


def kernel_of(rule: Any, law: DraftLaw, target: Distribution) -> Callable[..., Any]:
    """Return the kernel of a rule or a program, or a callable itself."""
    kernel = _read(rule, "kernel")
    if kernel is None:
        program = rule if callable(rule) else _read(rule, "verify")
        if program is not None and is_program(program):
            return ProgramRule(law, target, program).kernel
        kernel = rule
    if callable(kernel):
        signature, crash = attempt(inspect.signature, kernel)
        if crash is not None or takes(signature, 1):  # a builtin may not tell
            return cast(Callable[..., Any], kernel)
        taken = named_parameters(signature)
        raise DisagreementError(
            "kernel",
            f"a kernel takes the drafts alone, and this one takes {taken}: write kernel(x) -> "
            f"distribution, or a program verify(drafts, chance), whose second parameter is called "
            f"chance; {TEST_SAMPLERS}",
        )
    made = type(rule).__name__
    if _read(rule, "sample") is not None:
        raise DisagreementError(
            "kernel",
            f"{made} has a sample, and no kernel: write kernel(x) -> distribution; {TEST_SAMPLERS}",
        )
    raise DisagreementError(
        "kernel",
        f"what is made is neither a rule nor a kernel, but {made}: write kernel(x) -> "
        f"distribution; {TEST_SAMPLERS}",
    )


TEST_SAMPLERS = "a sampler, which returns a token, is tested with otspec.audit_samples"


def is_step(function: Any) -> bool:
    """Return whether a function takes ``chance`` alone."""
    return _takes_chance(function, after=0)


def is_program(function: Any) -> bool:
    """Return whether a function takes ``(drafts, chance)``."""
    return _takes_chance(function, after=1)


def _takes_chance(function: Any, after: int) -> bool:
    signature, crash = attempt(inspect.signature, function)
    if crash is not None:  # a builtin may not tell
        return False
    return list(signature.parameters)[after : after + 1] == ["chance"] and takes(
        signature, after + 1
    )


def takes(signature: inspect.Signature, count: int) -> bool:
    """Return whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def named_parameters(signature: inspect.Signature) -> str:
    """Return the parameters of a function by name, such as ``(x, rng)``."""
    return f"({', '.join(map(str, signature.parameters))})"


def law_name_of(rule: Any, drafts: str | None) -> str:
    """Return the name of the draft law that a rule declares, or else ``drafts`` or ``"iid"``."""
    declared = _read(rule, "drafts")
    if declared is None:
        return drafts or IID.name
    if type(declared) is not str or declared not in LAWS:
        raise DisagreementError(
            "drafts",
            f"the rule says that its drafts are {_shown(declared)}, which names no draft law: "
            f"write one of {', '.join(LAWS)}",
        )
    if drafts not in (None, declared):
        raise DisagreementError(
            "drafts", f"the rule is for {declared} drafts, and is audited for {drafts} ones"
        )
    return declared


def check_declared(
    rule: Any, name: str, law: DraftLaw, target: Distribution, tolerance: float | None
) -> None:
    """Compare ``k``, ``target`` and ``law`` of a rule, where it has them, with the right ones."""
    # Exact numbers have to be equal; the error of a float may be tolerance, by default one rounding
    # per draft tuple and eight per token. name: of the law.
    for about, judge in (
        ("k", lambda value: _wrong_k(value, law)),
        ("target", lambda value: _wrong_target(value, target, tolerance)),
        ("law", lambda value: _wrong_law(value, name, law, tolerance)),
    ):
        value = _read(rule, about)
        if value is None:
            continue
        reason, crash = attempt(judge, value)
        if crash is not None:
            reason = f"the rule's {about} cannot be used: it {crash.what}"
        if reason is not None:
            raise DisagreementError(about, str(reason), crash)


def as_declared(law: Any, n: int) -> Distribution:
    """Return the output law that a rule declares."""
    declared = as_distribution(law, "declared_output")
    if len(declared) != n:
        raise ValueError(
            f"declared_output has {len(declared)} tokens, and the target {n}: one mass per token"
        )
    return declared


def declared_by(rule: Any, n: int) -> Distribution | None:
    """Return the output law that a rule under audit declares, if it does."""
    law = _read(rule, "declared_output")
    if law is None:
        return None
    checked, crash = attempt(as_declared, law, n)
    if crash is not None:
        reason = f"the rule's declared_output cannot be used: it {crash.what}"
        raise DisagreementError("declared_output", reason, crash)
    return cast(Distribution, checked)


def rounding(tuples: int, tokens: int) -> float:
    """Return the error per token that counts as rounding in floats."""
    return float(np.finfo(float).eps) * (tuples + 8 * tokens)


def _read(rule: Any, name: str) -> Any:
    value, crash = attempt(attribute, rule, name)
    if crash is not None:
        raise DisagreementError(name, f"asking the rule for its {name} {crash.what}", crash)
    return value


def _wrong_k(value: Any, law: DraftLaw) -> str | None:
    k = operator.index(value)
    return None if k == law.k else f"the rule says that k is {k}, and was made for k = {law.k}"


def _wrong_target(value: Any, target: Distribution, tolerance: float | None) -> str | None:
    declared = as_numbers(value, "target")
    allowed = rounding(0, len(target)) if tolerance is None else tolerance
    if declared.shape == target.shape and _alike(declared, target, allowed):
        return None
    return (
        f"the rule says that its target is {_shown(declared.tolist())}, and was made for "
        f"{_shown(target.tolist())}"
    )


def _wrong_law(value: Any, name: str, law: DraftLaw, tolerance: float | None) -> str | None:
    if not isinstance(value, DraftLaw):
        return f"the rule's law is {type(value).__name__}, and no draft law"
    if (value.k, value.n) != (law.k, law.n):  # before a table that may be far larger
        return (
            f"the rule's law is of {value.k} drafts over {value.n} tokens, and it was made for "
            f"{law.k} over {law.n}"
        )
    declared, wanted = _masses(value), _masses(law)
    allowed = rounding(len(wanted), law.n) if tolerance is None else tolerance
    for x in sorted({*declared, *wanted}):
        found, right = declared.get(x, 0), wanted.get(x, 0)
        if not _alike(as_numbers([found], "mass"), as_numbers([right], "mass"), allowed):
            return (
                f"the rule's law gives drafts {x} probability {found}, and {name} drafts of the "
                f"instance have them with {right}: name the law that the rule verifies"
            )
    return None


def _masses(law: DraftLaw) -> dict[tuple[int, ...], Any]:
    tuples, masses = law.tuples()
    table: dict[tuple[int, ...], Any] = {}
    for x, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
        table[tuple(x)] = table.get(tuple(x), 0) + mass
    return table


def _alike(declared: Array, wanted: Array, allowed: float) -> bool:
    if is_exact(declared) and is_exact(wanted):
        return bool((declared == wanted).all())
    # Written so that NaN is unlike.
    return bool((np.abs(declared.astype(float) - wanted.astype(float)) <= allowed).all())


def _shown(value: Any, most: int = 120) -> str:
    text = f"[{', '.join(map(plain, value))}]" if isinstance(value, list) else repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
