"""The explorer in a browser: pasting, links, copies, words, names, widths."""

import contextlib
import io
import json
import random

import pytest
from explorer_checks import check, floats, link
from explorer_page import DOCS

from otspec.cli.main import main

STATE = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], 3, "without-replacement", 0.25

NAMELESS = """nodes => nodes.filter((node) => {
    const is = (name) => node.properties?.some((each) => each.name === name && each.value.value);
    return !node.ignored && is("focusable") && node.role.value !== "RootWebArea"
        && !node.name?.value.trim();
}).map((node) => node.role.value)"""


GIVEN_UP = """() => new Promise((resolve) => {
    const { page } = otspec.explorer;
    page.set({ law: "top", k: 3 });
    requestAnimationFrame(() => {
        resolve(!document.getElementById("ot-waiting").hidden);
        page.set({ law: "iid", k: 2 });
    });
})"""
"""Changes the drafts and back before they were shown; says whether the page said so."""


def paste(explorer, side, text):
    """Press on a field, so that one is in it, and paste."""
    explorer.part(f"{side}-text").click()
    explorer.tab.keyboard.insert_text(text)


def words(explorer):
    return explorer.part("problem").inner_text()


def test_from_the_empty_page_to_an_own_answer(desk):
    desk.load()
    draft, target = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
    paste(desk, "draft", json.dumps(draft))
    assert words(desk) == (
        "The draft has 4 numbers and the target 3: both need one for each token, "
        "so paste the other one, too."
    )
    desk.after(paste, desk, "target", json.dumps(target))
    assert not desk.part("problem").is_visible()
    check(desk.shown(), draft, target, 2, "iid")
    assert desk.part("optimum").inner_text() == "79.00 %"  # 0.6 + 1 - 0.81
    assert "Pooled selection attains it" in desk.part("rules-words").inner_text()
    assert "The set A = {0, 1, 2} proves it." in desk.part("proof").inner_text()
    desk.tab.wait_for_function(
        "document.getElementById('ot-live').textContent.startsWith('At best')"
    )
    assert "79.00 %" in desk.part("live").inner_text()


def test_long_lists_are_ranked_and_computed_all_the_same(desk, tmp_path, monkeypatch, capsys):
    desk.open()
    rng = random.Random(25)  # noqa: S311
    sides = [[rng.expovariate(1) for _ in range(350)] for _ in range(2)]
    draft, target = ([mass / sum(side) for mass in side] for side in sides)
    paste(desk, "draft", repr(draft))
    desk.after(paste, desk, "target", repr(target))
    assert not desk.part("bars").is_visible()
    assert "335 others" in desk.part("ranked").inner_text()
    check(desk.shown(), draft, target, 2, "iid")
    desk.after(desk.tab.evaluate, "otspec.explorer.page.set({ uniform: 0.9 })")
    assert "At w = 0.9" in desk.part("groups").inner_text()
    check(desk.shown(), draft, target, 2, "iid")
    version = int(desk.part("explorer").get_attribute("data-version"))
    assert desk.tab.evaluate(GIVEN_UP)
    desk.tab.wait_for_function(
        "wanted => document.getElementById('ot-explorer').dataset.version === wanted",
        arg=str(version + 2),
    )
    assert not desk.part("waiting").is_visible()
    check(desk.shown(), draft, target, 2, "iid")
    assert desk.part("copy-link").is_disabled()
    desk.tab.wait_for_function("location.hash === ''")
    monkeypatch.chdir(tmp_path)
    for side in ("draft", "target"):
        with desk.tab.expect_download() as saved:
            desk.part(f"save-{side}").click()
        saved.value.save_as(tmp_path / saved.value.suggested_filename)
    exec(compile(desk.part("python").inner_text(), "python", "exec"), {})  # noqa: S102
    first = float(capsys.readouterr().out.split()[0])
    assert first == pytest.approx(desk.shown()["optimum"], abs=1e-9)
    assert main(desk.part("shell").inner_text().split()[1:]) == 0
    assert f"{first:.6f}" in capsys.readouterr().out


