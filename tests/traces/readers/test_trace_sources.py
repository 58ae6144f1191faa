"""Sources: every format gives the same rows, and every kind of number its distribution."""

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run

from otspec.files.base import slices_of
from otspec.files.npz import PackedArray
from otspec.traces import Warping, warp
from otspec.traces.readers import find_source


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 5), (1, 1, 4), (4, 1, 2)])
def test_boxes_cover_a_range_in_order(shape):
    numbers = np.arange(np.prod(shape)).reshape(shape)
    for start in range(numbers.size):
        for stop in range(start + 1, numbers.size + 1):
            boxes = list(slices_of(shape, start, stop))
            found = np.concatenate([numbers[box].ravel() for box in boxes])
            assert (found == np.arange(start, stop)).all()
            assert len(boxes) < 2 * len(shape)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("reader", list(files.SAVERS))
def test_every_format_gives_the_rows_that_were_saved(tmp_path, reader, dtype):
    arrays = files.random_pair((2, 3, 5, 11), dtype)
    source = find_source(str(files.SAVERS[reader](tmp_path, arrays)))
    assert (source.kind, source.shape, source.positions) == ("logits", (2, 3, 5, 11), 30)
    assert isinstance(source.draft, PackedArray) == (reader == "packed npz")
    source = source.unpacked(tmp_path, "unpacked")
    for start, stop in ((0, 30), (0, 1), (29, 30), (4, 17)):
        for stored, saved in zip((source.draft, source.target), arrays.values(), strict=True):
            rows = stored.rows(start, stop)
            assert rows.dtype == dtype
            assert (rows == saved.reshape(30, 11)[start:stop]).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_any_order_of_axes_and_bytes_is_read(tmp_path, order, dtype):
    arrays = {
        name: np.asarray(array.astype(dtype), order=order)
        for name, array in files.random_pair().items()
    }
    source = find_source(files.save_npy(tmp_path, arrays))
    assert (source.draft.rows(1, 5) == arrays["draft_logits"].reshape(6, 20)[1:5]).all()


def test_other_arrays_and_other_compressions_do_not_matter(tmp_path):
    arrays = files.random_pair() | {"draft_tokens": np.zeros((2, 2), int), "prompts": np.array("a")}
    members = {f"{name}.npy": files.npy_bytes(array) for name, array in arrays.items()}
    for compression in (0, 8, 12, 14):
        path = tmp_path / f"{compression}.npz"
        path.write_bytes(files.zip_bytes(members, compression=compression))
        source = find_source(str(path)).unpacked(tmp_path, str(compression))
        assert (source.draft.rows(0, 6) == arrays["draft_logits"].reshape(6, 20)).all()


def test_a_password_is_asked_for_in_one_line(tmp_path, capsys):
    path = files.save_packed_npz(tmp_path, files.random_pair())
    content = bytearray(path.read_bytes())
    for start in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
        content[start] |= 1  # says that the member is encrypted
    path.write_bytes(content)
    assert "encrypted" in complaint(capsys, "trace", path)


def test_pairs_are_those_of_single_positions(tmp_path):
    arrays = files.random_pair()
    source = find_source(str(files.save_npz(tmp_path, arrays)))
    warpings = (Warping(), Warping(0.5, top_k=5))
    found = list(source.pairs(2, 5, warpings))
    assert [(position, warping) for position, warping, _, _ in found] == [
        (position, warping) for position in (2, 3, 4) for warping in warpings
    ]
    draft, target = (array.reshape(6, 20) for array in arrays.values())
    for position, warping, *pair in found:
        options = {"temperature": warping.temperature, "top_k": warping.top_k}
        assert (pair[0] == warp(draft[position], **options)).all()
        assert (pair[1] == warp(target[position], **options)).all()


def as_kind(kind, dtype=np.float64):
    """The softmax of the random logits as another kind of numbers."""
    probabilities = {
        name.replace("logits", kind): np.array([[warp(row) for row in text] for text in array])
        for name, array in files.random_pair().items()
    }
    with_logarithm = np.log if kind == "log_probabilities" else np.asarray
    return {name: with_logarithm(array).astype(dtype) for name, array in probabilities.items()}


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["log_probabilities", "probabilities"])
def test_all_kinds_of_numbers_give_the_same_distributions(tmp_path, kind, temperature):
    pairs = {}
    for name, arrays in (("logits", files.random_pair()), (kind, as_kind(kind))):
        source = find_source(str(files.save_npz(tmp_path, arrays)))
        assert source.kind == name
        pairs[name] = list(source.pairs(0, 6, (Warping(temperature),)))
    for first, second in zip(*pairs.values(), strict=True):
        for one, other in zip(first[2:], second[2:], strict=True):
            # Logarithms below 20, rounded once and multiplied by 2, and sums of 20 terms.
            np.testing.assert_allclose(one, other, rtol=100 * np.finfo(float).eps)


