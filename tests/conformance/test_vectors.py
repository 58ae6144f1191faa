"""Reference vectors: laws, answers and evidence are computed again by a plain reader."""

import json
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import vector_reader
from vector_reader import Given, law_of_call, log_evidence, rule_of

from otspec.chance import law_of
from otspec.conformance.vectors.answers import SHAPES, groups
from otspec.conformance.vectors.vectors import reference_vectors, write_vectors


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """The vectors as an engine reads them."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.json"
    write_vectors(path, reference_vectors())
    return json.loads(path.read_text("ascii"))


def completed(group, call, mark, token):
    """The law of the texts that an answer leads to: what follows it is the target's."""
    length = len(group["texts"]["law"][0]["tokens"])
    texts = {tuple(emitted(group, call["drafts"], mark, token)): Fraction(1)}
    for _ in range(length):
        texts = {
            longer: mass * chance
            for text, mass in texts.items()
            for longer, chance in (
                [(text, Fraction(1))] if len(text) == length else
                [((*text, y), Fraction(p)) for y, p in enumerate(group["target"][text[-1] + 1])]
            )
        }  # fmt: skip
    return texts


def emitted(group, drafts, mark, token):
    if group["kind"] == "tokens":
        return [token]
    path, node = [token], mark if group["kind"] == "tree" else mark - 1
    while node >= 0:
        path, node = [drafts[node], *path], group["parents"][node]
    return path


def test_the_format_is_named_and_has_a_version(document):
    assert (document["format"], document["version"]) == ("otspec-conformance-vectors", 1)
    assert {group["kind"] for group in document["groups"]} == {"tokens", "block", "tree"}
    names = [group["name"] for group in document["groups"]]
    assert len(set(names)) == len(names)


def test_a_draft_that_is_certain_is_left_out_for_distinct_siblings_alone():
    certain = {
        (kind, group.rule)
        for kind in SHAPES
        for group in groups(kind)
        if group.pair.name == "one certain draft"
    }
    distinct = "recursive-rejection-without-replacement"
    rules = {(kind, rule) for kind, shapes in SHAPES.items() for rule, *_ in shapes}
    assert rules - certain == {("tokens", distinct), ("tree", distinct)}


def test_every_law_is_that_of_a_plain_reader(document):
    for group in document["groups"]:
        rule = rule_of(group)
        for call in group["calls"]:
            assert law_of(partial(rule, call)) == law_of_call(call), group["name"]


FAULTS = {
    "residual not renormalized": (
        "recursive-rejection", partial(vector_reader.recursive_rejection, renormalize=False),
    ),
    "distinct drafts taken for independent ones": (
        "recursive-rejection-without-replacement", vector_reader.recursive_rejection,
    ),
    "residual left out": ("token", partial(vector_reader.token_verification, corrected=False)),
    "no running cap": ("block-published", partial(vector_reader.block_verification, capped=False)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rule_disagrees_where_it_is_wrong(document, fault):
    name, rule = FAULTS[fault]
    calls = [
        call for group in document["groups"] if group["rule"] == name and group["kind"] != "tree"
        for call in group["calls"]
    ]  # fmt: skip
    wrong = [call for call in calls if law_of(partial(rule, call)) != law_of_call(call)]
    assert 0 < len(wrong) < len(calls)


def test_laws_of_calls_mix_to_those_of_answers_and_of_texts(document):
    for group in document["groups"]:
        answers, texts, total = Counter(), Counter(), 0
        for call in group["calls"]:
            mass = Fraction(call["exact"])
            total += mass
            for (mark, token), chance in law_of_call(call).items():
                answers[mark, token] += mass * chance
                for text, rest in completed(group, call, mark, token).items():
                    texts[text] += mass * chance * rest
        assert total == 1
        assert dict(answers) == law_of_call(group["answers"])
        wanted = {tuple(each["tokens"]): Fraction(each["exact"]) for each in group["texts"]["law"]}
        assert {text: mass for text, mass in texts.items() if mass} == wanted


def test_rows_of_calls_are_those_of_the_tables(document):
    for group in document["groups"]:
        for call in group["calls"]:
            places = [0, *(token + 1 for token in call["drafts"])]
            for model in ("draft", "target"):
                rows = [group[model][place] for place in places]
                whole = len(call[model])
                assert call[model] == rows[:whole]
            nodes = len(group["parents"])
            shape = {"tokens": (1, 1), "block": (nodes, nodes + 1), "tree": (nodes + 1, nodes + 1)}
            assert (len(call["draft"]), len(call["target"])) == shape[group["kind"]]


def test_inputs_are_exact_in_float16(document):
    for group in document["groups"]:
        for model in ("draft", "target"):
            floats = np.array(group[model])
            assert (16 * floats == np.round(16 * floats)).all()
            assert vector_reader.exact(group[model]) == [
                [Fraction(mass) for mass in row] for row in group[f"{model}_exact"]
            ]
        for entry in [*group["answers"]["law"], *group["texts"]["law"]]:
            assert entry["probability"] == float(Fraction(entry["exact"]))
    for vector in document["uniforms"]:
        uniforms = np.array(vector["uniforms"])
        assert (128 * uniforms == np.round(128 * uniforms)).all()


def test_answers_to_uniform_numbers_are_those_of_a_plain_reader(document):
    calls = {
        (group["name"], tuple(call["drafts"])): (rule_of(group), call)
        for group in document["groups"] for call in group["calls"]
    }  # fmt: skip
    assert len(document["uniforms"]) > 400
    for vector in document["uniforms"]:
        rule, call = calls[vector["group"], tuple(vector["drafts"])]
        assert rule(call, Given(vector["uniforms"])) == (vector["mark"], vector["token"])


def test_evidence_is_that_of_the_formula(document):
    seen = set()
    for example in document["evidence"]:
        found = log_evidence(example["law"], example["counts"], example["test"])
        assert sum(example["law"]) == 1
        seen.add(example["wrong"])
        assert example["wrong"] == (found >= example["test"]["log_threshold"])
        if example["log_evidence"] is None:
            assert found == float("inf")
        else:
            # Logarithms of Γ near 10⁶ are near 10⁷, and differ in the last bits.
            assert found == pytest.approx(example["log_evidence"], rel=1e-6, abs=1e-6)
    assert seen == {True, False}


def test_tests_have_a_cell_for_anything_else(document):
    options = {"detect": 0.05, "false_alarm": 1e-3, "rounding": 0.0}
    for group in reference_vectors(["block"], **options)["groups"]:
        for name in ("answers", "texts"):
            test = group[name]["test"]
            assert {key: test[key] for key in options} == options
            assert test["size"] > 1000
    assert {group["texts"]["test"]["detect"] for group in document["groups"]} == {0.005}


@pytest.mark.parametrize(
    ("kinds", "options", "says"),
    [
        (["text"], {}, "kinds is 'text'"),
        ("block", {}, "kinds is 'block': it must be a list of some of tokens, block, tree"),
        (["block"], {"detect": 1e-9}, "takes more than 1,000,000,000 samples"),
        (["block"], {"detect": 2}, "detect is 2"),
        (["block"], {"false_alarm": 0}, "false_alarm is 0"),
        (["block"], {"rounding": -1}, "rounding is -1"),
    ],
)
def test_what_cannot_be_is_refused(kinds, options, says):
    with pytest.raises(ValueError, match=says):
        reference_vectors(kinds, **options)
