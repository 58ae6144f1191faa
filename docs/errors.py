"""Tables of all messages of errors, from the code itself: ``python docs/errors.py``.

A message is read off the statement that raises it, with … in place of values. What follows its
first colon or semicolon says what to do; where nothing does, ``errors.toml`` says it, for words of
the message or for its whole family.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TABLES = Path(__file__).parent / "tables"
WORDS = tomllib.loads((Path(__file__).with_suffix(".toml")).read_text(encoding="utf-8"))
CODE = re.compile(
    r"((?:pip|apt) install [^,;)]+?(?=[,;)]|$| and )|(?<!\w)'[^']+'(?!\w)|--[\w-]+"
    r"|[\w.…]*\w\([^()]*\)|\w+=[\w./'\"…]+)"
)
"""What is written as code: quotations, options, calls and keywords with their values."""


class Family(NamedTuple):
    """Messages of one subject: of some modules, or of some kinds of errors anywhere."""

    name: str
    otherwise: str
    """What to do where a message does not say it."""
    modules: str = ""
    """A pattern of their paths below ``otspec/``."""
    kinds: Sequence[str] = ()

    def has(self, message: Message) -> bool:
        """Return whether a message belongs here, if to no family before."""
        if self.kinds:
            return message.kind in self.kinds
        return re.match(self.modules, message.module) is not None


class Message(NamedTuple):
    """A message as the code words it, the error that it comes with, and its module."""

    text: str
    kind: str
    module: str

    def parts(self) -> tuple[str, str]:
        """Return how it begins, and how it goes on or what to do: empty where neither is known."""
        start, sign, rest = self.text.partition(": ")
        if not sign:
            start, _, rest = self.text.partition("; ")
        if re.search(r"\w", start) and re.search(r"\w", rest):
            return start, rest
        fixes = (fix for words, fix in WORDS["fixes"].items() if words in self.text)
        says = re.search(r"^write |^name (the|--)| must |^…[:;] ", self.text)
        return self.text, next(fixes, "as it says" if says else "")


FAMILIES = [Family(**each) for each in WORDS["family"]]


@cache
def messages() -> list[Message]:
    """Return every message that the package raises, each once, in the order of the modules.

    Raises
    ------
    LookupError
        A statement raises words that are found nowhere.
    """
    found: dict[Message, None] = {}
    for module, call in raised():
        kind = _name(call.func)
        for text in _said(call, kind, module):
            if re.search(r"\w", text):
                found[Message(text, kind, module)] = None
    return list(found)


def raised() -> Iterator[tuple[str, ast.Call]]:
    """Yield each error that a statement makes and raises, with its module."""
    for module, nodes in _statements().items():
        for node in nodes:
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                yield module, node.exc


@cache
def _statements() -> dict[str, list[ast.stmt]]:
    """Return the statements of the modules that raise, by their paths below ``otspec/``."""
    package, found = ROOT / "otspec", {}
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "raise " in source:
            found[path.relative_to(package).as_posix()] = list(_below(ast.parse(source)))
    return found


def _below(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a node, without a look into expressions, which takes longer."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for each in getattr(node, part, ()):
            if isinstance(each, ast.stmt):
                yield each
            yield from _below(each)


def _said(call: ast.Call, kind: str, module: str) -> list[str]:
    """Return the words of an error: of its arguments, or of where these are worded."""
    words = [text for text in map(_worded, call.args) if text and " " in text]
    if words or kind in WORDS["findings"]:
        return words
    words = [text for given in call.args for text in _worded_elsewhere(given)]
    passed_on = not any(re.search(r"\w", _worded(given) or "word") for given in call.args)
    if (
        not words
        and not passed_on
        and not {ast.unparse(given) for given in call.args}.intersection(WORDS["passed_on"])
    ):
        raise LookupError(f"{module}, line {call.lineno}: {ast.unparse(call)}")
    return words


def _worded(node: ast.expr) -> str | None:
    """Return a literal text with … in place of values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _tidy(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return _tidy("".join(parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _tidy("".join(_worded(side) or "…" for side in (node.left, node.right)))
    return None


def _tidy(text: str) -> str:
    return re.sub("…+", "…", text)


def _worded_elsewhere(node: ast.expr) -> Iterator[str]:
    """Yield the texts of a function that words a message, or of a constant."""
    if isinstance(node, ast.IfExp):
        yield from _worded_elsewhere(node.body)
        yield from _worded_elsewhere(node.orelse)
    name = _name(node.func) if isinstance(node, ast.Call) else _name(node)
    for value in _named().get(name, []):
        text = _worded(value)
        if text and " " in text:
            yield text


@cache
def _named() -> dict[str, list[ast.expr]]:
    """Return, by name, what functions that return a text return, and what is assigned."""
    found: dict[str, list[ast.expr]] = {}
    for nodes in _statements().values():
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.FunctionDef) and _is_text(node.returns):
                returned = (each for each in _below(node) if isinstance(each, ast.Return))
                values = [each.value for each in returned if each.value]
                found.setdefault(node.name, []).extend(values)
    return found


def _is_text(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in ("str", "str | None")


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def families() -> dict[str, list[Message]]:
    """Return the messages of each family.

    Raises
    ------
    LookupError
        A message of no family.
    """
    found: dict[str, list[Message]] = {family.name: [] for family in FAMILIES}
    for message in messages():
        family = next((each for each in FAMILIES if each.has(message)), None)
        if family is None:
            raise LookupError(f"{message.module} belongs to no family: {message.text}")
        found[family.name].append(message)
    return found


def table(family: Family, said: Iterable[Message]) -> str:
    """Return the table of a family in Markdown, by the alphabet of what is said."""
    rows = {_row(family, message) for message in said}
    ordered = sorted(rows, key=lambda row: (re.sub(r"[^\w ]", "", row).strip().lower(), row))
    return (
        "\n".join(
            ["| the message begins | what is wanted, or what to do |", "| --- | --- |", *ordered]
        )
        + "\n"
    )


def _row(family: Family, message: Message) -> str:
    start, rest = message.parts()
    if rest in message.text:
        rest = _plain(rest) or family.otherwise
    return f"| {_code(start)} | {rest} |"


def _code(text: str) -> str:
    """Return a message as code of a table's cell."""
    marks = "``" if "`" in text else "`"
    return marks + text.replace("|", r"\|") + marks


def _plain(text: str) -> str:
    """Return what a message goes on with as text of a cell: quotations, options, calls as code."""
    words = CODE.split(text)
    escaped = (re.sub(r"[\\*_<>|$`\[\]]", r"\\\g<0>", each) for each in words[::2])
    parts = zip_longest(escaped, map(_code, words[1::2]), fillvalue="")
    return "".join(part for pair in parts for part in pair)


def tables() -> dict[str, str]:
    """Return the tables by their files in docs/tables."""
    said = families()
    return {f"errors_{each.name}.md": table(each, said[each.name]) for each in FAMILIES}


def main() -> None:
    """Write all tables."""
    for name, content in tables().items():
        (TABLES / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
