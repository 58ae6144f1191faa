"""The page of messages: each command on it says what the page says."""

from __future__ import annotations

import pytest
from docs_scripts import script

PAGE = script("messages")
TEXT = PAGE.PAGE.read_text(encoding="utf-8")


def test_every_block_of_the_page_is_a_command_and_its_line():
    found = list(PAGE.commands(TEXT))
    assert len(found) == len(set(found)) == TEXT.count("\n```text\n") == TEXT.count("\n$ ")
    assert len(found) > 30


@pytest.mark.parametrize(("command", "line"), list(PAGE.commands(TEXT)))
def test_a_command_says_what_the_page_says(command, line, tmp_path, monkeypatch):
    PAGE.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(PAGE.sys.modules, "my_rules", raising=False)
    assert PAGE.said(command) == line, "run: python docs/messages.py"
    monkeypatch.delitem(PAGE.sys.modules, "my_rules", raising=False)


def test_what_succeeds_is_none_of_the_page():
    with pytest.raises(ValueError, match="ends with status 0: the page has what is refused"):
        PAGE.said("otspec accept 1,0 0,1")
