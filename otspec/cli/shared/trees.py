"""Trees of drafts as command lines name them: as text, or in a .json file."""

from pathlib import Path
from typing import Any

from otspec._base import shown
from otspec.blocks import Shape, TokenTree, as_shape
from otspec.blocks.trees.token_tree import of_paths
from otspec.files import read_file

MEANING = (  # what help texts say
    "children by depth such as 4x2x1, brackets around the children of each node such as [[][]][], "
    "or FILE.json with paths to all nodes or their parents"
)
_WANTED = "write paths such as [[0],[0,0],[1]], or parents such as [-1,-1,0]"


def read_tree(text: str, name: str) -> Shape:
    """Return the tree that is named."""
    if not text.endswith(".json"):
        return as_shape(text, name)
    content = read_file(Path(text))
    try:
        return as_shape(_of_json(content), "the tree")
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from error


def _of_json(content: dict[str, Any]) -> Shape:
    """Return the tree of a file: one list, or ``paths`` or ``parents`` beside ``top``."""
    kinds = set(content) - {"top"}
    if kinds - {"", "paths", "parents"} or len(kinds) != 1:
        raise ValueError(f"it holds {', '.join(sorted(content))}: {_WANTED}")
    top = content.get("top", False)
    if type(top) is not bool:
        raise ValueError(f"top is {shown(top)}: write true, if all children are likeliest tokens")
    nodes = _numbers(content[kinds.pop()])
    if not isinstance(nodes, list) or not nodes:
        raise ValueError(f"it holds {shown(nodes)}: {_WANTED}")
    paths = any(isinstance(node, list) for node in nodes)
    tree = of_paths(nodes, "it") if paths else TokenTree(tuple(nodes))
    return Shape.of_tree(tree, range(-1, len(tree)) if top else ())


def _numbers(value: Any) -> Any:
    """Return the integers that were read as text, in lists."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 10 else value
