"""PyTorch, followed: every call goes through a mode that knows which elements are random."""

from __future__ import annotations

from typing import Any

from otspec.chance import Branch
from otspec.conformance.following.torch.draws import DRAWS, REFUSED
from otspec.conformance.following.torch.ledger import Ledger
from otspec.conformance.following.torch.rules import Call
from otspec.conformance.following.torch.table import RULES


def torch_mode(chance: Branch) -> Any:
    """Return a context manager in which PyTorch's random numbers are branches.

    Parameters
    ----------
    chance : Branch
        What makes the choices.
    """
    from torch.overrides import TorchFunctionMode

    ledger = Ledger()

    class Followed(TorchFunctionMode):  # type: ignore[misc]
        """Calls of PyTorch's functions and methods, also of those that other code kept."""

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            """Do one call."""
            del types
            return called(chance, ledger, Call(func, args, kwargs or {}))

    return Followed()


def called(chance: Branch, ledger: Ledger, call: Call) -> Any:
    """Do one call of PyTorch, inside a mode that is closed meanwhile."""
    draw = DRAWS.get(call.name)
    if draw is not None:
        options = {name: value for name, value in call.kwargs.items() if name != "generator"}
        return draw(chance, ledger, *call.args, **options)
    if call.name in REFUSED:
        raise chance.refused(f"it draws with torch's {call.name}")
    if not call.concerns(ledger):
        return call.function(*call.args, **call.kwargs)
    rule = RULES.get(call.name)
    if rule is not None:
        return rule(chance, ledger, call)
    if not call.settled(ledger):
        raise chance.refused(f"it passes a random number to torch's {call.name}")
    return call.function(*call.args, **call.kwargs)
