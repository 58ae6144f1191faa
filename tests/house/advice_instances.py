"""Instances of the classes of advice, and of other rows along texts."""

from __future__ import annotations

from functools import partial

import numpy as np

from otspec.advice import Choice, Load, Loss
from otspec.advice.evaluation.choices import Candidate, ExactWorth, LossyChain, ModelEvidence
from otspec.advice.evaluation.numbers import DraftedTexts
from otspec.advice.evaluation.search import Search
from otspec.advice.evaluation.streaming import TextChances
from otspec.advice.loads.cuts import Along, Cut, Tallied
from otspec.advice.loads.search import LoadSearch, LoggedTexts
from otspec.advice.on_texts import FoldedTally, TargetText, TargetTexts, TextEvidence
from otspec.blocks import LoadSeconds, Seconds, StepCost, as_shape
from otspec.logged import LoggedBlock
from otspec.logged.chances import Asked
from otspec.models import memoryless
from otspec.rules import RecursiveRejection
from otspec.traces import Warp, Warping
from otspec.traces.collect.sampling import LoggedText

CHOICE = Choice("rule", "iid", "2", 2, 1, 2, 1.5, (1.0, 2.0), 1.0, 1.5, (1.0, 2.0))
LOAD = Load(1, "no draft", "no draft", 0.0, 0, 0.0, 1.0, 1.0, 1.0, (1.0, 1.0), True, 1.0)
LOSS = Loss("kind", "rule", "iid", "2", 1.5, 0.0, (0.0, 0.0))
ASKED = Asked(RecursiveRejection, (1, 2))


def numbers(kind, give):
    """Return two texts of two positions and of one."""
    answers = (give(np.arange(12.0).reshape(2, 2, 3) / 20),)
    return kind(
        give(np.array([0, 1])),
        give(np.array([2, 1])),
        give.sequence([ASKED]),
        give.sequence(answers),
        give(np.arange(1.0, 7).reshape(2, 3) / 10),
    )


def tally(_):
    """Return sums over two texts."""
    ones = np.ones((2, 1))
    return FoldedTally.of_none(1).with_texts(np.arange(2), ones, ones)


def no_parts():
    """Return no part of a log."""
    return ()


TEXTS = {
    "logged text": lambda give: LoggedText(
        give(np.zeros((3, 4))), give(np.ones((3, 4))), give(np.array([1, 2]))
    ),
    "drafted texts": partial(numbers, DraftedTexts),
    "texts of the target": partial(numbers, TargetTexts),
}
ADVICE = {
    "choice": lambda _: CHOICE,
    "loss": lambda _: LOSS,
    "asked": lambda _: ASKED,
    "candidate of advice": lambda _: Candidate("name", "rule", "iid", as_shape("2")),
    "exact worth": lambda _: ExactWorth((1, 2)),
    "folded tally": tally,
    "models as evidence": lambda _: ModelEvidence(memoryless([0.5, 0.5]), memoryless([0.4, 0.6])),
    "texts as evidence": lambda _: TextEvidence(no_parts),
    "search for trees": lambda _: Search((RecursiveRejection,), 2, 2, StepCost(1, 1)),
    "chances of texts": lambda _: TextChances(("spechub",), 2, 1, (Warping(),), Warp()),
    "load": lambda _: LOAD,
    "cut of a load": lambda _: Cut("fixed length", 0.0, 1),
    "along a text": lambda _: Along.of(LoggedBlock([[0.5, 0.5]], [[0.4, 0.6]], [0]), 1),
    "tallied": lambda give: Tallied(*(give(np.ones(2)) for _ in range(3))),
    "search by load": lambda _: LoadSearch.of(1.0, 2.0, [1]),
    "seconds by load": lambda _: LoadSeconds((1,), (Seconds((1,), (2.0,)),)),
    "logged texts": lambda _: LoggedTexts((), 1, "nowhere"),
    "lossy chain": lambda _: LossyChain(0.5),
    "text of the target": lambda _: TargetText(0, (0,), (), ()),
}
