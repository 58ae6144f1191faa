"""The report: one file that needs nothing else, and that a browser shows."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run
from matplotlib.image import imread

from otspec.cli.main import main
from otspec.cli.progress import pace

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report on two sources at two temperatures with a damaged chunk."""
    folder = tmp_path_factory.mktemp("report")
    paths = [folder / name for name in ("<one>.npz", "two.npz")]
    for seed, path in enumerate(paths):
        arrays = files.random_pair((4, 3, 12), seed=seed)
        if seed:
            arrays["draft_logits"][0, 0, 0] = np.nan
        np.savez(path, **arrays)
    out = folder / "report.html"
    options = ["-k", "1,2", "--temperature", "0.5,1", "--chunk", "3", "--workers", "1"]
    assert main(["trace", *map(str, paths), *options, "--report", str(out)]) == 1
    return out


class Elements(HTMLParser):
    """The elements of a page, and which attributes lead outside of it."""

    VOID = ("meta", "link", "path", "use", "rect")

    def __init__(self, text):
        super().__init__()
        self.counts, self.outside, self.open, self.text = {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for name, value in attributes:
            if name.split(":")[-1] in ("src", "href", "data", "action", "srcset"):
                self.outside += [] if value.startswith(("#", "data:")) else [value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_report_is_one_well_formed_page_that_needs_nothing_else(report):
    text = report.read_text(encoding="utf-8")
    page = Elements(text)
    assert page.open == []
    assert page.outside == []
    assert not re.search(r"@import|url\((?!#|\"#)", text)
    assert "script" not in page.counts
    assert page.counts["svg"] == 5  # acceptance and gap at two temperatures, and what these change
    words = " ".join(page.text)
    assert "<one>.npz" in words
    assert "draft_logits[0, 0][0] is nan" in words
    assert "21 positions over 12 tokens" in words
    assert "95% confidence" in words


def test_a_report_of_nothing_but_optimal_rules_has_no_gaps(tmp_path, capsys):
    arrays = files.random_pair()
    arrays["target_logits"] = arrays["draft_logits"]
    source, out = files.save_npz(tmp_path, arrays), tmp_path / "report.html"
    run(capsys, "trace", source, "-k1", "--top-k", "1", "--report", out)
    assert Elements(out.read_text(encoding="utf-8")).counts["svg"] == 1


def test_a_report_that_cannot_be_written_is_one_line(tmp_path, capsys):
    source = files.save_npz(tmp_path, files.random_pair())
    assert "no/folder" in complaint(
        capsys, "trace", source, "-k1", "--report", tmp_path / "no" / "folder" / "report.html"
    )


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


def browse(browser, profile, *options):
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={profile}", "--window-size=1000,1400", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", *map(str, options),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_a_browser_shows_the_report(report, browser, tmp_path):
    picture, address = tmp_path / "report.png", report.as_uri()
    done = browse(browser, tmp_path / "profile", "--dump-dom", address)
    assert "CONSOLE" not in done.stderr
    shown = Elements(done.stdout)
    assert shown.counts["svg"] == Elements(report.read_text(encoding="utf-8")).counts["svg"]
    assert shown.counts["tr"] == Elements(report.read_text(encoding="utf-8")).counts["tr"]
    browse(browser, tmp_path / "profile", f"--screenshot={picture}", address)
    colours = np.unique(imread(picture).reshape(-1, 4), axis=0)
    # Text, lines of many colours and the shaded gap, not an error page.
    assert len(colours) > 200
    assert (np.abs(colours[:, :3] - [0, 0x72 / 255, 0xB2 / 255]).max(axis=1) < 0.02).any()


def test_pace_is_in_words():
    assert pace(0, 1.0, 5) == ""
    assert pace(50, 100.0, 60) == "0.5 a second, 0:02:00 left"
