"""Things of one kind by name: those of the package, and those that other packages add."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")
Named = TypeVar("Named")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """A table of things of one kind, by name, in the order of tables.

    Entries are added with :meth:`add` or, where they say their own name, with :meth:`register`.
    Other packages add theirs by an entry point of the group, such as

    .. code-block:: ini

        [options.entry_points]
        otspec.rules =
            my-rule = my_package.rules:MyRule

    They are loaded when the table is first looked at. One that cannot be loaded or added is left
    out, with a warning.

    Parameters
    ----------
    what : str
        What an entry is called in a sentence, such as ``"draft law"``.
    group : str
        The group of entry points, such as ``"otspec.laws"``.
    check : callable, optional
        Takes the name and the entry; raises ``ValueError`` for what cannot be one.
    """

    def __init__(
        self, what: str, group: str, check: Callable[[str, Any], None] | None = None
    ) -> None:
        self.what, self.group = what, group
        self._check = check
        self._entries: dict[str, Entry] = {}
        self._complete = False

    def add(self, name: str, entry: Entry) -> None:
        """Add an entry; a ValueError refuses another of that name, or of another kind."""
        if self._check is not None:
            self._check(name, entry)
        if self._entries.setdefault(name, entry) is not entry:
            raise ValueError(f"there is another {self.what} named {name!r}: rename one of them")

    def register(self, entry: Named) -> Named:
        """Add an entry by its own ``name``, and return it: a decorator for classes."""
        named: Any = entry
        self.add(named.name, named)
        return entry

    def __getitem__(self, name: str) -> Entry:
        return self._loaded()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def __repr__(self) -> str:
        return f"<{self.what}s: {', '.join(self)}>"

    def _loaded(self) -> dict[str, Entry]:
        """Return the entries, those of other packages included."""
        if not self._complete:
            self._complete = True
            from importlib.metadata import entry_points

            for point in entry_points(group=self.group):
                try:
                    self.add(point.name, point.load())
                except Exception as error:  # whatever a package of somebody else's does
                    warnings.warn(
                        f"the {self.what} {point.name!r} of {point.value} is left out: {error}",
                        stacklevel=3,
                    )
        return self._entries


def subclass_of(base: type) -> Callable[[str, Any], None]:
    """Return a check of entries: subclasses of a class, each under its own ``name``."""

    def check(name: str, entry: Any) -> None:
        if not (isinstance(entry, type) and issubclass(entry, base)):
            raise ValueError(f"{entry!r} is no subclass of {base.__name__}")
        _check_name(name, entry)

    return check


def instance_of(kind: type) -> Callable[[str, Any], None]:
    """Return a check of entries: instances of a class, each under its own ``name``."""

    def check(name: str, entry: Any) -> None:
        if not isinstance(entry, kind):
            raise ValueError(f"{entry!r} is no {kind.__name__}")
        _check_name(name, entry)

    return check


def meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether another name was meant: the closest, or nothing if none is close.

    Examples
    --------
    >>> meant("acept", ["accept", "trace"]), meant("x", ["accept"])
    ("; did you mean 'accept'?", '')
    """
    words = {each.lstrip("-"): each for each in known}
    word = name.lstrip("-")[:_LONGEST]
    begun = [each for each in words if each.startswith(word) and len(word) >= _SHORTEST]
    closest = [min(begun, key=len)] if begun else get_close_matches(word, words, n=1)
    return "".join(f"; did you mean {words[each]!r}?" for each in closest)


_SHORTEST = 3  # fewest signs that are taken for the beginning of a name
_LONGEST = 80  # most signs that are compared: nobody mistypes more


def _check_name(name: str, entry: Any) -> None:
    if entry.name != name:
        raise ValueError(f"{entry!r} is named {entry.name!r}, not {name!r}")
