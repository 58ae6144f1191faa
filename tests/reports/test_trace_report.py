"""The report: one file that needs nothing else, and that a browser shows."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run
from docs_scripts import script
from explorer_page import FLAGS
from matplotlib.image import imread

from otspec.cli.main import main
from otspec.cli.shared.progress import pace
from otspec.reports import findings
from otspec.reports.findings import bibtex, origin_of
from otspec.rules import KSequential
from otspec.traces.readers import find_source

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
        browser, "--headless", "--disable-dev-shm-usage", *FLAGS,
        f"--user-data-dir={profile}", "--window-size=1000,2600", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", *map(str, options),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_a_browser_shows_the_report(report, browser, tmp_path):
    picture, address = tmp_path / "report.png", report.as_uri()
    done = browse(browser, tmp_path / "profile", "--dump-dom", f"--screenshot={picture}", address)
    assert "CONSOLE" not in done.stderr
    shown = Elements(done.stdout)
    assert shown.counts["svg"] == Elements(report.read_text(encoding="utf-8")).counts["svg"]
    assert shown.counts["tr"] == Elements(report.read_text(encoding="utf-8")).counts["tr"]
    colors = np.unique(imread(picture).reshape(-1, 4), axis=0)
    # Text, lines of many colors and the shaded gap, not an error page.
    assert len(colors) > 200
    assert (np.abs(colors[:, :3] - [0, 0x72 / 255, 0xB2 / 255]).max(axis=1) < 0.02).any()


FRAMES = """<!doctype html><meta charset="utf-8"><body><script>
const report = {report!r};
const found = [];
for (const width of [390, 1400]) {{
  const frame = document.createElement("iframe");
  frame.style.width = width + "px";
  frame.onload = () => {{
    const root = frame.contentDocument.documentElement;
    const cells = [...root.querySelectorAll("td")];
    const right = Math.max(...cells.map((cell) => cell.getBoundingClientRect().right));
    found.push([width, root.scrollWidth, right]);
    if (found.length === 2) document.body.dataset.found = JSON.stringify(found.sort());
  }};
  frame.src = report;
  document.body.append(frame);
}}
</script>"""


def test_no_page_is_wider_than_a_phone_or_a_screen(report, browser, tmp_path):
    frames = tmp_path / "frames.html"
    frames.write_text(FRAMES.format(report=report.as_uri()), encoding="utf-8")
    options = ("--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom")
    done = browse(browser, tmp_path / "profile", *options, frames.as_uri())
    found = json.loads(unescape(re.search(r'data-found="(.*?)"', done.stdout)[1]))
    assert [width for width, _, _ in found] == [1400, 390]
    for width, scrolled, right in found:
        assert scrolled <= width
        assert right <= width


def test_a_report_begins_with_what_it_means(report):
    text = report.read_text(encoding="utf-8")
    page = Elements(text)
    order = ['class="lead"', 'class="key"', "<svg", "What is uncertain", "<table", "@software"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert page.counts["title"] > 60  # of the page, and of most marks
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def means_of(capsys, *arguments):
    """Return the sentences of a report, and the means of the same run by rule and k."""
    document = json.loads(run(capsys, *arguments, "--json"))
    text = Path(arguments[-1]).read_text(encoding="utf-8")
    lead = unescape(re.search(r'<p class="lead">(.*?)</p>', text)[1])
    return lead, {(row["rule"], row["k"]): row for row in document["means"]}, text


def test_the_sentences_say_what_the_numbers_say(tmp_path, capsys):
    source, out = files.save_npz(tmp_path, files.random_pair((4, 3, 12))), tmp_path / "r.html"
    options = ["--drafts", "iid", "-k", "1,3", "--workers", "1", "--report", out]
    lead, means, text = means_of(capsys, "trace", source, *options)
    best = means["optimum", 3]["acceptance"]
    others = [row for (rule, k), row in means.items() if k == 3 and rule != "optimum"]
    below = max((row for row in others if row["acceptance"] < best - 1e-9),
                key=lambda row: row["acceptance"])  # fmt: skip
    gap = best - below["acceptance"]
    assert lead.startswith(
        f"With 3 i.i.d. drafts at T = 1.0, a draft is accepted with mean probability "
        f"{100 * best:.1f}% at best, whatever the rule: {1 + best:.3f} tokens per call of the "
        "target. Pooled "
    )
    assert f"{below['rule']}, gets {100 * below['acceptance']:.1f}%." in lead
    more = 100 * ((1 + best) / (1 + below["acceptance"]) - 1)
    assert (
        f"The gap is {100 * gap:.1f} points, or {gap:.3f} tokens per call: {more:.1f}% more than "
        f"{below['rule']} gives."
    ) in lead
    low, high = means["optimum", 3]["acceptance_interval"]
    assert f"the mean optimum is {100 * low:.1f}% to {100 * high:.1f}%" in text
    assert "if the 4 texts (12 positions) are a random sample" in text


def test_tokens_per_call_are_those_that_a_simulated_engine_gets():
    rng = np.random.default_rng(3)
    draft, target = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    rule = KSequential(draft, target, 3)
    drafts = rule.law.sample(4_000, rng).tolist()
    # A call gives the token that the rule answers, and one more behind it if it was drafted.
    got = [1 + (rule.sample(tuple(x), rng)[0] in x) for x in drafts]
    error = np.std(got) / np.sqrt(len(got))
    assert abs(np.mean(got) - (1 + float(rule.acceptance()))) < 5 * error


def test_a_report_where_every_rule_is_best_says_that_there_is_no_gap(tmp_path, capsys):
    arrays = files.random_pair()
    arrays["target_logits"] = arrays["draft_logits"]
    source, out = files.save_npz(tmp_path, arrays), tmp_path / "report.html"
    lead, _, text = means_of(capsys, "trace", source, "-k1", "--top-k", "1", "--report", out)
    assert "100.0% at best, whatever the rule: 2.000 tokens per call" in lead
    assert "So there is no gap between the rules compared and what is possible." in lead
    assert "<dd>none</dd>" in text


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((1, 20), "All numbers are from one position, so that there are no intervals."),
        ((5, 20), "All positions are of one text, and taken for independent of each other"),
    ],
)
def test_a_report_on_one_text_says_so(tmp_path, capsys, shape, says):
    source, out = files.save_npz(tmp_path, files.random_pair(shape)), tmp_path / "r.html"
    *_, text = means_of(capsys, "trace", source, "-k2", "--drafts", "iid", "--report", out)
    assert says in text
    assert ("(95% interval)" in text) == (shape[0] > 1)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)


def test_a_report_says_how_to_make_and_how_to_cite_it(tmp_path, capsys):
    folder = tmp_path / "it's here"
    folder.mkdir()
    source, out = files.save_npz(folder, files.random_pair()), folder / "report.html"
    options = ["-k", "1", "--drafts", "iid", "--workers", "1", "--report"]
    *_, text = means_of(capsys, "trace", source, *options, out)
    command, digests, entry = map(unescape, re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL))
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    assert digests == f"{digest}  trace.npz"
    first = out.read_bytes()
    out.unlink()
    program, *arguments = shlex.split(command)
    assert program == "otspec"
    assert main(arguments) == 0
    assert out.read_bytes() == first
    assert entry + "\n" == bibtex() == script("citation").bibtex()  # that of CITATION.cff


def test_a_large_file_is_named_without_a_digest(tmp_path, monkeypatch):
    source = find_source(str(files.save_npz(tmp_path, files.random_pair())))
    size = (tmp_path / "trace.npz").stat().st_size
    assert origin_of("", [source]).digests[0][:2] == ("trace.npz", size)
    monkeypatch.setattr(findings, "LARGEST_DIGEST", size - 1)
    assert origin_of("", [source]).digests == [("trace.npz", size, "")]
    assert (
        origin_of("", [find_source(str(files.save_zarr(tmp_path, files.random_pair())))])[1] == []
    )


def test_pace_is_in_words():
    assert pace(0, 1.0, 5) == ""
    assert pace(50, 100.0, 60) == "0.5 a second, 0:02:00 left"
