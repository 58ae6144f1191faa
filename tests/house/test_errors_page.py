"""The page of errors has every message that the package raises, as the code words it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import complaint
from docs_scripts import script

import otspec

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def errors():
    return script("errors")


def test_tables_are_what_the_code_says(errors):
    for name, content in errors.tables().items():
        written = (DOCS / "tables" / name).read_text(encoding="utf-8")
        assert written == content, "run: python docs/errors.py"


def test_every_message_is_on_one_row_of_the_page(errors):
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    included = re.findall(r"\{include\} tables/(errors_\w+\.md)", page)
    assert sorted(included) == sorted(errors.tables())
    assert len(included) == len(set(included))
    for family in errors.FAMILIES:
        assert errors.families()[family.name], f"{family.name} has no message"
    for content in errors.tables().values():
        for row in content.splitlines()[2:]:
            assert re.fullmatch(r"\| `.*\w.*` \| .*\w.* \|", row), row


def test_every_statement_that_raises_is_read(errors):
    """Counted by their words, too: one that is not read would be missed by all else."""
    package = DOCS.parent / "otspec"
    words = re.compile(r"^ +raise [\w.\[\]]+\(", re.MULTILINE)
    sources = (path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert sum(len(words.findall(source)) for source in sources) == len(list(errors.raised()))


def test_words_of_the_page_are_words_of_messages(errors):
    said = {message.text for message in errors.messages()}
    for words in errors.WORDS["fixes"]:
        assert any(words in text for text in said), f"no message has: {words}"


WRONG = {
    "sum": lambda: otspec.IID([0.5, 0.6], k=2),
    "negative": lambda: otspec.IID([1.5, -0.5], k=2),
    "two arithmetics": lambda: otspec.distributions.as_distribution(["1/2", 0.5]),
    "k": lambda: otspec.TopK([0.5, 0.5, 0.0], k=3),
    "not an integer": lambda: otspec.IID([0.5, 0.5], k=2.0),
    "a token": lambda: otspec.IID([0.5, 0.5], k=2).inside([2]),
    "one draft": lambda: otspec.rules.MaximalCoupling([0.5, 0.5], [0.5, 0.5], k=2),
    "too many tuples": lambda: otspec.IID([1 / 300] * 300, k=4).tuples(),
    "a tree": lambda: otspec.blocks.as_branching("0x2"),
    "a file": lambda: otspec.traces.load_trace("there/is/none.npz"),
    "a batch": lambda: otspec.batch.optimal_acceptance(np.ones(3), np.ones(4), 2),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_really_said_is_on_the_page(errors, what):
    with pytest.raises(ValueError) as said:  # noqa: PT011 -- the words are looked up
        WRONG[what]()
    _look_up(errors, str(said.value))


@pytest.mark.parametrize(
    "arguments",
    [
        ("accept", "0.5,0.4", "0.5,0.5"),
        ("accept", "half", "0.5,0.5"),
        ("accept", "none.npy", "0.5,0.5"),
        ("blocks", "-L", "0"),
        ("accept", "0.5,0.5", "0.5,0.5", "--drafts", "top", "-k", "3"),
        ("simulate", "none.npz"),
    ],
)
def test_what_commands_say_is_on_the_page(errors, capsys, arguments):
    said = complaint(capsys, *arguments).removeprefix("otspec: ").strip()
    _look_up(errors, said.replace("add --normalize", "pass normalize=True"))


def _look_up(errors, said):
    """Find the message with … in place of values, of which some words are the message's own."""
    found = [
        message.text
        for message in errors.messages()
        if re.search(".*".join(map(re.escape, message.text.split("…"))) + "$", said, re.DOTALL)
    ]
    assert any(len(re.findall(r"\w+", text)) > 2 for text in found), (said, found)
