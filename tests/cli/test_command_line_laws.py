"""The draft laws that are compared on a trace, and which is best."""

import json

from command_line import complaint, run, write_trace


def test_trace_says_which_drafts_are_best(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    printed = run(capsys, "trace", path, "-k", "1,3").splitlines()
    groups = [line.split()[0] for line in printed[2:] if line[:1] not in ("", " ", "W")][:2]
    assert groups == ["iid", "without-replacement"]  # a hub has two drafts
    assert printed[-5].startswith("With 3 distinct drafts one is accepted with mean probability ")
    assert printed[-4] == "pooled selection (distinct) attains it;"
    assert printed[-3].startswith(
        "the best of the other rules, recursive rejection (distinct), reaches "
    )
    assert printed[-2].startswith("The best of the other draft laws, iid, has the optimum ")


def test_trace_compares_the_drafts_that_are_named(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    options = ("-k", "2", "--drafts", "hub", "--drafts", "top", "--drafts", "hub")
    document = json.loads(run(capsys, "trace", path, *options, "--json"))
    assert list(dict.fromkeys(mean["drafts"] for mean in document["means"])) == ["hub", "top"]
    said = complaint(capsys, "trace", path, "-k", "3", "--drafts", "hub")
    assert said == "otspec: there are no hub drafts with k = 3\n"
