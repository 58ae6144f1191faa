"""Numbers from which on code refuses or answers otherwise, as users know them."""

from importlib import import_module


def of_module(name, limits):
    """Return what a module of otspec has of some limits."""
    found = vars(import_module(f"otspec.{name}"))
    return {each: found[each] for each in limits}


def least(monkeypatch, name, call, most=64):
    """Return the least number at which a limit of otspec lets a call through."""
    module, _, limit = name.rpartition(".")
    for number in range(most):
        monkeypatch.setattr(import_module(f"otspec.{module}"), limit, number)
        try:
            call()
        except ValueError:
            continue
        return number
    raise AssertionError(f"{name} is never large enough")
