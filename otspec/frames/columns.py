"""The columns of a class of rows, from the types that its fields and properties declare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from otspec.arithmetic import Number
from otspec.digits import written
from otspec.estimate import Estimate
from otspec.raw import shown

Probability: TypeAlias = Annotated[Number, "probability"]
"""A number between 0 and 1, or how far two are apart, with the unit that columns say."""
Tokens: TypeAlias = Annotated[Number, "tokens"]
"""An expected number of tokens."""
EstimatedProbability: TypeAlias = Annotated[Number | Estimate, "probability"]
EstimatedTokens: TypeAlias = Annotated[Number | Estimate, "tokens"]
"""The same where it may be an estimate, whose interval has columns, too."""

Cell: TypeAlias = Callable[[Any], Any]
"""From what an attribute is to what stands in the table; None where nothing is known."""

_WORD, _REAL = "string", "double"


@dataclass(frozen=True)
class Column:
    """A column of a table of rows.

    Parameters
    ----------
    name : str
    attribute : str
        Of a row, from which its cell follows.
    type : str
        Arrow's name of the type of a cell, or of the items of one that is a list.
    cell : callable
        From the attribute to the cell.
    listed : bool
        Whether cells are lists.
    unit : str
        Such as ``"probability"``; "" if there is none.
    part : str
        Of what is in several columns, which part this is, such as ``"exact"``.
    """

    name: str
    attribute: str
    type: str
    cell: Cell
    listed: bool = False
    unit: str = ""
    part: str = ""

    def cells(self, rows: Sequence[Any]) -> list[Any]:
        """Return the cells of rows."""
        values = (getattr(row, self.attribute) for row in rows)
        return [None if value is None else self.cell(value) for value in values]


def columns_of(kind: type) -> list[Column]:
    """Return the columns of a class of rows: a dataclass or a named tuple.

    The fields come first, in order, then the properties, then what else is known of numbers that
    may be exact or estimates: the fraction, and the interval with its confidence. They follow from
    the declared types alone, so that tables of one class always have the same columns.

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
    return isinstance(kind, type) and bool(getattr(kind, "__match_args__", ()))


def _of_fields(kind: type) -> Iterator[Column]:
    hints = _hints(kind)
    for name in kind.__match_args__:  # type: ignore[attr-defined]
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
    hints = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
    known = frozenset(hints - {NoneType})
    hint = next(iter(known))
    origin, inside = get_origin(hint), get_args(hint)
    if known in _NUMBERS:
        for part, (of_type, cell) in _NUMBERS[known].items():
            yield Column(_joined(name, part), name, of_type, cell, unit=unit, part=part)
    elif len(known) == 1 and hint in _PLAIN:
        yield Column(name, name, *_PLAIN[hint], unit=unit)
    elif origin is tuple and inside == (float, float):
        for part, index in (("low", 0), ("high", 1)):
            column = _joined(name.removesuffix("_interval"), part)
            yield Column(column, name, _REAL, partial(_item, index), unit=unit)
    elif origin is tuple and inside[1:] == (...,) and inside[0] in _PLAIN:
        yield Column(name, name, _PLAIN[inside[0]][0], list, listed=True, unit=unit)
    elif origin in (dict, Mapping) and keys and inside[1:] == (float,):
        for key in keys:
            yield Column(_joined(name, str(key)), name, _REAL, partial(_item, key), unit=unit)
    elif isinstance(hint, type) and isinstance(getattr(hint, "text", None), property):
        yield Column(name, name, _WORD, _text, unit=unit)


def _joined(name: str, part: str) -> str:
    return f"{name}_{part}" if part else name


def _same(value: Any) -> Any:
    return value


def _real(value: Any) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number


def _item(key: Any, values: Any) -> float | None:
    return _real(values[key])


def _text(value: Any) -> str:
    text: str = value.text
    return text


def _exact(value: Any) -> str | None:
    return written(value) if isinstance(value, (Fraction, int)) else None


def _of_estimate(name: str, value: Any) -> float | None:
    """Return a part of an estimate, which other numbers lack."""
    return _real(getattr(value, name)) if isinstance(value, Estimate) else None


_PLAIN: dict[Any, tuple[str, Cell]] = {
    str: (_WORD, _same),
    int: ("int64", int),
    bool: ("bool", bool),
    float: (_REAL, _real),
}
_Parts: TypeAlias = dict[str, tuple[str, Cell]]
_EXACT: _Parts = {"": (_REAL, _real), "exact": (_WORD, _exact)}
_ESTIMATED: _Parts = {
    **_EXACT,
    "low": (_REAL, partial(_of_estimate, "low")),
    "high": (_REAL, partial(_of_estimate, "high")),
    "confidence": (_REAL, partial(_of_estimate, "confidence")),
}
_NUMBERS: dict[frozenset[Any], _Parts] = {
    frozenset(get_args(Number)): _EXACT,
    frozenset({*get_args(Number), Estimate}): _ESTIMATED,
}
"""The columns of a number that may be exact, or an estimate, too."""
_MORE = frozenset(_ESTIMATED) - {""}
