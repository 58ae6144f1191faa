"""Batch rules against one pass over their inputs, and their memory against the inputs' own."""

import numpy as np
import pytest
from batch_rules import one_pass, problems
from machines import traced_peak

from otspec import batch

GOALS = {"k_sequential": 8, "pooled_selection": 10, "pooled_selection_without_replacement": 20}
"""At (32, 128256), k = 4."""
COPIES = 1.5
"""From logits at (32, 128256), k = 4, in copies of both inputs."""
MEMORY = 3
NOISE = 1.5
"""How far a ratio of two medians may be off on a shared machine."""


@pytest.mark.parametrize("k", [2, 4, 8])
@pytest.mark.parametrize("rows", [1, 32])
@pytest.mark.parametrize("vocabulary", [32_000, 128_256])
def test_rules_against_one_pass(vocabulary, rows, k, report_ratio):
    for name, arguments in problems(vocabulary, rows, k).items():
        if k != 4 and arguments[2].shape[-1] != k:
            continue  # k makes no difference to it
        draft, target = arguments[:2]
        rule = getattr(batch, name)
        goal = GOALS.get(name) if (vocabulary, rows, k) == (128_256, 32, 4) else None
        measured = report_ratio(
            f"batch.{name}, float32 ({rows}, {vocabulary:,}), k = {arguments[2].shape[-1]}",
            lambda rule=rule, arguments=arguments: rule(*arguments),
            "np.minimum(draft, target).sum(-1)",
            lambda draft=draft, target=target: one_pass(draft, target),
            f"at most {goal}x" if goal else "informational",
            rounds=9,
        )
        assert goal is None or measured.ratio < NOISE * goal


@pytest.mark.parametrize("threads", [1, 2])
def test_rules_from_logits_against_a_copy(threads, report_ratio, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    for name, arguments in problems(128_256, 32, 4).items():
        if arguments[0].ndim != 2:
            continue
        models = [np.log(rows) for rows in arguments[:2]]
        rooms = [np.empty_like(rows) for rows in models]  # one for each, as for a copy that is kept
        given = [torch.from_numpy(np.ascontiguousarray(part)) for part in (*models, *arguments[2:])]
        measured = report_ratio(
            f"batch.from_logits, {name}, float32 (32, 128,256), k = {arguments[2].shape[-1]}, "
            f"threads: {threads}",
            lambda name=name, given=given: batch.from_logits(name, *given),
            "a copy of both inputs by one thread",
            lambda models=models, rooms=rooms: [*map(np.copyto, rooms, models)],
            f"at most {COPIES}x",
            rounds=15,
        )
        assert measured.ratio < NOISE * COPIES


@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize("rows", [1, 32])
def test_shared_noise_against_one_reading_of_the_target(rows, logits, report_ratio):
    """Draft probabilities are not needed: one pass reads the target and the noise."""
    draft, target, *_ = problems(128_256, rows, 4)["k_sequential"]
    noise = batch.shared_noise(target, np.arange(rows), 1)
    drafts = batch.sample_from_noise(draft, noise, 4)
    target = np.log(target) if logits else target

    def verify():
        return batch.gumbel_coupling(target, drafts, noise, logits=logits)

    goal = None if rows == 1 else 3
    measured = report_ratio(
        f"batch.gumbel_coupling, float32 {'logits ' * logits}({rows}, 128,256), k = 4",
        verify,
        "np.minimum(target, noise).sum(-1)",
        lambda: one_pass(target, noise),
        f"at most {goal}x" if goal else "informational",
        rounds=9,
    )
    assert goal is None or measured.ratio < NOISE * goal
    # Beyond its inputs it needs the times of the race, and of probabilities their absolute values.
    assert traced_peak(verify) < 1.1 * (target.nbytes + noise.nbytes)


@pytest.mark.parametrize("rows", [1, 32])
def test_memory_beyond_the_inputs(rows):
    for name, arguments in problems(128_256, rows, 4).items():
        draft, target = arguments[:2]
        peak = traced_peak(lambda name=name, arguments=arguments: getattr(batch, name)(*arguments))
        inputs = draft.nbytes + target.nbytes
        # The inputs themselves count too: what is needed beyond them is at most twice as much.
        assert peak + inputs < MEMORY * inputs, name


@pytest.mark.parametrize("k", [2, 64])
@pytest.mark.parametrize(("rows", "dtype"), [(32, "float32"), (1, "float32"), (1, "float64")])
def test_the_optimum_against_one_pass(rows, dtype, k, report_ratio):
    arguments = problems(128_256, rows, 4)["k_sequential"]
    draft, target = (part.astype(dtype) for part in arguments[:2])
    measured = report_ratio(
        f"batch.optimal_acceptance, {dtype} ({rows}, 128,256), k = {k}",
        lambda: batch.optimal_acceptance(draft, target, k),
        "np.minimum(draft, target).sum(-1)",
        lambda: one_pass(draft, target),
        "at most 25x",
        rounds=5,
    )
    assert measured.ratio < NOISE * 25
    peak = traced_peak(lambda: batch.optimal_acceptance(draft, target, k))
    assert peak < 0.2 * (draft.nbytes + target.nbytes)


@pytest.mark.parametrize("k", [2, 8])
def test_paths_against_one_pass_over_the_chosen_one(k, report_ratio):
    rows, length, vocabulary = 4, 2, 128_256
    draft, target, *_ = problems(vocabulary, rows, 4)["k_sequential"]
    rng = np.random.default_rng(0)
    drafts = rng.integers(0, vocabulary, (rows, k, length))
    many = [
        np.broadcast_to(part[:, None, None], (rows, k, places, vocabulary))
        for part, places in ((draft, length), (target, length + 1))
    ]
    uniforms = rng.random((rows, length + 1), dtype=np.float32)
    one = [part[:, 0, :length] for part in many]
    report_ratio(
        f"batch.greedy_multi_path, float32 ({rows}, {k}, {length}, {vocabulary:,})",
        lambda: batch.greedy_multi_path(*many, drafts, uniforms),
        "np.minimum(draft, target).sum(-1) of one path",
        lambda: np.minimum(*one).sum(-1),
        "informational",
        rounds=5,
    )


@pytest.mark.parametrize(
    ("verify", "numbers", "options"),
    [
        (batch.tree_verification, (4, 5), {"rule": "recursive_rejection"}),
        (batch.tree_verification, (4, 5), {"rule": "pooled_selection"}),
        (batch.traversal_verification, (9,), {}),
    ],
)
def test_trees_against_one_pass_over_a_row_of_each_depth(verify, numbers, options, report_ratio):
    rows, vocabulary, parents = 4, 128_256, (-1, -1, -1, -1, 0, 0, 1, 4)
    draft, target, *_ = problems(vocabulary, rows, 4)["k_sequential"]
    rng = np.random.default_rng(0)
    places = [
        np.stack([np.roll(each, i, axis=0) for i in range(len(parents) + 1)], axis=1)
        for each in (draft, target)
    ]
    drafts = rng.integers(0, vocabulary, (rows, len(parents)))
    uniforms = rng.random((rows, *numbers), dtype=np.float32)
    path = [part[:, :3] for part in places]
    name = " of ".join([verify.__name__, *options.values()])
    report_ratio(
        f"batch.{name}, float32 ({rows}, 9, {vocabulary:,}), depth 3",
        lambda: verify(*places, drafts, uniforms, parents, **options),
        "np.minimum(draft, target).sum(-1) of three places",
        lambda: np.minimum(*path).sum(-1),
        "informational",
        rounds=5,
    )
