"""``otspec audit`` of a plain kernel, and how it is told from what makes a rule."""

import functools
import json
import operator
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import complaint, run

import otspec
from otspec.cli.commands.audit import is_kernel
from otspec.cli.main import main

KERNELS = """
from fractions import Fraction as F

draft, target = [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]

def first_residual(x):
    # The residual of the first round in every round.
    output, left = [F(0), F(0)], F(1)
    for token in x:
        chance = min(F(1), target[token] / draft[token])
        output[token] += left * chance
        left *= 1 - chance
    return [output[0], output[1] + left]

def right(x):
    return target

def fails(x):
    return x.nothing

class Called:
    def __call__(self, x):
        return {0: F(1, 4), 1: F(3, 4)}

called = Called()

def verify(drafts, chance):  # maximal coupling with the first draft, whose residual is token 1
    return 0 if chance.accept(target[drafts[0]], draft[drafts[0]]) else [0, 1]

def first_residual_as_program(drafts, chance):
    for position, token in enumerate(drafts):
        if chance.accept(target[token], draft[token]):
            return position
    return [0, 1]

def step(chance):
    token = chance.choose(draft)
    return token if chance.accept(target[token], draft[token]) else [0, 1]

def step_fails(chance):
    return chance.nothing

def two(draft, target):
    return right

def makes(draft, target, k):
    return right

answers = {
    "short": [F(1)],
    "negative": [F(-1, 2), F(3, 2)],
    "half": [F(1, 4), F(1, 4)],
    "number": 1,
    "nothing": None,
    "text": "ab",
    "stranger": {5: F(1)},
    "matrix": [[F(1, 4), F(3, 4)]],
    "not_a_number": [float("nan"), 1.0],
}
globals().update({name: lambda x, answer=answer: answer for name, answer in answers.items()})
"""
PAIR = ("--draft", "1/2,1/2", "--target", "1/4,3/4")
WHOLE = (*PAIR, "-k", "2")


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A module of kernels in the working directory; each test's has a name of its own."""
    name = f"kernels_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(KERNELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ((), "--draft, --target and -k,"),
        (PAIR[:2], "--target and -k,"),
        (("-k", "2"), "--draft and --target,"),
        (PAIR, "add -k,"),
    ],
)
def test_a_kernel_asks_for_what_is_missing_in_one_line(capsys, kernels, given, missing):
    line = complaint(capsys, "audit", f"{kernels}:right", *given)
    assert missing in line
    example = f"otspec audit {kernels}:right --draft 1/2,1/2 --target 1/4,3/4 -k 2"
    assert line.endswith(f"as in {example}\n")
    arguments = example.split()[1:]
    assert main(arguments) == 0


@pytest.mark.parametrize("name", ["right", "called"])
def test_a_lossless_kernel_is_status_0(capsys, kernels, name):
    # The law of the output is the target whatever is drafted: 1/4 and 3/4 of it are accepted.
    printed = run(capsys, "audit", f"{kernels}:{name}", *PAIR, "-k", "1")
    assert f"{kernels}:{name} is lossless for 1 iid draft, exactly." in printed
    assert "It accepts 0.5000 = 1/2, and the optimum is 0.7500 = 3/4: 0.2500 = 1/4 more." in printed
    floats = ("--draft", "0.5,0.5", "--target", "0.25,0.75", "-k", "2")
    printed = run(capsys, "audit", f"{kernels}:{name}", *floats)
    assert f"{name} is lossless for 2 iid drafts, to within " in printed
    printed = run(capsys, "audit", f"{kernels}:{name}", *floats, "--exact")
    assert "exactly" in printed


