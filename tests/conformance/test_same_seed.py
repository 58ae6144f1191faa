"""Engines that promise the same text for the same seed: equality with plain decoding."""

from types import SimpleNamespace

import numpy as np
import pytest
import seeded_engines as engines
from searching import by_day

from otspec import batch
from otspec.conformance import adapters, check
from otspec.conformance.cases.cases import memoryless
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.faults import FAULTS
from otspec.conformance.faults.base import faults_of
from otspec.conformance.keyed import Plain
from otspec.conformance.same_seed import SameSeed

SMALL = {"same_seed": True, "vocabulary": 37, "entries": 48}
KINDS = ("tokens", "block", "tree")
SEVERAL = ("block", "tree")


@pytest.mark.parametrize("mode", ["kernel", "exact"])
@pytest.mark.parametrize("kind", KINDS)
def test_right_verifiers_pass(kind, mode):
    for one_seed in (False, True) if mode == "exact" else (kind == "tokens",):
        right = engines.verifier(kind, engines.Keys(), one_seed)
        report = check(right, kind=kind, mode=mode, **SMALL)
        assert report.passed, str(report)
        assert (report.same_seed, report.false_alarm, report.findings) == (True, 0.0, ())
        assert "texts are those of plain decoding (a correct verifier never fails)" in str(report)


