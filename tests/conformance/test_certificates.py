"""Certificates: what was run on which commit, what was found, and how to repeat it."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from otspec import batch
from otspec.cli.main import main
from otspec.conformance import Certificate, check
from otspec.conformance.report.certificate import settings_of

GIT = shutil.which("git")
QUICK = {"detect": 0.4, "coarse": 0.8, "vocabulary": 41, "entries": 16}
ENGINE = """
from otspec import batch
from otspec.conformance import adapters


def verify(draft, target, drafts, uniforms):
    return batch.maximal_coupling(draft, target, drafts, uniforms)


def from_target(target, drafts, uniforms):
    sums = target.cumsum(axis=1)
    return (sums <= uniforms[:, :1] * sums[:, -1:]).sum(axis=1) // 2


linked = adapters.on_logits(verify)
"""


@pytest.fixture(scope="module")
def passed():
    return check(batch.maximal_coupling, shape=1, **QUICK)


def test_a_certificate_says_what_was_run_and_found(passed):
    document = Certificate(passed, command="make check").document()
    assert document["repeat"] == "make check"
    assert document["verifier"] == "otspec.batch._rules.maximal_coupling"
    assert (
        document["settings"] == {"kind": "tokens", "mode": "kernel", "seed": 0, "shape": 1} | QUICK
    )
    assert document["versions"]["numpy"] == np.__version__
    assert document["report"]["outcome"] == "passed"
    assert document["code"]["file"].endswith("otspec/batch/_rules.py")
    json.dumps(document)


def test_the_page_has_the_verdict_and_how_to_repeat_it(passed):
    page = Certificate(passed).markdown()
    assert "| outcome | passed |" in page
    small = sum(tried.detectable == 0.4 for tried in passed.cases)
    assert f"0.4 on {small}, " in page
    assert passed.document()["verdict"].split(";")[0] in page
    call = re.search(r"~~~~text\n(.*)\n~~~~", page)[1]
    repeated = eval(call, {"otspec": __import__("otspec")})  # noqa: S307 # our own text
    assert repeated.document() == passed.document()
    assert page.index(passed.document()["verdict"].split(";")[0]) < page.index("| what | value |")
    assert page.index("## What it does not say") < page.index("## Cases")


def test_the_web_page_holds_the_same(passed):
    page = Certificate(passed).html()
    assert page.count("<h1>") == page.count("<!doctype html>") == 1
    parts = ('class="passed"', "How to repeat it", "What it does not say", "<h2>Cases</h2>")
    assert sorted(parts, key=page.index) == list(parts)
    assert ">passed</td>" in page


def test_a_verifier_that_fails_has_a_certificate_too(tmp_path):
    def wrong(target, rng):
        return np.zeros(len(target), dtype=int)

    report = check(wrong, shape=1, **QUICK)
    page, data = Certificate(report).save(tmp_path / "wrong.html")
    assert "failed" in page.read_text(encoding="utf-8")
    document = json.loads(data.read_text(encoding="utf-8"))
    assert document["report"]["findings"]
    assert document["code"]["file"] is not None


def git(folder, *words):
    options = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run([GIT, *options, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    (tmp_path / "small_engine.py").write_text(ENGINE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("small_engine", None)


def run(*words):
    options = ("--shape", "1", "--detect", "0.4", "--coarse", "0.8", "--vocabulary", "41",
               "--entries", "16")  # fmt: skip
    return main(["conform", *words, *options])


def test_the_command_writes_the_page_and_its_data(engine):
    git(engine, "init", "-q")
    git(engine, "add", ".")
    git(engine, "commit", "-qm", "one")
    for name, changed in (("verify", False), ("from_target", True)):
        if changed:
            (engine / "small_engine.py").write_text(ENGINE + "\n", encoding="utf-8")
        status = run(f"small_engine:{name}", "--reserved", "0,1", "--certificate", "parity.md")
        assert status == int(changed)
        document = json.loads((engine / "parity.json").read_text(encoding="utf-8"))
        code = document["code"]
        assert (code["file"], code["changed"]) == ("small_engine.py", changed)
        text = (engine / "small_engine.py").read_bytes()
        assert code["sha256"] == hashlib.sha256(text).hexdigest()
        assert len(code["commit"]) == 40
        assert document["repeat"].startswith(f"otspec conform small_engine:{name} ")
        assert "--reserved 0,1" in document["repeat"]
        assert "--certificate" not in document["repeat"]
        assert ("not committed" in (engine / "parity.md").read_text(encoding="utf-8")) == changed
        sys.modules.pop("small_engine")


def test_without_a_repository_the_commit_is_not_known(engine):
    status = run("small_engine:linked", "--certificate", "parity.html")
    code = json.loads((engine / "parity.json").read_text(encoding="utf-8"))["code"]
    assert status == 1  # it takes probabilities, and was handed logits
    assert code["file"] == "small_engine.py"
    assert code["commit"] is None
    assert "not known" in (engine / "parity.html").read_text(encoding="utf-8")


def test_other_endings_are_refused_before_anything_runs(passed, capsys):
    assert main(["conform", "no.such:thing", "--certificate", "x.pdf"]) == 2
    assert "ends in none of .md or .html" in capsys.readouterr().err
    with pytest.raises(ValueError, match="the ending of path"):
        Certificate(passed).save("x.txt")


@pytest.mark.parametrize("wrong", [{"report": 1}, {"source": 1}, {"command": 1}])
def test_what_is_no_report_is_refused(passed, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) if "source" not in wrong else "path"):
        Certificate(**{"report": passed} | wrong)


def test_settings_are_what_is_no_default():
    given = {"verifier": 1, "shape": np.array([1]), "rule": settings_of, "dtype": "float32",
             "reserved": {3}, "names": {"p": "draft"}, "kind": "tokens",
             "detect": Fraction(1, 4)}  # fmt: skip
    assert settings_of(check, given) == {
        "kind": "tokens", "shape": [1], "rule": "settings_of", "reserved": [3],
        "names": {"p": "draft"}, "detect": "1/4",
    }  # fmt: skip


def test_settings_are_what_is_not_the_default_by_its_value_and_type():
    def function(share=0.05, count=1, name="one", kind="tokens"):
        """Take what a check takes."""

    equal = {"share": 0.1 / 2, "count": int("1"), "name": "".join("one")}
    assert settings_of(function, equal) == {}
    assert settings_of(function, {"count": True, "kind": "tokens", "other": 1}) == {
        "count": True, "kind": "tokens"
    }  # fmt: skip
    assert settings_of(function, {"share": 1, "count": 1.0}) == {"share": 1, "count": 1.0}
