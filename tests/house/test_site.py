"""The site: every page in one group, what its front and its tables say, and links that hold."""

from __future__ import annotations

import configparser
import doctest
import importlib
import inspect
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from docs_scripts import script
from matplotlib.figure import Figure

import otspec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
TITLED = re.compile(r"(.+) <(.+)>")
GROUPS = ["Learn", "Do", "Understand", "Look up"]


def toctrees(page):
    """Yield caption and entries, as titles and pages, of each toctree of a page."""
    file = DOCS / f"{page}.md"
    for block in TOCTREE.findall(file.read_text(encoding="utf-8")):
        caption = re.search(r"^:caption: (.+)$", block, re.MULTILINE)
        lines = [line for line in block.splitlines() if line and not line.startswith(":")]
        named = [TITLED.fullmatch(line) for line in lines]
        titles = [found[1] if found else "" for found in named]
        places = [found[2] if found else line for found, line in zip(named, lines, strict=True)]
        places = [(file.parent / place).relative_to(DOCS).as_posix() for place in places]
        yield caption and caption[1], list(zip(titles, places, strict=True))


def below(page):
    """Return a page and all that its toctrees lead to."""
    under = [each for _, entries in toctrees(page) for _, name in entries for each in below(name)]
    return [page, *under]


def test_every_page_is_in_one_of_four_groups():
    groups = dict(toctrees("index"))
    assert list(groups) == GROUPS
    grouped = [page for entries in groups.values() for _, name in entries for page in below(name)]
    files = [path.relative_to(DOCS).with_suffix("") for path in DOCS.glob("**/*.md")]
    pages = [path.as_posix() for path in files if path.parts[0] not in ("_build", "tables")]
    assert sorted(["index", *grouped]) == sorted(pages)


def test_titles_of_the_sidebar_are_short():
    for group, entries in toctrees("index"):
        for title, page in entries:
            assert 1 <= len(title) <= 20, (group, page)


def test_the_readme_has_the_paths_of_the_front_page():
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for group in GROUPS:
        assert f":::{{grid-item-card}} {group}\n" in front
    for reader in ("Student", "Engineer", "Researcher"):
        (card,) = re.findall(rf":::{{grid-item-card}} {reader}\n(.*?)\n:::", front, re.DOTALL)
        (line,) = re.findall(rf"\*\*{reader}\*\*: (.*?)\n\n", readme, re.DOTALL)
        pages = re.findall(r"\]\(([\w/]+\.md)\)", card)[:5]
        assert len(pages) == 5
        assert re.findall(r"\]\(docs/([\w/]+\.md)\)", line) == pages
    for question in ("How much can be accepted", "Which rule gets there?"):
        assert question in front
        assert question in readme


def test_the_front_page_takes_six_lines():
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    assert len(doctest.DocTestParser().get_examples(front)) == 6
    (commands,) = re.findall(r"```sh\n(.*?)```", front, re.DOTALL)
    assert len(commands.splitlines()) == 6


def test_badges_say_what_the_metadata_say():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    drawn = script("badges").badges()
    for name, badge in drawn.items():
        file = DOCS / "_static" / "badges" / f"{name}.svg"
        assert file.read_text(encoding="utf-8") == badge, "run: python docs/badges.py"
    shown = {name: re.findall(r">([^<>]+)</text>", badge) for name, badge in drawn.items()}
    assert shown["license"] == ["license", setup["metadata"]["license"]]
    versions = shown["python"][1].split(" | ")
    assert setup["options"]["python_requires"] == f">={versions[0]}"
    assert all(
        f":: Python :: {each}\n" in f"{setup['metadata']['classifiers']}\n" for each in versions
    )
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"badges/(\w+)\.svg", readme) == list(drawn)
    assert f"license: {setup['metadata']['license']}" in readme


@pytest.mark.parametrize("name", script("which_rule").PAGES)
def test_what_rules_accept_and_cost_is_what_the_package_says(name):
    table = DOCS / "tables" / f"which_{name}"
    made = script("which_rule").PAGES[name]()
    assert table.read_text(encoding="utf-8") == made, "run: python docs/which_rule.py"


