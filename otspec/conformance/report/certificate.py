"""A certificate of a check: what was run on which code, what was found, and how to repeat it."""

import hashlib
import inspect
import json
import platform
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from otspec._base import Shown, as_choice, as_instance, as_path, write_text
from otspec._base.webpage import listed_items, page, table, verbatim
from otspec.conformance.report.rendering import body_of_html, body_of_markdown, pipes
from otspec.conformance.report.report import Report

FORMAT = "otspec-conformance-certificate"
VERSION = 1  # of the format: raised when a name changes its meaning or goes
PACKAGES = ("otspec", "numpy", "scipy", "torch", "transformers", "triton", "vllm", "sglang")
"""Packages whose versions are named, if they are loaded."""
PATIENCE = 10.0  # seconds that git may take
LIMITS = (  # what a reader may not conclude
    (
        "A check tries the cases that it lists. What is off on none of them by as much as is "
        "detectable there is not found."
    ),
    (
        "It is about the function that it was given, with these settings: not about a model, a "
        "cache or a scheduler that the function does not have."
    ),
)


@dataclass(frozen=True)
class Certificate(Shown):
    """A report, with what another person needs to judge and to repeat it.

    Parameters
    ----------
    report : Report
        Of :func:`otspec.conformance.check`.
    source : str or path, optional
        The file of the code that was checked; by default that of the verifier's module.
    command : str, optional
        What repeats the check; by default a call of ``check`` with the same settings.

    Raises
    ------
    ValueError
        No report, no path or no text.
    """

    report: Report
    source: str | Path | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        as_instance(self.report, "report", Report, "what otspec.conformance.check returns")
        if self.source is not None:
            as_path(self.source)
        if self.command is not None:
            as_instance(self.command, "command", str, "a command line")

    def document(self) -> dict[str, Any]:
        """Return the certificate as a document that JSON can hold."""
        found = _file_of(self.report.verifier) if self.source is None else self.source
        return {
            "format": FORMAT,
            "version": VERSION,
            "made": datetime.now().astimezone().isoformat(timespec="seconds"),
            "verifier": self.report.verifier,
            "settings": dict(self.report.settings),
            "versions": _versions(),
            "code": _code(None if found is None else Path(found)),
            "repeat": self.command or _call(self.report),
            "report": self.report.document(),
        }

    def markdown(self) -> str:
        """Return the certificate as a page of Markdown."""
        document = self.document()
        verdict, *more = body_of_markdown(document["report"])
        lines = [f"# {_title(document)}", "", verdict, ""]
        lines += pipes(("what", "value"), _facts(document), words=2)
        lines += ["## How to repeat it", "", "~~~~text", document["repeat"], "~~~~", ""]
        lines += ["## What it does not say", "", *(f"- {limit}" for limit in LIMITS), *more, ""]
        return "\n".join(lines)

    def html(self) -> str:
        """Return the certificate as an HTML file that needs nothing else."""
        document = self.document()
        return "\n".join(page(_title(document), _body(document))) + "\n"

    def save(self, path: str | Path) -> tuple[Path, Path]:
        """Write the page, and the document as JSON beside it; return both places.

        Parameters
        ----------
        path : str or path
            Of the page: it ends in ``.md`` or ``.html``.

        Raises
        ------
        ValueError
            Another ending, or no path.
        OSError
            A file cannot be written.
        """
        place = as_path(path)
        text = PAGES[as_choice(place.suffix, "the ending of path", PAGES)](self)
        data = place.with_suffix(".json")
        write_text(data, json.dumps(self.document(), indent=2) + "\n")
        write_text(place, text)
        return place, data


PAGES: dict[str, Callable[[Certificate], str]] = {  # by the ending of the file
    ".md": Certificate.markdown,
    ".html": Certificate.html,
}


def settings_of(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call that are not the function's defaults, for JSON."""
    defaults = inspect.signature(function).parameters
    asked = {name: value for name, value in given.items() if name in defaults}
    return {
        name: _plain(value)
        for name, value in asked.items()
        if name not in ("verifier", "progress")
        # Values of other types, such as arrays, are not compared.
        and (
            name in ("kind", "mode", "seed")
            or type(value) is not type(defaults[name].default)
            or value != defaults[name].default
        )
    }


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; of others their text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (Collection, Sequence)) and not callable(value):
        return [_plain(each) for each in value]
    return getattr(value, "__qualname__", str(value))


def _file_of(name: str) -> str | None:
    """Return the file of the module that a function of a name is in, if it is loaded."""
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    return getattr(sys.modules.get(name), "__file__", None)


def _versions() -> dict[str, str]:
    loaded = {name: sys.modules.get(name) for name in PACKAGES}
    named = {name: str(getattr(it, "__version__", "?")) for name, it in loaded.items() if it}
    return {"python": platform.python_version(), "platform": platform.platform(), **named}


def _code(path: Path | None) -> dict[str, Any]:
    """Return the file, its hash, and the commit that it is at; None for what is not known."""
    found: dict[str, Any] = dict.fromkeys(("file", "sha256", "commit", "changed"))
    if path is None or not path.is_file():
        return found
    found |= {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    root = _git(path.parent, "rev-parse", "--show-toplevel")
    if root is None:
        return found
    inside = path.resolve().relative_to(Path(root).resolve()).as_posix()
    status = _git(path.parent, "status", "--porcelain", "--untracked-files=no")
    commit = _git(path.parent, "rev-parse", "HEAD")
    return found | {"file": inside, "commit": commit, "changed": status != ""}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says in a folder; None where it is no repository."""
    program = shutil.which("git")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 # a fixed program and fixed words
            [program, "-C", str(folder), *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _call(report: Report) -> str:
    """Return a call of Python that repeats a check."""
    options = [f"{name}={value!r}" for name, value in report.settings.items()]
    return f"otspec.conformance.check({', '.join([report.verifier, *options])})"


def _title(document: Mapping[str, Any]) -> str:
    return f"Certificate of conformance: {document['verifier']}"


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what stands at the top of the page."""
    report, code = document["report"], document["code"]
    at = Counter(case["detectable"] for case in report["cases"])
    found = [f"{least:.3g} on {count}" for least, count in sorted(at.items()) if least < 1]
    found += [f"nothing surely on {at[1.0]}"] * (1.0 in at)
    commit = code["commit"]
    if commit and code["changed"]:
        commit += ", with changes that are not committed"
    facts = {
        "outcome": report["outcome"],
        "detectable total variation, and on how many cases": ", ".join(found),
        "cases": f"{len(report['cases'])}",
        "texts": f"{sum(case['rows'] for case in report['cases']):,}",
        "a correct verifier fails with probability": f"{report['false_alarm']:.3g} at most",
        "settings": ", ".join(f"{name} {value}" for name, value in document["settings"].items()),
        "file": code["file"],
        "commit": commit,
        "SHA-256 of the file": code["sha256"],
        "versions": ", ".join(f"{name} {text}" for name, text in document["versions"].items()),
        "made": document["made"],
    }
    return [(name, value or "not known") for name, value in facts.items()]


def _body(document: Mapping[str, Any]) -> Iterator[str]:
    verdict, *more = body_of_html(document["report"])
    yield verdict
    yield from table(("what", "value"), _facts(document), words=2)
    yield f"<h2>How to repeat it</h2>{verbatim([document['repeat']])}"
    yield f"<h2>What it does not say</h2>{listed_items(LIMITS)}"
    yield from more