WRONG = [
    ("0.5, x, 0.2", "The draft: number 2 is x, not a number", None, None),
    ("", "The draft: there is no number", None, None),
    ("0.5, 0.3, 0.3", "The draft sums to 1.1, not 1", "Scale it to sum 1", "5/11, 3/11, 3/11"),
    ("5 3 2", "The draft sums to 10, not 1", "Scale it to sum 1", "1/2, 3/10, 1/5"),
    ("0, 0, 0", "The draft is zero everywhere", None, None),
    ("[0.0, -1e3, 0.0]", "which is negative", "take the softmax", "0.5, 0, 0.5"),
]
"""What is pasted, what is said, what the button offers, and what it makes of it."""


def test_what_is_wrong_is_said_and_mended(desk):
    state = *STATE[:2], 2, "without-replacement"
    for pasted, said, repair, draft in WRONG:
        desk.open(link(*state))
        before = desk.shown()
        desk.part("draft-text").fill(pasted)
        assert said in words(desk)
        assert desk.part("draft-text").get_attribute("aria-invalid") == "true"
        assert desk.shown() == before
        buttons = desk.part("problem").get_by_role("button")
        assert buttons.count() == bool(repair)
        if repair:
            assert repair in buttons.inner_text()
            desk.after(buttons.press, "Enter")
            assert desk.part("draft-text").input_value() == draft
            assert not desk.part("problem").is_visible()
            check(
                desk.shown(), floats(draft.replace(" ", "")), floats(",".join(STATE[1])), *state[2:]
            )


def test_a_link_carries_the_state(desk):
    desk.open(link(*STATE))
    first, address = desk.shown(), desk.part("link").inner_text()
    assert address.endswith(link(*STATE))
    desk.tab.wait_for_function("hash => location.hash === hash", arg=link(*STATE))
    desk.load("#" + address.partition("#")[2])
    assert desk.shown() == first
    assert (desk.masses("draft"), desk.masses("target")) == STATE[:2]
    assert desk.part("w").input_value() == "0.25"


def test_floats_go_through_a_link_to_the_last_digit(desk):
    rng = random.Random(1)  # noqa: S311
    masses = [rng.random() ** 9 for _ in range(7)]
    texts = [repr(mass / sum(masses)) for mass in masses]
    fragment = link(texts, texts[::-1], 5, "iid", 0.07)
    desk.load(fragment)
    assert desk.part("link").inner_text().endswith(fragment)
    assert (desk.masses("draft"), desk.masses("target")) == (texts, texts[::-1])


@pytest.mark.parametrize("fragment", ["#d=1,2&t=1", "#other", "#d=1/2,1/2&t=1,0&k=99&law=x&w=7"])
def test_broken_links_change_nothing_or_what_can_be_read(desk, fragment):
    desk.load(fragment)
    own = fragment.count("=") == 5
    assert desk.masses("draft") == (["1/2", "1/2"] if own else ["1/2", "3/10", "1/5"])
    assert desk.part("k").input_value() == "2"
    assert desk.part("law-choice").input_value() == "iid"
    assert desk.part("w").input_value() == "0.4"
    assert desk.part("damage").is_visible() == (fragment != "#other")
    if fragment != "#other":
        desk.after(desk.part("law-choice").select_option, "top")
        assert not desk.part("damage").is_visible()


def copied(explorer, kind):
    """Press the button, and paste what it copied into a field."""
    explorer.part(f"copy-{kind}").click()
    explorer.tab.wait_for_function(
        "name => /Copied|Selected/.test(document.getElementById(name).textContent)",
        arg=f"ot-copy-{kind}",
    )
    assert explorer.part(f"copy-{kind}").inner_text() == "Copied"
    explorer.part("draft-text").fill("")
    explorer.part("draft-text").press("Control+V")
    return explorer.part("draft-text").input_value()


def test_copies_go_on_in_python_and_the_shell(desk, capsys):
    desk.open(link(*STATE))
    shown = desk.shown()
    code, command = copied(desk, "python"), copied(desk, "shell")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "copied", "exec"), {})  # noqa: S102 # the page's own code
    lines = printed.getvalue().splitlines()
    assert lines[0] == "1 ()"
    assert "recursive rejection (distinct) 1" in lines
    assert shown["optimum"] == 1
    assert command.startswith("otspec ")
    assert main(command.split()[1:]) == 0
    assert "3  1.000000 = 1" in capsys.readouterr().out
    assert copied(desk, "link").endswith(link(*STATE))