def test_npy_files_need_their_kind(tmp_path, capsys):
    source = files.save_npy(tmp_path, as_kind("probabilities"))
    optima = [
        json.loads(run(capsys, "trace", path, *kind, "-k1", "--json"))["means"][0]["acceptance"]
        for path, kind in (
            (source, ["--kind", "probabilities"]),
            (files.save_npz(tmp_path, as_kind("probabilities")), []),
            (source, []),
        )
    ]
    assert optima[0] == optima[1] != optima[2]


def test_probabilities_of_low_precision_are_scaled_only_on_request(tmp_path, capsys):
    path = files.save_npz(tmp_path, as_kind("probabilities", np.float32))
    assert "draft_probabilities[0, 0] sums to " in complaint(capsys, "trace", path, "-k1")
    assert "add --normalize" in complaint(capsys, "trace", path, "-k1")
    assert "Mean acceptance" in run(capsys, "trace", path, "-k1", "--normalize")
    negative = as_kind("probabilities")
    negative["target_probabilities"][1, 0, 3] = -0.1
    path = files.save_npz(tmp_path, negative)
    assert "target_probabilities[1, 0][3] is -0.1" in complaint(capsys, "trace", path, "-k1")


def test_zeros_among_probabilities_stay_zeros():
    row = np.array([0.5, 0.0, 0.5])
    for warping in (Warping(), Warping(0.7), Warping(top_p=0.9), Warping(top_k=2)):
        assert warping.distribution(row, "probabilities", "row").tolist() == [0.5, 0.0, 0.5]


def test_an_identity_changes_with_the_file(tmp_path):
    for reader, save in files.SAVERS.items():
        folder = tmp_path / reader
        folder.mkdir()
        name = str(save(folder, files.random_pair()))
        before = find_source(name).identity()
        assert before == find_source(name).identity()
        assert json.loads(json.dumps(before)) == before
        for path in folder.rglob("*"):
            os.utime(path, (time.time() + 5, time.time() + 5))
        assert before != find_source(name).identity()


def test_missing_zarr_chunks_are_not_made_up(tmp_path, capsys):
    for options in ({}, {"zarr_format": 2}):
        path = files.save_zarr(tmp_path, files.random_pair(), **options)
        chunk = max(p for p in (path / "target_logits").rglob("*1") if p.is_file())
        chunk.unlink()
        assert "is not stored" in complaint(capsys, "trace", path)


def test_packed_arrays_need_room(tmp_path, monkeypatch, capsys):
    path = files.save_packed_npz(tmp_path, files.random_pair())
    usage = type("Usage", (), {"free": 300})
    monkeypatch.setattr("otspec.files.npz.shutil.disk_usage", lambda _: usage)
    assert "draft_logits unpacks to 368 bytes" in complaint(capsys, "trace", path)


def test_sources_must_fit_together(tmp_path, capsys):
    first = files.save_npz(tmp_path, files.random_pair())
    second = files.save_safetensors(tmp_path, files.random_pair((2, 3, 21)))
    assert "one vocabulary" in complaint(capsys, "trace", first, second)
    assert "named twice" in complaint(capsys, "trace", first, first)
    assert "DRAFT.npy+TARGET.npy" in complaint(capsys, "trace", Path("a.npy+b.npy+c.npy"))


# Names


def said_to_write(text):
    """Return the source that a message says to write, or the text itself, and each --kind."""
    source = re.search(r" or write (\S+) ", text)
    return source and source.group(1), re.findall(r"--kind (\w+)", text)


NAMED = [name for name in files.SAVERS if name != "npy"]


