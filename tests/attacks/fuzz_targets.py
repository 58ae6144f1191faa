"""What reads outside input, each with a Hypothesis strategy for hostile input and one call.

A target returns, or raises an error of one line, and does so soon. ``OTSPEC_FUZZ=1`` runs long.
"""

import io
import json
import os
import signal
import struct
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

import click
import hostile_pickles
import hostile_tables
import numpy as np
import trace_files as files
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from small_files import WHOLE

from otspec.blocks import as_branching, as_shape
from otspec.cli.shared.arguments import (
    COUNTS,
    NUMBERS,
    read_distribution,
    read_numbers,
    to_distribution,
)
from otspec.files import read_file, small_formats, trace_formats
from otspec.models import load_model
from otspec.traces import Warping, load_trace
from otspec.traces.readers import find_source

SECONDS = 5.0
LONG_RUNS = "OTSPEC_FUZZ"
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("fuzz", max_examples=2_000, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "fuzz-short", max_examples=25, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
PROFILE = settings.get_profile("fuzz" if os.environ.get(LONG_RUNS) else "fuzz-short")


class TooSlow(BaseException):
    """Passes through whatever catches exceptions."""


@contextmanager
def time_limit(what, seconds=SECONDS):
    """Refuse more seconds of work; the clock only ends what waits for ever."""

    def stop(*_):
        raise TooSlow(f"{seconds} seconds were not enough for {what!r:.300}")

    limits = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, 120 * seconds),
    )
    before = [signal.signal(number, stop) for _, number, _ in limits]
    try:
        for timer, _, most in limits:
            signal.setitimer(timer, most)
        yield
    finally:
        for timer, *_ in limits:
            signal.setitimer(timer, 0)
        for (_, number, _), handler in zip(limits, before, strict=True):
            signal.signal(number, handler)


def hold(call, *arguments):
    """Check the property of all targets; return whether the input was taken."""
    with time_limit(arguments):
        try:
            call(*arguments)
        except click.BadParameter as error:
            message = error.format_message()
        except ValueError as error:
            message = str(error)
        else:
            return True
    assert message
    names = [str(argument) for argument in arguments if isinstance(argument, str)]
    # A path is named as it was written; the command line makes one line of it.
    assert "\n" not in message or any("\n" in name for name in names), message
    return False


# Bytes of files


@st.composite
def mutated(draw, originals):
    """Draw one of some contents with bytes changed, removed, inserted or repeated."""
    content = bytearray(draw(originals))
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 4)))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(("change", "cut", "drop", "insert", "repeat")))
        if kind == "change":
            content[start:stop] = draw(st.binary(min_size=stop - start, max_size=stop - start))
        elif kind == "cut":
            del content[start:]
        elif kind == "drop":
            del content[start:stop]
        elif kind == "insert":
            content[start:start] = draw(st.sampled_from(_TOKENS) | st.binary(max_size=8))
        else:
            content[start:start] = content[start:stop] * draw(st.integers(1, 50))
    return bytes(content)


_TOKENS = (
    b"\x00", b"\xff" * 8, b"[" * 3000, b'{"":', b'"', b"'", b"\\", b"\\d", b"1if", b"L", b"nan",
    b"1e999999999", b"-", b"9" * 5000, b"/", b",", b"\n", b"\r", b"None", b"|O", b"PK\x03\x04",
)  # fmt: skip


def _headed(shape, descr, version, size):
    return files.npy_header(shape, descr, version=version) + bytes(size)


_SHAPES = st.lists(st.integers(-2, 4) | st.integers(0, 2**70), max_size=4).map(tuple)
_DTYPES = st.sampled_from(
    ("<f2", ">f8", "<f4", "<f16", "|O", "<U3", "|S2", "<M8[s]", "<c8", "|b1", "<i8", "|V0", "<f3")
)
_ARRAYS = st.sampled_from(
    tuple(np.full(shape, 0.5, dtype) for shape in ((2,), (1, 2), (2, 3, 4), ())
          for dtype in (np.float16, np.float32, np.float64, np.longdouble, np.int8))
)  # fmt: skip
NPY = mutated(_ARRAYS.map(files.npy_bytes)) | st.builds(
    _headed, _SHAPES, _DTYPES, st.integers(1, 3), st.integers(0, 300),
)  # fmt: skip
_NAMES = st.sampled_from(
    ("draft_logits", "target_logits", "draft_probabilities", "draft_tokens", "prompts", "../x", "")
)


