"""Every claim's check can fail: it refutes a wrong formula, bound or rule in place of its own."""

from importlib import import_module
from pathlib import Path

import pytest
from each_case import each
from mutating import wrong

from validation.claim import Counterexample
from validation.registry import CLAIMS
from validation.search import Search

FILES = sorted((Path(__file__).parent / "mutants").glob("[!_]*.py"))
MUTANTS = {
    identifier: mutant
    for path in FILES
    for identifier, mutant in import_module(f"mutants.{path.stem}").MUTANTS.items()
}


SEARCHES = Search(seconds=20.0, instances=60), Search(seconds=20.0)
"""The first comes to random instances soon, which refute what small ones do not."""


def test_every_claim_has_a_mutant():
    assert set(MUTANTS) == set(CLAIMS)


@pytest.mark.usefixtures("as_found")
@each("identifier", MUTANTS)
def test_the_mutant_is_refuted(identifier):
    with wrong(identifier, MUTANTS[identifier]) as tested:
        for extent in SEARCHES:
            outcome = tested.check(extent)
            if isinstance(outcome, Counterexample):
                break
    assert isinstance(outcome, Counterexample), MUTANTS[identifier]
