"""All that the note and its companion show, computed into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from docs.note import (
    companion,
    cost,
    evidence,
    examples,
    letters,
    peer,
    pictures,
    precise,
    trace,
    truncated,
    verifiers,
)
from docs.note.results import Results
from figures.contract import Settings
from figures.pooled_gain import PooledGain
from otspec._base.writing import write_text
from otspec.version import __version__

NUMBERS = "numbers.json"
INSTANCES = 1_000
ROUNDS = 15


def compute(folder: Path, settings: Settings) -> Results:
    """Compute the numbers, tables and pictures, write them into a folder, and return the former.

    Parameters
    ----------
    folder : path
        Which exists. It gets ``numbers.json`` and the pictures as SVG.
    settings : Settings
        ``quick`` for a few instances and positions: every name is there, with numbers of no use.

    Returns
    -------
    Results
    """
    results = Results()
    results.add("version", __version__)
    examples.worked_example(results)
    examples.small_pairs(results)
    examples.wrong_choices(results)
    examples.at_random(results, 10 if settings.quick else INSTANCES)
    found = evidence.gathered(settings)
    evidence.shown(results, settings, found)
    truncated.table(results, settings)
    evidence.simulated(results, settings)
    evidence.training(results)
    precise.measured(results, settings)
    trace.heights(results)
    trace.pools(results, PooledGain.compute(settings))
    trace.texts(results)
    trace.trees(results)
    letters.exactly(results, settings)
    letters.trees(results, settings)
    rounds = 1 if settings.quick else ROUNDS
    cost.measured(results, rounds)
    cost.batched(results, rounds)
    peer.resolution(results)
    verifiers.counterexamples(results)
    verifiers.blocks(results)
    verifiers.engines(results)
    verifiers.verdicts(results)
    companion.example(results)
    companion.shared_noise(results, settings)
    companion.training(results, settings)
    drawn = pictures.write_all(folder, found)
    printed = {"numbers": results.numbers, "tables": results.tables, "pictures": drawn}
    write_text(folder / NUMBERS, json.dumps(printed, indent=1, sort_keys=True) + "\n")
    return results
