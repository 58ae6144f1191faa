"""A known fault, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otspec._base.registry import Registry, instance_of
from otspec.conformance.faults.machine import Machine

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
        runs it.
    kinds : tuple of str
        The kinds it can be in.
    pipeline : bool
        Whether only an engine that drafts can have it: drafts that are given hide it.
    """

    name: str
    sentence: str
    fix: str
    machine: type[Machine]
    kinds: tuple[str, ...] = EVERY
    pipeline: bool = False


FAULTS: Registry[Fault] = Registry("known fault", "otspec.faults", instance_of(Fault))
"""Known faults by name."""


def known(
    name: str, fix: str, kinds: tuple[str, ...] = EVERY, *, pipeline: bool = False
) -> Callable[[type[Machine]], type[Machine]]:
    """Add a fault: a decorator for its machine, whose docstring says what goes wrong."""

    def add(machine: type[Machine]) -> type[Machine]:
        sentence = " ".join((machine.__doc__ or "").split())
        FAULTS.register(Fault(name, sentence, fix, machine, kinds, pipeline))
        return machine

    return add
