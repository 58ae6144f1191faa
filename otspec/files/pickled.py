"""How large the objects of a pickle get, found out without making one."""

from __future__ import annotations

import pickletools
from typing import IO, NamedTuple

MOST_NESTED = 100
"""Most objects that are inside each other. Files of tensors have three or four."""
MOST_OBJECTS = 10_000_000
"""Most objects that one holds, counted as often as they are reached: to hash it takes a second."""


class _Size(NamedTuple):
    """Of one object: how many are in it, and how many inside each other."""

    objects: int = 1
    nested: int = 1


_MARK = _Size(0, 0)


def refuse_monsters(stream: IO[bytes]) -> None:
    """Refuse a pickle whose objects take endless time, such as a key of tuples of one tuple twice.

    A tuple of one tuple twice, 60 levels deep, takes 200 bytes, and 2⁶⁰ steps to hash. So the
    program that a pickle is is followed with sizes in the place of objects.

    Parameters
    ----------
    stream : binary stream
        Read to the end of the pickle.

    Raises
    ------
    ValueError
        Such a pickle, or one that is malformed.
    """
    stack: list[_Size] = []
    memo: dict[int, _Size] = {}
    for code, argument, _ in pickletools.genops(stream):
        before = [kind.name for kind in code.stack_before]
        taken: list[_Size] = []
        if "mark" in before:
            place = _last_mark(stack)
            taken = stack[place + 1 :]
            del stack[place:]
            before = before[: before.index("mark")]
        if len(before) > len(stack):
            raise ValueError("it is no pickle of tensors: save it again with torch.save")
        if before:
            taken = stack[-len(before) :] + taken
            del stack[-len(before) :]
        if "GET" in code.name:
            stack.append(memo.get(int(argument or 0), _Size()))
        elif code.name == "MARK":
            stack.append(_MARK)
        elif code.name == "DUP":
            stack += [*taken, *taken]
        elif code.stack_after:
            stack.append(_made_of(taken))
        elif code.name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE") and stack:
            memo[len(memo) if argument is None else int(argument)] = stack[-1]


def _last_mark(stack: list[_Size]) -> int:
    for place in range(len(stack) - 1, -1, -1):
        if stack[place] is _MARK:
            return place
    raise ValueError("it is no pickle of tensors: save it again with torch.save")


def _made_of(parts: list[_Size]) -> _Size:
    size = _Size(
        1 + sum(part.objects for part in parts), 1 + max((part.nested for part in parts), default=0)
    )
    if size.objects > MOST_OBJECTS or size.nested > MOST_NESTED:
        raise ValueError(
            "its objects are nested more than files of tensors are: save a tensor, or a dict of "
            "them, with torch.save"
        )
    return size
