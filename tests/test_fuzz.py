"""Readers and parsers on hostile input: a result or an error of one line, and soon."""

import fuzz_targets
import pytest
from hypothesis import given


@pytest.fixture(scope="module")
def file_targets():
    pytest.importorskip("safetensors", reason="needs the extra traces")
    held = fuzz_targets.Files()
    yield fuzz_targets.file_targets(held)
    held.kept.cleanup()


def fuzz(strategy, call):
    @fuzz_targets.PROFILE
    @given(strategy)
    def holds(content):
        fuzz_targets.hold(call, content)

    holds()


FILE_TARGETS = (
    *(f"read_file {suffix}" for suffix in fuzz_targets.BYTES),
    *(
        f"read_distribution {place}{exact}"
        for place in (".npy:0", ".json", ".csv", ".npz:draft_logits:0")
        for exact in ("", " exact")
    ),
    *(f"find_source {suffix}" for suffix in (".npz", ".npy", ".safetensors", ".zarr")),
    "load_trace .npz",
    "load_trace .safetensors",
    "load_model .json",
)


def test_no_target_is_forgotten(file_targets):
    assert sorted(FILE_TARGETS) == sorted(file_targets)


@pytest.mark.parametrize("name", FILE_TARGETS)
def test_files(file_targets, name):
    fuzz(*file_targets[name])


@pytest.mark.parametrize("name", fuzz_targets.TEXT_TARGETS)
def test_text(name):
    fuzz(*fuzz_targets.TEXT_TARGETS[name])
