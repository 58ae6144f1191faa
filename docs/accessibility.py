"""What keeps some readers out of a page of the built site; :mod:`check_site` asks for it.

Checked are names of pictures, links, buttons and fields, the order of headings, the keyboard, and
the contrast of text on its ground (WCAG 2.2, level AA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

LEAST_CONTRAST = 4.5
EMPTY = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}
HANDLERS = ("onclick", "onmousedown", "onkeydown")
WORKED = {"a", "button", "form", "input", "select", "summary", "textarea"}
"""What the keyboard reaches by itself."""


class _Page(HTMLParser):
    """Reads a page and collects what is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.level = 0
        self.headings = 0
        self.title = ""
        self.labeled: set[str] = set()
        self.fields: list[tuple[str, str]] = []
        self.open: list[tuple[str, dict[str, str]]] = []
        self.named: list[bool] = []
        """Of each open link and button: whether it has a name."""

    @property
    def hidden(self) -> bool:
        """Whether this part is not read to anybody."""
        return any(
            tag in ("script", "style", "svg", "template") or attributes.get("aria-hidden") == "true"
            for tag, attributes in self.open
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in EMPTY:
            self.open.append((tag, found))
        if tag == "html" and not found.get("lang"):
            self.wrong.append("the page has no language")
        if tag == "img":
            self._picture(found)
        if re.fullmatch("h[1-6]", tag) and not self.hidden:
            self._heading(int(tag[1]))
        if tag == "label":
            self.labeled.add(found.get("for", ""))
        if tag in ("input", "select", "textarea") and not self.hidden:
            self._field(tag, found)
        if tag in ("a", "button"):
            a_place = tag == "a" and "href" not in found
            self.named.append(a_place or _has_name(found) or self.hidden)
        if tag == "iframe" and not _has_name(found):
            self.wrong.append("<iframe> has no title")
        if int(found.get("tabindex") or 0) > 0:
            self.wrong.append(f"<{tag}> has a tabindex above 0: the keyboard would jump")
        handled = [name for name in HANDLERS if name in found]
        if handled and tag not in WORKED and "tabindex" not in found:
            self.wrong.append(f"<{tag} {handled[0]}> is out of the keyboard's reach")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not any(tag == each for each, _ in self.open):
            return
        while self.open:
            last, found = self.open.pop()
            if last in ("a", "button") and self.named and not self.named.pop():
                place = found.get("href") or found.get("id") or found.get("class", "")
                self.wrong.append(f"<{last}> has no name: {place}")
            if last == tag:
                break

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][0] == "title" and "svg" not in dict(self.open):
            self.title += data
        if data.strip() and not self.hidden:
            self.named = [True] * len(self.named)

    def _picture(self, found: dict[str, str]) -> None:
        if "alt" not in found:
            self.wrong.append(f"<img> has no alt text: {found.get('src', '')}")
        elif not found["alt"].strip() and not self.hidden and not any(self.named):
            self.wrong.append(f"<img> has an empty alt text: {found.get('src', '')}")
        elif found["alt"].strip():
            self.named = [True] * len(self.named)

    def _heading(self, level: int) -> None:
        self.headings += level == 1
        if level > self.level + 1:
            self.wrong.append(f"<h{level}> follows <h{self.level}>: a level is left out")
        self.level = level

    def _field(self, tag: str, found: dict[str, str]) -> None:
        inside = any(each == "label" for each, _ in self.open)
        silent = found.get("type") in ("hidden", "submit", "button")
        if not (silent or inside or _has_name(found) or found.get("class") == "toctree-checkbox"):
            self.fields.append((tag, found.get("id", "")))


def _has_name(found: dict[str, str]) -> bool:
    return any(found.get(name) for name in ("aria-label", "aria-labelledby", "title"))


def barriers(page: Path) -> Iterator[str]:
    """Yield what is wrong with a page."""
    parser = _Page()
    parser.feed(page.read_text(encoding="utf-8"))
    yield from dict.fromkeys(parser.wrong)
    if not parser.title.strip():
        yield "the page has no title"
    if parser.headings != 1:
        yield f"the page has {parser.headings} headings of the first level"
    for tag, name in parser.fields:
        if name not in parser.labeled:
            yield f"<{tag}> has no label: {name}"


_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COLOR = re.compile(r"(?<![\w-])(--[\w-]+|color|background(?:-color)?)\s*:\s*(#[0-9a-fA-F]{3,6})\b")
TEXTS = ("--color-foreground-primary", "--color-foreground-secondary", "--color-brand-content",
         "--color-brand-primary")  # fmt: skip
GROUNDS = ("--color-background-primary", "--color-background-secondary")


def faint_texts(sheets: dict[str, str]) -> Iterator[str]:
    """Yield what is too faint: the site's texts on its grounds, and code on its own.

    ``sheets``: what each style sheet holds, by name, in the order in which they count.
    """
    rules = [
        (selectors.strip(), name, color)
        for sheet in sheets.values()
        for selectors, body in _RULE.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
        for name, color in _COLOR.findall(body)
    ]
    variables: dict[str, str] = {}
    for theme in (
        "bright",
        "dark",
    ):  # dark pages have the bright ones' variables unless they set them
        own = [rule for rule in rules if _is_dark(rule[0]) == (theme == "dark")]
        variables |= {name: color for _, name, color in own if name.startswith("--")}
        for text, ground in product(TEXTS, GROUNDS):
            if text in variables and ground in variables:
                yield from _faint(f"{theme}: {text}", variables[text], variables[ground])
        # No page has numbers of lines.
        code = [rule for rule in own if ".highlight" in rule[0] and "linenos" not in rule[0]]
        grounds = [
            color
            for selectors, name, color in code
            if name.startswith("background") and selectors.endswith(".highlight")
        ]
        for selectors, name, color in code:
            if name == "color" and grounds:
                yield from _faint(f"{theme}: {selectors}", color, grounds[-1])


def _is_dark(selectors: str) -> bool:
    return "data-theme" in selectors and (
        "dark" in selectors or ":not([data-theme" in selectors.replace("'", '"')
    )


def _faint(what: str, text: str, ground: str) -> Iterator[str]:
    found = contrast(text, ground)
    if found < LEAST_CONTRAST:
        yield f"{what}: {text} on {ground} has a contrast of {found:.2f}, not {LEAST_CONTRAST}"


def contrast(one: str, two: str) -> float:
    """Return the contrast of two colors, such as #1f5fbf, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(two)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    digits = color.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    light = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), light, strict=True))
