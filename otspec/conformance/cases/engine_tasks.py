"""What a check of an engine consists of, which drafts and verifies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from otspec._base import Array
from otspec.conformance.cases import library
from otspec.conformance.cases.arrays import Form, plain
from otspec.conformance.cases.cases import memoryless, prompted
from otspec.conformance.cases.generated import HISTORIES, DrawnToken, Texts, history_case
from otspec.conformance.cases.kinds import Kind, Tokens
from otspec.conformance.cases.settings import WARPINGS, engine_settings, telling_of, words_of
from otspec.conformance.cases.tasks import (
    DEPENDENT,
    IN_CALLS,
    Task,
    long_calls,
    pair_tasks,
    tasks_of,
)
from otspec.conformance.cases.text_cases import beside_texts, text_cases
from otspec.conformance.cases.warping import Warped, shifted_logits, warped_by
from otspec.conformance.engines import Engine, TextEngine, TokenEngine
from otspec.conformance.evidence.batches import BesideOthers


def engine_tasks(
    function: Any, form: Form, kind: Kind, vocabulary: int, entries: int
) -> list[Task]:
    """Return the tasks of an engine that drafts and verifies."""
    if isinstance(kind, Tokens):
        engine: Engine = TokenEngine(function, form)
        generated: Kind = DrawnToken(kind.k, kind.law)
        cases = library.cases_of(generated, vocabulary, uneven=False)
        differing = library.in_calls(generated, "", uneven=False)
        alike = memoryless("", *library.ROWS["all positive"])
        beside = []
    else:
        engine, generated = TextEngine(function, form), Texts(kind)
        cases = text_cases(generated.length, vocabulary)
        differing = cases[:1]
        alike = prompted("", [(2, 1)] * 2, [(1, 2)] * 2, 1)
        other = beside_texts()
        beside = [Task(engine, generated, other, other, BesideOthers)]
    tasks = [
        *pair_tasks(engine, generated, [alike], DEPENDENT),
        *long_calls(engine, generated, [replace(differing[0], name="")], vocabulary, entries),
        *tasks_of(engine, generated, cases),
        *beside,
    ]
    named = ((replace(differing[0], name=words), each) for each, words in IN_CALLS)
    sized = (Task(engine, generated, case, case, each) for case, each in named)
    return [
        *(_warped(task, engine, turn, WARPINGS) for turn, task in enumerate(tasks)),
        *(own for task in sized for own in _by_settings(task, engine)),
        *_histories(engine, generated),
    ]


def _by_settings(task: Task, engine: Engine) -> list[Task]:
    """Return a task without settings, and with each that an engine takes, which are numbered."""
    settings = telling_of(tuple(engine.wanted), _target_logits(task, engine))
    made = [_warped(task, engine, turn, settings) for turn in range(len(settings))]
    each = {repr(it.law.settings): it for it in made if isinstance(it.law, Warped)}
    return [
        replace(it, law=replace(it.law, name=f"{it.law.name} ({number})"))
        for number, it in enumerate(each.values(), start=1)
    ] + [task]


def _histories(engine: Engine, kind: Kind) -> list[Task]:
    """Return the tasks of texts whose target depends on all of the text before."""
    tasks = []
    for option, value in HISTORIES.items():
        if option in engine.names and option in engine.wanted:
            case, law = history_case(option)
            tasks.append(Task(replace(engine, options={option: value}), kind, case, law))
    return tasks


def _warped(task: Task, engine: Engine, turn: int, settings: Sequence[Mapping[str, Any]]) -> Task:
    """Return a task with as much of warping as an engine takes, and has only one meaning."""
    case = task.case
    logits = _target_logits(task, engine)
    pairs = engine_settings(tuple(engine.wanted), turn, logits, case.vocabulary, settings)
    # Of tokens that share a symbol's probability warping leaves other shares.
    if not pairs or case.sizes.max() > 1:
        return task
    law = replace(warped_by(case, pairs, logits), name=f"{case.name}, {words_of(pairs)}")
    return replace(task, verifier=replace(engine, settings=law), law=law)


def _target_logits(task: Task, engine: Engine) -> Array:
    logits: Array = plain(engine.form.own(shifted_logits(task.case, "target"))).astype(float)
    return logits
