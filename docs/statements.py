"""The page of statements, from the first lines of modules: ``python docs/statements.py``.

A statement is a numbered paragraph of a page of theory, or a numbered thing of a paper. A module
implements it if its docstring names it, such as ``(Theory, 3)``, ``(Pooled, prop. 4)`` or
``(SpecTr, alg. 1)``, if a ``Source:`` of one of its docstrings does, or if the ``Code:`` of the
statement names what the module defines. A test belongs to a statement if its own docstring names
it, or to a module of it if it uses what the module defines: of the tests that do, those are listed
that lie in the folder of its package and bear its name, or that do one of the two, or else all.
The page lists at most ``TESTS`` of these, those of most modules of the statement.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "statements.md"
PAGES = {
    "theory": "Theory",
    "pooled_proofs": "Pooled selection",
    "pooled_beyond": "Beyond i.i.d. drafts",
    "different_drafts": "Different drafts",
    "cones": "Cones",
    "programs": "Linear programs",
    "auditing": "Audits",
    "conformance_statistics": "Conformance",
}
"""The pages with numbered statements, by file, in the order of the table."""
TESTS = 1
"""So many tests are listed of a statement, or all that name it."""
PAPERS = ("SpecTr", "Canonical", "SpecHub", "Block", "MCSD")

_STATEMENT = re.compile(r"^\*\*(?:Proposition )?(\d+) \((.+?)\)\.\*\*", re.MULTILINE)
_NUMBERS = r"\d+(?:(?:, | and |–|-)\d+)*"
_ALIASES = {
    "pooled": "pooled_proofs",
    "beyond": "pooled_beyond",
    "beyond i.i.d.": "pooled_beyond",
    "different": "different_drafts",
}
_ALIASES |= {title.lower(): page for page, title in PAGES.items()}
_WORDS = sorted({*PAGES, *_ALIASES}, key=len, reverse=True)
_OF_PAGE = re.compile(
    rf"(?:\b|\")(?:docs/)?({'|'.join(map(re.escape, _WORDS))})(?:\.md|\")?, "
    rf"(?:(?:propositions?|props?\.|statements?) )?({_NUMBERS})",
    re.IGNORECASE,
)
_PAPER = re.compile(rf"\b({'|'.join(PAPERS)})(?:,|(?= alg| sec| thm))")
_THING = re.compile(
    r"(?:,|;|\s|and\b|with\b)*\s*\b(alg|thm|eq|sec|app|lemma|remark|def|prop)s?\.?\s+"
    r"((?:[A-Z]|\d+)[\d.]*(?:(?:,\s+|\s+and\s+|–|-)(?:[A-Z]\b|\d)[\d.]*)*)"
)

_LOOKED_AT = (
    ast.ClassDef, ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Name, ast.Attribute
)  # fmt: skip

Reference = tuple[str, str]
"""A page or paper, and the number of a statement, such as ``("SpecTr", "alg. 1")``."""


def references(text: str) -> Iterator[Reference]:
    """Yield the statements that a text names."""
    for found in _OF_PAGE.finditer(text):
        page = _ALIASES.get(found[1].lower(), found[1].lower())
        yield from ((page, number) for number in _expanded(found[2]))
    for found in _PAPER.finditer(text):
        place = found.end()
        while thing := _THING.match(text, place):
            dot = "" if thing[1] in ("lemma", "remark") else "."
            for number in _expanded(thing[2]):
                yield found[1], f"{thing[1]}{dot} {number}"
            place = thing.end()


def _expanded(numbers: str) -> Iterator[str]:
    for part in re.split(r",\s+|\s+and\s+", numbers):
        first, _, last = part.rstrip(".").replace("–", "-").partition("-")
        if last.isdigit() and first.isdigit():
            yield from map(str, range(int(first), int(last) + 1))
        else:
            yield first


@cache
def parsed(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree that define, import or look up."""
    return [node for node in ast.walk(parsed(path)) if isinstance(node, _LOOKED_AT)]


@cache
def modules() -> dict[str, Path]:
    """Return the modules of otspec by name."""
    found = {}
    for path in sorted((ROOT / "otspec").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def named_in(path: Path) -> Iterator[Reference]:
    """Yield the statements that a module names: in its docstring, and as the source of a thing."""
    yield from references(ast.get_docstring(parsed(path)) or "")
    for node in nodes(path):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node) or ""
            for source in re.findall(r"Source: (.+?)(?:\.\s*$|\n\n|\Z)", text, re.S | re.M):
                yield from references(" ".join(source.split()))


