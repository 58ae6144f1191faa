"""Badges of the README, drawn from the metadata of the package: ``python docs/badges.py``."""

from __future__ import annotations

import configparser
import html
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "_static" / "badges"
LETTER, SPACE = 6.4, 12.0
"""Pixels of a letter of 11 pixels, and around a word."""
BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="20" role="img">
  <title>{name}: {value}</title>
  <clipPath id="round"><rect width="{width:g}" height="20" rx="4"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="{left:g}" height="20" fill="#444"/>
    <rect x="{left:g}" width="{right:g}" height="20" fill="#1f5fbf"/>
  </g>
  <g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" \
text-anchor="middle">
    <text x="{left_middle:g}" y="14">{name}</text>
    <text x="{right_middle:g}" y="14">{value}</text>
  </g>
</svg>
"""


def badges() -> dict[str, str]:
    """Return the badges by their names; what they say is in setup.cfg."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    about = setup["metadata"]
    versions = re.findall(r"Python :: (\d+\.\d+)", about["classifiers"])
    said = {"license": about["license"], "python": " | ".join(versions), "tests": "make test"}
    if "Typing :: Typed" in about["classifiers"]:
        said["types"] = "checked"
    return {name: drawn(name, value) for name, value in said.items()}


def drawn(name: str, value: str) -> str:
    """Return a badge as SVG."""
    left, right = (LETTER * len(word) + SPACE for word in (name, value))
    return BADGE.format(
        name=html.escape(name), value=html.escape(value), width=left + right, left=left,
        right=right, left_middle=left / 2, right_middle=left + right / 2,
    )  # fmt: skip


def main() -> None:
    """Write all badges."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, badge in badges().items():
        (FOLDER / f"{name}.svg").write_text(badge, encoding="utf-8")


if __name__ == "__main__":
    main()
