"""Instances of every class that holds no arrays, or arrays that are the caller's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from advice_instances import ADVICE
from conformance_instances import CONFORMANCE
from frozen_instances import DRAFT, LAW, TARGET, WITNESS, one_token

from otspec import (
    auditing,
    blocks,
    cones,
    conformance,
    decoding,
    drafts,
    models,
    optimum,
    rules,
    traces,
)
from otspec.auditing.report import problem_of
from otspec.batch import Verified, VerifiedBlock
from otspec.blocks import as_shape, policies
from otspec.blocks.policies.best_stopping import Costs
from otspec.blocks.trees.best.dynamic_tree import Grown
from otspec.blocks.trees.verifiers.leaf_to_root import Child, over_drafts
from otspec.blocks.trees.verifiers.traversal_verify import rejections
from otspec.cones.condition import Classifier
from otspec.cones.coordinates import Coordinates, Quotient
from otspec.cones.elimination import System
from otspec.cones.reach import Attempt, Reached
from otspec.conformance.faults import FAULTS
from otspec.conformance.vectors import answers as vector_laws
from otspec.decoding.decoder import Decoder, Drafting, EndingShape
from otspec.decoding.verification import (
    Reader,
    Reading,
    ReadModel,
    Request,
    RuleVerifier,
    SharedNoiseVerifier,
    Verdict,
)
from otspec.distributions import as_distribution
from otspec.estimate import Estimate, Exact
from otspec.files import FORMATS
from otspec.files.npy import Header, MappedArray
from otspec.files.npz import PackedArray
from otspec.files.parquet import Column
from otspec.files.safetensors import SafetensorsArray
from otspec.files.torch import TorchArray
from otspec.files.zarr import ZarrArray
from otspec.frames import columns_of
from otspec.logged import Ratio, Thresholded
from otspec.models.joint_contexts import JointContexts
from otspec.plots.axes import UNKNOWN
from otspec.programs.formulation import Size
from otspec.programs.sequences.chained_residuals import End
from otspec.reports.findings import Findings, Origin
from otspec.solvers import SOLVERS
from otspec.solvers.base import Certificate
from otspec.traces import Warp, Warping
from otspec.traces.accept_lengths import CountedCalls
from otspec.traces.collect.sampling import Part, Script
from otspec.traces.comparison import Row
from otspec.traces.draft_laws import LawMeans
from otspec.traces.readers import Source
from otspec.traces.runs import Failure, Run
from otspec.traces.runs.folder import RunFolder
from otspec.traces.runs.work import Chunk, Label, Settings
from otspec.traces.statistics import Key, Statistic
from otspec.traces.summary import TemperaturePair

TIMED = blocks.TimedTree(as_shape("1"), 0.5, 1.0)
SPACE = Coordinates(3, 2, "sets", acceptance=True)
PLACE = ("/folder/file", "draft_logits", (2, 3), "<f4")
PLACES = RunFolder(Path("/no/such/folder"))
SETTINGS = Settings((1, 2), ("iid",), (Warping(),))


def halves(prefix):
    """Return a language model's answer: equal chances, exchanged by the length of the prefix."""
    return ["1/3", "2/3"] if len(prefix) % 2 else ["1/2", "1/2"]


@dataclass(frozen=True)
class Halves(Reader):
    """A language model that reads and draws two tokens with equal chances."""

    n: int = 2
    length: int = 0

    def read(self, *_):
        return Reading((HALF,), self)

    def keep(self, *_):
        return self


HALF = as_distribution([0.5, 0.5])
SHAPE = as_shape("2x1")
ENDING = EndingShape(SHAPE, frozenset([1]))
READ = ReadModel(Halves(), (0,))
VERIFIER = RuleVerifier(drafts.IID, blocks.TokenVerification(READ, READ, 2), READ, READ)


def stored(kind, *more):
    """Return a source of stored arrays."""
    return kind(*PLACE, *more)


def statistic(_):
    return Statistic("rule", "iid", 2, 0.5, 0.6, 3, 1.0, 0.6, 2, (0, 1), (0, 1), {0.5: 0})


def source(_):
    """Return two models in a file."""
    array = stored(MappedArray, 80, False)
    return Source("file", "logits", array, array)


def chunk(give):
    """Return some positions of a source."""
    return Chunk(0, source(give), 0, 2)


