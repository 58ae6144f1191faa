"""Every example in the README and the docs is run."""

import doctest
import os
import re
from importlib.util import find_spec

import pytest
from docs_scripts import script

PAGES = script("consoles").PAGES
TORCH = re.compile(r"```py\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_give_what_is_printed(page, capsys):
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    if "needs the package cdd" in capsys.readouterr().out and find_spec("cdd") is None:
        pytest.skip("pycddlib is not installed (it needs libcdd-dev and libgmp-dev)")
    assert results.failed == 0


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


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