def test_every_law_goes_on_in_python(desk):
    desk.open()
    for law in desk.tab.evaluate("otspec.arithmetic.LAWS.map((law) => law.name)"):
        desk.go(link(["0.25", "0.3", "0.45"], ["0.1", "0.2", "0.7"], 2, law))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(desk.part("python").inner_text(), law, "exec"), {})  # noqa: S102
        first = printed.getvalue().split()[0]
        assert floats(first) == pytest.approx([desk.shown()["optimum"]], abs=1e-9)


def test_whatever_takes_the_focus_has_a_name(desk):
    desk.open()
    desk.tab.evaluate("document.querySelectorAll('details').forEach((all) => { all.open = true; })")
    session = desk.tab.context.new_cdp_session(desk.tab)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if "role" in node]
    assert roles.count("slider") == 8  # six bars, k and w
    assert roles.count("textbox") == 2
    assert desk.tab.evaluate(NAMELESS, nodes) == []


def test_every_picture_has_a_name_or_is_hidden(desk):
    desk.open()
    bare = desk.tab.evaluate(
        "[...document.querySelectorAll('.ot-explorer svg')].filter((svg) => "
        "!svg.getAttribute('aria-label') && svg.getAttribute('aria-hidden') !== 'true').length"
    )
    assert bare == 0


def test_nothing_is_wider_than_a_telephone(phone):
    phone.open()
    for i in (9, 11):
        phone.after(phone.part("preset").select_option, str(i))
        phone.tab.evaluate(
            "document.querySelectorAll('details').forEach((all) => { all.open = true; })"
        )
        assert phone.tab.evaluate("document.documentElement.scrollWidth") <= 390
    phone.go(link(["1/16"] * 16, ["1/2", *["1/30"] * 15], 16, "iid"))
    assert phone.tab.evaluate("document.documentElement.scrollWidth") <= 390
    narrow = phone.bar("draft", 15).bounding_box()
    assert narrow["x"] + narrow["width"] <= 390


def test_a_finger_moves_a_bar(phone):
    phone.open()
    bar = phone.bar("draft", 0)
    bar.scroll_into_view_if_needed()
    box = bar.locator(".ot-bar-body").bounding_box()
    phone.after(
        phone.tab.touchscreen.tap, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    )
    draft = phone.values("draft")
    assert 0.2 < draft[0] < 0.3
    check(phone.shown(), draft, phone.values("target"), 2, "iid")


def test_files_are_small_and_nothing_is_fetched():
    for path in (DOCS / "_static" / "explorer").rglob("*"):
        if path.suffix in (".js", ".css"):
            text = path.read_text(encoding="utf-8")
            assert text.count("\n") <= 300, path.name
            assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), path.name
            assert path.suffix == ".css" or '"use strict"' in text, path.name


def test_the_page_stays_where_it_is_when_a_bar_is_taken(phone):
    phone.open()
    bar = phone.bar("target", 0)
    top = "bar => { scrollTo(0, 0); return bar.getBoundingClientRect().top; }"
    seen = 30  # pixels of the bar that are above the lower edge
    phone.tab.set_viewport_size({"width": 390, "height": int(bar.evaluate(top)) + seen})
    box = bar.locator(".ot-bar-grip").bounding_box()
    phone.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 2)
    phone.tab.mouse.down()
    phone.tab.mouse.up()
    assert bar.evaluate("bar => bar === document.activeElement")
    assert phone.tab.evaluate("scrollY") == 0
    phone.tab.set_viewport_size({"width": 390, "height": 844})


def test_a_finger_drags_a_bar_and_not_the_page(phone):
    phone.open()
    phone.tab.evaluate("scrollTo(0, 0)")
    box = phone.bar("draft", 0).locator(".ot-bar-grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 2
    session = phone.tab.context.new_cdp_session(phone.tab)

    def touch(kind, *points):
        points = [{"x": x, "y": height} for height in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", y)
    for moved in range(10, 60, 10):
        touch("touchMove", y - moved)
    touch("touchEnd")
    assert phone.tab.evaluate("scrollY") == 0
    assert float(phone.tab.evaluate("otspec.explorer.page.get().draft[0]")) > 0.6  # from 0.5
