"""All that the note shows, computed into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from docs.note import cost, examples, letters, pictures, trace, verifiers
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
    examples.drawn_example(results)
    examples.small_pairs(results)
    examples.wrong_choices(results)
    examples.at_random(results, 10 if settings.quick else INSTANCES)
    gain = PooledGain.compute(settings)
    distinct = trace.DistinctDrafts.compute(settings)
    trace.heights(results)
    trace.bundled(results, settings, gain, distinct)
    trace.pools(results, gain)
    trace.texts(results)
    trace.trees(results)
    letters.exactly(results, settings)
    letters.trees(results, settings)
    cost.measured(results, 1 if settings.quick else ROUNDS)
    cost.peers(results)
    verifiers.counterexamples(results)
    verifiers.blocks(results)
    verifiers.engines(results)
    verifiers.verdicts(results)
    drawn = pictures.write_all(folder, settings, gain, distinct)
    printed = {"numbers": results.numbers, "tables": results.tables, "pictures": drawn}
    write_text(folder / NUMBERS, json.dumps(printed, indent=1, sort_keys=True) + "\n")
    return results
