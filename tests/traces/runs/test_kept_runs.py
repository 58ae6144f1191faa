"""Every command that does a run keeps it in a folder, finishes it later, and replaces it."""

import json

import pytest
import trace_files as files
from command_line import complaint, run
from searching import NIGHTLY, by_day

from otspec.cli.main import main
from otspec.traces import read_run

COSTS = ("--draft-cost", "0.05", "--target-cost", "1", "--nodes", "2", "--depth", "2")
COMMANDS = {
    "trace": (("-k1,2", "--drafts", "iid"), "-k1", "summary.json"),
    "laws": (("-k1,2", "--drafts", "hub"), "-k1", "laws.json"),
    "simulate": (("--tree", "2x1"), "--tree=1x1", "accept_lengths.json"),
    "advise": ((*COSTS, "--rule", "recursive-rejection"), "--widest=1", "advice.json"),
}


@pytest.fixture(params=by_day(COMMANDS, ["trace", "advise"]))
def command(request, tmp_path):
    """A command on a source of six chunks, an option of another run, and the file it writes."""
    source = files.save_npz(tmp_path, files.random_texts((6, 3, 8), side="target"))
    options, other, name = COMMANDS[request.param]
    return [request.param, source, *options, "--chunk", 3, "--workers", 1], other, name


def parts(folder):
    return {path.name: path.read_bytes() for path in (folder / "positions").iterdir()}


@pytest.fixture(autouse=True)
def _undrawn_fronts(monkeypatch):
    """No picture of advice: it takes longer to draw than all else."""
    monkeypatch.setattr("otspec.plots.save", lambda _, path, **__: path.touch())


def test_a_finished_run_is_the_same_as_one_that_is_not_kept(command, tmp_path, capsys):
    arguments, other, name = command
    alone = run(capsys, *arguments, "--json")
    out = tmp_path / "out"
    assert run(capsys, *arguments, "--json", "--out", out) == alone
    assert json.loads((out / name).read_text(encoding="utf-8")) == json.loads(alone)
    assert len(parts(out)) == 6
    assert len(read_run(out).parts) == 6
    said = complaint(capsys, *arguments, "--out", out)
    assert f"{out} holds a run: add --resume to finish it, --overwrite to replace it" in said
    assert f"{out} holds another run: " in complaint(
        capsys, *arguments, other, "--out", out, "--resume"
    )
    printed = run(capsys, *arguments, "--out", out, "--resume").splitlines()
    assert f"numbers: {out / 'positions'}, {out / name}" in printed


def test_an_interrupted_run_goes_on_and_gives_the_same_bytes(
    command, tmp_path, capsys, monkeypatch
):
    arguments, _, name = command
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    run(capsys, *arguments, "--out", whole)
    computed = []

    def interrupt(tasks, **_):
        for function, *task in tasks[:4]:
            computed.append(task[0].index)
            function(*task)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("otspec.traces.runs.run.run_all", interrupt)
        assert main([str(each) for each in [*arguments, "--out", torn]]) == 130
    said = capsys.readouterr().err
    assert f"4 of 6 chunks are finished in {torn}: the same command with --resume goes on" in said
    left = parts(torn)
    assert len(left) == 4
    assert not (torn / name).exists()
    (torn / "positions" / min(left)).write_bytes(b"damaged")
    if NIGHTLY or arguments[0] != "trace":  # whose workers test_trace_runs.py starts
        arguments[arguments.index("--workers") + 1] = 2
    run(capsys, *arguments, "--out", torn, "--resume")
    assert parts(torn) == parts(whole)
    assert (torn / name).read_bytes() == (whole / name).read_bytes()


def test_a_run_that_replaces_another_leaves_nothing_of_it(command, tmp_path, capsys, monkeypatch):
    arguments, _, name = command
    out = tmp_path / "out"
    run(capsys, *arguments, "--out", out)
    found = {path.name for path in out.iterdir()}
    assert name in found
    monkeypatch.setattr("otspec.traces.runs.run.run_all", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(capsys, *arguments, "--out", out, "--overwrite")
    left = {path.name for path in out.iterdir()}
    assert left == {"failed", "positions", "run.json", "run.lock"}
    assert not parts(out)


@pytest.mark.parametrize("option", ["--resume", "--overwrite", "--scheduler=tcp://x:1"])
def test_options_of_a_folder_need_one(command, capsys, option):
    arguments, _, _ = command
    flag = option.partition("=")[0]
    said = complaint(capsys, *arguments, option)
    assert said == f"otspec: {flag} needs --out: name the folder of the run\n"