@cache
def defined_in(name: str) -> str | None:
    """Return the module that defines what a dotted name stands for; None for what is none.

    What a package exports is followed to where it comes from.
    """
    if name in modules():
        return name
    package, _, attribute = name.rpartition(".")
    if not package:
        return None
    home = defined_in(package)
    if home is None:
        return None
    if home != package:  # an attribute of what another module defines
        return home
    for node in nodes(modules()[package]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otspec"):
            for alias in node.names:
                if (alias.asname or alias.name) == attribute:
                    return defined_in(f"{node.module}.{alias.name}")
    return home


def used_by(path: Path) -> set[str]:
    """Return the modules of otspec that define what a file uses."""
    names: dict[str, str] = {}
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                names[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    dotted = {names[node.id] for node in nodes(path)
              if isinstance(node, ast.Name) and node.id in names}  # fmt: skip
    dotted |= {f"{names[first]}.{rest}" for first, rest in _chains(path) if first in names}
    used = {defined_in(name) for name in dotted if name.partition(".")[0] == "otspec"}
    return {module for module in used if module is not None}


def _chains(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what is looked up by dots, such as ``("otspec", "rules.KSequential")``."""
    for node in nodes(path):
        rest, inner = "", node
        while isinstance(inner, ast.Attribute):
            rest, inner = f"{inner.attr}.{rest}", inner.value
        if rest and isinstance(inner, ast.Name):
            yield inner.id, rest.removesuffix(".")


@cache
def tests() -> dict[Path, set[str]]:
    """Return the modules that each test file uses."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path: used_by(path) for path in files if path.parent.name != "benchmarks"}


def tests_of(module: str) -> list[Path]:
    """Return the test files of a module, by name, by folder, or all that use it."""
    using = [path for path, used in tests().items() if module in used]
    package, name = module.split(".")[1], module.rpartition(".")[2]
    beside = [path for path in using if path.parent.name == package]
    called = [path for path in using if name in path.stem]
    return [path for path in beside if path in called] or beside or called or using


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def statements(page: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield number, name, anchor of the section and text of each statement of a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    found = list(_STATEMENT.finditer(text))
    for this, following in zip(found, [*found[1:], None], strict=True):
        heading = re.findall(r"^#+ (.+)$", text[: this.start()], re.MULTILINE)[-1]
        body = text[this.end() : following.start() if following else None]
        yield this[1], this[2], _slug(heading), re.split(r"\n#+ ", body)[0]


def table() -> dict[str, list[tuple[str, list[str], list[Path]]]]:
    """Return the rows by page or paper: the statement in Markdown, its modules, their tests."""
    naming: dict[Reference, list[str]] = defaultdict(list)
    for module, path in modules().items():
        for reference in dict.fromkeys(named_in(path)):
            if "._" not in module:  # the same thing again, for arrays
                naming[reference].append(module)
    marked: dict[Reference, list[Path]] = defaultdict(list)
    for path in tests():
        for reference in references(ast.get_docstring(parsed(path)) or ""):
            marked[reference].append(path)
    rows: dict[str, list[tuple[str, list[str], list[Path]]]] = {}
    for page, title in PAGES.items():
        rows[title] = []
        for number, name, anchor, text in statements(page):
            code = [defined_in(each) for each in _code_of(text)]
            found = sorted({*naming.pop((page, number), []), *filter(None, code)})
            checks = _checks(found, marked[page, number])
            rows[title].append((f"[{number} ({name})]({page}.md#{anchor})", found, checks))
    for paper in PAPERS:
        things = sorted((key for key in naming if key[0] == paper), key=_place)
        rows[paper] = [
            (key[1], naming[key], _checks(naming.pop(key), marked[key])) for key in things
        ]
    if naming:
        raise ValueError(f"no such statements: {dict(naming)}")
    return rows


def _code_of(text: str) -> list[str]:
    """Return the names in a statement's sentences that begin with ``Code:``."""
    sentences = re.findall(r"Code:\s(.+?)(?:\.\s|\.$|\Z)", text, re.S)
    return [name for each in sentences for name in re.findall(r"`(otspec[\w.]+)`", each)]


def _checks(code: list[str], marked: list[Path]) -> list[Path]:
    """Return the tests that name the statement, and of the others those of most of its modules."""
    counts = Counter(path for module in code for path in tests_of(module))
    others = [path for path in sorted(counts, key=lambda path: -counts[path]) if path not in marked]
    return sorted([*marked, *others[: max(0, TESTS - len(marked))]])


def _place(reference: Reference) -> tuple[str, list[tuple[int, str]]]:
    """Where a thing of a paper comes: theorems together, in the order of their numbers."""
    kind, _, number = reference[1].partition(" ")
    parts = re.findall(r"\d+|[A-Z]", number)
    return kind, [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def _links(paths: Iterable[Path], names: Iterable[str]) -> str:
    return ", ".join(
        f"[{name}](../{path.relative_to(ROOT).as_posix()})"
        for name, path in zip(names, paths, strict=True)
    )


def written() -> str:
    """Return the page."""
    lines = [
        "# Statements and their code",
        "",
        "This page leads from a statement of the [theory](theory.md) or of a paper to its code and",
        "a test. `python docs/statements.py` writes it from the first lines of the modules.",
    ]
    for title, rows in table().items():
        lines += ["", f"## {title}", "", "| statement | code | tests |", "| --- | --- | --- |"]
        for (code, checks), group in groupby(rows, key=itemgetter(1, 2)):
            statement = ", ".join(row[0] for row in group)
            shown = [f"`{module.removeprefix('otspec.')}`" for module in code]
            code_links = _links([modules()[module] for module in code], shown)
            test_links = _links(checks, [path.stem.removeprefix("test_") for path in checks])
            lines.append(f"| {statement} | {code_links} | {test_links} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
