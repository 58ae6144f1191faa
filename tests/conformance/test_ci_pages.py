"""What the pages on CI and on reference vectors show is run."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from otspec.cli.main import otspec as command
from otspec.conformance.vectors.vectors import reference_vectors, write_vectors

DOCS = Path(__file__).parents[2] / "docs"
OTHERS = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:zarr")
PLUGIN = ("-p", "no:otspec", "-p", "otspec.testing.plugin", *OTHERS)


def blocks(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_test_of_the_page_runs_in_pytest(pytester):
    pytester.makepyfile(blocks("conformance_ci.md", "python")[0])
    result = pytester.runpytest_inprocess(*PLUGIN, "--otspec-detect=0.5")
    result.assert_outcomes(passed=1)


def test_the_report_of_the_page_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = "\n".join(blocks("conformance_ci.md", "python")).replace("0.1", "0.5")
    exec(compile(source, "conformance_ci.md", "exec"), {})  # noqa: S102 # the page's own code
    assert capsys.readouterr().out.startswith("passed")
    assert Path("conformance.md").read_text("utf-8").startswith("# Conformance of ")


@pytest.mark.parametrize(
    "line", re.findall(r"run: otspec (.*)", blocks("conformance_ci.md", "yaml")[0])
)
def test_commands_of_the_job_are_commands(line):
    name, *arguments = shlex.split(line)
    assert command.commands[name].make_context(name, arguments).params["verifier"]


def test_the_procedure_of_the_page_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_vectors("vectors.json", reference_vectors(detect=0.05))
    (source,), (printed,) = (blocks("conformance_vectors.md", it) for it in ("python", "text"))
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(source, "conformance_vectors.md", "exec"), {})  # noqa: S102 # the page's own code
    assert stream.getvalue() == printed


def test_names_in_the_document_are_on_the_page():
    text = (DOCS / "conformance_vectors.md").read_text(encoding="utf-8")
    document = reference_vectors(["block"], detect=0.1)
    group = document["groups"][0]
    for part in (document, group, group["calls"][0], group["answers"], group["answers"]["test"]):
        for name in part:
            assert f"`{name}`" in text, name
