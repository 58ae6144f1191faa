"""From command-line text to distributions, numbers, and code of the user's."""

import importlib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from otspec._base import Array, as_fractions, as_numbers, in_arithmetic, is_exact, meant, plain
from otspec._base.tables import say
from otspec.distributions import Distribution, as_distribution
from otspec.drafts import LAWS
from otspec.files import pick, small_formats

_LOCATION = re.compile(
    rf"(?P<path>.*?(?:{'|'.join(map(re.escape, small_formats()))}))"
    r"(?::(?P<key>[^:]*?))??(?::(?P<index>\d+(?:,\d+)*))?"
)


_OTHERWISE = re.compile(r"[][(){};%]|\s")  # lists of numbers written as elsewhere


class Choice(click.Choice[str]):
    """One of some names; a message about another one asks if the closest was meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is said of a value that is none of the names."""
        said = super().get_invalid_choice_message(value, ctx)
        return f"{said.removesuffix('.')}{meant(str(value), self.choices) or '.'}"


class CommaList(click.ParamType[tuple[Any, ...]]):
    """Values separated by commas, each of them once."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        # read: a value; raises ``ValueError`` with what is said of a list that holds another.
        self.name, self._read = name, read

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the values; refuse the list if one of them cannot be read."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(dict.fromkeys(self._read(cell.strip()) for cell in value.split(",")))
        except ValueError as error:
            self.fail(f"{value!r} {error}", param, ctx)


def _count(cell: str) -> int:
    if not re.fullmatch(r"\d{1,6}", cell) or int(cell) < 1:
        raise ValueError(f"holds {cell!r}: write positive integers such as 4 or 1,2,4")
    return int(cell)


def _token(cell: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", cell):
        raise ValueError(f"holds {cell!r}: write token ids such as 0 or 0,2")
    return int(cell)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError("is no list of numbers such as 0.6,1.0") from None


COUNTS, TOKENS = CommaList("k,k,...", _count), CommaList("id,id,...", _token)
NUMBERS = CommaList("t,t,...", _number)
"""Numbers of drafts, token ids, and numbers such as temperatures."""


def read_distribution(text: str, name: str, *, exact: bool = False) -> Distribution:
    """Read a distribution from inline numbers or from a file."""
    return to_distribution(read_numbers(text, name, exact=exact), name)


def to_distribution(
    numbers: Array,
    name: str,
    *,
    logits: bool = False,
    normalize: bool = False,
    temperature: float = 1.0,
) -> Distribution:
    """Return the distribution of numbers that were read."""
    # name: what error messages call it. logits: take the softmax of the numbers at temperature.
    # normalize: scale to sum 1.
    if numbers.ndim != 1:
        raise ValueError(
            f"{name} has shape {numbers.shape}: name one row, as in FILE.npy:0 or FILE.npz:KEY:0,3"
        )
    if logits:
        from otspec.traces.readers.logged_numbers import warp

        return warp(numbers, temperature=temperature, name=name)
    _suggest_logits(numbers, name, normalize)
    try:
        return as_distribution(numbers, name, normalize=normalize)
    except ValueError as error:
        # The library's fix, in the words of the command line.
        raise ValueError(str(error).replace("pass normalize=True", "add --normalize")) from error


def read_alike(
    texts: Mapping[str, str], *, exact: bool = False, beside: Iterable[Array] = ()
) -> dict[str, Array]:
    """Read numbers, of which integers are exact beside fractions."""
    # beside: other numbers that go with them.
    found = {name: read_numbers(text, name, exact=exact) for name, text in texts.items()}
    if not any(map(is_exact, [*beside, *found.values()])):
        return found
    return {
        name: read_numbers(texts[name], name, exact=True) if _may_be_integers(each) else each
        for name, each in found.items()
    }


def _may_be_integers(numbers: Array) -> bool:
    """Whether floats may have been written as integers, of which the longest are infinite."""
    return not is_exact(numbers) and bool((np.trunc(numbers) == numbers).all())


def read_numbers(text: str, name: str, *, exact: bool = False) -> Array:
    """Read numbers, of any shape, from the command line or from a file."""
    # text: 0.5,0.3,0.2, 1/2,3/10,1/5, or FILE[:KEY][:ROW], ROW being leading indices such as 0,3.
    # exact: read decimals as the fractions that they write. Fractions are always read exactly.
    location = _LOCATION.fullmatch(text)
    if location is None:
        return _numbers(_split(text, name), name, exact)
    levels = tuple(map(int, filter(None, (location["index"] or "").split(","))))
    return _numbers(pick(location["path"], location["key"] or "", levels), name, exact)


def _split(text: str, name: str) -> list[str]:
    cells = [cell.strip() for cell in text.split(",")]
    if _OTHERWISE.search(",".join(cells)) and any(map(str.isdigit, text)):
        raise ValueError(
            f"{name} is {text!r}: write numbers with commas between them and nothing around them, "
            "such as 0.5,0.3,0.2 or 1/2,3/10,1/5"
        )
    if not any(character.isdigit() for character in cells[0]) and len(cells) == 1:
        raise ValueError(
            f"{name}: {text!r} is neither numbers such as 0.5,0.3,0.2 or 1/2,3/10,1/5 nor a file "
            f"ending in {', '.join(small_formats())}"
        )
    return cells


def _numbers(values: Any, name: str, exact: bool) -> Array:
    if isinstance(values, np.ndarray):
        numbers = as_numbers(values, name)
        return as_fractions(numbers, name) if exact and not is_exact(numbers) else numbers
    if not isinstance(values, list) or any(isinstance(value, (list, dict)) for value in values):
        raise ValueError(f"{name} is not one list of numbers: name one row, as in FILE.json:KEY:0")
    return in_arithmetic(values, name, exact)


def _suggest_logits(numbers: Array, name: str, normalize: bool) -> None:
    """Refuse what is no probability with the likeliest reason for it."""
    outside = np.flatnonzero((numbers < 0) | ((numbers > 1) & (not normalize)))
    if outside.size:
        index = int(outside[0])
        raise ValueError(
            f"{name}[{index}] is {plain(numbers[index])}, which is no probability: if these are "
            "logits, add --logits; if they are weights, add --normalize"
        )


_MOST_WORK = 3e10  # operations on digits that take about ten seconds


def check_digits(
    laws: Iterable[str],
    pair: tuple[Distribution, Distribution],
    ks: Sequence[int],
    *,
    rules: bool = False,
) -> None:
    """Refuse numbers of drafts whose exact results would take minutes."""
    # Those of laws with powers are fractions over the k-th power of the common denominator, one for
    # each prefix of the tokens; rules also add up to k of them for each token, and k-sequential's ρ
    # has some 40 digits. laws: by name. rules: whether all rules are computed too.
    draft, target = pair
    if not is_exact(draft) or not any(LAWS[law].powers for law in laws):
        return
    unit = math.lcm(*(value.denominator for value in (*draft.tolist(), *target.tolist())))
    digits = unit.bit_length() * math.log10(2) + (40 if rules else 0)
    for k in ks:
        work = len(draft) * (k * digits) ** (2 if rules else 1.5)
        if work > _MOST_WORK:
            raise ValueError(
                f"k is {k:,}: exact results over {len(draft):,} tokens would have about "
                f"{k * digits:,.0f} digits each, which takes minutes: use a smaller k, or decimals "
                "such as 0.25 without --exact"
            )


def imported(name: str, instead: str, takes: str, traceback: bool) -> Callable[..., Any]:
    """Import a callable, also from the working directory."""
    module_name, colon, attribute = name.partition(":")
    if module_name.endswith(".py"):
        raise ValueError(
            f"{name!r} names a file: write the module as Python imports it from here, such as "
            f"{Path(module_name).stem}:{attribute or 'NAME'}"
        )
    if not colon or not module_name or not attribute:
        raise ValueError(f"{name!r} is no MODULE:NAME: write for instance {instead}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    from otspec.auditing.sandbox import attempt  # it imports trees, which few commands need

    found, crash = attempt(_find, module_name, attribute)
    if crash is not None:
        if traceback:
            say(*crash.traceback.splitlines(), err=True)
        closest = ""
        if isinstance(crash.error, AttributeError):
            there = [each for each in dir(sys.modules.get(module_name)) if each[0] != "_"]
            closest = meant(attribute, there)
        raise ValueError(f"cannot import {name}: it {crash.what}{closest}") from crash.error
    if not callable(found):
        raise ValueError(f"{name} is not callable: it must take {takes}")
    return found


def _find(module_name: str, attribute: str) -> Any:
    found = importlib.import_module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found
