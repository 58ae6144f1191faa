"""The draft laws that are compared on a trace, and which is best."""

import json

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run, write_trace

from otspec.drafts import LAWS
from otspec.traces import compare, load_trace
from otspec.traces.statistics import clustered_mean


def test_trace_says_which_drafts_are_best(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    printed = run(capsys, "trace", path, "-k", "1,3").splitlines()
    groups = [line.split()[0] for line in printed[2:] if line[:1] not in ("", " ", "W")][:2]
    assert groups == ["iid", "without-replacement"]  # a hub has two drafts
    assert printed[-6].startswith(
        "With 3 distinct drafts, a draft is accepted with mean probability "
    )
    assert printed[-5] == "Pooled selection (distinct) attains it."
    assert printed[-4].startswith("The best of the other rules, shared noise, reaches ")
    assert printed[-3].startswith("The best of the other draft laws, iid, has the optimum ")


def test_trace_compares_the_drafts_that_are_named(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    options = ("-k", "2", "--drafts", "hub", "--drafts", "top", "--drafts", "hub")
    document = json.loads(run(capsys, "trace", path, *options, "--json"))
    assert list(dict.fromkeys(mean["drafts"] for mean in document["means"])) == ["hub", "top"]
    said = complaint(capsys, "trace", path, "-k", "3", "--drafts", "hub")
    assert said == "otspec: there are no hub drafts with k = 3\n"


def test_blocks_of_one_text_are_one_unit(capsys, tmp_path):
    rng = np.random.default_rng(6)
    logits = {f"{side}_logits": rng.normal(size=(2, 3, 2, 20)) for side in ("draft", "target")}
    grouped, apart = tmp_path / "grouped.npz", tmp_path / "apart.npz"
    np.savez(grouped, **logits)
    np.savez(apart, **{name: each.reshape(6, 2, 20) for name, each in logits.items()})
    for path, texts in ((grouped, 2), (apart, 6)):
        printed = run(capsys, "trace", path, "-k", "2", "--drafts", "iid")
        assert (
            f"If the {texts} texts are a random sample, the mean optimum with 2 i.i.d. drafts"
            in printed
        )


# otspec laws
RACE, LISTS = "shared noise", "shared noise (lists)"


@pytest.fixture(scope="module")
def two_sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laws")
    paths = [folder / f"{name}.npz" for name in ("one", "two")]
    for seed, path in enumerate(paths):
        np.savez(path, **files.random_pair((2, 3, 40), seed=seed))
    return paths


def test_laws_are_those_of_single_positions(two_sources, capsys):
    options = ("-k2,3", "--temperature", "0.7,1.3", "--draft-temperature", "0.5,1", "--workers", 1)
    rows = json.loads(run(capsys, "laws", *two_sources, *options, "--json"))
    found = {
        (row["draft_temperature"], row["temperature"], row["drafts"], row["k"]): row for row in rows
    }
    for of_draft in (0.5, 1.0):
        for of_target in (0.7, 1.3):
            compared = [
                compare(draft, target, [2, 3])
                for path in two_sources
                for _, draft, target in load_trace(path).pairs(
                    temperature=of_target, draft_temperature=of_draft
                )
            ]
            check_laws(found, (of_draft, of_target), compared)
    assert found == {}


def check_laws(found, place, compared):
    values = {}
    for rows in compared:
        for row in rows:
            values.setdefault((row.drafts, row.k), {}).setdefault(row.rule, []).append(row)
    for (law, k), rules in values.items():
        row = found.pop((*place, law, k))
        optima = np.array([each.optimum for each in rules.pop("optimum")])
        iid = np.array([each.optimum for each in values["iid", k]["naive sampling"]])
        texts = np.repeat(np.arange(4), 3)
        for name, known, low in (("optimum", optima, 0.0), ("above_iid", optima - iid, -1.0)):
            mean, interval = clustered_mean(known, texts, low, 1.0)
            assert row[name] == pytest.approx(mean, abs=1e-12)
            assert row[f"{name}_interval"] == pytest.approx(interval, abs=1e-12)
        accepted = {rule: np.mean([float(each.acceptance) for each in rows])
                    for rule, rows in rules.items()}  # fmt: skip
        assert row["acceptance"] == pytest.approx(max(accepted.values()), abs=1e-12)
        assert accepted[row["rule"]] == pytest.approx(row["acceptance"], abs=1e-12)
        shared = accepted.get({"iid": LISTS, "without-replacement": RACE}.get(law))
        if shared is None:
            assert row["independence_price"] is None
        else:  # more than by comparing with an independent sample
            least = optima.mean() - max(shared, accepted.get("naive sampling", 0))
            assert row["independence_price"] == pytest.approx(least, abs=1e-12)
        assert row["positions"] == 12


def test_laws_prints_a_row_for_each_and_which_is_best(two_sources, capsys):
    printed = run(capsys, "laws", *two_sources, "-k", "2,3", "--temperature", "1").splitlines()
    assert printed[0] == "Optimum and best rule of each draft law, means over 12 positions"
    assert [line.split()[3] for line in printed[2:] if line[:1] == "1"] == [
        *LAWS, *(law for law in LAWS if law != "hub")
    ]  # fmt: skip
    assert printed[-2].startswith("Draft T = 1, target T = 1: of 3 the best are distinct drafts, ")
    assert printed[-1] == (
        "Intervals are of means over more such text, if these 4 texts are a random sample of it."
    )


def test_laws_has_the_price_of_independence_where_shared_noise_is_compared(two_sources, capsys):
    options = ("-k2", "--drafts", "iid", "--drafts", "without-replacement", "--drafts", "hub")
    lines = run(capsys, "laws", *two_sources, *options).splitlines()
    assert lines[1].endswith("price of independence")
    iid, distinct, hub = (line.split() for line in lines[2:5])
    rows = json.loads(run(capsys, "laws", *two_sources, *options, "--json"))
    assert [iid[-1], distinct[-1]] == [f"{row['independence_price']:.4f}" for row in rows[:2]]
    assert hub[-2] == "to"  # the end of an interval, and no price
    assert lines[5].startswith("Price of independence: the optimum less ")
    printed = run(capsys, "laws", *two_sources, *options, "--rule", "naive-sampling")
    assert "independence" not in printed


def test_one_position_has_no_interval(tmp_path, capsys):
    np.savez(tmp_path / "one.npz", **files.random_pair((1, 1, 9)))
    (row,) = json.loads(
        run(capsys, "laws", tmp_path / "one.npz", "-k1", "--drafts", "top", "--json")
    )
    assert row["optimum_interval"] is None
    assert row["rule"] == "target-only verification"
    printed = run(capsys, "laws", tmp_path / "one.npz", "-k1", "--drafts", "top")
    assert printed.endswith("One position gives no interval.\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--draft-temperature", "0"],
            "--draft-temperature is 0.0: it must be positive and finite",
        ),
        (["--temperature", "-1"], "temperature is -1.0"),
        (["-k", "3", "--drafts", "hub"], "there are no hub drafts with k = 3"),
        (["no.npz"], "no.npz"),
    ],
)
def test_laws_refuses_what_it_cannot_compare(arguments, says, two_sources, capsys):
    given = arguments if arguments == ["no.npz"] else [*two_sources, *arguments]
    assert says in complaint(capsys, "laws", *given)
