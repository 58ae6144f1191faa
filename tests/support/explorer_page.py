"""The explorer in a browser: the page without the rest of the site, and what is read off it."""

import os
import re
import shutil
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = ("chromium", "chromium-browser", "google-chrome")
RAW = re.compile(r"```\{raw\} html\n(.*?)\n```", re.DOTALL)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ margin: 16px; font-family: sans-serif; }}</style></head>
<body><main class="content"><h1>Explorer</h1>{}</main></body></html>"""

READ = """() => {
    const number = (element, name) => Number(element.dataset[name]);
    const all = (selector) => [...document.querySelectorAll(selector)];
    const first = document.getElementById("ot-results-first");
    if (first.hidden) return { problem: document.getElementById("ot-refusal").textContent };
    const bound = document.getElementById("ot-formula");
    return {
        optimum: number(document.getElementById("ot-optimum"), "value"),
        cut: bound.dataset.cut ? bound.dataset.cut.split(",").map(Number) : [],
        inside: number(bound, "inside"),
        target: number(bound, "target"),
        rules: Object.fromEntries(all("#ot-rules-body tr[data-value]:not([data-rule=optimum])")
            .map((row) => [row.dataset.rule, number(row, "value")])),
        lines: all("#ot-k-chart [data-k]")
            .map((mark) => [mark.dataset.rule, number(mark, "k"), number(mark, "value")]),
        knots: document.getElementById("ot-selection").hidden ? null
            : all("#ot-selection-chart [data-knot]")
                .map((stem) => [number(stem, "mass"), Number(stem.dataset.lifetime)]),
        selected: document.getElementById("ot-law").hidden ? null
            : all("#ot-law-chart [data-value]").map((bar) => number(bar, "value")),
    };
}"""
"""What is shown, with all digits."""

FIRST = "#d=1/2,3/10,1/5&t=1/10,3/5,3/10&k=2&law=iid&w=0.4"
"""The state that the page begins with."""

ANEW = """hash => {
    document.activeElement.blur();
    for (const details of document.querySelectorAll("details")) details.open = false;
    const { link, page } = otspec.explorer;
    page.set(link.read(hash, otspec.arithmetic.LAWS.map((law) => law.name)));
}"""

SETTLED = """version => new Promise((resolve, reject) => {
    const root = document.getElementById("ot-explorer");
    setTimeout(() => reject(new Error("nothing was shown anew")), 30_000);
    const look = () => (Number(root.dataset.version) > version
        ? resolve() : requestAnimationFrame(look));
    look();
})"""


def browser_path():
    """Return the path of a browser, or None."""
    named = os.environ.get("OTSPEC_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def write_page(folder):
    """Write the page without the rest of the site, with the site's own scripts."""
    (part,) = RAW.findall((DOCS / "explorer.md").read_text(encoding="utf-8"))
    here = part.replace('"_static/', f'"{(DOCS / "_static").as_uri()}/')
    path = folder / "explorer.html"
    path.write_text(FRAME.format(here), encoding="utf-8")
    return path.as_uri()


class Explorer:
    """The explorer in a tab of a browser."""

    def __init__(self, tab, address):
        self.tab, self.address = tab, address
        self.complaints = []
        self.opened = 0
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))

    def load(self, fragment=""):
        """Load the page, perhaps with a state."""
        self.opened += 1  # with a query of its own it is not the page that is there already
        self.tab.goto(f"{self.address}?{self.opened}{fragment}")

    def open(self, fragment=FIRST):
        """Be at a state, as if the page was loaded with it; that takes longer."""
        if not self.opened:
            self.load()
        self.after(self.tab.evaluate, ANEW, fragment)

    def part(self, name):
        """Return a part of the page."""
        return self.tab.locator(f"#ot-{name}")

    def after(self, act, *arguments, **options):
        """Do something that changes the state, and wait until all is shown."""
        version = int(self.part("explorer").get_attribute("data-version"))
        act(*arguments, **options)
        self.tab.evaluate(SETTLED, version)

    def go(self, fragment):
        """Change to the state of a link without opening the page anew."""
        self.after(self.tab.evaluate, "hash => { location.hash = hash; }", fragment)

    def bar(self, side, token):
        """Return the bar of a token."""
        return self.tab.locator(f'.ot-bar[data-side="{side}"][data-token="{token}"]')

    def shown(self):
        """Return what is shown, with all digits."""
        return self.tab.evaluate(READ)

    def masses(self, side):
        """Return the masses in a field as they are written."""
        return [text.strip() for text in self.part(f"{side}-text").input_value().split(",")]

    def values(self, side):
        """Return the masses in a field as floats."""
        return [float(Fraction(text)) for text in self.masses(side)]
