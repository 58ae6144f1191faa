"""Engines that draft and verify: right ones pass, and each wrong one is caught, and where."""

import pytest
import wrong_engines
from text_engines import BlockEngine, token_engine, tree_engine

from otspec.batch import token_verification
from otspec.conformance import check

SMALL = {"mode": "pipeline", "vocabulary": 101, "detect": 0.05}


class WarpedEngine(BlockEngine):
    """Draft and target are warped alike."""

    def __call__(self, draft, target, prompts, length, rng, temperature, top_k, top_p):
        options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        models = (wrong_engines.Warped(model, options) for model in (draft, target))
        return super().__call__(*models, prompts, length, rng)


RIGHT = {
    "block verification": (BlockEngine(), {"kind": "block"}),
    "token by token": (BlockEngine(token_verification, 3), {"kind": "block", "shape": 3}),
    "warped": (WarpedEngine(), {"kind": "block"}),
    "tree": (tree_engine, {"kind": "tree"}),
    "tokens": (token_engine, {"kind": "tokens"}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_engines_pass(name):
    engine, options = RIGHT[name]
    report = check(engine, **options, **SMALL | {"detect": 0.1})
    assert report.passed, report.findings
    assert report.mode == "pipeline"
    assert report.kind == options["kind"]


BEGIN, LATER, WHOLE = "law of the first token", "law of the first 2 tokens", "law of the text"
WRONG = {
    "OneUniform": BEGIN,
    "NumbersOfFirstStep": LATER,
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_engines_are_caught(name):
    report = check(getattr(wrong_engines, name)(), kind="block", **SMALL)
    assert not report.passed