def test_rules_to_use_accept_what_any_rule_can():
    rows = (DOCS / "tables" / "which_one_token.md").read_text(encoding="utf-8").splitlines()[2:]
    for row in rows:
        accepts, most = re.findall(r"\| (0\.\d{4}) ", row)[:2]
        assert 0 <= float(most) - float(accepts) < (2e-4 if "PriorityMixture" in row else 1e-9)


def test_the_front_pictures_have_an_ink_for_each_page(tmp_path):
    front = script("front")
    for page, ink in front.INKS.items():
        with front.drawn(tmp_path / f"{page}.svg", page, (4, 3)) as figure:
            front.two_drafts(figure.add_subplot(), ink)
        shipped = [DOCS / "_static" / f"{name}-{page}.svg" for name in ("trace", "idea")]
        for path in (tmp_path / f"{page}.svg", *shipped):
            drawn = path.read_text(encoding="utf-8")
            assert ink in drawn
            assert [other for other in front.INKS.values() if other != ink and other in drawn] == []


def test_the_front_picture_says_what_the_package_computes():
    front = script("front")
    pair = [
        [Fraction(mass).limit_denominator(10) for mass in law]
        for law in (front.DRAFT, front.TARGET)
    ]
    best = otspec.optimal_acceptances(*pair, [1, 2])
    assert list(best) == [Fraction(6, 10), Fraction(85, 100)]
    picture = Figure().subplots(1, 2)
    front.one_draft(picture[0], "black")
    front.two_drafts(picture[1], "black")
    titles = [panel.get_title(loc="left") for panel in picture]
    assert [title.split()[-1] for title in titles] == ["0.6", "0.85"]


def test_types_in_docstrings_are_links_where_they_are_known():
    pages = script("api_pages", "docs/_ext")
    known = pages.OUTSIDE | pages.classes_of(DOCS / "api")
    assert known["IID"] == "otspec.IID"
    assert known["Verified"] == "otspec.batch.Verified"
    assert pages.linked("ndarray, shape (n,)", known) == (
        ":py:obj:`ndarray <numpy.ndarray>`\\ *, shape (n,)*"
    )
    assert pages.linked("float or Fraction", known) == (
        "*float or* \\ :py:obj:`Fraction <fractions.Fraction>`"
    )
    assert pages.linked("str, optional", known) == "*str, optional*"


def test_ways_back_from_shown_code_end_at_what_is_documented():
    documented = script("api_pages", "docs/_ext").documented
    known = [
        "otspec.Plan",
        "otspec.optimum.plan.Decomposition",
        "otspec.optimum.plan.Decomposition.plan",
    ]
    assert documented("otspec.Plan", known) == "otspec.Plan"
    assert documented("otspec.Decomposition", known) == "otspec.optimum.plan.Decomposition"
    assert (
        documented("otspec.Decomposition.plan", known) == "otspec.optimum.plan.Decomposition.plan"
    )
    assert documented("otspec.Unknown", known) == "otspec.Unknown"


def test_shown_files_of_one_depth_share_a_sidebar_and_pages_have_their_own():
    made = []

    def make(**options):
        made.append(options)
        return f"tree {len(made)}"

    app = SimpleNamespace(env=SimpleNamespace(found_docs={"index"}))
    sidebar = script("heads", "docs/_ext").Sidebar()
    trees = []
    for page in ("_modules/a", "_modules/b", "_modules/a/b", "index", "index"):
        context = {"toctree": make}
        sidebar.reuse(app, page, "page.html", context, None)
        trees.append(context["toctree"](collapse=False))
    assert trees == ["tree 1", "tree 1", "tree 2", "tree 3", "tree 4"]


