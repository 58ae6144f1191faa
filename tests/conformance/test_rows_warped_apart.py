"""Engines that draft and verify, with settings of each text: greedy ones beside sampled ones."""

import numpy as np
import pytest
from text_engines import BlockEngine

from otspec.batch import warp
from otspec.conformance import check
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.engine_tasks import engine_tasks
from otspec.conformance.cases.kinds import Block
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.sizes import FewRows, OddRows, SingleRows

SMALL = {"mode": "pipeline", "vocabulary": 101, "detect": 0.2, "coarse": 0.6, "entries": 64}


class Model:
    """A model whose texts have temperatures of their own."""

    def __init__(self, model, temperatures, top_ks):
        self.model, self.temperatures, self.top_ks = model, temperatures, top_ks

    def __call__(self, text):
        return self.rows(text[:, -1:])[:, 0]

    def rows(self, text):
        logits = self.model.logits(text)
        count = logits.shape[1]
        flat = logits.reshape(-1, logits.shape[-1])
        settings = (np.repeat(each, count) for each in (self.temperatures, self.top_ks))
        return warp(flat, **dict(zip(("temperature", "top_k"), settings, strict=True))).reshape(
            logits.shape
        )


class Apart(BlockEngine):
    """Each text is warped by its own settings, the draft by others."""

    def __call__(
        self, draft, target, prompts, length, rng, temperatures, top_ks, draft_temperatures
    ):
        drafts = Model(draft, draft_temperatures, top_ks)
        targets = Model(target, *self.own(temperatures, top_ks))
        return super().__call__(drafts, targets, prompts, length, rng)

    def own(self, temperatures, top_ks):
        return temperatures, top_ks


class OfFirstRow(Apart):
    """All texts have the temperature of the first one."""

    def own(self, temperatures, top_ks):
        return np.full_like(temperatures, temperatures[0]), top_ks


def test_tasks_have_greedy_rows_and_other_settings_of_the_draft():
    form = Form("numpy", "float64")
    tasks = engine_tasks(Apart(), form, Block.of_length(2), 101, 64)
    laws = [task.law for task in tasks if isinstance(task.law, Warped) and task.law.variants > 1]
    mixed = [law for law in laws if law.settings[0] != law.settings[1]]
    assert len(mixed) > 2
    assert any("rows warped apart" in law.name for law in mixed)
    temperatures = [{each.get("temperature") for each in law.settings} for law in mixed]
    assert any(0.0 in each and len(each) > 1 for each in temperatures)
    assert any(law.settings != law.draft_settings for law in mixed)


@pytest.mark.parametrize("batches", [SingleRows, FewRows, OddRows])
def test_each_setting_of_rows_is_in_calls_of_each_number_of_rows(batches):
    tasks = engine_tasks(Apart(), Form("numpy", "float64"), Block.of_length(2), 101, 64)
    laws = [task.law for task in tasks if task.batches is batches]
    assert len({law.name for law in laws}) == len(laws)
    settings = [each for law in laws if isinstance(law, Warped) for each in law.settings]
    assert {0.0, 2.0} < {each.get("temperature") for each in settings}
    assert any(0 < each.get("temperature", 1) < 1 for each in settings)
    assert any("top_k" in each for each in settings)


def test_an_engine_with_settings_of_rows_passes():
    report = check(Apart(), kind="block", **SMALL)
    assert report.passed, report.findings
    assert sum("rows warped apart" in each.case for each in report.cases) > 2


@pytest.mark.nightly
def test_settings_of_the_first_row_for_all_are_found():
    report = check(OfFirstRow(), kind="block", **SMALL)
    assert {each.case.split(", ")[-1].split(" (")[0] for each in report.findings} == {
        "rows warped apart"
    }


def test_one_token_with_settings_of_rows():
    from text_engines import token_engine

    def engine(draft_logits, target_logits, k, rng, temperatures, min_ps):
        rows = (
            warp(logits, temperature=temperatures, min_p=min_ps)
            for logits in (draft_logits, target_logits)
        )
        return token_engine(*rows, k, rng)

    assert check(engine, shape=2, **SMALL).passed

    def forgets(draft_logits, target_logits, k, rng, temperatures, min_ps):
        target = warp(target_logits, temperature=temperatures)
        return token_engine(
            warp(draft_logits, temperature=temperatures, min_p=min_ps), target, k, rng
        )

    assert not check(forgets, shape=2, **SMALL).passed


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="verifier takes 'heats'"):
        check(lambda draft, target, prompts, length, heats: prompts, kind="block", **SMALL)  # noqa: ARG005
