"""Sources with the tokens that were drawn: found in every format, whole texts of them, refusals."""

import itertools
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import trace_files as files

from otspec.files.npy import MappedArray
from otspec.traces import Warp, Warping, warp
from otspec.traces.readers import Source, TextRows, find_source, texts

READERS = list(files.SAVERS)
SHAPES = [(3, 20), (2, 3, 20), (2, 2, 3, 20)]


def saved(folder, arrays, reader="npz"):
    return str(files.SAVERS[reader](folder, arrays))


def found(folder, arrays, reader="npz"):
    source = find_source(saved(folder, arrays, reader), tokens=True)
    return source.unpacked(folder, "unpacked")


def refusal(call, *args, **options):
    with pytest.raises(ValueError) as told:  # noqa: PT011  the caller looks at what it says
        call(*args, **options)
    assert "\n" not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint16])
@pytest.mark.parametrize("drawn", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", READERS)
def test_every_format_gives_the_texts_that_were_saved(tmp_path, reader, shape, drawn, dtype):
    arrays = files.random_texts(shape, drawn=drawn, dtype=dtype)
    source = found(tmp_path, arrays, reader)
    draft, target, tokens = (array.reshape(-1, *array.shape[-2:]) for array in arrays.values())
    seen = list(source.texts(0, source.positions, Warping()))
    assert [text.text for text in seen] == list(range(source.positions // 3))
    assert [text.tokens for text in seen] == [tuple(row) for row in tokens.reshape(-1, drawn)]
    for text, *rows in zip(seen, draft, target, strict=True):
        assert text.sampling is None
        for found_rows, saved_rows in zip((text.draft, text.target), rows, strict=True):
            assert len(found_rows) == 3
            for row, logits in zip(found_rows, saved_rows, strict=True):
                assert (row == warp(logits)).all()


def test_texts_of_a_range_are_those_of_the_whole(tmp_path):
    source = found(tmp_path, files.random_texts((4, 2, 3, 20)))
    whole = list(source.texts(0, 24, Warping(0.7)))
    for start, stop in itertools.combinations(range(0, 25, 3), 2):
        for text in source.texts(start, stop, Warping(0.7)):
            other = whole[text.text]
            assert text.tokens == other.tokens
            assert all((a == b).all() for a, b in zip(text.target, other.target, strict=True))
    for start, stop in ((0, 4), (1, 3), (2, 5), (3, 3)):
        assert "no whole texts, of 3 positions" in refusal(
            list, source.texts(start, stop, Warping())
        )


def test_rows_are_read_by_blocks_as_they_are_looked_at(tmp_path, monkeypatch):
    source = found(tmp_path, files.random_texts((2, 50, 20)))
    expected = [[row.tolist() for row in text.draft] for text in source.texts(0, 100, Warping())]
    monkeypatch.setattr(texts, "_BLOCK_BYTES", 7 * 20 * 2)
    read = []
    rows = MappedArray.rows

    def watched(stored, start, stop):
        if stored.key == "draft_logits":
            read.append(stop - start)
        return rows(stored, start, stop)

    monkeypatch.setattr(MappedArray, "rows", watched)
    first, second = source.texts(0, 100, Warping())
    assert read == []
    assert [row.tolist() for row in first.draft] == expected[0]
    assert max(read) == 7
    assert len(read) == 8
    assert [row.tolist() for row in second.draft] == expected[1]
    assert (sum(read), len(read)) == (56 + 44, 8 + 7)  # the block of both is read once
    window = first.draft[40:44]
    assert isinstance(window, TextRows)
    assert [row.tolist() for row in window[1:]] == expected[0][41:44]
    assert (window[-1] == expected[0][43]).all()
    with pytest.raises(IndexError):
        first.draft[50]


def test_a_text_of_any_length_takes_the_memory_of_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "_BLOCK_BYTES", 2**18)
    source = found(tmp_path, files.random_texts((1000, 4096)))
    assert source.row_bytes * source.positions > 16e6
    tracemalloc.start()
    try:
        (text,) = source.texts(0, source.positions, Warping(0.5))
        likelihood = [
            min(draft[x], target[x], drawn[x])
            for x, draft, target, drawn in zip(
                text.tokens, text.draft, text.target, text.sampling, strict=False
            )
        ]
        # The old block and the new one of three models, and some rows of 32 kB in float64.
        assert tracemalloc.get_traced_memory()[1] < 6 * 2**18 + 2**20
    finally:
        tracemalloc.stop()
    assert len(likelihood) == 999


@pytest.mark.parametrize("side", ["draft", "target"])
def test_tokens_stay_drawn_from_what_was_logged(tmp_path, side):
    source = found(tmp_path, files.random_texts(side=side))
    logged = getattr(source, side).rows(0, 3)
    assert source.sampled == side
    for warping in (Warping(), Warping(0.5), Warping(top_k=3), Warping(draft=Warp(0.5))):
        (text,) = source.texts(0, 3, warping)
        if side == "draft" and warping == Warping():
            assert text.sampling is None
        else:
            assert all((a == warp(b)).all() for a, b in zip(text.sampling, logged, strict=True))
        (_, _, draft, target) = next(source.pairs(0, 1, (warping,)))
        assert (text.draft[0] == draft).all()
        assert (text.target[0] == target).all()


def test_a_draft_that_is_warped_as_it_was_is_what_tokens_were_drawn_from(tmp_path):
    source = found(tmp_path, files.random_texts())
    cold = Warp(0.5, top_k=4)
    (text,) = source.texts(0, 3, Warping(0.5, draft=Warp()))
    assert text.sampling is None
    (text,) = source.texts(0, 3, Warping(draft=cold), cold)
    assert text.sampling is None
    (text,) = source.texts(0, 3, Warping(), cold)
    for row, logits in zip(text.sampling, source.draft.rows(0, 3), strict=True):
        assert (row == warp(logits, temperature=0.5, top_k=4)).all()


def test_which_arrays_are_found(tmp_path):
    plain = files.random_texts()
    beside = files.random_texts((1, 5, 20), group="block_")
    of_target = {"target_tokens": plain["draft_tokens"]}
    for arrays, keys, sampled in (
        (plain | of_target, ("draft_logits", "target_logits", "draft_tokens"), "draft"),
        (files.random_pair() | of_target | beside,
         ("draft_logits", "target_logits", "target_tokens"), "target"),
        (files.random_pair((4, 1, 20)) | beside,
         ("block_draft_logits", "block_target_logits", "block_draft_tokens"), "draft"),
        (beside, ("block_draft_logits", "block_target_logits", "block_draft_tokens"), "draft"),
    ):  # fmt: skip
        source = found(tmp_path, arrays)
        stored = (source.draft, source.target, source.tokens)
        assert (tuple(array.key for array in stored), source.sampled) == (keys, sampled)
    bare = find_source(saved(tmp_path, plain))
    assert bare.tokens is None
    assert "found without tokens: use find_source" in refusal(list, bare.texts(0, 3, Warping()))


def test_a_cluster_is_a_text_or_all_blocks_of_one(tmp_path):
    for shape, length, clusters in (
        ((3, 20), 3, 1), ((2, 3, 20), 3, 2), ((2, 4, 3, 20), 12, 2), ((5, 2, 4, 3, 20), 12, 10),
    ):  # fmt: skip
        source = found(tmp_path, files.random_texts(shape))
        assert (source.cluster_length, source.clusters) == (length, clusters)
        numbers = [source.cluster_of(position) for position in range(source.positions)]
        assert numbers == [i for i in range(clusters) for _ in range(length)]
        for position in (-1, source.positions):
            assert f"position is {position}: " in refusal(source.cluster_of, position)


def test_missing_tokens_say_what_to_log(tmp_path):
    for arrays in (files.random_pair(), {f"block_{k}": v for k, v in files.random_pair().items()}):
        path = saved(tmp_path, arrays)
        told = refusal(find_source, path, tokens=True)
        assert told.startswith(f"{path} has no array 'draft_tokens' (it holds ")
        assert "draft_tokens (or target_tokens) of shape (..., L), integers" in told
    path = saved(tmp_path, {"draft_tokens": np.zeros((2, 3), int)})
    assert "has no array 'draft_logits'" in refusal(find_source, path, tokens=True)
    assert "has no array 'draft_logits'" in refusal(find_source, path)
    path = saved(tmp_path, files.random_pair(), "npy")
    told = refusal(find_source, path, tokens=True)
    assert told == (
        f"{path}: write all three files, the tokens too, as DRAFT.npy+TARGET.npy+TOKENS.npy"
    )
    path = saved(tmp_path, files.random_texts(), "npy")
    assert refusal(find_source, path) == f"{path}: write both files as DRAFT.npy+TARGET.npy"


@pytest.mark.parametrize("reader", READERS)
def test_tokens_of_other_shapes_and_types_are_refused(tmp_path, reader):
    pair, name = files.random_pair(), "tokens" if reader == "npy" else "draft_tokens"
    for shape in ((2, 1), (2, 4), (3, 2), (6,), (2,), (2, 2, 2), (2, 0), (2, 3, 1)):
        path = saved(tmp_path, pair | {"draft_tokens": np.zeros(shape, int)}, reader)
        told = refusal(find_source, path, tokens=True)
        assert told.startswith(f"{path}: ")
        assert f"{name[-6:]} has type int64 and shape {shape} beside models of " in told
        assert "it must hold integers, of shape (2, 2) or (2, 3)" in told
    for dtype in (np.float32, np.bool_, np.float16):
        path = saved(tmp_path, pair | {"draft_tokens": np.zeros((2, 3), dtype)}, reader)
        told = refusal(find_source, path, tokens=True)
        assert f"{path}: draft_tokens has type {np.dtype(dtype)} and shape (2, 3)" in told


def test_tokens_outside_the_vocabulary_are_named(tmp_path):
    for token, dtype in ((20, np.int32), (-1, np.int8), (2**63, np.uint64)):
        for shape, place in (((3, 20), (1,)), ((2, 3, 20), (1, 0)), ((2, 2, 3, 20), (1, 0, 1))):
            arrays = files.random_texts(shape, dtype=dtype)
            arrays["draft_tokens"][place] = token
            source = found(tmp_path, arrays)
            told = refusal(list, source.texts(0, source.positions, Warping()))
            where = ", ".join(map(str, place))
            assert told == f"draft_tokens[{where}] is {token}: tokens must be 0 to 19"


def test_unusable_rows_are_named_when_they_are_looked_at(tmp_path):
    arrays = files.random_texts(group="block_")
    arrays["block_target_logits"][1, 2, 7] = np.nan
    source = found(tmp_path, arrays)
    _, text = source.texts(0, 6, Warping())
    assert len(list(text.draft)) == 3
    text.target[0]
    assert refusal(list, text.target).startswith("block_target_logits[1, 2][7] is nan")


def test_a_source_is_drawn_from_one_of_its_models(tmp_path):
    source = found(tmp_path, files.random_texts())
    told = refusal(Source, "mine", "logits", source.draft, source.target, source.tokens, "both")
    assert told == "mine: sampled is 'both': it must be draft or target"


@pytest.mark.parametrize("reader", READERS)
def test_damaged_tokens_are_refused_in_one_line(tmp_path, reader):
    source = found(tmp_path, files.random_texts(), reader)
    path = Path(source.tokens.path)
    if reader == "zarr":
        path = path / "draft_tokens" / "c" / "0" / "0"

    def look():
        return list(source.texts(0, 6, Warping()))

    path.write_bytes(path.read_bytes()[:20])
    assert source.tokens.path in refusal(look)
    path.unlink()
    assert source.tokens.path in refusal(look)


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_refused_in_one_line(tmp_path, reader):
    name = saved(tmp_path, files.random_texts(), reader)
    path = Path(name.split("+")[-1])
    whole = path / "draft_tokens" / "zarr.json" if reader == "zarr" else path
    whole.write_bytes(whole.read_bytes()[:-20])
    assert path.name in refusal(find_source, name, tokens=True)
    shutil.rmtree(path) if reader == "zarr" else path.unlink()
    assert refusal(find_source, name, tokens=True) == f"{path}: no such file"


@pytest.mark.parametrize("reader", READERS)
def test_flipped_bytes_end_in_texts_or_one_line(tmp_path, reader):
    rng, told = np.random.default_rng(22), []
    name = saved(tmp_path, files.random_texts(), reader)
    parts = [path for path in tmp_path.rglob("*") if path.is_file()]
    whole = [path.read_bytes() for path in parts]
    for _ in range(40):
        number = rng.integers(len(parts))
        content = bytearray(whole[number])
        for place in rng.integers(len(content), size=rng.integers(1, 9)):
            content[place] = rng.integers(256)
        parts[number].write_bytes(content)
        try:
            source = find_source(name, tokens=True).unpacked(tmp_path, "unpacked")
            seen = [list(text.target) for text in source.texts(0, source.positions, Warping())]
            assert len(seen) == 2
        except ValueError as error:
            told.append(str(error))
        parts[number].write_bytes(whole[number])
    assert told
    assert not any("\n" in line for line in told)