def test_the_inventories_hold_what_is_referred_to():
    pages = script("api_pages", "docs/_ext")
    held = set()
    for file in (DOCS / "inventories").glob("*.inv"):
        first, _, _, *lines = file.read_text(encoding="utf-8").splitlines()
        assert first == "# Sphinx inventory version 1"
        held |= {tuple(line.split()) for line in lines}
    raised = {name for name, kind, _ in held if kind == "exception"}
    assert {name for name, _, _ in held} == {*pages.OUTSIDE.values(), *raised}
    assert raised >= {"ValueError", "OSError", "ImportError"}


PACKAGES = (
    "advice", "auditing", "batch", "blocks", "closed_forms", "cones",
    "conformance", "datasets", "decoding", "drafts", "files", "frames", "logged",
    "models", "optimum", "optimum.plan", "plots", "programs", "rules", "rules.lossy", "solvers",
    "traces", "traces.readers", "traces.runs",
)  # fmt: skip
INSIDE = {
    "Names": "names that programs make when somebody reads them",
    "Sense": "of a program's objective, as the solvers tell it",
    "Tabular": "what rows and runs have from it is shown there",
    "check_ending": "for commands",
    "named_errors": "for commands",
    "temporary_folder": "for runs",
}
"""What the reference leaves out, and why."""


def test_the_reference_has_every_public_class_and_function():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    shown = set(re.findall(r"^\.\. auto\w+:: [\w.]*?(\w+)$", text, re.MULTILINE))
    for names in re.findall(r"^\.\. automodule:: .+\n   :members: (.+)$", text, re.MULTILINE):
        shown |= set(names.split(", "))
    whole = re.findall(r"^\.\. automodule:: otspec\.(.+)\n   :members:$", text, re.MULTILINE)
    public = set()
    for package in ("", *(f".{each}" for each in PACKAGES if each not in whole)):
        module = importlib.import_module(f"otspec{package}")
        values = [getattr(module, name) for name in module.__all__]
        public |= {
            each.__name__ for each in values if inspect.isclass(each) or inspect.isfunction(each)
        }
    public.discard("str")  # by another name, where an argument takes one of several
    assert sorted(public - shown) == sorted(INSIDE)


def page_of(body):
    """Return a page with a body."""
    return f'<html><head><link href="_static/site.css"/></head><body>{body}</body></html>'


def test_a_link_that_leads_nowhere_and_a_load_from_elsewhere_are_found(tmp_path):
    problems = script("check_site").problems
    (tmp_path / "_static").mkdir()
    sheet = tmp_path / "_static" / "site.css"
    sheet.write_text("a { background: url(data:image/png;base64,AA) }", encoding="utf-8")
    (tmp_path / "a.html").write_text(
        page_of('<a href="b.html#here"></a><a href="https://example.org/"></a><p id="top"></p>'),
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text(page_of('<p id="here"><a href="a.html#top"></a></p>'), "utf-8")
    assert list(problems(tmp_path)) == []
    wrong = {
        "c.html": ('<a href="missing.html"></a>', "no such file"),
        "d.html": ('<a href="a.html#there"></a>', "no such place"),
        "e.html": ('<a href="#there"></a>', "no such place"),
        "f.html": ('<script src="https://example.org/a.js"></script>', "loaded from elsewhere"),
        "g.html": ('<img alt="" src="//example.org/a.png"/>', "loaded from elsewhere"),
    }
    for name, (body, _) in wrong.items():
        (tmp_path / name).write_text(page_of(body), encoding="utf-8")
    sheet.write_text("@import 'https://example.org/a.css';", encoding="utf-8")
    found = dict(line.rsplit(": ", 1) for line in problems(tmp_path))
    assert [text for place, text in found.items() if "site.css" in place] == [
        "loaded from elsewhere"
    ]
    for name, (_, text) in wrong.items():
        assert [each for place, each in found.items() if place.startswith(name)] == [text]


@pytest.mark.parametrize(
    "body",
    [
        "<p>on the right $a_x &gt; t</p><blockquote><p>a'$ just if $a &gt; t$</p></blockquote>",
        "<p>side of (<em>) at $A \\setminus x$; adding (</em>)</p>",
        "<p>$$\\frac{1}{2}$$</p>",
        "<td>\\sum p</td>",
    ],
)
def test_a_formula_that_is_not_set_is_found(tmp_path, body):
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert any(
        "TeX outside of a formula" in line for line in script("check_site").problems(tmp_path)
    )


WHOLE = '<html lang="en"><head><title>A</title></head><body>{}</body></html>'


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<h1>A</h1><img src="a.png">', "<img> has no alt text: a.png"),
        ('<h1>A</h1><img src="a.png" alt="">', "<img> has an empty alt text: a.png"),
        ("<h1>A</h1><h3>B</h3>", "<h3> follows <h1>: a level is left out"),
        ("<h2>A</h2>", "<h2> follows <h0>: a level is left out"),
        ("<h1>A</h1><h1>B</h1>", "the page has 2 headings of the first level"),
        ('<h1>A</h1><a href="b.html"><svg></svg></a>', "<a> has no name: b.html"),
        ('<h1>A</h1><button id="go"></button>', "<button> has no name: go"),
        ('<h1>A</h1><input id="k">', "<input> has no label: k"),
        ('<h1>A</h1><p tabindex="3">a</p>', "<p> has a tabindex above 0"),
        ('<h1>A</h1><div onclick="go()">a</div>', "<div onclick> is out of the keyboard's reach"),
    ],
)
def test_what_keeps_some_readers_out_is_found(tmp_path, body, says):
    page = tmp_path / "a.html"
    page.write_text(WHOLE.format(body), encoding="utf-8")
    found = list(script("accessibility").barriers(page))
    assert any(line.startswith(says) for line in found), found


