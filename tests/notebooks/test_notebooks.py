"""Every notebook is run, and git holds of it what people write only."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import matplotlib as mpl
import nbclient
import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "notebooks").glob("*.md"))
BY_A_KERNEL = ROOT / "docs" / "notebooks" / "how_much.md"
"""By day Jupyter's kernel runs this one, as it does all when the site is built."""
COMPILED = ("cdd", "cdd.gmp")
"""What no page may need: the site is built where there is no compiler."""
WRITTEN_BY_TOOLS = ("<img", "data:image", '"output_type"', "{code-output}")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page):
    return page.read_text(encoding="utf-8")


def notebook(page):
    return jupytext.reads(text_of(page), fmt="md:myst")


def sources(page):
    return [cell.source for cell in notebook(page).cells if cell.cell_type == "code"]


def shown(source, names):
    """Run a cell; return what it shows in each form: the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 # the page's own code
    if last is None:
        return {}
    code = compile(ast.Expression(last.value), "cell", "eval")
    return DisplayFormatter().format(eval(code, names))[0]  # noqa: S307


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != BY_A_KERNEL], ids=lambda page: page.name
)
def test_a_notebook_runs_and_shows_cards_and_plots(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in COMPILED:
        monkeypatch.setitem(sys.modules, name, None)
    names = {"__name__": "__main__"}
    before = dict(mpl.rcParams)
    with contextlib.redirect_stdout(io.StringIO()):
        forms = [shown(source, names) for source in sources(page)]
    pages = [each["text/html"] for each in forms if "text/html" in each]
    assert any("<caption" in each for each in pages)
    assert any("<svg" in each for each in pages) is ("plots" in text_of(page))
    for each in forms:
        assert all(len(line) < 300 for line in each.get("text/plain", "").splitlines())
    assert dict(mpl.rcParams) == before  # a page changes nothing for whoever comes next
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=() if page == BY_A_KERNEL else pytest.mark.nightly)
        for page in PAGES
    ],
)
def test_a_kernel_runs_a_notebook(page, tmp_path):
    book = notebook(page)
    without = f"import sys; sys.modules |= dict.fromkeys({COMPILED})"
    book.cells.insert(0, nbformat.v4.new_code_cell(without))
    place = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=place)
    client.execute()  # raises what a cell raises
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    cards = [
        each.data for each in outputs if "<caption" in each.get("data", {}).get("text/html", "")
    ]
    assert cards
    assert all("<" not in card["text/plain"] for card in cards)  # shells show no address
    nbformat.validate(book)


@every_page
def test_jupytext_reads_and_writes_the_same_page(page):
    again = jupytext.writes(notebook(page), fmt="md:myst")
    bodies = [text.split("---\n", 2)[2].strip() for text in (text_of(page), again)]
    assert bodies[0] == bodies[1]
    as_ipynb = nbformat.reads(jupytext.writes(notebook(page), fmt="ipynb"), as_version=4)
    assert [each.source for each in as_ipynb.cells] == [
        each.source for each in notebook(page).cells
    ]
    nbformat.validate(as_ipynb)


@every_page
def test_a_page_says_how_to_have_it_and_holds_no_output(page):
    text = text_of(page)
    assert f"{{nb-download}}`{page.stem}.ipynb`" in text
    assert f"jupytext --to ipynb docs/notebooks/{page.name}" in text
    assert not any(mark in text for mark in WRITTEN_BY_TOOLS)
    assert not re.search(r"^\s*[%!]", "\n".join(sources(page)), re.MULTILINE)  # plain Python
    assert not any(cell.get("outputs") for cell in notebook(page).cells)


def test_git_holds_no_notebook_with_outputs():
    assert len(PAGES) >= 4
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: there is no git to ask")
    asked = ["git", "ls-files", "*.ipynb"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert listed.stdout == ""
