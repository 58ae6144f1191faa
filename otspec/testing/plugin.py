"""The plugin of pytest: a fixture that checks a verifier, and options for all such checks."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from otspec.conformance import Report

OPTIONS = {"budget": int, "seed": int, "detect": float, "coarse": float, "require": float}
"""Arguments of :func:`otspec.conformance.check` that are options, and their types."""
_TAKEN = pytest.StashKey[set[str]]()  # the names of reports that are there already


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which hold where a test does not say otherwise."""
    group = parser.getgroup("otspec", "conformance of verifiers of speculative decoding")
    for name, kind in OPTIONS.items():
        group.addoption(
            f"--otspec-{name}", type=kind, metavar="N" if kind is int else "DISTANCE",
            help=f"{name} of each check by the fixture conformance that does not say its own",
        )  # fmt: skip
    group.addoption(
        "--otspec-report", type=Path, metavar="DIR",
        help="write a report of each check into this folder, as .html and as .json",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no reports."""
    config.stash[_TAKEN] = set()


@pytest.fixture
def conformance(request: pytest.FixtureRequest) -> "Callable[..., Report]":
    """Return a function that checks a verifier, and fails the test unless it passes.

    It takes what :func:`otspec.conformance.check` takes, and returns its report.
    """

    def checked(verifier: Callable[..., Any], **options: Any) -> "Report":
        from otspec.conformance import check

        given = {name: request.config.getoption(f"--otspec-{name}") for name in OPTIONS}
        common = {name: value for name, value in given.items() if value is not None}
        try:
            report = check(verifier, **(common | options))
        except ValueError as error:
            pytest.fail(f"the check could not be made: {error}", pytrace=False)
        request.node.user_properties.append(("conformance", report.document()["verdict"]))
        folder = request.config.getoption("--otspec-report")
        if folder is not None:
            _save(report, folder, request)
        if not report.passed:
            pytest.fail(report.text(), pytrace=False)
        return report

    return checked


def _save(report: "Report", folder: Path, request: pytest.FixtureRequest) -> None:
    """Write a report under the name of the test; a number tells several of one test apart."""
    taken = request.config.stash[_TAKEN]
    test = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-150:].strip("_")
    name, number = test, 1
    while name in taken:
        number += 1
        name = f"{test}-{number}"
    taken.add(name)
    folder.mkdir(parents=True, exist_ok=True)
    for ending in (".html", ".json"):
        report.save(folder / f"{name}{ending}")
