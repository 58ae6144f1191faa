"""Runs of any work: the same results however they come about, and only resumed by the same work."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from chance_sums import ROWS, ChanceSums, OtherSums
from scipy.special import softmax

from otspec.traces import Warping, read_run
from otspec.traces.readers import find_source
from otspec.traces.runs import Settings, open_run
from otspec.traces.runs.work import chunks_of

WORK = ChanceSums(0.5)
SETTINGS = Settings((1,), ("iid",), (Warping(),))


@pytest.fixture
def arrays():
    return files.random_texts((6, 2, 5, 30))


@pytest.fixture
def source(tmp_path, arrays):
    return find_source(str(files.save_npz(tmp_path, arrays)), tokens=True)


@pytest.fixture
def of_files(tmp_path, arrays):
    """The same in three files, of which the last holds the tokens."""
    return find_source(str(files.save_npy(tmp_path, arrays)), tokens=True)


def parts(folder):
    return {path.name: path.read_bytes() for path in (folder / "positions").iterdir()}


def computed(folder, sources, work=WORK, *, workers=1, **options):
    with open_run(folder, sources, work, **options) as opened:
        opened.compute(workers=workers)
        return list(opened.tables()), [failure.reason for failure in opened.failures()]


def test_a_work_is_done_at_every_text(source, arrays, tmp_path):
    tables, failures = computed(tmp_path / "out", [source], chunk=25)
    assert failures == []
    assert [table.num_rows for _, table in tables] == [4, 4, 4]  # two clusters of two texts each
    rows = [row for _, table in tables for row in table.to_pylist()]
    draft, target, tokens = (array.reshape(12, *array.shape[2:]) for array in arrays.values())
    places = np.arange(4), tokens[:, :4]
    for row in rows:
        text = row["text"]
        assert row["cluster"] == text // 2
        for name, logits in zip(ROWS, (draft / 0.5, target / 0.5, draft), strict=True):
            chances = softmax(logits[text].astype(float), axis=-1)[places[0], places[1][text]]
            assert row[name] == pytest.approx(chances.sum(), rel=1e-12)
    assert [row["text"] for row in rows] == list(range(12))
    assert read_run(tmp_path / "out").to_arrow().to_pylist() == rows


def test_two_workers_and_a_resumed_run_give_the_same_bytes(source, tmp_path, monkeypatch):
    computed(tmp_path / "one", [source], chunk=10)
    expected = parts(tmp_path / "one")
    assert len(expected) == 6
    started, table_of = [], ChanceSums.table_of

    def table_of_three(work, chunk):
        started.append(chunk.index)
        if len(started) > 3:
            raise KeyboardInterrupt
        return table_of(work, chunk)

    monkeypatch.setattr(ChanceSums, "table_of", table_of_three)
    with pytest.raises(KeyboardInterrupt):
        computed(tmp_path / "torn", [source], chunk=10)
    monkeypatch.undo()
    left = parts(tmp_path / "torn")
    assert len(left) == 3
    (tmp_path / "torn" / "positions" / sorted(left)[0]).write_bytes(b"damaged")
    computed(tmp_path / "torn", [source], chunk=10, workers=2, resume=True)
    assert parts(tmp_path / "torn") == expected


def test_only_the_same_work_is_resumed(source, tmp_path):
    out = tmp_path / "out"
    for first, second, says in (
        (WORK, OtherSums(0.5), "work was ChanceSums and is OtherSums"),
        (WORK, ChanceSums(1.0), "settings.temperature was 0.5 and is 1.0"),
        (WORK, SETTINGS, "work was ChanceSums and is Settings"),
        (SETTINGS, WORK, "work was Settings and is ChanceSums"),
    ):
        computed(out, [source], first, overwrite=True)
        with pytest.raises(ValueError, match=f"holds another run: {says}; resume with"):
            computed(out, [source], second, resume=True)
    with pytest.raises(ValueError, match=r"sources\[0\].arrays, how many was 3 and is 2"):
        computed(out, [find_source(source.name)], SETTINGS, resume=True)
    computed(out, [source], WORK, overwrite=True)
    kept = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert (kept["work"], kept["settings"]) == ("ChanceSums", {"temperature": 0.5})
    assert kept["sources"][0]["sampled"] == "draft"


def test_chunks_never_divide_a_unit(tmp_path):
    sources = []
    for shape in ((7, 5, 30), (4, 3, 5, 30), (5, 30)):
        folder = tmp_path / str(len(sources))
        folder.mkdir()
        sources.append(find_source(str(files.save_npz(folder, files.random_pair(shape)))))
    for unit in (lambda _: 1, lambda source: source.text_length, WORK.unit):
        for size in (None, *range(1, 40)):
            chunks = chunks_of(sources, unit, size)
            assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
            for source in sources:
                own = [chunk for chunk in chunks if chunk.source == source]
                ends = [0, *(chunk.stop for chunk in own)]
                assert [chunk.start for chunk in own] == ends[:-1]
                assert ends[-1] == source.positions
                assert all(end % unit(source) == 0 for end in ends)
                most = size or 1024
                assert all(chunk.positions <= max(most, unit(source)) for chunk in own)
    for unit in (0, -1, 3):
        with pytest.raises(ValueError, match=f"are no units of {unit}: a unit must divide them"):
            chunks_of(sources, lambda _, unit=unit: unit)


def test_what_cannot_be_used_is_named_and_computed_later(source, arrays, tmp_path):
    path = Path(source.name)
    times, token = path.stat(), arrays["draft_tokens"][2, 1, 3]

    def write(value):
        arrays["draft_tokens"][2, 1, 3] = value
        files.save_npz(tmp_path, arrays)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    write(30)
    tables, failures = computed(tmp_path / "out", [source], chunk=10)
    assert len(tables) == 5
    assert failures == [f"{path}: draft_tokens[2, 1, 3] is 30: tokens must be 0 to 29"]
    write(token)
    tables, failures = computed(tmp_path / "out", [source], chunk=10, resume=True)
    assert (len(tables), failures) == (6, [])


def test_the_file_of_the_tokens_counts(of_files, tmp_path):
    latest = of_files.latest()
    computed(tmp_path / "out", [of_files])
    os.utime(of_files.tokens.path, ns=(0, latest + 1))
    assert of_files.latest() == latest + 1
    with pytest.raises(ValueError, match=r"tokens\.npy was changed since the run began"):
        computed(tmp_path / "out", [of_files], resume=True)
    with pytest.raises(ValueError, match=r"tokens\.npy was changed while it was read"):
        of_files.refuse_newer(0, 10, latest)


def test_tokens_that_change_while_a_run_reads_them_are_noticed(of_files, tmp_path, monkeypatch):
    later, seen, table_of = of_files.latest() + 1, [], ChanceSums.table_of

    def table_of_changed(work, chunk):
        seen.append(chunk.index)
        os.utime(of_files.tokens.path, ns=(0, later))
        return table_of(work, chunk)

    monkeypatch.setattr(ChanceSums, "table_of", table_of_changed)
    with pytest.raises(ValueError, match=r"tokens\.npy was changed while it was read"):
        computed(tmp_path / "out", [of_files], chunk=10)
    assert len(seen) == 1


def test_however_tokens_are_stored_the_results_are_the_same(source, of_files, arrays, tmp_path):
    packed = find_source(str(files.save_packed_npz(tmp_path, arrays)), tokens=True)
    found = [
        [table.to_pydict() for _, table in computed(tmp_path / name, [each])[0]]
        for name, each in (("npz", source), ("npy", of_files), ("packed", packed))
    ]
    assert found[0] == found[1] == found[2]
    assert not (tmp_path / "packed" / "unpacked").exists()
