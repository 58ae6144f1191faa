"""Numbers from which on code refuses or answers otherwise, as users know them."""

from importlib import import_module


def of_module(name, limits):
    """Return what a module of otspec has of some limits."""
    found = vars(import_module(f"otspec.{name}"))
    return {each: found[each] for each in limits}
