"""The rule that no result is typed: what the sources of the note name, and what they may not say.

A number that somebody computed or measured comes from the package, as ``num("its.name")``. So the
text has no decimals, percentages or fractions in digits, no whole number of two digits or more, and
no word for a number above three. Small whole numbers, as in a formula, and names such as float32
are text. The
template, which has the lengths of the layout, and the references are not.
"""

from __future__ import annotations

import re
from pathlib import Path

TEXTS = Path(__file__).parent / "text"
NAMED = re.compile(r'#?\b(num|rows|picture)\("([^"]*)"')
_COMMENT = re.compile(r"//[^\n]*")
_LAYOUT = re.compile(
    r"\b(?:width: \d+%|(?:inset|size): [\d.]+pt|#?h\([\d.]+em\)|caption|@[\w:-]+|<[\w:-]+>)"
)
_NAME = re.compile(r"\b[A-Za-z]+\d+\b")
_WORDS = "four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty|dozens?|hundreds?"
_TYPED = re.compile(rf"\d+[.,]\d|\d\s*%|\d\s*\\?/\s*\d|\d{{2,}}|(?i:\b(?:{_WORDS})\b)")


def texts() -> dict[str, str]:
    """Return the text of the note, file by file."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(TEXTS.glob("*.typ"))}


def named(kind: str) -> set[str]:
    """Return the names that the text asks for.

    Parameters
    ----------
    kind : str
        "num", "rows" for tables, or "picture".
    """
    found = [NAMED.findall(_COMMENT.sub("", text)) for text in texts().values()]
    return {name for each in found for what, name in each if what == kind}


def typed(text: str) -> list[str]:
    """Return the numbers that are typed in a text where they should be named, with what is around.

    Parameters
    ----------
    text : str
        In Typst's markup.
    """
    rest = NAMED.sub(" ", _COMMENT.sub("", text))
    rest = _NAME.sub(" ", _LAYOUT.sub(" ", rest))
    return [rest[max(0, hit.start() - 20) : hit.end() + 20] for hit in _TYPED.finditer(rest)]
