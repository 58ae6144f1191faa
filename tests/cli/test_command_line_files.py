"""Commands on files: what is read, and one line for what is not."""

import numpy as np
from command_line import complaint, run, write_trace


def test_files_are_refused_in_one_line(capsys, tmp_path):
    flat = tmp_path / "draft.npy"
    np.save(flat, [0.5, 0.5])
    square = tmp_path / "square.npy"
    np.save(square, np.eye(2))
    empty = tmp_path / "empty.npz"
    empty.touch()
    folder = tmp_path / "folder.npy"
    folder.mkdir()
    logits = tmp_path / "logits.npz"
    np.savez(logits, draft=[-1.5, 3.0], target=[0.5, 0.5])
    torn = tmp_path / "torn.npy"
    torn.write_bytes(flat.read_bytes()[:-5])
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}, {}], dtype=object))
    for location, says in (
        (square, "has shape (2, 2): name one row"),
        (f"{square}:5", "no row 5"),
        (empty, "is empty"),
        (folder, "is a directory"),
        (f"{logits}:draft", "add --logits"),
        (f"{logits}:drafts", "it holds draft, target"),
        (logits, "say which one"),
        (f"{flat}:key", "without :key"),
        (torn, "cannot read"),
        (pickled, "allow_pickle"),
        (tmp_path / "none.csv", "no such file"),
    ):
        assert says in complaint(capsys, "accept", location, "1,0")


def test_a_trace_that_is_none_is_refused_in_one_line(capsys, tmp_path):
    def saved(name, **changes):
        return write_trace(tmp_path / f"{name}.npz", **changes)

    missing = tmp_path / "missing.npz"
    np.savez(missing, draft_logits=np.zeros((2, 3)))
    not_numbers = np.zeros((2, 3, 20), np.float16)
    not_numbers[1, 2, 7] = np.nan
    for path, says in (
        (missing, "has no array 'target_logits' (it holds draft_logits (2, 3) float64)"),
        (saved("shapes", draft_logits=np.zeros((2, 3, 4))), "the same positions"),
        (saved("ints", draft_logits=np.zeros((2, 3, 20), int)), "array of floats"),
        (saved("nan", draft_logits=not_numbers), "draft_logits[1, 2][7] is nan"),
        (tmp_path, "a trace is .npy, .npz, .safetensors, .zarr"),
    ):
        assert says in complaint(capsys, "trace", path)


def test_files_and_inline_numbers_give_the_same(capsys, tmp_path):
    import safetensors.numpy

    values = np.array([0.5, 0.3, 0.2])
    np.save(tmp_path / "d.npy", values)
    np.savez(tmp_path / "d.npz", draft=np.stack([values, values[::-1]]), other=values)
    (tmp_path / "row.csv").write_text("0.5, 0.3, 0.2\n", encoding="utf-8")
    (tmp_path / "column.csv").write_text("0.5\n0.3\n0.2\n", encoding="utf-8")
    (tmp_path / "table.csv").write_text("token,draft\na,0.5\nb,0.3\nc,0.2\n", encoding="utf-8")
    (tmp_path / "list.json").write_text("[0.5, 0.3, 0.2]", encoding="utf-8")
    (tmp_path / "object.json").write_text(
        '{"draft": [0.5, 0.3, 0.2], "more": {}}', encoding="utf-8"
    )
    safetensors.numpy.save_file({"draft": values, "x": values}, tmp_path / "d.safetensors")
    target = "0.1,0.6,0.3"
    expected = run(capsys, "accept", "0.5,0.3,0.2", target)
    for location in ("d.npy", "d.npz:draft:0", "d.npz:other", "row.csv", "column.csv",
                     "table.csv:draft", "list.json", "object.json:draft",
                     "d.safetensors:draft"):  # fmt: skip
        assert run(capsys, "accept", tmp_path / location, target) == expected
    exact = run(capsys, "accept", "0.5,0.3,0.2", target, "--exact")
    for location in ("row.csv", "column.csv", "table.csv:draft", "list.json", "object.json:draft"):
        assert run(capsys, "accept", tmp_path / location, target, "--exact") == exact