def test_a_page_that_all_can_read_is_left_alone(tmp_path):
    page = tmp_path / "a.html"
    body = (
        '<h1>A</h1><h2>B</h2><h3>C</h3><h2>D</h2><p><img src="a.png" alt="A chart"></p>'
        '<a href="b.html"><img src="a.png" alt="Home"></a><button aria-label="Add">+</button>'
        '<label for="k">k</label><input id="k"><label><input type="checkbox">all</label>'
        '<div tabindex="0" onclick="go()">a</div><a id="place"></a><svg><title>Icon</title></svg>'
    )
    page.write_text(WHOLE.format(body), encoding="utf-8")
    accessibility = script("accessibility")
    assert list(accessibility.barriers(page)) == []
    page.write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert list(accessibility.barriers(page)) == [
        "the page has no language",
        "the page has no title",
    ]


def test_faint_texts_are_found_on_bright_and_on_dark_pages():
    accessibility = script("accessibility")
    assert accessibility.contrast("#000", "#ffffff") == pytest.approx(21)
    assert accessibility.contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.005)
    theme = (
        "body { --color-foreground-primary: #000; --color-background-primary: #fff }"
        ' body[data-theme="dark"] { --color-foreground-primary: #777; '
        "--color-background-primary: #111 }"
    )
    code = ".highlight { background: #fff } .highlight .k { color: #999 }"
    found = list(accessibility.faint_texts({"theme": theme, "code": code}))
    assert [line.split(":")[0] for line in found] == ["bright", "dark"]
    assert ".highlight .k" in found[0]
    assert "--color-foreground-primary" in found[1]
    fine = theme.replace("#777", "#999"), code.replace("#999", "#666")
    assert list(accessibility.faint_texts(dict(zip("ab", fine, strict=True)))) == []


def test_formulas_code_and_dollars_of_money_or_shells_are_left_alone(tmp_path):
    body = (
        '<span class="math notranslate nohighlight">\\(\\frac{1}{2}\\)</span>'
        '<div class="math notranslate nohighlight">\n\\[\\sum p\\]</div>'
        "<code>$HOME/\\frac</code><pre>$ otspec accept $x$</pre><script>'\\sum'</script>"
        "<p>It costs $5 or $ 6.</p>"
    )
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert list(script("check_site").problems(tmp_path)) == []