ENGINES = {
    "tokens": engines.token_engine(engines.Keys()),
    "block": engines.decoder(engines.Keys()),
    "tree": engines.tree_decoder(engines.Keys()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_right_engines_pass(kind):
    report = check(ENGINES[kind], kind=kind, mode="pipeline", **SMALL)
    assert report.passed, str(report)
    assert sum(tried.size for tried in report.cases) > 100


# The fault of the table, and where it can be had.
FAULTY = {
    "noise of the first row for all rows": (engines.FirstRow, KINDS),
    "residual raced with the noise of its draft": (engines.Residual, KINDS),
    "one noise for neighboring positions": (engines.Neighbors, KINDS),
    "noise of a step's first position at all its positions": (engines.FirstPosition, SEVERAL),
    "noise of the last draft after a whole path": (engines.LastDraft, SEVERAL),
    "noise indexed by node": (engines.ByNode, ("tree",)),
    "noise counted from the beginning of each step": (engines.WithinStep, SEVERAL),
}
OF_PLAIN = ("one noise for neighboring positions", "noise counted from the beginning of each step")
"""What plain decoding has as well."""


PAIRS = [(name, kind) for name, (_, kinds) in FAULTY.items() for kind in kinds]


@pytest.mark.parametrize(
    "pair", by_day(PAIRS, [(name, kinds[0]) for name, (_, kinds) in FAULTY.items()])
)
def test_each_fault_is_found_and_named(pair):
    name, kind = pair
    verifier = engines.verifier(kind, FAULTY[name][0]())
    plain = engines.verifier(kind, engines.Keys())
    checks = [("exact", plain)]
    if kind == FAULTY[name][1][-1]:
        checks.append(("kernel", True))
    for mode, same_seed in checks:
        report = check(verifier, kind=kind, mode=mode, **SMALL | {"same_seed": same_seed})
        assert report.outcome == "failed"
        assert all(each.statistic == "the same seed" for each in report.findings)
        assert name in report.findings[0].looks_like[0].split(" or ")
        assert any(note.startswith(f"{name}: ") for note in report.notes)
        own = same_seed is True and name in OF_PLAIN
        assert (report.findings[0].case == "plain decoding") == own
        assert own or "differs first at position" in report.findings[0].reason


OF_SEEDS = {
    "0 is 1": lambda seed: seed or 1,
    "8 bits": lambda seed: seed % 2**8,
    "31 bits": lambda seed: seed % 2**31,
    "32 bits": lambda seed: seed % 2**32,
    "a float": lambda seed: int(float(seed)),
    "of a sign": lambda seed: seed + 2**32 if 2**31 <= seed < 2**32 else seed,
}
OF_POSITIONS = {
    "0 is 1": lambda position: position or 1,
    "8 bits": lambda position: position % 2**8,
    "12 bits": lambda position: position % 2**12,
    "16 bits": lambda position: position % 2**16,
    "at most 4,095": lambda position: min(position, 2**12 - 1),
}
CHANGED = {
    **{f"seed: {name}": engines.Changed(change) for name, change in OF_SEEDS.items()},
    **{f"position: {name}": engines.Changed(of_position=it) for name, it in OF_POSITIONS.items()},
}
"""Keys that are right for many seeds and positions, and not for all of their documented range."""


@pytest.mark.parametrize("one_seed", [False, True])
@pytest.mark.parametrize("change", CHANGED)
def test_numbers_that_are_cut_off_are_found(change, one_seed):
    wrong = engines.verifier("tokens", CHANGED[change], one_seed)
    plain = engines.verifier("tokens", engines.Keys(), one_seed)
    report = check(wrong, **SMALL | {"same_seed": plain})
    assert report.outcome == "failed", str(report)
    assert all(each.statistic == "the same seed" for each in report.findings)


@pytest.mark.parametrize(("kind", "mode"), [("block", "exact"), ("tree", "kernel")])
@pytest.mark.parametrize("change", ["seed: 32 bits", "position: 0 is 1", "position: 16 bits"])
def test_they_are_found_in_blocks_and_trees(change, kind, mode):
    wrong = engines.verifier(kind, CHANGED[change])
    plain = engines.verifier(kind, engines.Keys())
    assert check(wrong, kind=kind, mode=mode, **SMALL | {"same_seed": plain}).outcome == "failed"


@pytest.mark.parametrize("change", ["seed: 0 is 1", "seed: 31 bits", "seed: 32 bits"])
def test_they_are_found_in_decoders(change):
    wrong, plain = engines.tree_decoder(CHANGED[change]), engines.tree_decoder(engines.Keys())
    report = check(wrong, kind="tree", mode="pipeline", **SMALL | {"same_seed": plain})
    assert report.outcome == "failed"


def test_what_plain_decoding_shares_is_not_found():
    # The page says so: the comparison sees none of it, and plain decoding is tested at few keys.
    for change in ("seed: 32 bits", "position: 12 bits"):
        assert check(engines.verifier("tokens", CHANGED[change]), **SMALL).passed


def test_the_table_has_these_faults():
    listed = {fault.name for kind in KINDS for fault in faults_of(kind, same_seed=True)}
    assert listed == {*FAULTY, "noise indexed by step"}
    for name, (_, kinds) in FAULTY.items():
        assert FAULTS[name].kinds == kinds
        assert FAULTS[name].same_seed


def test_the_first_difference_is_named():
    def late(target, drafts, mask, positions, seeds, parents, draft):
        length, token = right(draft, target, drafts, mask, parents, positions, seeds)
        # One row of the batch has another token after two kept drafts.
        row = int(np.argmax(length == 2)) if len(length) > 1 and (length == 2).any() else None
        if row is not None:
            seen.append((int(seeds[row]), int(positions[row, 2]), int(token[row])))
            token[row] = (token[row] + 1) % target.shape[-1]
        return length, token

    right, seen = engines.verifier("block", engines.Keys()), []
    report = check(late, kind="block", **SMALL)
    seed, position, token = seen[0]
    assert report.findings[0].reason.startswith(
        f"seed {seed} differs first at position {position} of the text: it has token "
        f"{(token + 1) % 4}, and plain decoding has token {token}; 1 of "
    )
    assert report.findings[0].looks_like == ()
    assert "a function of the target's row, the seed of the request and the position" in str(report)


@pytest.mark.parametrize("fault", ["FirstRow", "FirstPosition", "LastDraft", "ByStep", "Residual"])
def test_decoders_with_a_fault_are_found(fault):
    keys = getattr(engines, fault)()
    kinds = {"tree": engines.tree_decoder(keys)}
    if fault != "FirstRow":  # of one text in each call
        kinds["block"] = engines.decoder(keys)
    for kind, engine in kinds.items():
        report = check(engine, kind=kind, mode="pipeline", **SMALL)
        assert report.outcome == "failed"
        assert any("differs first at position" in each.reason for each in report.findings), kind


PLAIN = {
    "Neighbors": "positions 2 i and 2 i + 1 have one token for all i",
    "OneOfAllPositions": "all positions have one token",
    "NoSeed": "two seeds give one text",
    "Fresh": "one seed gives two texts",
}


@pytest.mark.parametrize("fault", PLAIN)
def test_what_plain_decoding_has_too_is_found_there(fault):
    keys = getattr(engines, fault)()
    checks = [(engines.verifier(kind, keys), kind, "kernel") for kind in KINDS]
    checks += [
        (engines.decoder(keys), "block", "pipeline"),
        (engines.tree_decoder(keys), "tree", "pipeline"),
        (engines.token_engine(keys), "tokens", "pipeline"),
    ]
    for engine, kind, mode in checks:
        report = check(engine, kind=kind, mode=mode, **SMALL)
        assert report.outcome == "failed"
        assert report.findings[0].case == "plain decoding"
        assert PLAIN[fault] in report.findings[0].reason


def given(target, drafts, noise):
    return batch.gumbel_coupling(target, drafts, noise)


def gumbels(target, drafts, noise):
    """The same race of logits: argmax of log q + Gumbel."""
    return np.argmax(target - np.log(noise), axis=-1)


@pytest.mark.parametrize(
    ("arrays", "dtype"), [("numpy", "float16"), ("numpy", "float64"), ("torch", "float32")]
)
def test_noise_may_be_given(arrays, dtype):
    if arrays == "torch":
        pytest.importorskip("torch")
    report = check(given, arrays=arrays, dtype=dtype, seed=1, **SMALL)
    assert report.passed
    assert any("are left out: the first two arrive" in note for note in report.notes) == (
        dtype == "float16"
    )
    assert report.notes[-1].startswith("rows of fewer drafts are not tried")
    if arrays == "numpy":
        assert check(adapters.on_logits(gumbels), dtype=dtype, **SMALL).passed


def test_noise_of_a_neighbor_is_found_where_noise_is_given():
    def shifted(target, drafts, noise):
        won = np.argmin(
            np.where(target > 0, np.roll(noise, 1, axis=1), np.inf) / np.maximum(target, 1e-30),
            axis=2,
        )
        kept = (drafts == won[:, :-1]).cumprod(axis=1).sum(axis=1)
        return kept, won[np.arange(len(kept)), kept]

    assert check(shifted, kind="block", **SMALL).outcome == "failed"


def keyed(target, drafts, positions, seed):
    return batch.gumbel_coupling(target, drafts, batch.shared_noise(target, positions, seed))


def plainly(target, positions, seed):
    noise = batch.shared_noise(target, positions, seed)
    return batch.gumbel_coupling(target, np.zeros((len(target), 1), int), noise).token


def greedily(target, seed, positions):
    return (target.argmax(axis=1) + seed + positions) % target.shape[1]


def test_plain_decoding_may_be_another_function():
    assert check(keyed, **SMALL | {"same_seed": plainly}).passed
    report = check(keyed, **SMALL)
    assert report.outcome == "undecided"
    (probed,) = report.cases
    assert (probed.size, probed.counts.tolist()) == (0, [[0, 1]])
    assert "pass plain decoding as same_seed" in report.findings[0].reason
    assert check(keyed, **SMALL | {"same_seed": greedily}).outcome == "failed"


def test_rejection_sampling_is_none():
    def verify(draft, target, drafts, positions, seed):
        uniforms = np.random.default_rng([seed, *positions]).random(
            (len(drafts), drafts.shape[1] + 1)
        )
        return batch.recursive_rejection(draft, target, drafts, uniforms)

    report = check(verify, **SMALL | {"same_seed": plainly})
    assert report.outcome == "failed"
    assert report.findings[0].looks_like == ()


def test_an_engine_that_raises_is_undecided():
    def broken(target, drafts, noise):
        raise RuntimeError("no kernel")

    report = check(broken, **SMALL)
    assert report.outcome == "undecided"
    assert "RuntimeError: no kernel" in report.findings[0].reason


def keyless(drafts):
    return drafts[:, 0]


def seeded_by_nobody(drafts, rng):
    return rng.permutation(drafts)[:, 0]


REFUSED = {
    "verifier takes no noise": ((keyless,), {}),
    "verifier takes 'rng'": ((seeded_by_nobody,), {}),
    "rule is for laws": ((given,), {"rule": "maximal-coupling"}),
    "same_seed is 3": ((given,), {"same_seed": 3}),
    "too many ways|more than 20,000 ways to draft": ((given,), {"mode": "exact", "shape": 8}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_checked_is_refused(message):
    arguments, options = REFUSED[message]
    with pytest.raises(ValueError, match=message):
        check(*arguments, **SMALL | options)


@pytest.mark.parametrize(("gap", "sure"), [(0.02, False), (0.06, True)])
def test_a_race_is_clear_if_it_is_won_by_more_than_rounding(monkeypatch, gap, sure):
    # Rounding of both: of logarithms of 20 and 0.69, and of a probability: 2 * 21.69 / 1,000.
    noise = np.exp([-20.0, gap - 20.0])
    monkeypatch.setattr("otspec.conformance.keyed.noise_of", lambda *_: noise[None])
    plain = Plain(SimpleNamespace(form=None), True, 1e-3)
    assert plain._raced(memoryless("even", (1, 1), (1, 1)), 0, 0) == (0, sure)


@pytest.mark.parametrize("kind", [Tokens(1), Block.of_length(2)], ids=["tokens", "block"])
def test_engines_get_few_rows_of_the_large_vocabulary_alone(kind):
    asked = SameSeed(None, None, kind, "pipeline", seed=0, vocabulary=41, entries=16)
    tasks = list(asked._tasks())
    assert {task.large for task in tasks} == {False, True}
    assert all(task.large == (task.case.vocabulary in (32, 41)) for task in tasks)
