"""What a pickle of PyTorch's would do, found out without doing it.

Few bytes can ask for a hash of a tuple that holds itself twice at each of many levels, or for any
number of zeros. A pickle is a program for a stack; it is followed with sizes in place of objects.
"""

import pickletools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

OTHER_THINGS = (
    "it holds other things than tensors, which are never unpickled (weights_only=True): save a "
    "tensor, or a dict of them, with torch.save"
)
_MOST_STEPS = 2**20
_LARGEST = 2**22  # most parts of an object, those that come again counted again
_LARGEST_KEY = 256
_ENCODE = "_codecs encode"
_LATIN = ("latin1", "latin-1", _ENCODE)  # what text may be encoded as, or bytes that were made so
_DAMAGED = "its pickle is damaged: was writing interrupted?"
_BUILTIN = ("__builtin__", "builtins")
_HASHING = {
    "collections OrderedDict", "collections Counter", *(f"{home} set" for home in _BUILTIN),
}  # fmt: skip
"""What makes keys of what it is given."""
_OF_TEXT = {_ENCODE, *(f"{home} bytearray" for home in _BUILTIN)}
"""What is called with text in Latin-1: another encoding may take long, a number any room."""
_OF_TYPE = "torch._tensor _rebuild_from_type_v2"
"""Calls what it is given first with what it is given third."""
_CALLED = {
    *_HASHING, *_OF_TEXT, _OF_TYPE, *(f"{home} complex" for home in _BUILTIN),
    "torch Size", "torch device", "torch.serialization _get_layout",
    *(
        f"torch._utils _rebuild_{what}"
        for what in (
            "tensor", "tensor_v2", "tensor_v3", "parameter", "parameter_with_state",
            "sparse_tensor", "qtensor", "meta_tensor_no_storage", "nested_tensor",
        )
    ),
}  # fmt: skip
"""What may be called: tensors of all kinds, which refer to their numbers, and small things."""
_LEAVES = {
    "NONE", "NEWFALSE", "NEWTRUE", "BININT", "BININT1", "BININT2", "BINFLOAT", "LONG1",
    "BINUNICODE", "SHORT_BINSTRING", "GLOBAL",
}  # fmt: skip
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3, "TUPLE": None}


@dataclass
class _Part:
    """What is known of an object."""

    size: int = 1  # how many parts it has
    hashed: int = 1  # how many of them are gone through if it, or one of those in it, is a key
    parts: "tuple[_Part, ...]" = ()  # those of a tuple
    text: str = ""  # a text; what may be called by module and name; what makes bytes of text
    used: bool = False  # whether another holds it, so that it may not grow any more

    def add(self, parts: "Iterable[_Part]") -> None:
        """Let an object hold others."""
        for part in parts:
            self.size += part.size
            self.hashed = max(self.hashed, part.hashed)
        if self.used or self.size > _LARGEST:
            raise ValueError(OTHER_THINGS)


def refuse_hostile(stream: IO[bytes], pickles: int = 1) -> None:
    """Refuse pickles that hold anything but tensors, numbers and text in lists and dicts."""
    steps = 0
    for _ in range(pickles):
        machine = _Machine()
        for opcode, argument, _ in pickletools.genops(stream):
            steps += 1
            if steps > _MOST_STEPS:
                raise ValueError(
                    f"its pickle has more than {_MOST_STEPS:,} steps: save fewer tensors"
                )
            try:
                machine.step(opcode.name, argument)
            except (IndexError, KeyError) as error:
                raise ValueError(_DAMAGED) from error


class _Machine:
    """The stack, the marks and the memo of an unpickler."""

    def __init__(self) -> None:
        self._stack: list[_Part] = []
        self._marks: list[list[_Part]] = []
        self._memo: dict[int, _Part] = {}

    def step(self, name: str, argument: Any) -> None:
        """Do what one opcode does."""
        if name in _LEAVES:
            text = argument if isinstance(argument, str) else ""
            self._stack.append(_Part(1 + len(text) // 64, text=text, used=True))
        elif name in _TUPLES:
            parts = self._taken(_TUPLES[name])
            made = _Part(parts=parts)
            made.add(parts)
            made.hashed, made.used = 1 + sum(part.hashed for part in parts), True
            self._stack.append(made)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self._stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self._memo[argument].used = True
            self._stack.append(self._memo[argument])
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            self._stack.append(_Part())
        elif name == "MARK":
            self._marks.append(self._stack)
            self._stack = []
        elif name in ("APPEND", "APPENDS", "BUILD"):
            added = self._taken(None if name == "APPENDS" else 1)
            self._stack[-1].add(added)
        elif name in ("SETITEM", "SETITEMS"):
            added = self._taken(None if name == "SETITEMS" else 2)
            for key in added[::2]:
                _refuse_key(key)
            self._stack[-1].add(added)
        elif name == "BINPERSID":
            [told] = self._taken(1)
            _refuse_key(told)
            self._stack.append(_Part(told.size))
        elif name == "REDUCE":
            called, given = self._taken(2)
            _refuse_call(called, given)
            text = called.text if called.text == _ENCODE else ""
            self._stack.append(_Part(given.size, given.hashed, text=text))
        elif name == "PROTO" and argument != 2:
            raise ValueError("its pickle protocol is not 2: save it again with torch.save")
        elif name not in ("PROTO", "STOP"):
            raise ValueError(OTHER_THINGS)

    def _taken(self, count: int | None) -> tuple[_Part, ...]:
        """Take objects from the stack: so many, or all after the last mark."""
        if count is None:
            parts, self._stack = self._stack, self._marks.pop()
        else:
            parts = [self._stack.pop() for _ in range(count)][::-1]
        for part in parts:
            part.used = True
        return tuple(parts)


def _refuse_key(part: _Part) -> None:
    if max(part.hashed, part.size) > _LARGEST_KEY:
        raise ValueError(
            f"its pickle has a key of more than {_LARGEST_KEY} parts: name tensors by text"
        )


def _refuse_call(called: _Part, given: _Part) -> None:
    """Refuse a call of anything else, or with what would take long."""
    is_tuple = given.size == 1 + sum(part.size for part in given.parts)
    if called.text not in _CALLED or not is_tuple:
        raise ValueError(OTHER_THINGS)
    if called.text in _HASHING and given.hashed > _LARGEST_KEY:
        raise ValueError(OTHER_THINGS)
    if called.text in _OF_TEXT and given.parts and given.parts[-1].text not in _LATIN:
        raise ValueError(OTHER_THINGS)
    if called.text == _OF_TYPE:
        _refuse_call(given.parts[0], given.parts[2])
