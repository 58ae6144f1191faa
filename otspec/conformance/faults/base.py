"""A known fault, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from otspec._base.registry import Registry, instance_of
from otspec.conformance.faults.machine import Machine

Part = TypeVar("Part", bound=type[Any])
EVERY = ("tokens", "block", "tree")


@dataclass(frozen=True)
class Fault:
    """A mistake that verifiers are known to make.

    Parameters
    ----------
    name : str
        In plain words, such as ``"residual not renormalised"``.
    sentence : str
        What goes wrong.
    fix : str
        What to do about it.
    machine : type
        A :class:`~otspec.conformance.faults.machine.Machine` that has the fault, whatever rule
        runs it; or a :class:`~otspec.conformance.faults.shared_noise.SharedNoise`.
    kinds : tuple of str
        The kinds it can be in.
    pipeline : bool
        Whether only an engine that drafts can have it: drafts that are given hide it.
    """

    name: str
    sentence: str
    fix: str
    machine: type[Any]
    kinds: tuple[str, ...] = EVERY
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
