"""Run as a program, it does what a base install has to do: without the packages of the extras.

Its arguments are the packages that cannot be imported. It prints one line of JSON for each command:
the command, its exit status, what it printed, and what it complained of.
"""

import contextlib
import doctest
import io
import json
import sys
from pathlib import Path

PAIR = ["1/2,3/10,1/5", "1/10,3/5,3/10"]
WORK = [
    ["accept", *PAIR, "-k", "1,2"],
    ["accept", *PAIR, "-k", "2", "--json"],
    ["accept", *PAIR, "-k", "2", "--total-variation", "1/10"],
    ["compare", *PAIR, "-k", "2"],
    ["compare", *PAIR, "-k", "2", "--drafts", "iid", "--json"],
    ["audit", "pooled-selection", "--instances", "10"],
    ["audit", "pooled-selection", "--instances", "10", "--json"],
    ["solve", *PAIR, "--program", "reduced"],
]
"""Commands that need no extra."""
REFUSED = {
    "runs": [
        ["trace", "-k", "1"],
        ["laws", "-k", "1"],
        ["simulate"],
        ["advise", "--draft-cost", "1", "--target-cost", "1"],
        ["compare", *PAIR, "-k", "2", "--table", "table.csv"],
    ],
    "plots": [
        ["trace", "-k", "1", "--out", "run"],
        ["compare", *PAIR, "-k", "2", "--plot", "chart.png"],
    ],
    "cvxpy": [["solve", *PAIR, "--solver", "cvxpy"]],
}
"""Extra -> commands that ask for it."""

ENGINE = """
from otspec import batch

def verify(draft, target, drafts, uniforms):
    return batch.maximal_coupling(draft, target, drafts, uniforms).token

def test_verification_is_lossless(conformance):
    conformance(verify, kind="tokens", shape=1, dtype="float64", vocabulary=8, entries=1_000)
"""


class Blocked:
    """Refuses packages as an installation without them does."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, *_):
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run_all():
    from otspec.cli.main import main

    for command in [*WORK, *(each for several in REFUSED.values() for each in several)]:
        out, complaint = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
            status = main(command)
        print(json.dumps([command, status, out.getvalue(), complaint.getvalue()]))  # noqa: T201


def python_of_the_readme():
    page = Path(__file__).parents[2] / "README.md"
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted >= 5
    assert found.failed == 0


def test_of_an_engine():
    import pytest

    Path("test_engine.py").write_text(ENGINE, encoding="utf-8")
    out = io.StringIO()
    options = ("-p", "otspec.testing.plugin", "-p", "no:cacheprovider", "--otspec-detect=0.3")
    with contextlib.redirect_stdout(out):
        status = pytest.main(["-q", *options, "test_engine.py"])
    print(json.dumps([["pytest"], int(status), out.getvalue(), ""]))  # noqa: T201


def exact_programs():
    """Solve linear programs in fractions: those of plans, of blocks and of the long run."""
    import otspec
    from otspec.blocks import BlockVerificationPreprint, long_run
    from otspec.models import memoryless

    law, target = otspec.IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"]
    coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    found = {
        program: otspec.optimal_plan(law, target, program).acceptance
        for program in otspec.programs.PROGRAMS
    }
    found["blocks"] = otspec.audit_blocks(BlockVerificationPreprint(coin, biased, 2)).optimum
    found["long run"] = long_run(coin, coin, 2).bound
    texts = {name: str(value) for name, value in found.items()}
    print(json.dumps([["exact"], 0, json.dumps(texts), ""]))  # noqa: T201


def formula():
    from otspec.closed_forms import iid_expression

    try:
        iid_expression(2)
    except ValueError as error:
        print(json.dumps([["formula"], 2, "", str(error)]))  # noqa: T201


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocked(set(sys.argv[1:])))
    python_of_the_readme()
    run_all()
    exact_programs()
    formula()
    test_of_an_engine()
