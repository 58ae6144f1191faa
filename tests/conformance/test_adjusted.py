"""Names of an engine's own, more tokens than a case has, reserved ids, and laws of drafts."""

import numpy as np
import pytest

from otspec import batch
from otspec.conformance import check
from otspec.conformance.cases.arrays import placed
from otspec.conformance.cases.cases import embedded, memoryless, spread

QUICK = {"detect": 0.3, "coarse": 0.6, "vocabulary": 41, "entries": 64}
ROWS = memoryless("rows", (1, 2, 1), (2, 1, 1))


def verify(p, q, x, rng, *, scale=1.0):
    """Verify in names of its own."""
    tokens = []
    for offered, wanted, (token, *_) in zip(p, q, x, strict=True):
        kept = rng.random() * offered[token] * scale < wanted[token]
        rest = np.maximum(wanted - offered, 0).astype(float)
        tokens.append(token if kept else rng.choice(len(rest), p=rest / rest.sum()))
    return np.array(tokens)


NAMES = {"p": "draft", "q": "target", "x": "drafts"}


def test_parameters_may_have_other_names():
    report = check(verify, names=NAMES, mode="exact", shape=1)
    assert report.passed
    assert report.verifier.endswith(".verify")


def test_they_may_be_given_by_place_alone():
    def by_place(p, q, x, rng, /):
        return verify(p, q, x, rng)

    assert check(by_place, names=NAMES, mode="exact", shape=1).passed


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"r": "draft"}, "the verifier takes p, q, x, rng, scale"),
        ({"p": "dr aft"}, "names maps 'p' to 'dr aft'"),
        ({"p": "draft", "q": "draft"}, "two parameters get the same name"),
        ("p=draft", "it must be a dict"),
        ({"p": "draft"}, "verifier takes 'q'"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        check(verify, names=names, mode="exact", shape=1)


@pytest.mark.parametrize("mode", ["kernel", "exact"])
def test_no_text_has_a_reserved_id_and_no_row_fewer_tokens(mode):
    widths, seen = set(), set()

    def watched(draft, target, drafts, rng):
        widths.add(draft.shape[-1])
        seen.update(np.asarray(drafts).ravel().tolist())
        assert not draft[:, [0, 2]].any()
        assert not target[:, [0, 2]].any()
        return verify(draft, target, drafts, rng)

    options = {"least_vocabulary": 16, "reserved": {0, 2}, "shape": 1, "mode": mode}
    report = check(watched, **options, **(QUICK if mode == "kernel" else {}))
    assert report.passed, report
    assert min(widths) == 16
    assert {1, 3, 4, 5} <= seen
    assert not {0, 2} & seen


def test_causes_are_found_in_placed_cases_too():
    def lenient(draft, target, drafts, rng):
        return verify(draft, target, drafts, rng, scale=0.8)

    report = check(lenient, mode="exact", shape=1, least_vocabulary=9, reserved=[1])
    assert report.findings[0].looks_like == ("lenience factor",)


def test_symbols_move_to_the_nearest_free_id():
    small = placed(ROWS, 6, (1,))
    assert small.symbols.tolist() == [0, 3, 1, 2, 3, 3]
    assert placed(ROWS, 2, ()) is ROWS
    wide = placed(embedded(ROWS, 9, (0, 8, 4)), 6, (0, 4, 5))
    assert [int(np.flatnonzero(wide.symbols == symbol)[0]) for symbol in range(3)] == [1, 8, 3]
    dense = placed(spread(ROWS, 9), 6, (0, 8))
    assert dense.symbols.tolist() == [3, 0, 0, 1, 1, 1, 2, 2, 3]


def test_too_many_reserved_ids_are_refused():
    with pytest.raises(ValueError, match=r"reserved is .*: pass at most 1 ids$"):
        check(batch.maximal_coupling, shape=1, vocabulary=9, reserved=range(3))
    with pytest.raises(ValueError, match="for equality"):
        check(batch.maximal_coupling, shape=1, same_seed=True, reserved=[0])


def target_only(target, rng):
    """Draw from the target, whatever is drafted."""
    sums = np.cumsum(target, axis=1)
    return (sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1)


def test_drafts_are_drawn_from_a_law_without_a_rule_that_is_held_to():
    report = check(target_only, drafts="hub", shape=2, **QUICK)
    assert report.passed
    assert check(batch.spechub, drafts="hub", shape=2, **QUICK).passed
    assert check(batch.spechub, shape=2, **QUICK).outcome == "failed"


@pytest.mark.parametrize(
    "options",
    [{"drafts": "hub", "distinct": True}, {"drafts": "iid", "rule": "spechub", "shape": 2}],
)
def test_one_law_of_drafts_is_asked_for(options):
    with pytest.raises(ValueError, match="of how drafts are drawn: leave one out"):
        check(target_only, **options)
