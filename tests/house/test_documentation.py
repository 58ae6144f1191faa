"""Every command and every example in the README and the docs is run."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from docs_scripts import script
from searching import NIGHTLY

from figures.__main__ import main as figures_main
from otspec.cli.main import main
from validation.__main__ import main as validation_main

ROOT = Path(__file__).parents[2]
CONSOLES = script("consoles")
PAGES = CONSOLES.PAGES
FROM_THE_LAST = PAGES[::-1]
"""So that another worker has compiled the loops of docs/batch.md for its tests by then."""
TORCH = re.compile(r"```py\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def commands():
    """Yield command and expected output of each console block."""
    for page in PAGES:
        for command, output in CONSOLES.commands(page.read_text(encoding="utf-8")):
            yield pytest.param(command, output, id=f"{page.name}: {command}")


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if TORCH.search(page.read_text("utf-8"))],
    ids=lambda p: p.name,
)
def test_examples_for_pytorch_run(page):
    if "torch" not in os.environ.get("OTSPEC_REQUIRE_BACKENDS", ""):
        pytest.importorskip("torch")
        if "transformers" in page.read_text(encoding="utf-8"):
            pytest.importorskip("transformers")
    source = "\n".join(TORCH.findall(page.read_text(encoding="utf-8")))
    exec(compile(source, str(page), "exec"), {})  # noqa: S102 # the page's own code


def test_the_pages_with_examples_have_some():
    counts = {
        page.name: len(doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")))
        for page in PAGES
    }
    assert counts["README.md"] >= 5
    assert counts["quickstart.md"] >= 10
    assert len(list(commands())) >= 4


@pytest.mark.parametrize(("command", "output"), list(commands()))
def test_commands_print_what_is_printed(command, output, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    assert program == "otspec"
    assert main(arguments) == int("is NOT lossless" in output)
    assert capsys.readouterr().out == output, "run: python docs/consoles.py"


@pytest.mark.parametrize("page", FROM_THE_LAST, ids=lambda page: page.name)
def test_python_examples_give_what_is_printed(page, capsys):
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    if "needs the package cdd" in capsys.readouterr().out and find_spec("cdd") is None:
        pytest.skip("pycddlib is not installed (it needs libcdd-dev and libgmp-dev)")
    assert results.failed == 0


def shell_commands():
    """Yield each line of the shell blocks, split into words."""
    for page in FROM_THE_LAST:
        for block in SHELL.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                yield pytest.param(shlex.split(line, comments=True), id=f"{page.name}: {line}")


@pytest.mark.parametrize("words", list(shell_commands()))
def test_shell_blocks_run_or_name_real_targets_and_extras(words, monkeypatch, tmp_path):
    if words[0] == "otspec":
        monkeypatch.chdir(tmp_path)
        assert main(words[1:]) == 0
    elif words[:3] == ["python", "-m", "validation"]:
        few = "1000" if NIGHTLY else "50"
        words += ["--instances", few, "--jobs", "1"]  # what is said last counts
        assert CliRunner().invoke(validation_main, words[3:]).exit_code == 0
    elif words[:3] == ["python", "-m", "figures"]:
        monkeypatch.chdir(tmp_path)
        assert CliRunner().invoke(figures_main, words[3:]).exit_code == 0
    elif words[:2] == ["python", "tests/benchmarks/batch_rules.py"]:
        words = [*words, "--batch", "2", "--repeat", "1", "--vocabulary", "2000"]
        subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, check=True)
    elif words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE)
    elif words[0] == "pytest":
        assert (ROOT / words[1]).exists()  # the suite runs it
    elif words[:2] == ["uvx", "--from"]:
        check_extras(words[2])
        assert words[3] == "otspec"
        assert main(words[4:]) == 0
    elif words[0] in {"docker", "rattler-build"}:
        files = [word for word in words if word.startswith("packaging/")]
        assert all((ROOT / file).is_file() for file in files)
        assert files or words[:4] == ["docker", "run", "--rm", "otspec"]
        assert words[4:5] != ["otspec"] or main(words[5:]) == 0
    else:
        assert words[:2] in (["pip", "install"], ["pipx", "install"], ["uv", "tool"])
        check_extras(words[3] if words[0] == "uv" else words[2])


def check_extras(place):
    """Check that what is to be installed is this folder, with extras that there are."""
    extras = re.fullmatch(r"\.(?:\[([\w,]+)\])?", place)
    assert extras is not None
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    for extra in filter(None, (extras[1] or "").split(",")):
        assert re.search(rf"^{extra} =", setup, re.MULTILINE), extra


def test_the_readme_names_every_make_target():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in ("demo", "test", "lint", "bench", "docs"):
        assert f"make {target}" in readme


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
