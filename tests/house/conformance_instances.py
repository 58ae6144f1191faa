"""Instances of the classes of the conformance check."""

from __future__ import annotations

import numpy as np

from otspec import batch
from otspec.conformance import Certificate, Finding, Report, Tried
from otspec.conformance.adapters.shapes import Renamed
from otspec.conformance.adapters.table_models import Output
from otspec.conformance.cases.arrays import Form, Named
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import Answer, Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.generated import AtMost, DrawnToken, Texts, history_case
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.tasks import Task
from otspec.conformance.cases.warping import neutral
from otspec.conformance.engines import Engine, TextEngine, TokenEngine
from otspec.conformance.evidence.batches import Probed
from otspec.conformance.evidence.case_by_case import Check
from otspec.conformance.evidence.evidence import Evidence, Requirement
from otspec.conformance.evidence.statistics import Statistic, TextsOnly
from otspec.conformance.evidence.trial import Tested
from otspec.conformance.exact_check import Drafted
from otspec.conformance.faults import FAULTS
from otspec.conformance.faults.base import Seen
from otspec.conformance.faults.explanations import Explanations
from otspec.conformance.faults.setting import MarkedText, Setting
from otspec.conformance.faults.shared_noise import Seen as SeenTexts
from otspec.conformance.keyed import Keyed, KeyedTexts, KeyedTokens, Plain, Rows
from otspec.conformance.same_seed import SameSeed
from otspec.conformance.texts import Sampler, Spoken
from otspec.conformance.vectors.answers import Group, Pair

NEEDS = Requirement(3, 0.1, 1e-6, 1e-6, 100, 5.0)
VERIFIER = Verifier(batch.recursive_rejection, Form())
ROWS = ((0.5, 0.5), (0.5, 0.5), (0.25, 0.75))
PAIR = Pair("a pair", ROWS, ROWS[::-1])
FINDING = Finding("a case", "law of the output", "it is off", (1.0, 0.0), (0.5, 0.5))


def drafts_first(draft, target, rng):
    """An engine, which is never called."""


def case(_=None):
    return Case("a case", np.array([ROWS]), np.array([ROWS[::-1]]), np.array([1, 0]))


def text_size(size):
    """An engine with models of its own, which is never called."""


def spoken(_):
    made, law = case(), np.full((2, 2), 0.25)
    return Spoken(name="texts", draft=made.draft, target=made.target, symbols=made.symbols, law=law)


def statistic(_=None):
    cells = np.zeros((1, 3), dtype=int)
    return Statistic("law of the output", cells, np.array([0.5, 0.5, 0.0]), ("a", "b", "c"))


def tried(_=None):
    return Tried("a case", NEEDS, 9, -1.5, np.array([[4, 5, 0]]), np.array([0.5, 0.5, 0.0]))


def race(target, drafts, noise):
    return np.argmin(noise / target, axis=1)


def token_of_seed(target, seed):
    return np.full(len(target), seed)


def decoded(target, draft, prompt, seed, length):
    return [0] * length


KEYED = Keyed(race, Form())


def row(_=None):
    return Rows(Sample(*np.zeros((4, 1, 1), dtype=int)), np.array([3]), np.array([0]))


def task(_=None):
    return Task(VERIFIER, Tokens(2), case(), case())


CONFORMANCE = {
    "answer of a verifier": lambda _: Answer(np.array([[0]]), None),
    "form of arrays": lambda _: Form(),
    "verifier": lambda _: VERIFIER,
    "check": lambda _: Check((task(),), "tokens", "kernel", None, 0.1, 1e-6, 1e-6, 9, 0, 0.1),
    "case": case,
    "case with a history": lambda _: history_case("grammar")[1],
    "grammar": lambda _: AtMost(0, 2),
    "case of settings": lambda _: neutral(case()),
    "sample of drafts": lambda _: Sample(*np.zeros((4, 1, 1), dtype=int)),
    "engine": lambda _: Engine(drafts_first, Form()),
    "engine of texts": lambda _: TextEngine(drafts_first, Form()),
    "engine of tokens": lambda _: TokenEngine(drafts_first, Form()),
    "evidence": lambda _: Evidence(np.array([0.5, 0.5]), NEEDS),
    "requirement": lambda _: NEEDS,
    "way of drafting": lambda _: Drafted(0.5, 0, (1,), (True,)),
    "known fault": lambda _: next(iter(FAULTS.values())),
    "what was seen": lambda _: Seen(case(), np.array([[4, 5, 0]]), NEEDS, True),
    "setting": lambda _: Setting(Tokens(2), [[list(ROWS[0])]], [[list(ROWS[1])]], [(True, True)]),
    "what is told": lambda _: MarkedText(0, (1,)),
    "what explains": lambda _: Explanations(["0 / 0 accepted"], False),
    "drawn token": lambda _: DrawnToken(2),
    "texts": lambda _: Texts(Block.of_length(2)),
    "texts that an engine says": lambda _: Texts(Block(), count=2),
    "sampler of texts": lambda _: Sampler(text_size, Form()),
    "case of whole texts": spoken,
    "probed": lambda _: Probed(True, ["target"]),
    "tokens": lambda _: Tokens(2),
    "tree of drafts": lambda _: Tree((-1, 0)),
    "block of drafts": lambda _: Block.of_length(2),
    "finding": lambda _: FINDING,
    "tried case": tried,
    "conformance report": lambda _: Report("tokens", "kernel", (FINDING,), (tried(),), 1e-6),
    "certificate of a check": lambda _: Certificate(
        Report("tokens", "kernel", (FINDING,), (tried(),), 1e-6), command="make check"
    ),
    "function of other names": lambda _: Named(
        drafts_first, {"draft": "target", "target": "draft"}
    ),
    "function of names": lambda _: Renamed(drafts_first, ("draft",)),
    "what a model returns": lambda _: Output(0, None),
    "verifier with a key": lambda _: KEYED,
    "engine of tokens with a key": lambda _: KeyedTokens(token_of_seed, Form()),
    "decoder with a key": lambda _: KeyedTexts(decoded, Form()),
    "plain decoding": lambda _: Plain(KEYED, True, 1e-6),
    "rows of a call": row,
    "check of one seed": lambda _: SameSeed(
        KEYED, Plain(KEYED, True, 1e-6), Tokens(2), "kernel", 0, 9, 9
    ),
    "texts of one seed": lambda _: SeenTexts(Tokens(2), case(), row(), np.array([[0]])),
    "statistic of a case": statistic,
    "texts only": lambda _: TextsOnly(2),
    "task": task,
    "tested law": lambda _: Tested((statistic(),), NEEDS),
    "group of vectors": lambda _: Group("tokens", "a rule", (-1,), False, PAIR),
    "pair of vectors": lambda _: PAIR,
}
