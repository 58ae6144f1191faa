"""Pickles that would take long or much room are refused before they are loaded."""

import collections
import tracemalloc

import hostile_pickles
import numpy as np
import pytest
from each_case import each
from fuzz_targets import time_limit

from otspec.files import read_file
from otspec.traces.readers import locate_arrays

MB = 2**20
HOSTILE = hostile_pickles.HANGING | hostile_pickles.LARGE
FORMS = (hostile_pickles.archived, hostile_pickles.old)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs the extra backends")


@each("name", HOSTILE)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("reader", [read_file, locate_arrays])
def test_hostile_pickles_are_refused_soon(tmp_path, monkeypatch, torch, reader, form, name):
    monkeypatch.setattr("otspec.files.pickled._MOST_STEPS", 2**12)
    path = tmp_path / "x.pt"
    path.write_bytes(form(HOSTILE[name]))
    if name == "one number many times" and reader is locate_arrays and form is FORMS[0]:
        return  # refused where two of them make a source
    tracemalloc.start()
    try:
        with time_limit(name, 10.0), pytest.raises(ValueError, match=r"^cannot read .*x\.pt: "):
            reader(path)
        # Besides the file and what PyTorch imports where it is first used.
        assert tracemalloc.get_traced_memory()[1] < 4 * path.stat().st_size + 16 * MB
    finally:
        tracemalloc.stop()


def test_the_program_of_the_tests_is_one_that_is_read(tmp_path, torch):
    path = tmp_path / "x.pt"
    program = b"}" + hostile_pickles.text("x") + hostile_pickles.tensor(2) + b"s"
    path.write_bytes(hostile_pickles.archived(program))
    assert read_file(path)["x"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("archive", [True, False])
def test_what_else_is_saved_is_left_out(tmp_path, torch, archive):
    """All that ``torch.load`` takes with ``weights_only=True``, and that a checkpoint may hold."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    named = torch.ones(2)
    named.note = "x"
    others = {
        "optimizer": optimizer.state_dict(), "bytes": b"abc", "array": bytearray(b"xyz"),
        "empty": bytearray(), "set": {1, 2}, "complex": 1j, "tuple": tuple(range(1_000)),
        ("layer", 1): 3, "list": list(range(5_000)), "device": torch.device("cpu"),
        "dtype": torch.float16, "size": named.shape, "counts": collections.Counter("abc"),
        "layout": torch.strided, "large": 2**70, "nested": [{"a": [model.state_dict()]}],
    }  # fmt: skip
    tensors = model.state_dict() | {"named": named, "parameter": torch.nn.Parameter(named)}
    tensors |= {f"layer.{i}": named for i in range(200)}
    path = tmp_path / "x.pt"
    torch.save(tensors | others, path, _use_new_zipfile_serialization=archive)
    torch.load(path, weights_only=True)
    found = read_file(path)
    assert list(found) == list(tensors)
    for name, array in found.items():
        assert np.array_equal(array, tensors[name].detach().numpy())
