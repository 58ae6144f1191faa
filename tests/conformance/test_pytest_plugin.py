"""The plugin of pytest, in runs of pytest of its own."""

import json
import re
import subprocess
import sys

import pytest

import otspec.conformance  # noqa: F401 # so that no run inside this process imports NumPy anew

VERIFIERS = """
from otspec import batch

SMALL = {"kind": "tokens", "shape": 1, "dtype": "float64", "vocabulary": 8, "entries": 9}

def right(draft, target, drafts, uniforms):
    return batch.maximal_coupling(draft, target, drafts, uniforms).token

def careless(draft, target, drafts):
    return drafts[:, 0]
"""
PASSES = """
def test_right(conformance):
    report = conformance(right, **SMALL)
    assert report.passed
    print("detectable", report.detectable)
"""
FAILS = """
def test_careless(conformance):
    conformance(careless, **SMALL)
"""
TWICE = """
import pytest
@pytest.mark.parametrize("name", ["a/b", "a b"])
def test_twice(conformance, name):
    conformance(right, **SMALL)
    conformance(right, **SMALL)
"""
OTHERS = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:zarr")
PLUGIN = ("-p", "no:otspec", "-p", "otspec.testing.plugin", *OTHERS)
"""Without the entry point, which a checkout that was not installed anew does not have."""


@pytest.fixture
def outcome(pytester):
    """Run tests with the plugin."""

    def run(*tests, options=("--otspec-detect=0.5",)):
        pytester.makepyfile(VERIFIERS + "".join(tests))
        return pytester.runpytest_inprocess(*PLUGIN, *options)

    return run


def test_a_right_verifier_passes(outcome):
    outcome(PASSES).assert_outcomes(passed=1)


def test_a_wrong_one_fails_with_the_report(outcome):
    result = outcome(FAILS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["failed: the verifier is wrong on * cases; *", "What to do:"])
    assert "Traceback" not in result.stdout.str()


def test_what_is_refused_is_one_line_without_our_traceback(outcome):
    result = outcome(FAILS.replace("**SMALL", "kind='block', mode='exact', budget=0"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the check could not be made: *"])
    assert "case_by_case.py" not in result.stdout.str()


def test_options_hold_where_a_test_does_not_say_otherwise(outcome):
    little = ("--otspec-budget=200", "--otspec-seed=5", "--otspec-detect=0.5")
    result = outcome(PASSES, options=(*little, "--otspec-coarse=0.6"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["undecided: not looked at closely enough; *", "What to do:"])
    result = outcome(PASSES.replace("**SMALL", "budget=300000, **SMALL"), options=(*little, "-s"))
    result.assert_outcomes(passed=1)
    assert "detectable 1.0" in result.stdout.str()


def test_reports_are_written_one_for_each_check(outcome, pytester):
    result = outcome(TWICE, FAILS, options=("--otspec-detect=0.5", "--otspec-report=found/here"))
    result.assert_outcomes(passed=2, failed=1)
    folder = pytester.path / "found" / "here"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 10
    assert sum(name.endswith("-2.html") for name in names) == 1
    documents = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    assert sorted(document["passed"] for document in documents) == [False, *[True] * 4]


def test_the_verdict_is_a_property_of_the_test(outcome, pytester):
    outcome(PASSES, options=("--otspec-detect=0.5", "--junit-xml=results.xml"))
    written = (pytester.path / "results.xml").read_text("utf-8")
    assert '<property name="conformance" value="passed: ' in written


def test_what_is_no_number_is_refused(outcome):
    result = outcome(PASSES, options=("--otspec-budget=many",))
    result.stderr.fnmatch_lines(["*--otspec-budget: invalid int value: 'many'*"])


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What an installation has: an entry point."""
    metadata = tmp_path / "site" / "otspec_entry-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: otspec-entry\nVersion: 1\n", "utf-8"
    )
    (metadata / "entry_points.txt").write_text("[pytest11]\notspec = otspec.testing\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    (tmp_path / "test_engine.py").write_text("def test_it(conformance):\n    pass\n", "utf-8")
    return tmp_path


def test_the_entry_point_and_an_option_load_the_plugin_once(installed):
    command = [sys.executable, "-m", "pytest", *PLUGIN[2:], "--trace-config"]
    done = subprocess.run(
        command, cwd=installed, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert re.search(r"^ +otspec +: ", done.stdout, re.MULTILINE)


def test_the_plugin_imports_nothing_heavy():
    program = "import sys, otspec.testing.plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert not {"numpy", "scipy", "click", "rich", "torch"} & set(done.stdout.split())