def test_a_lossy_kernel_is_status_1_and_says_what_the_api_says(capsys, kernels):
    assert main(["audit", f"{kernels}:first_residual", *WHOLE]) == 1
    printed = capsys.readouterr().out
    assert "is NOT lossless for 2 iid drafts." in printed
    assert "token 0 comes out too often, by 1/16; drafts (0, 0) account for it." in printed
    assert "output 5/16,11/16, target 1/4,3/4" in printed
    assert main(["audit", f"{kernels}:first_residual", *WHOLE, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["lossless"], document["drafts"], document["k"]) == (False, ["iid"], 2)
    assert list(map(Fraction, document["output"])) == [Fraction(5, 16), Fraction(11, 16)]
    assert Fraction(document["witness"]["error"]) == Fraction(1, 16)
    assert document["witness"]["drafts"] == [[0, 0]]
    # Of distinct drafts the same kernel is another rule: all of the first residual is right.
    distinct = (*WHOLE, "--drafts", "without-replacement", "--json")
    status = main(["audit", f"{kernels}:first_residual", *distinct])
    document = json.loads(capsys.readouterr().out)
    assert document["drafts"] == ["without-replacement"]
    assert status == (0 if document["lossless"] else 1)


def test_a_program_is_audited_as_its_kernel_is(capsys, kernels):
    printed = run(capsys, "audit", f"{kernels}:verify", *WHOLE)
    assert f"{kernels}:verify is lossless for 2 iid drafts, exactly." in printed
    # The first draft is kept with probability 3/4. The output is then token 1, as is the second
    # draft half of the time.
    assert "It accepts 0.8750 = 7/8, and the optimum is 1.0000 = 1: 0.1250 = 1/8 more." in printed
    reports = []
    for name in ("first_residual", "first_residual_as_program"):
        assert main(["audit", f"{kernels}:{name}", *WHOLE, "--json"]) == 1
        reports.append(json.loads(capsys.readouterr().out) | {"rule": None})
    assert reports[0] == reports[1]
    line = complaint(capsys, "audit", f"{kernels}:verify", *PAIR)
    assert "verify takes drafts and chance, so that it is audited for one law and target" in line


def test_a_whole_step_is_audited_against_the_target_alone(capsys, kernels):
    printed = run(capsys, "audit", f"{kernels}:step", "--target", "1/4,3/4")
    assert printed == f"{kernels}:step is lossless, exactly.\n"
    other = ("--target", "1/3,2/3")
    assert main(["audit", f"{kernels}:step", *other]) == 1
    first, reason, laws, off = capsys.readouterr().out.splitlines()
    assert first == f"{kernels}:step is NOT lossless."
    assert reason == "  token 0 comes out too seldom, by 1/12."
    assert laws == "  output 1/4,3/4, target 1/3,2/3"
    assert off == "  total variation 0.0833 = 1/12, KL 0.0164"
    assert main(["audit", f"{kernels}:step", *other, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["drafts"], document["k"], document["acceptance"]) == ([], None, None)
    assert document["witness"]["drafts"] == []
    line = complaint(capsys, "audit", f"{kernels}:step")
    assert line.endswith(f"add --target, as in otspec audit {kernels}:step --target 1/4,3/4\n")
    for option in (("--draft", "1/2,1/2"), ("-k", "2"), ("--drafts", "iid")):
        line = complaint(capsys, "audit", f"{kernels}:step", *other, *option)
        assert f"{option[0]} is for what gets drafts" in line
        assert line.endswith(f"leave {option[0]} out\n")
    line = complaint(capsys, "audit", f"{kernels}:step_fails", *other)
    assert "step_fails could not be audited: the step fails with AttributeError" in line


def test_numbers_come_from_files_too(capsys, kernels, tmp_path):
    (tmp_path / "pair.json").write_text('{"draft": ["1/2", "1/2"], "target": ["1/4", "3/4"]}',
                                        encoding="utf-8")  # fmt: skip
    files = ("--draft", "pair.json:draft", "--target", "pair.json:target", "-k", "2")
    assert "lossless for 2 iid drafts, exactly" in run(capsys, "audit", f"{kernels}:right", *files)
    line = complaint(capsys, "audit", f"{kernels}:right", "--draft", "x.npy", *WHOLE[2:])
    assert "x.npy: no such file" in line
    line = complaint(capsys, "audit", f"{kernels}:right", "--draft", "1,0,0", *WHOLE[2:])
    assert "draft has 3 tokens and target has 2" in line


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("short", "answers 1 mass, which is no distribution over the tokens: return 2 masses"),
        ("negative", "which is no distribution over the tokens: token 0 has -1/2, and a mass is"),
        ("half", "its masses sum to 1/2, and must sum to 1"),
        ("number", "answers 1, one number, which is no distribution"),
        ("nothing", "got None: pass for instance [0.5, 0.3, 0.2]: return 2 masses"),
        ("text", "got 'ab'"),
        ("stranger", "token 5 is out of range: tokens are 0 to 1"),
        ("matrix", "answers an array of shape (1, 2)"),
        ("not_a_number", "token 0 has nan, and a mass is from 0 to 1"),
        ("fails", "the kernel fails with AttributeError: 'tuple' object has no attribute"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_one_line(capsys, kernels, name, says):
    if name in ("negative", "half", "not_a_number"):  # a mass for each token, and they are wrong
        assert main(["audit", f"{kernels}:{name}", *WHOLE]) == 1
        first, reason = capsys.readouterr().out.splitlines()
        assert first == f"{kernels}:{name} is NOT lossless for 2 iid drafts."
        assert reason.startswith("  for drafts (0, 0) the kernel ")
        assert main(["audit", f"{kernels}:{name}", *WHOLE, "--json"]) == 1
        document = json.loads(capsys.readouterr().out)
        numbers = ("output", "acceptance", "total_variation", "kullback_leibler", "gap")
        assert [document[number] for number in numbers] == [None] * 5
    else:
        reason = complaint(capsys, "audit", f"{kernels}:{name}", *WHOLE)
        where = f"{kernels}:{name} could not be audited for 2 iid drafts: "
        assert f"{where}for drafts (0, 0) the kernel" in reason
    assert says in reason
    assert main(["audit", f"{kernels}:fails", *WHOLE, "--traceback"]) == 2
    assert "return x.nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("two", (), "takes (draft, target): it must take (draft, target, k) and return a rule"),
        ("draft", WHOLE, "is not callable: it must take (draft, target, k) and return a rule"),
        ("makes", WHOLE, "--draft is for a kernel or a program"),
        ("makes", ("-k", "1"), "-k is for a kernel or a program"),
        ("makes", ("--exact",), "--exact is for a kernel or a program"),
        ("right", (*WHOLE, "--seed", "1"), "--seed is for what makes a rule"),
        ("right", (*PAIR, "-k", "20"), "draft tuples"),
    ],
)
def test_options_and_code_that_do_not_fit_are_one_line(capsys, kernels, name, options, says):
    assert says in complaint(capsys, "audit", f"{kernels}:{name}", *options)


def test_kernels_are_known_by_what_they_take():
    def makes(draft, target, k, *, loud=False):
        return None

    def kernel(x, seed=0):
        return None

    def other(*, x):
        return None

    def at_most_three(x, target=None, k=None):
        return None

    for each in (makes, otspec.rules.KSequential, at_most_three, print, dict):
        assert not is_kernel("it", each, given=False)
    for each in (kernel, functools.partial(makes, [1], [1]), len):
        assert is_kernel("it", each, given=False)
    # A kernel may have other arguments that have defaults: what is given for it tells.
    assert is_kernel("it", at_most_three, given=True)
    assert not is_kernel("it", makes, given=True)
    for each in (other, functools.partial(makes, [1], [1], 1), operator.add):
        with pytest.raises(ValueError, match=r"it takes \(.*\): it must take \(draft, target, k\)"):
            is_kernel("it", each, given=True)


NOT_JUDGED = """
from fractions import Fraction as F

rows = [[F(1, 2), F(1, 2)], [F(0), F(1)]]  # of maximal coupling, by the token that is drafted

def by_token(x):
    return rows[x]

def sampler(x, rng):
    return x[0]

def sampler_with_its_own(x, rng=None):
    return x[0]

class Sampler:
    def __init__(self, draft, target, k):
        pass

    def sample(self, x, rng):
        return x[0]

made = Sampler(None, None, 1)
"""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sampler", (*PAIR, "-k", "1")),
        ("sampler_with_its_own", (*PAIR, "-k", "1")),
        ("Sampler", ()),
        ("made", (*PAIR, "-k", "1")),
        ("made.sample", (*PAIR, "-k", "1")),
    ],
)
def test_a_sampler_is_sent_to_audit_samples(capsys, kernels, name, options):
    Path(f"{kernels}.py").write_text(NOT_JUDGED, encoding="utf-8")
    line = complaint(capsys, "audit", f"{kernels}:{name}", *options)
    assert "otspec.audit_samples" in line
    assert "NOT lossless" not in line


def test_a_kernel_of_one_draft_may_take_its_token(capsys, kernels):
    Path(f"{kernels}.py").write_text(NOT_JUDGED, encoding="utf-8")
    printed = run(capsys, "audit", f"{kernels}:by_token", *PAIR, "-k", "1")
    assert "by_token is lossless for 1 iid draft, exactly." in printed
    line = complaint(capsys, "audit", f"{kernels}:by_token", *WHOLE)
    assert "could not be audited for 2 iid drafts" in line
    assert "x is a tuple of 2 drafts, and this takes one token: write x[0] for the first" in line