def _archive(members, compression):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


NPZ = mutated(
    st.builds(
        _archive,
        st.dictionaries(_NAMES, NPY, max_size=4)
        | st.fixed_dictionaries({"draft_logits": NPY, "target_logits": NPY})
        | st.just({name: files.npy_bytes(a) for name, a in files.random_pair((1, 2, 3)).items()}),
        st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)),
    )
)
_NUMBERS = st.sampled_from(
    (
        "0.5",
        "1/2",
        "1",
        "0",
        "-1",
        "nan",
        "inf",
        "1e-320",
        "1e9999999999",
        "1/0",
        "9" * 400,
        "x",
        "",
    )
)
CSV = mutated(
    st.lists(st.lists(_NUMBERS, min_size=1, max_size=4).map(",".join), max_size=5)
    .map("\n".join)
    .map(str.encode)
)
_CELLS = st.none() | st.booleans() | st.integers() | st.floats() | _NUMBERS | st.text(max_size=4)
_PREFIXES = st.sampled_from(("", " ", "0", "1", "0 1", "1  0", "-1", "x", "7", "9" * 400))
_JSON_VALUES = st.recursive(
    _CELLS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_PREFIXES, inner, max_size=4),
    max_leaves=12,
)
_ROWS = st.lists(st.sampled_from((0.5, "1/2", 1, 0, "0.25")), min_size=1, max_size=3)
_PAIRS = st.sampled_from(([0.5, 0.5], [0.25, 0.75], ["1/3", "2/3"], [1, 0], [0.2, 0.3, 0.5]))
_MODELS = st.fixed_dictionaries({"": _PAIRS}, optional={"0": _PAIRS, "0 1": _PAIRS}) | _PAIRS
JSON = mutated(
    (_MODELS | _JSON_VALUES | st.lists(_CELLS) | st.dictionaries(_PREFIXES, _ROWS, max_size=4))
    .map(json.dumps)
    .map(str.encode)
)
_TENSORS = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(("F16", "F32", "BF16", "F8_E4M3", "I64", "BOOL", "F4", "", None)),
        "shape": st.lists(st.integers(-1, 3) | st.integers(0, 2**70), max_size=4),
        "data_offsets": st.lists(st.integers(-1, 100), min_size=2, max_size=2),
    }
)


def _safetensors(header, size):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


_TWO_TENSORS = {
    f"{side}_logits": {"dtype": "F16", "shape": [1, 2, 3], "data_offsets": [start, start + 12]}
    for side, start in (("draft", 0), ("target", 12))
}
SAFETENSORS = mutated(
    st.just(_safetensors(_TWO_TENSORS, 24))
    | st.builds(_safetensors, st.dictionaries(_NAMES, _TENSORS, max_size=3), st.integers(0, 100))
)
BYTES = {".npy": NPY, ".npz": NPZ, ".csv": CSV, ".json": JSON, ".safetensors": SAFETENSORS} | {
    ending: mutated(st.just(WHOLE[ending]) | st.sampled_from([*bombs.values()]))
    for bombs, *endings in (
        (hostile_tables.PARQUET, ".parquet"),
        (hostile_tables.ARROW, ".arrow", ".feather"),
    )
    for ending in endings
}
BYTES |= {
    ending: mutated(st.just(WHOLE[ending]) | hostile_pickles.BYTES) for ending in (".pt", ".pth")
}
assert set(BYTES) == set(small_formats()), "every reader has its bytes"


# Text of the command line

