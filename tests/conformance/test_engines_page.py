"""The examples of the page on engines run: with stand-ins, where an engine is not installed."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tiny_models import transformers

from otspec import conformance
from otspec.conformance import adapters

transformers()

from stand_ins import (  # noqa: E402
    eagle_stand_in,
    flashinfer_stand_in,
    sglang_stand_in,
    tensorrt_stand_in,
    vllm_runner_stand_in,
    vllm_stand_in,
)

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
STAND_INS = {
    "vllm.v1.sample.rejection_sampler": vllm_stand_in,
    "vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils": vllm_runner_stand_in,
    "flashinfer.sampling": flashinfer_stand_in,
    "sgl_kernel": sglang_stand_in,
    "eagle.model.utils": eagle_stand_in,
    "sglang.srt.speculative.reject_sampling": sglang_stand_in,
    "tensorrt_llm._torch.speculative.interface": tensorrt_stand_in,
    "tensorrt_llm._torch.speculative.dynamic_tree_ops": tensorrt_stand_in,
}
CHECK = conformance.check
HASHED, ONE_BY_ONE, AT_ONCE = 0.8, 0.5, 0.2
"""To detect for verifiers that hash number by number; of one text per call; of batches."""


def small(verifier, **options):
    """Check with few samples, and without a GPU."""
    hashed = verifier.__module__ == adapters.vllm_runner_chain.__module__
    detect = HASHED if hashed else ONE_BY_ONE if "entries" in options else AT_ONCE
    if options.get("mode") == "exact":
        options["shape"] = 1
    less = {"device": "cpu", "detect": detect, "vocabulary": 61, "entries": 1_000}
    return CHECK(verifier, **options | less)


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    for name, module in STAND_INS.items():
        parts = name.split(".")
        for depth in range(1, len(parts)):
            above = ".".join(parts[:depth])
            monkeypatch.setitem(sys.modules, above, ModuleType(above))
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(conformance, "check", small)


def title(block):
    return re.findall(r"def (test_\w+)", block)[-1]


@pytest.mark.parametrize("block", BLOCKS, ids=title)
def test_the_examples_of_the_page_run(block):
    names = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 # the page's own code
    names[title(block)]()


def test_all_adapters_of_engines_are_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    missing = [name for name in adapters.__all__ if f"`{name}`" not in page]
    assert missing == []


@pytest.mark.parametrize("block", BLOCKS, ids=title)
def test_an_engine_is_wrapped_in_fifteen_lines(block):
    test = block[block.rindex("def test_") :]
    assert sum(bool(line.strip()) for line in test.split("\n")) <= 15
