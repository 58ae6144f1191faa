"""The columns of a class of rows, from the types that its fields and properties declare."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from otspec._base import Number, shown, written
from otspec.estimate import Estimate, Exact, Known, Quantity, value_of

Probability: TypeAlias = Annotated[Number, "probability"]
"""A number between 0 and 1, or how far two are apart, with the unit that columns say."""
Tokens: TypeAlias = Annotated[Number, "tokens"]
"""An expected number of tokens."""
EstimatedProbability: TypeAlias = Annotated[Known, "probability"]
EstimatedTokens: TypeAlias = Annotated[Known, "tokens"]
"""The same where it may be an estimate, whose interval has columns, too."""

Cell: TypeAlias = Callable[[Any], Any]
"""From what an attribute is to what stands in the table; None where nothing is known."""

_Parts: TypeAlias = dict[str, tuple[str, Cell]]  # ending of a column's name -> type and cell

_WORD, _REAL = "string", "double"
_ENDS = ("low", "high")


@dataclass(frozen=True)
class Column:
    """A column of a table of rows.

    Parameters
    ----------
    name : str
    attribute : str
        Of a row, from which its cell follows.
    type : str
        Arrow's name of the type of a cell, such as ``"double"``, or of the items of one that is a
        list, such as ``"list<double>"``.
    cell : callable
        From the attribute to the cell, or from each of its items.
    unit : str
        Such as ``"probability"``; "" if there is none.
    part : str
        Of what is in several columns, which part this is, such as ``"exact"``.
    """

    name: str
    attribute: str
    type: str
    cell: Cell
    unit: str = ""
    part: str = ""

    def cells(self, rows: Sequence[Any]) -> list[Any]:
        """Return the cells of rows."""
        cell = (lambda items: list(map(self.cell, items))) if self.item_type else self.cell
        values = (getattr(row, self.attribute) for row in rows)
        return [None if value is None else cell(value) for value in values]

    @property
    def item_type(self) -> str:
        """The type of the items of a cell; "" if it is no list."""
        inside = self.type.removeprefix("list<").removesuffix(">")
        return "" if inside == self.type else inside


def columns_of(kind: type) -> list[Column]:
    """Return the columns of a class of rows: a dataclass or a named tuple.

    The fields come first, in order, then the properties, then what else is known of numbers: the
    fraction where one may be exact, and the interval, with the confidence of an estimate. They
    follow from the declared types alone, so that tables of one class always have the same columns.

    Parameters
    ----------
    kind : type

    Raises
    ------
    ValueError
        A field whose type no column can hold.
    """
    if not has_fields(kind):
        raise ValueError(f"kind is {shown(kind)}: it must be a dataclass or a named tuple")
    found = [*_of_fields(kind), *_of_properties(kind)]
    return sorted(found, key=lambda column: column.part in _MORE)


def has_fields(kind: Any) -> bool:
    """Whether something is a class with fields: a dataclass or a named tuple."""
    return isinstance(kind, type) and bool(_fields_of(kind))


def _fields_of(kind: type) -> tuple[str, ...]:
    return getattr(kind, "__match_args__", ())


def _of_fields(kind: type) -> Iterator[Column]:
    hints = _hints(kind)
    for name in _fields_of(kind):
        columns = list(_columns(name, hints.get(name)))
        if not columns:
            raise ValueError(f"no column can hold {kind.__name__}.{name}: it is {hints.get(name)}")
        yield from columns


def _of_properties(kind: type) -> Iterator[Column]:
    """Yield the columns of the public properties that have some."""
    for name in dict.fromkeys(name for each in reversed(kind.__mro__) for name in vars(each)):
        getter = _getter(getattr(kind, name))
        if getter is not None and not name.startswith("_"):
            yield from _columns(name, _hints(getter).get("return"))


def _hints(declared: Any) -> dict[str, Any]:
    """Return the declared types, so far as all of them can be looked up."""
    try:
        return get_type_hints(declared, include_extras=True)
    except Exception:  # names that are there for type checkers only, or whatever stands there
        return {}


def _getter(member: Any) -> Callable[[Any], Any] | None:
    """Return the function of a property."""
    if isinstance(member, cached_property):
        return member.func
    return member.fget if isinstance(member, property) else None


def _columns(name: str, hint: Any) -> Iterator[Column]:
    """Yield the columns of one attribute; none if no column can hold it."""
    said: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        said = tuple(rest)
    unit = next((word for word in said if isinstance(word, str)), "")
    keys = next((keys for keys in said if isinstance(keys, tuple)), ())
    for part, (of_type, cell) in _parts(hint, keys).items():
        whole = name.removesuffix("_interval") if part in _ENDS else name
        yield Column("_".join(filter(None, (whole, part))), name, of_type, cell, unit, part)


def _parts(hint: Any, keys: tuple[Any, ...]) -> _Parts:
    """Return of which columns a type is, by what their names end with."""
    hints = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
    known = frozenset(hints - {NoneType})
    if known in _NUMBERS:
        return _NUMBERS[known]
    hint = next(iter(known)) if len(known) == 1 else None
    origin, inside = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"": _PLAIN[hint]}
    if getattr(hint, "_fields", ()) == ("value", *_ENDS):
        return {part: (_REAL, partial(_item, at)) for at, part in enumerate(("", *_ENDS))}
    if origin is tuple and inside == (float, float):
        return {part: (_REAL, partial(_item, at)) for at, part in enumerate(_ENDS)}
    if origin is tuple and inside[1:] == (...,) and inside[0] in _PLAIN:
        of_items, cell = _PLAIN[inside[0]]
        return {"": (f"list<{of_items}>", cell)}
    if origin in (dict, Mapping) and inside[1:] == (float,):
        return {str(key): (_REAL, partial(_at_key, key)) for key in keys}
    if isinstance(getattr(hint, "text", None), property):
        return {"": (_WORD, attrgetter("text"))}
    return {}


def _real(value: Any) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number


def _item(index: int, values: Any) -> float | None:
    return _real(values[index])


def _at_key(key: Any, values: Mapping[Any, Any]) -> float | None:
    return _real(values[key]) if key in values else None


def _exact(value: Any) -> str | None:
    number = value_of(value)
    return written(number) if isinstance(number, (Fraction, int)) else None


def _of_estimate(name: str, value: Any) -> float | None:
    """Return a part of an estimate, which other numbers lack."""
    return _real(getattr(value, name)) if isinstance(value, Estimate) else None


_PLAIN: dict[Any, tuple[str, Cell]] = {
    str: (_WORD, str),
    int: ("int64", int),
    bool: ("bool", bool),
    float: (_REAL, _real),
}
_EXACT: _Parts = {"": (_REAL, _real), "exact": (_WORD, _exact)}
_ESTIMATED: _Parts = {
    **_EXACT,
    "low": (_REAL, partial(_of_estimate, "low")),
    "high": (_REAL, partial(_of_estimate, "high")),
    "confidence": (_REAL, partial(_of_estimate, "confidence")),
}
_NUMBERS: dict[frozenset[Any], _Parts] = {
    frozenset(get_args(Number)): _EXACT,
    frozenset({Quantity}): _EXACT,
    frozenset({Exact, Estimate}): _ESTIMATED,
    frozenset({*get_args(Number), Exact, Estimate}): _ESTIMATED,
}
"""The columns of a number that may be exact, or an estimate, too; those of one that follows from
such a field have no interval again."""
_MORE = frozenset(_ESTIMATED) - {""}