_WORDS = st.sampled_from(
    ("0.5", "1/2", "1", "0", "-", ",", ",", ",", "/", "e", "e999999999", "E-99999999", ".",
     "_", ":", " ", "x", "2x2", "nan", "inf", "\x00", "\n", "\u0661", "\u00b2", "\ud800",
     "9" * 5000, "a" * 300, ".npy", ".npz:", ".json", ".csv:0", "../", "~")
)  # fmt: skip
TEXT = st.lists(_WORDS, max_size=8).map("".join) | st.text(max_size=20)


# Calls


class Files:
    """A folder whose one file is written anew for every example."""

    def __init__(self):
        self.kept = tempfile.TemporaryDirectory(prefix="otspec-fuzz-")
        self.folder = Path(self.kept.name)
        self.zarr = files.save_zarr(self.folder, files.random_pair((2, 2, 3)), (1, 2, 2))
        self.parts = sorted(path for path in self.zarr.rglob("*") if path.is_file())
        self.whole = [path.read_bytes() for path in self.parts]

    def written(self, suffix, content):
        path = self.folder / f"example{suffix}"
        path.write_bytes(content)
        return path


def read_all_rows(source, folder):
    """Open what a source found and read all of it."""
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        opened = source.unpacked(Path(unpacked), "x")
        for _ in opened.pairs(0, min(source.positions, 10_000), (Warping(normalize=True),)):
            pass


def file_targets(held):
    """Return the targets that read one file: name -> (strategy of bytes, call)."""

    def reading(call, suffix):
        return lambda content: call(held.written(suffix, content))

    def distribution(where, exact, suffix):
        return lambda content: to_distribution(
            read_numbers(f"{held.written(suffix, content)}{where}", "draft", exact=exact),
            "draft",
            normalize=True,
        )

    def source(suffix):
        def call(content):
            path = held.written(suffix, content)
            name = str(path) if trace_formats()[suffix].named else f"{path}+{path}"
            read_all_rows(find_source(name), held.folder)

        return call

    def zarr(changed):
        number, content = changed
        for path, whole in zip(held.parts, held.whole, strict=True):
            path.write_bytes(whole)
        held.parts[number].write_bytes(content)
        read_all_rows(find_source(str(held.zarr)), held.folder)

    found = {f"read_file {suffix}": (BYTES[suffix], reading(read_file, suffix)) for suffix in BYTES}
    for suffix, where in ((".npy", ":0"), (".json", ""), (".csv", ""), (".npz", ":draft_logits:0")):
        for exact in (False, True):
            name = f"read_distribution {suffix}{where}{' exact' * exact}"
            found[name] = (BYTES[suffix], distribution(where, exact, suffix))
    for suffix in (name for name, form in trace_formats().items() if not form.folder):
        found[f"find_source {suffix}"] = (BYTES[suffix], source(suffix))
    for suffix in (name for name, reader in small_formats().items() if reader.named):
        found[f"load_trace {suffix}"] = (BYTES[suffix], reading(load_trace, suffix))
    found["load_model .json"] = (JSON, reading(load_model, ".json"))
    numbered = st.sampled_from(range(len(held.parts)))
    found["find_source .zarr"] = (
        numbered.flatmap(lambda i: st.tuples(st.just(i), mutated(st.just(held.whole[i])))),
        zarr,
    )
    return found


TEXT_TARGETS = {
    "read_distribution": (TEXT, lambda text: read_distribution(text, "draft")),
    "read_distribution exact": (TEXT, lambda text: read_distribution(text, "draft", exact=True)),
    "read_distribution logits": (
        TEXT,
        lambda text: to_distribution(read_numbers(text, "draft"), "draft", logits=True),
    ),
    "find_source": (TEXT, find_source),
    "counts": (TEXT, lambda text: COUNTS.convert(text, None, None)),
    "temperatures": (TEXT, lambda text: NUMBERS.convert(text, None, None)),
    "as_branching": (TEXT, as_branching),
    "as_shape": (TEXT, as_shape),
}