CHAIN = models.memoryless(DRAFT)
PLAIN = {
    "price of a mask": lambda _: optimum.price_of_mask(drafts.Masked(LAW, [1]), TARGET),
    "costs": lambda _: Costs(Fraction(1, 2), Fraction(1)),
    "threshold": lambda _: policies.Tuned(Fraction(1), "load", Fraction(1, 2), 2),
    "policy": lambda _: policies.Policy("one", "one token", one_token, 1),
    "race of sequences": lambda _: policies.policies()["sequence-race"],
    "audit of a policy": lambda _: auditing.audit_policy(
        policies.Policy("one", "one token", one_token, 1), pairs=[(CHAIN, CHAIN)]
    ),
    "loss of a policy": lambda _: auditing.Loss(CHAIN, CHAIN, (0,), Fraction(1, 2), Fraction(1, 3)),
    **ADVICE,
    "total variation": lambda _: optimum.TotalVariation(Fraction(1, 20)),
    "divergence": lambda _: optimum.KullbackLeibler(0.1),
    "reverse divergence": lambda _: optimum.ReverseKullbackLeibler(0.1),
    "Renyi divergence": lambda _: optimum.Renyi(0.1, 2.0),
    # that hold no arrays, or arrays that are the caller's own
    **CONFORMANCE,
    "script of texts": lambda _: Script(length=2),
    "part of a trace": lambda _: Part("Why?", 3, depth=1),
    "callable": lambda _: models.CallableModel(halves),
    "counted law": lambda _: rules.NaiveSampling(DRAFT, TARGET, 2).accepted().counted,
    "n-grams": lambda _: models.NGramModel((0, 1, 1, 0), 2, 1),
    "a pool a token": lambda _: rules.ByToken(),
    "fewest pools": lambda _: rules.Fewest(),
    "bins of a partition": lambda _: rules.Bins(4),
    "grades": lambda _: rules.Graded(3),
    "estimate": lambda _: Estimate.of_mean(np.arange(10) / 10),
    "bounds": lambda _: Estimate.between(0.25, 0.5),
    "exact number": lambda _: Exact(0.25),
    "certificate": lambda _: Certificate(0, 0, 0, 0),
    "size": lambda _: Size(1, 2, 3),
    "solver": lambda _: SOLVERS["highs"],
    "comparison of blocks": lambda _: blocks.BlockComparison("rule", 2, 1.0, 1.5),
    "comparison of trees": lambda _: blocks.TreeComparison("2x1", "rule", 1.0),
    "tree that keeps most": lambda _: blocks.BestTree(as_shape("2x1"), 1.5),
    "seconds": lambda _: blocks.as_seconds("1:1,4:2"),
    "cost of a step": lambda _: blocks.StepCost(1.0, 2.0),
    "timed tree": lambda _: TIMED,
    "fastest tree": lambda _: blocks.FastestTree(as_shape("2x1"), 1.5, 2.0, {"chain": TIMED}),
    "grown node": lambda _: Grown((0, 1), 0.5),
    "counted calls": lambda _: CountedCalls((("token", "1x1"),), (Warping(),)),
    "ratio": lambda _: Ratio(0.5, 0.4, 0.6),
    "trees of a threshold": lambda _: Thresholded(0.5, 3.0, 1.5, 0.1),
    "configuration": lambda _: blocks.Configuration((2, 1), 1.5),
    "outcome": lambda _: blocks.Outcome((0,), 1, models.memoryless(DRAFT)),
    "contexts": lambda _: JointContexts(*[models.memoryless(DRAFT)] * 2, past=1),
    "end of a block": lambda _: End(0, (0,), 0),
    "decoded": lambda _: blocks.Decoded((0, 1), 1),
    "drafted": lambda _: blocks.DraftedTree.chain((0, 1), *[models.memoryless(DRAFT)] * 2),
    "token tree": lambda _: blocks.TokenTree.of_branching("2x1"),
    "shape": lambda _: SHAPE,
    "shape that ends": lambda _: ENDING,
    "tree of any shape": lambda _: as_shape("[top[][]][]"),
    "drafting": lambda _: Drafting({}, {-1: HALF}, Halves(), {-1: 0}, 1),
    "reading": lambda _: Halves().read((0,), (-1,), 1),
    "read model": lambda _: READ,
    "rule verifier": lambda _: VERIFIER,
    "shared noise": lambda _: SharedNoiseVerifier(drafts.IID),
    "pages of a column": lambda _: Column("x", 3, 8),
    "request": lambda _: Request(Halves(), (0,), (-1,), 1),
    "child": lambda _: Child(0, (1, 2), 0.5),
    "arrivals": lambda _: over_drafts(rules.RecursiveRejection(DRAFT, TARGET, 2), merge=True),
    "rejections": lambda _: next(rejections(HALF, HALF, 1.0, 2)),
    "verdict": lambda _: Verdict(0, 1, VERIFIER),
    "decoder": lambda _: Decoder((0,), Halves(), Halves(), ENDING, VERIFIER),
    "generated": lambda _: decoding.Generated((decoding.Step((0, 1), 1, 2, 2),), 2),
    "step of decoding": lambda _: decoding.Step((0, 1), 1, 2, 2),
    "audit of blocks": lambda _: auditing.BlockAudit(True, {(0,): 1}, 0, 0, None, 0, 1, 2),
    "known fault": lambda _: FAULTS["ratio upside down"],
    "audit of texts": lambda _: conformance.TextAudit(True, {(0,): 1}, 0, 0, None, 0),
    "finding": lambda _: conformance.Finding("alike", "law", "off", (1.0,), (1.0,)),
    "report of a check": lambda _: conformance.Report("block", "kernel", (), (), 1e-6),
    "group of vectors": lambda _: next(vector_laws.groups("block")),
    "pair of vectors": lambda _: next(vector_laws.groups("block")).pair,
    "audit of samples": lambda _: auditing.SampleAudit(True, 0.5, 0.1, 0.1, 0.1, 1, 10, None),
    "witness": lambda _: WITNESS,
    "problem": lambda _: problem_of(LAW, LAW.draft),
    "instance": lambda _: auditing.Instance((1, 2), (2, 1), 2),
    "search": lambda _: auditing.SearchReport(1, 0, 0, None, None),
    "cone": lambda _: cones.optimum_cone(2, 2),
    "condition": lambda _: cones.optimum_cone(2, 2).rays[-1],
    "classifier": lambda _: Classifier(SPACE),
    "coordinates": lambda _: SPACE,
    "quotient": lambda _: Quotient([(1, 1, -2)]),
    "system": lambda _: System(SPACE),
    "elimination": lambda _: cones.eliminate(2),
    "step": lambda _: cones.eliminate(2).steps[0],
    "polytope": lambda _: cones.selection_polytope(LAW),
    "reached": lambda _: Reached(1, 2, 3, True),
    "attempt": lambda _: Attempt("cone", 2, 2, None, 0.5),
    "verified": lambda _: Verified(np.array([1]), np.array([True]), np.array([0])),
    "verified block": lambda _: VerifiedBlock(np.array([1]), np.array([0])),
    "comparison": lambda _: traces.compare(DRAFT, TARGET, [2])[0],
    "summary": lambda _: traces.summarize([traces.compare(DRAFT, TARGET, [2])])[0],
    "temperatures": lambda _: TemperaturePair(1.0, 0.6),
    "key": lambda _: Key(1.0, 0.6, "iid", "rule", 2),
    "statistic": statistic,
    "findings": lambda give: Findings(statistic(give), [statistic(give)], None),
    "origin": lambda _: Origin("otspec trace", [("trace.npz", 1, "")]),
    "means of a law": lambda _: LawMeans(
        1.0, 0.6, "iid", 2, 0.5, (0.4, 0.6), 0.0, (0.0, 0.0), "rule", 0.5, 0.1, 3
    ),
    "warp": lambda _: Warp(0.5, min_p=0.1, order="temperature-last"),
    "warping": lambda _: Warping(0.5, top_p=0.9, draft=Warp(0.7)),
    "settings": lambda _: SETTINGS,
    "mapped": lambda _: stored(MappedArray, 80, False),
    "safetensors": lambda _: stored(SafetensorsArray),
    "torch": lambda _: stored(TorchArray),
    "zarr": lambda _: stored(ZarrArray),
    "packed": lambda _: stored(PackedArray, 80, False),
    "source": source,
    "chunk": chunk,
    "failure": lambda give: Failure(chunk(give), "file: it is gone"),
    "look": lambda _: UNKNOWN,
    "file format": lambda _: FORMATS[".npz"],
    "column": lambda _: columns_of(Row)[-1],
    "row": lambda _: Row("rule", "iid", 2, 0.5, 0.75),
    "header": lambda _: Header((2, 3), "<f2", False, 128),
    "places": lambda _: PLACES,
    "label": lambda _: Label("run", "source", 0, 2),
    "run": lambda give: Run(PLACES, (chunk(give),), SETTINGS, {"schema": 2}),
}