@pytest.mark.parametrize("reader", NAMED)
@pytest.mark.parametrize(
    "names", [("draft", "target"), ("small", "large"), ("draft_x", "target_x"), ("q.a", "q.b")]
)
def test_what_the_message_says_to_type_reads_arrays_of_any_names(tmp_path, capsys, reader, names):
    usual, other = tmp_path / "usual", tmp_path / "other"
    usual.mkdir()
    other.mkdir()
    named = dict(zip(names, files.random_pair().values(), strict=True))
    path = files.SAVERS[reader](other, named | {"ids": np.zeros((2, 3), int)})
    line = complaint(capsys, "trace", path)
    for name in names:
        assert name in line
    text, kinds = said_to_write(line)
    assert kinds == ["logits", "log_probabilities", "probabilities"]
    draft = named[names[0]]
    if text:
        first = re.search(r" if (\S+) is of the draft", line).group(1)
        draft = named[first]
        assert text == f"{path}:{first}+{next(name for name in names if name != first)}"
    [target] = (array for array in named.values() if array is not draft)
    pair = {"draft_logits": draft, "target_logits": target}
    options = ("-k", "1", "--drafts", "iid", "--json")
    found, expected = (
        json.loads(run(capsys, "trace", *files_, *options))["means"]
        for files_ in ((text or path, "--kind", kinds[0]), (files.SAVERS[reader](usual, pair),))
    )
    assert found == expected
    source = find_source(text or str(path), kinds[0])
    for side, array in zip((source.draft, source.target), pair.values(), strict=True):
        rows = side.unpacked(tmp_path / f"{side.key}.npy").rows(0, 6)
        assert (rows == array.reshape(6, 20)).all()


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("draft_probs", "target_probs"), "probabilities"),
        (("draft_logprobs", "target_logprobs"), "log_probabilities"),
        (("log_probs_target", "log_probs_draft"), "log_probabilities"),
        (("logits/draft", "logits/target"), "logits"),
    ],
)
def test_names_that_leave_no_choice_are_understood(tmp_path, names, kind):
    arrays = dict(zip(names, files.random_pair().values(), strict=True))
    path = files.save_npz(tmp_path, arrays | {"hidden": np.zeros((2, 3, 20), np.float16)})
    source = find_source(str(path))
    assert source.kind == kind
    assert ("draft" in source.draft.key, "target" in source.target.key) == (True, True)
    for one in ("logits", "probabilities"):  # what is said beside it counts
        assert find_source(f"{path}:{names[0]}+{names[1]}", one).kind == one


def test_arrays_are_called_by_their_names_in_any_order_and_with_tokens(tmp_path):
    arrays = files.random_texts()
    named = dict(zip(("a", "b", "ids"), arrays.values(), strict=True))
    path = files.save_npz(tmp_path, named)
    source = find_source(f"{path}:b+a+ids", "logits", tokens=True)
    assert [source.draft.key, source.target.key, source.tokens.key] == ["b", "a", "ids"]
    assert source.sampled == "draft"
    other = files.save_npz(tmp_path, named | {"target_tokens": named["ids"]})
    assert find_source(f"{other}:a+b", "logits", tokens=True).sampled == "target"


@pytest.mark.parametrize(
    ("text", "kind", "tokens", "says"),
    [
        ("{}:a", None, False, "{}:a names a: write {}:DRAFT+TARGET"),
        ("{}:a+b+ids", None, False, "{}:a+b+ids names a, b, ids: write {}:DRAFT+TARGET"),
        ("{}:a", "logits", True, "{}:a names a: write {}:DRAFT+TARGET+TOKENS"),
        ("{}:a+c", "logits", False, "{} has no array 'c': it holds a (2, 3, 20) float16, b (2, 3"),
        ("{}:a+b", "logits", True, "{}:a+b names no tokens that were drawn: write {}:a+b+TOKENS"),
        (
            "{}:a+ids",
            "logits",
            False,
            "{}:a+ids: ids has type int32: it must be an array of floats",
        ),
    ],
)
def test_names_that_are_no_pair_say_what_to_write(tmp_path, text, kind, tokens, says):
    named = dict(zip(("a", "b", "ids"), files.random_texts().values(), strict=True))
    path = files.save_npz(tmp_path, named)
    with pytest.raises(ValueError, match=re.escape(says.replace("{}", str(path)))):
        find_source(text.replace("{}", str(path)), kind, tokens=tokens)


def test_a_kind_that_the_names_contradict_is_said(tmp_path):
    path = files.save_npz(tmp_path, files.random_pair())
    with pytest.raises(
        ValueError, match="no --kind probabilities here, where the names say logits"
    ):
        find_source(str(path), "probabilities")


def test_what_is_no_array_is_named_by_nobody(tmp_path):
    """Other members of a file are neither read nor in the way."""
    arrays = {"x": np.zeros((2, 3)), "objects": np.array([{}], dtype=object)}
    np.savez(tmp_path / "trace.npz", **arrays)
    with pytest.raises(ValueError, match=re.escape("(it holds x (2, 3) float64)")):
        find_source(str(tmp_path / "trace.npz"))
    np.savez(tmp_path / "trace.npz", draft=arrays["objects"], target=arrays["x"])
    with pytest.raises(ValueError, match="objects"):  # one of the trace's own is refused by name
        find_source(str(tmp_path / "trace.npz"))
