"""Readers and parsers on hostile input, rules and laws on hostile numbers, runs that are killed.

A result that is right, or an error of one line, and soon. ``OTSPEC_FUZZ=1`` runs long.
"""

import itertools
import os

import fuzz_checks
import fuzz_runs
import fuzz_targets
import hostile_calls
import numpy as np
import pytest
from hypothesis import given

from otspec.files import small_formats, trace_formats

LONG = bool(os.environ.get(fuzz_targets.LONG_RUNS))
SHORT_EXAMPLES = 12
SHORT_CALLS, LONG_CALLS = 150, 5_000
LONG_TROUBLES = 100


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
    *(f"find_source {suffix}" for suffix in trace_formats()),
    *(f"load_trace {suffix}" for suffix, reader in small_formats().items() if reader.named),
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


@pytest.mark.parametrize("name", fuzz_checks.CHECKS)
def test_numbers(name):
    check, example, wanted = fuzz_checks.CHECKS[name]
    done = 0
    for seed in itertools.count():
        if done >= wanted if LONG else seed >= SHORT_EXAMPLES:
            break
        try:
            done += check(example(seed))
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}") from error
    assert done >= SHORT_EXAMPLES


def test_malformed_calls():
    calls = hostile_calls.random_calls(np.random.default_rng(7))
    for case in itertools.islice(calls, LONG_CALLS if LONG else SHORT_CALLS):
        hostile_calls.hold(case)


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    return fuzz_runs.Arena(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("trouble", fuzz_runs.TROUBLES, ids=lambda trouble: trouble.__name__)
def test_runs(arena, trouble):
    for seed in range(LONG_TROUBLES // len(fuzz_runs.TROUBLES) + 1 if LONG else 1):
        trouble(arena, np.random.default_rng(seed))
