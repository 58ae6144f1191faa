"""Lists of numbers, or an object of them, as JSON."""

import json
from pathlib import Path
from typing import Any

from otspec.files.base import FORMATS, Format, Named, once, selected

_DEEPEST = 32
_TOO_DEEP = f"its lists and objects are nested more than {_DEEPEST} levels deep"


def read_json(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the lists of a .json file."""
    # Numbers stay text, so that the caller can read them exactly, and refuse too many digits.
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=once)
        _refuse_deep(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if isinstance(content, dict):
        return {key: content[key] for key in selected(content, keys)}
    if not isinstance(content, list):
        raise ValueError("it holds a single value, not a list or an object of lists")
    return {"": content}


def _refuse_deep(content: Any) -> None:
    """Refuse more nesting than arrays have axes, level by level."""
    level = [content]
    for _ in range(_DEEPEST):
        nested = (item for item in level if isinstance(item, (list, dict)))
        level = [
            below
            for item in nested
            for below in (item.values() if isinstance(item, dict) else item)
        ]
    if any(isinstance(item, (list, dict)) for item in level):
        raise ValueError(_TOO_DEEP)


FORMATS.register(
    Format(".json", read_json, holds="a list of numbers, or an object of lists: `FILE.json:KEY`")
)
