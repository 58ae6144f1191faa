"""What an object says does not change: by its arrays, by those that it was made of, by copies."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import re
from dataclasses import is_dataclass
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from each_case import each
from frozen_instances import EXACT, FLOAT
from frozen_walk import Give, answers, plain, try_to_change
from plain_instances import PLAIN
from searching import NIGHTLY

import otspec
from otspec._base.arithmetic import as_numbers
from otspec._base.frozen import Frozen, cached_property, frozen, read_only
from otspec.blocks.trees.verifiers.nodes import Nodes
from otspec.chance import Chance
from otspec.conformance.faults.shared_noise import SharedNoise
from otspec.conformance.report import certificate
from otspec.distributions import as_distribution

NOT_WALKED = {
    "Frozen": "the base class itself",
    "Shown": "its own base class",
    **dict.fromkeys(("Card", "Verbatim", "Fields"), "what is shown of a result"),
    "cached_property": "a descriptor",
    "ProgramBuilder": "a builder, which is there to be changed",
    "Rows": "a part of a program, and a list of results, which is there to be added to",
    "Registry": "a table, which is there to be added to",
    "OrderSearch": "a search, which orders are added to",
    "Knots": "a search, which prefixes are added to",
    "Quantity": "what an exact number and an estimate share",
    "Ordered": "a part of a Pair, which is walked",
    **dict.fromkeys(("NodePlan", "Order"), "a part of a PlannedTree, which is walked"),
    **dict.fromkeys(("LastToFirst", "Traversal"), "a program, which rules have"),
    **dict.fromkeys(
        ("NodeCounts", "NodeSlopes", "Expansion"), "a part of an integral while it is computed"
    ),
    "Growing": "a tree that is being drafted, which nodes are added to",
    **dict.fromkeys(
        ("Heaviest", "Left", "Levels"), "numbers of DistinctPaths while it draws, which is walked"
    ),
    **dict.fromkeys(("Stage", "Drawn"), "what a selection has come to, until its next stage"),
    "Undrawn": "a token whose draw is left for last, which exists while a step is followed",
    "Crash": "holds whatever exception foreign code has raised",
    "Chance": "draws random numbers, which differ each time",
    **dict.fromkeys(
        (
            "Uniform",
            "RandomNumber",
            "Racer",
            "Product",
            "Products",
            "Chosen",
            "Pending",
            "Ledger",
            "Stream",
            "Streams",
            "TorchStreams",
        ),
        "a random number, or tokens to be drawn: more is known of them with each look",
    ),
    **dict.fromkeys(
        ("Draws", "FollowedGenerator", "FollowedRandom", "FollowedState"),
        "generators, which are there to draw",
    ),
    **dict.fromkeys(
        (
            "Randomness",
            "Followed",
            "Key",
            "KernelBatches",
            "StepBatches",
            "SingleRows",
            "AmongTokens",
            "OddRows",
            "FewRows",
            "RowsBeside",
            "RowsApart",
            "FewBeside",
            "BesideRejected",
            "BesideOthers",
            "RowPairs",
            "WarpedPairs",
            "DraftlessPairs",
            "CallPairs",
            "WarpedCallPairs",
            "FewerPairs",
            "FewerCallPairs",
            "DraftlessCallPairs",
        ),
        "hold generators, which are there to draw",
    ),
    **dict.fromkeys(
        ("Product", "Products"), "products of random numbers, of which more is known with each look"
    ),
    **dict.fromkeys(
        ("RightRule", "Candidate"),
        "hold or return programs, which are functions that do not pickle",
    ),
    **dict.fromkeys(("BlockReader", "TextRows", "LoggedText"), "read a file as they are looked at"),
    **dict.fromkeys(
        ("Advice", "LoadAdvice"), "answers with data frames, which compare with nothing"
    ),
    "FinishedRun": "answers with a lazy frame, which compares with nothing",
    "SmallModel": "a model that an engine is handed",
    "Looked": "a protocol",
    "Call": "a call of a function of PyTorch, with whatever arguments it has",
    "TransformerReader": "a transformers model, which pickles by its own means",
    "Letters": "a flag and n-gram models, which are walked over with a shorter text",
    "Models": "transformers models, which pickle by their own means",
    "Shelf": "a folder that is being filled",
    **dict.fromkeys(
        ("Simplex", "Factors", "GumbelRace", "Panel", "Sorted", "Means"),
        "numbers that a computation goes through",
    ),
    "Compact": "a place in a file that is being read",
    "NamedModels": "options of a command line",
}
"""Classes without an instance, and why; those of otspec.batch and otspec.learning are of any array
library."""


def pickled(thing, protocol):
    """Return what comes out of a pickle of an object."""
    return pickle.loads(pickle.dumps(thing, protocol))  # noqa: S301


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {protocol}": partial(pickled, protocol=protocol)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}
WAYS = ("copy", "deepcopy", f"pickle {pickle.HIGHEST_PROTOCOL}")
"""Whose copies are asked; the other protocols take and leave the same attributes."""
USED = {f"{name}, used": COPIES[name] for name in WAYS}
"""Copies of what has answered."""

KINDS = {
    **{f"{name}, exact": (make, True) for name, make in EXACT.items()},
    **{f"{name}, floats": (make, False) for name, make in {**EXACT, **FLOAT}.items()},
    **{name: (make, True) for name, make in PLAIN.items()},
}


def made(kind, how="writeable"):
    make, exact = KINDS[kind]
    give = Give(exact, how)
    return make(give), give


def classes():
    """All classes that do not depend on an array library."""
    for module in pkgutil.walk_packages(otspec.__path__, "otspec."):
        if module.name.startswith(("otspec.cli", "otspec.batch", "otspec.learning.")):
            continue
        if "__main__" in module.name:
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and kind.__module__ == module.name:
                yield kind


def test_every_class_has_an_instance():
    wanted = {kind for kind in classes() if kind.__name__[0] != "_"}
    wanted = {
        kind for kind in wanted
        if not inspect.isabstract(kind) and not issubclass(kind, (Enum, Exception))
        and kind.__name__ not in NOT_WALKED and kind.__name__ != "SingleDraftLaw"
        and not issubclass(kind, (Chance, SharedNoise))  # which make random choices
        and not getattr(kind, "_is_protocol", False)
    }  # fmt: skip
    kinds = {type(make(Give(exact, "writeable"))) for make, exact in dict(KINDS.values()).items()}
    assert wanted <= kinds, sorted(kind.__name__ for kind in wanted - kinds)


def test_no_field_of_a_dataclass_is_set_anew():
    """Except of those that stand for what a computation has come to."""
    open_ones = {
        f"{kind.__module__}.{kind.__name__}".removeprefix("otspec.") for kind in classes()
        if is_dataclass(kind) and not kind.__dataclass_params__.frozen
    }  # fmt: skip
    assert open_ones == {"files.pickled._Part"}
    # Modules that depend on an array library are read and not imported.
    for path in Path(otspec.__path__[0]).glob("batch/**/*.py"):
        marks = re.findall(r"^@dataclass.*", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert all("frozen=True" in mark for mark in marks), path


@each("kind", KINDS)
def test_what_holds_arrays_is_equal_to_itself_alone_and_a_key(kind):
    """Arrays have no truth value: comparing them field by field would raise."""
    (thing, _), (again, _) = made(kind), made(kind)
    if not isinstance(thing, Frozen):
        return
    assert {thing: 1}[thing] == 1
    if any(isinstance(value, np.ndarray) for value in vars(thing).values()):
        assert thing == thing
        assert again is thing or thing != again
    if isinstance(thing, Nodes):  # which are equal if their models are the same objects
        return
    # Others are equal by all that they say or by themselves, no matter what copies share.
    assert (copy.copy(thing) == thing) == (copy.deepcopy(thing) == thing)


@pytest.fixture(autouse=True)
def one_moment(monkeypatch):
    """A certificate says when it was made: here always at the same time."""
    always = SimpleNamespace(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(certificate, "datetime", always)


@each("kind", KINDS)
def test_what_an_object_says_does_not_change(kind):
    thing, _ = made(kind)
    fresh = {name: copied(thing) for name, copied in COPIES.items()}
    held = plain(fresh[WAYS[-1]])
    answered = answers(thing)
    said = plain(answered)
    it_does_not_change_with_what_it_was_made_of(kind, said)
    seen, _ = try_to_change(thing, answered)
    assert seen or kind in PLAIN
    used = {name: copied(thing) for name, copied in USED.items()}
    asked = copies_asked(kind)
    for name, other in (fresh | used).items():
        assert type(other) is type(thing)
        cannot_be_changed_either(other, held, said if name in asked else None)
    assert plain(answers(thing)) == said


def copies_asked(kind):
    """Names of copies: by day two in turn, a fresh one and a used one; the others hold the same."""
    turn = list(KINDS).index(kind)
    used = list(USED)
    return {*WAYS, *used} if NIGHTLY else {WAYS[turn % 3], used[(turn + 1) % 3]}


def it_does_not_change_with_what_it_was_made_of(kind, said):
    for how in ("writeable", ("flagged", "view")[list(KINDS).index(kind) % 2]):
        thing, give = made(kind, how)
        assert give.kept or kind in PLAIN
        give.change_all()
        assert plain(answers(thing)) == said, how


def cannot_be_changed_either(copied, held, said):
    """A copy holds what another does, and if it is asked, says the same as the object."""
    if said is None:
        try_to_change(copied, ())
        assert plain(copied) == held
        return
    answered = answers(copied)
    assert plain(answered) == said
    _, written = try_to_change(copied, answered)
    if written:
        assert plain(answers(copied)) == said


@each("check", [as_distribution, as_numbers])
@each("dtype", [np.float16, np.float32, np.float64, np.int64, object])
@each("how", ["writeable", "flagged", "view"])
def test_what_is_checked_shares_no_memory_with_a_caller(check, dtype, how):
    give = Give(exact=False, how=how)
    own = np.array([0, 1, 0], dtype=dtype)
    give.kept.append(own)
    passed = own if how == "writeable" else own[:] if how == "view" else own
    passed.flags.writeable = how == "writeable"
    checked = check(passed, "it")
    give.change_all()
    assert checked.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="WRITEABLE"):
        checked.flags.writeable = True


def test_a_checked_array_is_shared_and_not_copied():
    checked = as_distribution(np.array([0.5, 0.25, 0.25]))
    for again in (checked, checked[1:], checked.reshape(3, 1)):
        assert np.shares_memory(read_only(again), checked)
        assert read_only(again) is again
    assert as_distribution(checked) is checked
    assert otspec.IID(checked, 2).draft is checked


@each(
    "values",
    [np.zeros(0), np.zeros((0, 3)), np.array(0.5), np.eye(3)[:, ::2], np.array(["a", "bc"]),
     np.array([True, False]), np.eye(2, dtype=">f4"), np.array([Fraction(1, 2)])],
)  # fmt: skip
def test_read_only_keeps_shape_and_type(values):
    kept = read_only(values)
    assert kept.dtype == values.dtype
    assert kept.shape == values.shape
    assert kept.tolist() == values.tolist()
    with pytest.raises(ValueError, match="WRITEABLE"):
        kept.flags.writeable = True


def test_frozen_looks_into_tuples_and_dictionaries():
    own = np.array([1.0, 2.0])
    pair = Pair({(0, 1): own}, own)
    kept = frozen((pair, {"a": (own, 3)}, "text"))
    own[:] = 0
    assert isinstance(kept[0], Pair)
    for array in (kept[0].second, kept[0].first[0, 1], kept[1]["a"][0]):
        assert array.tolist() == [1.0, 2.0]
        assert not array.flags.writeable
    tokens = tuple(range(5))
    assert frozen(tokens) is tokens


def test_what_a_new_class_remembers_is_read_only_and_not_pickled():
    kept = Remembering()
    assert not kept.squares.flags.writeable
    assert set(vars(copy.copy(kept))) == {"size"}
    assert Remembering.squares.__doc__ == "The squares."


class Pair(NamedTuple):
    """A tuple of arrays."""

    first: dict[tuple[int, int], np.ndarray]
    second: np.ndarray


class Remembering(Frozen):
    """A class outside the package."""

    def __init__(self):
        self.size = 3

    @cached_property
    def squares(self):
        """The squares."""
        return np.arange(self.size) ** 2
