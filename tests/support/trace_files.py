"""Trace files of every format, whole and malformed, for tests."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

SHAPE = (2, 3, 20)


def random_pair(shape=SHAPE, dtype=np.float16, seed=0, kind="logits"):
    rng = np.random.default_rng(seed)
    return {f"{side}_{kind}": rng.normal(size=shape).astype(dtype) for side in ("draft", "target")}


def random_texts(shape=SHAPE, *, drawn=None, side="draft", group="", dtype=np.int32, seed=0):
    """Return logits of random texts and tokens along them, by default one less than rows."""
    rng = np.random.default_rng(seed + 1)
    length = shape[-2] - 1 if drawn is None else drawn
    tokens = rng.integers(shape[-1], size=(*shape[:-2], length)).astype(dtype)
    arrays = random_pair(shape, seed=seed) | {f"{side}_tokens": tokens}
    return {group + name: array for name, array in arrays.items()}


def save_npz(folder, arrays):
    np.savez(folder / "trace.npz", **arrays)
    return folder / "trace.npz"


def save_packed_npz(folder, arrays):
    np.savez_compressed(folder / "packed.npz", **arrays)
    return folder / "packed.npz"


def save_npy(folder, arrays):
    paths = [folder / f"{name}.npy" for name in ("draft", "target", "tokens")[: len(arrays)]]
    for path, array in zip(paths, arrays.values(), strict=True):
        np.save(path, array)
    return "+".join(map(str, paths))


def save_safetensors(folder, arrays):
    numpy = pytest.importorskip("safetensors.numpy", reason="needs the extra traces")
    numpy.save_file(arrays, folder / "trace.safetensors")
    return folder / "trace.safetensors"


def save_zarr(folder, arrays, chunks=(1, 2, 7), **options):
    zarr = pytest.importorskip("zarr", reason="needs the extra traces")
    group = zarr.open_group(str(folder / "trace.zarr"), mode="w", **options)
    for name, array in arrays.items():
        fitting = chunks if array.ndim == len(chunks) else array.shape
        group.create_array(name, data=array, chunks=tuple(max(1, size) for size in fitting))
    return folder / "trace.zarr"


def save_torch(folder, arrays):
    torch = pytest.importorskip("torch", reason="needs the extra backends")
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    torch.save(tensors, folder / "trace.pt")
    return folder / "trace.pt"


SAVERS = {
    "npz": save_npz,
    "packed npz": save_packed_npz,
    "npy": save_npy,
    "safetensors": save_safetensors,
    "zarr": save_zarr,
    "torch": save_torch,
}


def npy_header(shape, descr="<f2", *, version=1, text=None):
    """Return the header of an array in .npy format, whatever it claims."""
    text = text or repr({"descr": descr, "fortran_order": False, "shape": shape})
    text = text.ljust(117) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode()


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def wrong_contents(rng):
    """Yield arrays that a format can hold, but that are no trace."""
    pair = random_pair()
    draft = pair["draft_logits"]

    def with_value(value):
        changed = draft.copy()
        changed[tuple(rng.integers(size) for size in draft.shape)] = value
        return pair | {"draft_logits": changed}

    for value in (np.nan, np.inf):
        yield with_value(value)
        yield with_value(value) | {"target_logits": with_value(value)["draft_logits"]}
    yield pair | {"target_logits": np.full(SHAPE, -np.inf, np.float16)}
    for dtype in (np.int8, np.uint16, np.int64, np.bool_):
        yield pair | {"draft_logits": np.ones(SHAPE, dtype)}
    for shape in ((2, 3), (6, 20), (2, 3, 19), (3, 2, 20), (1, 2, 3, 20), (20,), (2, 0, 20)):
        yield pair | {"draft_logits": np.zeros(shape, np.float16)}
    for shape in ((20,), (0, 20), (3, 0), ()):
        yield {name: np.zeros(shape, np.float16) for name in pair}


def wrong_names():
    """Yield arrays with names that are no trace's."""
    draft, target = random_pair().values()
    yield {"draft_logits": draft}
    yield {"target_logits": target}
    yield {"draft": draft, "target": target}
    yield {"draft_logits": draft, "target_probabilities": target}
    yield {"logits": draft}
    yield {"draft_logits": draft, "target_logits": target[:1], "x": target}
    yield {"draft_logits_a": draft, "draft_logits_b": draft, "target_logits": target}


def bad_npy_bytes():
    """Yield files that are no array of floats, whatever their name."""
    yield b""
    yield b"\x93NUMPY"
    yield b"PK\x05\x06" + bytes(18)
    yield npy_bytes(np.array([{"a": 1}], dtype=object))
    yield npy_bytes(np.zeros((2, 3), dtype=[("a", "f4")]))
    yield npy_bytes(np.array([["a"]]))
    yield npy_bytes(np.zeros((2, 3), np.complex64))
    for shape in ((2**40, 20), (2**62, 2**62), (-1, 20), (10**30,), (2, 3, 21), (2, 3, 19)):
        yield npy_header(shape) + bytes(240)
    for version in (2, 3, 9):
        yield npy_header((2, 3, 20), version=version)[:60]
    for text in ("", "{", "[1]", "{'descr': 'O'}", "(" * 4000, "{'shape': (2,", "import os"):
        yield npy_header(None, text=text) + bytes(240)
    for descr in ("|O", "f", "<f999", "<M8", "U20", [("a", "<f2")]):
        yield npy_header((2, 3, 20), descr) + bytes(240)
    yield b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b" " * 3000
    yield b"\x93NUMPY\x01\x00" + struct.pack("<H", 2**16 - 1) + b" " * 3000


def zip_bytes(members, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def bombs():
    """Yield archives that unpack to far more than they should."""
    zeros = bytes(2**24)
    good = npy_bytes(random_pair()["draft_logits"])
    for content in (
        npy_header((2**45, 20)) + zeros,
        npy_header((2, 3, 20)) + zeros,
        npy_header((2, 3, 20), version=2, text=" " * 2**22) + zeros,
        zeros,
    ):
        members = {"draft_logits.npy": content, "target_logits.npy": good}
        yield zip_bytes(members, compression=zipfile.ZIP_DEFLATED)


def bad_safetensors_bytes():
    """Yield files whose header lies."""
    good = {"dtype": "F16", "shape": [2, 3, 20]}

    def file(draft, size=480):
        header = json.dumps(
            {"draft_logits": draft, "target_logits": good | {"data_offsets": [240, 480]}}
        ).encode()
        return struct.pack("<Q", len(header)) + header + bytes(size)

    for offsets in ([0, 239], [0, 480], [240, 480], [240, 0], [-1, 239], [0, 2**63], [1, 241]):
        yield file(good | {"data_offsets": offsets})
    for dtype in ("BF16", "F8_E4M3", "I32", "BOOL", "F128", "", None, "X"):
        yield file(good | {"dtype": dtype, "data_offsets": [0, 240]})
    for shape in ([2**62, 2**62], [-2, 3, 20], [], None, "2", [2, 3, 21]):
        yield file({"dtype": "F16", "shape": shape, "data_offsets": [0, 240]})
    yield file(good | {"data_offsets": [0, 240]}, size=100)
    yield file(good | {"data_offsets": [0, 240]}, size=1000)
    for length in (0, 1, 2**27, 2**40, 2**63, 2**64 - 1):
        yield struct.pack("<Q", length) + b"{}" + bytes(480)
    yield b""
    yield struct.pack("<Q", 100_000) + b'{"a":' * 20_000
