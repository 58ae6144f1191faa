"""Rules straight from logits: exact laws, settings of each row, layouts, and what is refused."""

from __future__ import annotations

import itertools
import re
from functools import partial

import numpy as np
import pytest
from batch_backends import ONE_PATH, Backend, library
from batch_calls import CALLS
from batch_laws import law_of, residual_cuts
from batch_paths import PATHS, path, taking  # noqa: F401 # path is a fixture
from batch_table import RULES, drafts_of, reference_at_rho
from batch_tree_laws import integrated, law_of_batch, law_of_rule, law_of_selection
from each_case import each

from otspec import batch
from otspec.batch import VerifiedTree, _running
from otspec.batch._from_logits.settings import settings_of
from otspec.blocks import TokenTree, TraversalVerify
from otspec.models import TableModel
from otspec.traces import warp
from otspec.warping import STEPS

ROUNDING = 3e-7
"""Logits are float32: some hundred roundings of 2⁻²⁵ of each probability, at random."""
DRAFT = np.log([0.4, 0.3, 0.2, 0.1]).astype(np.float32) + 5
TARGET = np.array([np.log(0.1), np.log(0.25), -np.inf, np.log(0.35)], np.float32) - 3
SETTINGS = {
    "plain": {},
    "hot": {"temperature": (0.5, 1.5)},
    "greedy": {"temperature": (1.0, 0.0)},
    "cut": {"top_k": 3, "top_p": 0.9, "min_p": 0.2, "order": "joint"},
    "cut apart": {"top_k": (None, 2), "min_p": (0.3, None)},
}
LAWS = ["maximal_coupling", "recursive_rejection", "k_sequential", "spechub"]
BLOCKS = ["token_verification", "block_verification"]
TREES = ["tree_verification", "traversal_verification"]
LONGER = ["block_verification_preprint", "greedy_multi_path"]


def side(settings, which):
    """The settings of the draft, 0, or the target, 1."""
    return {
        name: value[which] if type(value) is tuple else value for name, value in settings.items()
    }


def exact(logits, settings):
    """The distribution that is meant, in float64 by another door; greedy rows by hand."""
    if settings.get("temperature") == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    return warp(logits.astype(float), **settings)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("case", SETTINGS)
@pytest.mark.usefixtures("path")
def test_the_joint_kernel_is_the_reference_s_for_the_warped_rows(name, case):
    settings = SETTINGS[case]
    draft, target = exact(DRAFT, side(settings, 0)), exact(TARGET, side(settings, 1))
    rule = reference_at_rho(name, draft, target, RULES[name].k or 2)
    k, n = rule.law.k, 4
    for x in rule.law.tuples()[0].tolist()[:: 3 if k > 1 else 1]:

        def outcome(uniforms, x=x):
            rows = len(uniforms)
            logits = (np.tile(part, (rows, 1)) for part in (DRAFT, TARGET))
            found = batch.from_logits(name, *logits, np.tile(x, (rows, 1)), uniforms, **settings)
            return np.where(found.index < 0, k, found.index) * n + found.token

        cuts = list(residual_cuts(rule, x))
        found = law_of(outcome, k + 1, (k + 1) * n, cuts).reshape(k + 1, n)
        np.testing.assert_allclose(found, rule.joint_kernel(x), rtol=0, atol=10 * ROUNDING)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.usefixtures("path")
def test_a_block_is_followed_by_the_warped_target_s_text(name):
    """Kept tokens, the next one and the target's own text after them, summed over all blocks."""
    settings, length, n = {"temperature": (0.7, 1.3), "top_k": (None, 2)}, 2, 3
    rows = [np.array(each, np.float32) for each in ([0.5, -0.25, 0], [1, 0.5, -np.inf])]
    draft, target = (exact(row, side(settings, i)) for i, row in enumerate(rows))
    text = np.zeros((n,) * (length + 1))
    for x in itertools.product(range(n), repeat=length):

        def outcome(uniforms, x=x):
            count = len(uniforms)
            logits = (np.tile(row, (count, length + i, 1)) for i, row in enumerate(rows))
            found = batch.from_logits(name, *logits, np.tile(x, (count, 1)), uniforms, **settings)
            return found.length * n + found.token

        law = law_of(outcome, length + 1, (length + 1) * n).reshape(length + 1, n)
        after = target[:, None] * target
        for tau, token in np.ndindex(law.shape):
            weight = draft[list(x)].prod() * law[tau, token]
            text[(*x[:tau], token)] += weight * (after, target, after.sum())[tau]
    wanted = target[:, None, None] * target[:, None] * target
    np.testing.assert_allclose(text, wanted, atol=10 * ROUNDING)


def problem(name, n, seed, rows=12):
    """Logits with masks, ties, equal rows and rows far apart; drafts and uniform numbers."""
    rng = np.random.default_rng(seed)
    block = name in BLOCKS
    lead = (rows, 3) if block else (rows,)
    draft, target = rng.normal(0, 2, (2, *lead, n)).round(1).astype(np.float32)
    target[1::4] = draft[1::4]
    draft[2::4] += 100
    for part in (draft, target):
        part[rng.random(part.shape) < 0.2] = -np.inf
        part[..., -1] = 0
    target = np.concatenate([target, target[:, :1]], axis=1) if block else target
    probabilities = batch.warp(draft)
    if block:
        drafts = batch.sample_iid(probabilities, rng.random((*lead, 1)))[..., 0]
    else:
        most = min(n, 3) if "without" in name else 3
        drafts = drafts_of(name, probabilities, rng.random((*lead, 3)), most)
    uniforms = rng.random((rows, drafts.shape[-1] + 1)) ** 0.3
    return draft, target, drafts, uniforms


def of_rows(rows, n):
    """Settings of each row, all kinds among each other, the draft's and the target's."""
    rng = np.random.default_rng(rows)
    return {
        "temperature": tuple(rng.choice([0, 0.5, 1, 3], (2, rows)).astype(np.float32)),
        "top_k": tuple(rng.choice([1, 3, n, 10 * n], (2, rows))),
        "top_p": tuple(rng.choice([0.3, 0.77, 1], (2, rows)).astype(np.float32)),
        "min_p": tuple(rng.choice([0, 0.11, 0.9], (2, rows)).astype(np.float32)),
        "order": ("temperature-last", "early-min-p"),
    }


def agree(found, wanted):
    assert type(found) is type(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("n", [1, 257])
@pytest.mark.parametrize("name", [*RULES, *BLOCKS])
def test_every_path_does_what_the_rule_does_with_warped_rows(name, n, monkeypatch):
    if name == "spechub" and n == 1:
        return  # one of the two drafts is off the likeliest token
    draft, target, drafts, uniforms = problem(name, n, 1)
    taken = []
    straight = _running.straight
    monkeypatch.setattr(
        _running,
        "straight",
        lambda *args, **more: taken.append(straight(*args, **more)) or taken[-1],
    )
    for settings in ({}, {"temperature": 0.7, "top_p": 0.9}, of_rows(12, n)):
        with taking("arrays"):
            rows = (batch.warp(row, **side(settings, i)) for i, row in enumerate((draft, target)))
            wanted = getattr(batch, name)(*rows, drafts, uniforms)
        for way in PATHS:
            with taking(way):
                agree(batch.from_logits(name, draft, target, drafts, uniforms, **settings), wanted)
                assert (taken[-1] is not None) == (way == "rows")
                known = batch.warp(draft, **side(settings, 0))
                given = known, target, drafts, uniforms
                agree(batch.from_logits(name, *given, draft_probabilities=True, **settings), wanted)


@pytest.mark.parametrize(
    "settings",
    [{"temperature": (0.5, 2.0)}, {"top_k": (3, 5)}, {"top_p": (0.9, 0.3)}, {"min_p": (0.05, 0.4)}],
    ids=lambda settings: next(iter(settings)),
)
@pytest.mark.usefixtures("path")
def test_each_setting_alone_may_be_one_of_the_draft_and_one_of_the_target(settings):
    *logits, drafts, uniforms = problem("maximal_coupling", 20, 2)
    rows = [batch.warp(row, **side(settings, i)) for i, row in enumerate(logits)]
    wanted = batch.maximal_coupling(*rows, drafts, uniforms)
    agree(batch.from_logits("maximal_coupling", *logits, drafts, uniforms, **settings), wanted)


@pytest.mark.parametrize("name", ["recursive_rejection", "token_verification"])
@pytest.mark.usefixtures("path")
def test_a_mask_and_options_are_the_rule_s(name):
    draft, target, drafts, uniforms = problem(name, 20, 2)
    mask = np.arange(3) < np.arange(12)[:, None] % 4
    hidden = np.where(mask, drafts, -7)
    wanted = getattr(batch, name)(*map(batch.warp, (draft, target)), hidden, uniforms, mask=mask)
    agree(batch.from_logits(name, draft, target, hidden, uniforms, mask=mask), wanted)
    pools = [
        batch.from_logits("pooled_selection", *problem("pooled_selection", 99, 5), grades=grades)
        for grades in (2, 50)
    ]
    assert (pools[0].index != pools[1].index).any()


@pytest.mark.parametrize("kind", [kind for kind in ONE_PATH if kind != "jax"])  # that compiles
def test_every_library_takes_settings_of_each_row(kind):
    backend = Backend(kind)
    draft, target, drafts, uniforms = problem("maximal_coupling", 300, 6, rows=3)
    settings = {
        "temperature": np.array([0, 0.5, 2], np.float32),
        "top_k": np.array([3, 3_000, 40]),
        "top_p": np.array([0.4, 1, 0.9], np.float32),
        "min_p": np.array([0, 0.05, 0], np.float32),
    }
    rule = partial(batch.from_logits, "maximal_coupling")
    wanted = rule(draft, target, drafts, uniforms, **settings)
    agree(backend.call(rule, draft, target, drafts, uniforms, **settings), wanted)


@pytest.mark.parametrize("name", [*TREES, *LONGER])
@pytest.mark.usefixtures("path")
def test_trees_and_longer_corrections(name):
    call = dict(CALLS[getattr(batch, name)])
    with np.errstate(divide="ignore"):
        draft, target = (np.log(call.pop(each)).astype("f4") for each in ("draft", "target"))
    drafts, uniforms = call.pop("drafts"), call.pop("uniforms")
    rows = batch.warp(draft, temperature=2.0), batch.warp(target, top_k=2)
    wanted = getattr(batch, name)(*rows, drafts, uniforms, *call.values())
    settings = {"temperature": (np.full(2, 2, np.float32), 1), "top_k": (None, np.full(2, 2))}
    found = batch.from_logits(name, draft, target, drafts, uniforms, **call, **settings)
    for one, other in zip(np.atleast_1d(*found[:2]), np.atleast_1d(*wanted[:2]), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("path")
def test_of_a_tree_only_rows_that_are_reached_are_looked_at():
    """Those of the text and of the nodes that are kept; settings are each row's own."""
    rng, tree, nodes = np.random.default_rng(0), (-1, -1, 0, 0, 1), 5
    draft, target = rng.normal(size=(2, 40, nodes + 1, 3)).astype(np.float32)
    drafts, uniforms = rng.integers(3, size=(40, nodes)), rng.random((40, 3, 3))
    settings = {"tree": tree, "temperature": rng.choice([0.5, 2], (40, nodes + 1))}
    wanted = batch.from_logits("tree_verification", draft, target, drafts, uniforms, **settings)
    assert set(wanted.length) == {0, 1, 2}
    for row, node in enumerate(wanted.node):
        reached = {-1, node, tree[node] if node >= 0 else -1}
        for other in set(range(nodes)) - reached:
            draft[row, other + 1] = target[row, other + 1] = np.nan
    assert np.isnan(draft).any()
    found = batch.from_logits("tree_verification", draft, target, drafts, uniforms, **settings)
    agree(found, wanted)
    rows = (batch.warp(part, temperature=settings["temperature"]) for part in (draft, target))
    agree(batch.tree_verification(*map(np.nan_to_num, rows), drafts, uniforms, tree), wanted)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_is_read_as_it_is(kind):
    """The law of the given logits, to the rounding of float32: 1e-3 would be that of half."""
    torch = library("torch")
    logits = np.random.default_rng(0).normal(0, 3, (8, 5_000))
    logits[:, ::7], logits[0, 3] = -np.inf, 6e-8
    given = torch.asarray(logits).to(getattr(torch, kind))
    wanted = torch.softmax(given.double(), -1).numpy()
    for taken in PATHS:
        with taking(taken):
            found = batch.warp(given)
            assert found.dtype == torch.float32
            assert np.abs(found.numpy() - wanted).sum(axis=1).max() / 2 < ROUNDING
            assert ((found.numpy() > 0) == (wanted > 0)).all()
            if kind == "float16" and taken == "rows":
                np.testing.assert_array_equal(batch.warp(given.numpy()), found.numpy())


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*RULES, *BLOCKS])
def test_half_precision_of_one_model_or_both_gives_the_same_tokens(name, kind):
    """Those of the same logits in float32, whose laws are integrated."""
    torch = library("torch")
    *logits, drafts, uniforms = map(torch.asarray, problem(name, 300, 3))
    halves = [part.to(getattr(torch, kind)) for part in logits]
    single = [part.float() for part in halves]
    wanted = batch.from_logits(name, *single, drafts, uniforms)
    # Both models are read by one function, whatever the rule; each pair takes seconds to compile.
    mixed = [(single[0], halves[1]), (halves[0], single[1])]
    for pair in (halves, *(mixed if name in ("k_sequential", *BLOCKS) else [])):
        agree(batch.from_logits(name, *pair, drafts, uniforms), wanted)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*TREES, *LONGER])
def test_half_precision_in_trees_and_longer_corrections(name, kind):
    torch = library("torch")
    call = {key: torch.asarray(value) if key != "tree" else value
            for key, value in CALLS[getattr(batch, name)].items()}  # fmt: skip
    logits = [call.pop(each).log().to(getattr(torch, kind)) for each in ("draft", "target")]
    drafts, options = call.pop("drafts"), {"tree": call.pop("tree")} if name in TREES else {}
    for uniforms in (call["uniforms"], call["uniforms"] * 1.9, call["uniforms"] * 0.1):
        given = drafts, uniforms
        found = batch.from_logits(name, *logits, *given, **options)
        wanted = batch.from_logits(name, *(part.float() for part in logits), *given, **options)
        for one, other in zip(found[:2], wanted[:2], strict=True):
            assert (one == other).all()


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*RULES, *BLOCKS, *TREES, *LONGER])
@pytest.mark.usefixtures("path")
def test_half_precision_probabilities_of_the_draft_are_taken_as_they_are(name, kind):
    """The tokens are those of the same numbers in float32, beside logits of any precision."""
    torch = library("torch")
    call = {key: torch.asarray(value) if key != "tree" else value
            for key, value in CALLS[getattr(batch, name)].items()}  # fmt: skip
    draft, target = (call[each].to(getattr(torch, kind)) for each in ("draft", "target"))
    given, options = (call["drafts"], call["uniforms"]), {"draft_probabilities": True}
    options |= {"tree": call["tree"]} if "tree" in call else {}
    single = draft.float(), target.log().float()
    wanted = batch.from_logits(name, *single, *given, **options)
    pairs = [(draft, target.log()), (draft, single[1]), (single[0], target.log())]
    for pair in pairs:
        agree(batch.from_logits(name, *pair, *given, **options), wanted)
    if kind == "float16":
        found = batch.from_logits(
            name, *(part.numpy() for part in pairs[0]), *(part.numpy() for part in given), **options
        )
        agree(tuple(found), tuple(wanted))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_probabilities_have_an_acceptance(kind):
    torch = library("torch")
    draft = torch.asarray([[0.5, 0.25, 0.25]]).to(getattr(torch, kind))
    logits = torch.asarray([[0.0, 0.0, -torch.inf]]).to(getattr(torch, kind))
    given = "maximal_coupling", draft, logits
    assert batch.acceptance.from_logits(*given, draft_probabilities=True).tolist() == [0.75]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("traversal", [False, True])
def test_the_law_of_a_tree_is_that_of_the_logits_in_half_precision(kind, traversal, monkeypatch):
    """Integrated, against the rule for the exact softmax of the given logits, in float64."""
    torch = library("torch")
    dtype, rng, parents = getattr(torch, kind), np.random.default_rng(0), (-1, -1, 0)

    def model():
        """A model of two tokens, of logits 0 and a number of that dtype."""
        apart = torch.asarray(rng.normal(size=7)).to(dtype).double().numpy()
        rows = np.stack([np.zeros(7), apart], axis=1)
        texts = [text for size in range(3) for text in itertools.product(range(2), repeat=size)]
        return TableModel(
            dict(zip(texts, np.exp(rows) / np.exp(rows).sum(1)[:, None], strict=True))
        )

    def straight(*arrays, tree, **options):
        *rows, drafts, uniforms = map(torch.asarray, map(np.ascontiguousarray, arrays))
        logits = [(row.log() - row[..., :1].log()).to(dtype) for row in rows]
        name = "tree_verification" if options else "traversal_verification"
        found = batch.from_logits(name, *logits, drafts, uniforms, tree=tree, **options)
        return VerifiedTree(*(part.numpy() for part in found))

    draft, target = model(), model()
    if traversal:
        verify, name = partial(straight, tree=parents), "recursive_rejection"
        found = integrated(verify, len(parents) + 1, name, draft, target, parents)
        wanted = law_of_rule(TraversalVerify(draft, target, TokenTree(parents), merge=False))
    else:
        monkeypatch.setattr(
            batch,
            "tree_verification",
            lambda *arrays, rule: straight(*arrays[:-1], tree=arrays[-1], rule=rule),
        )
        found = law_of_batch("recursive_rejection", draft, target, parents)
        wanted = law_of_selection("recursive_rejection", draft, target, parents)
    apart = [abs(found.get(key, 0) - wanted.get(key, 0)) for key in found.keys() | wanted.keys()]
    assert sum(apart) / 2 < 3 * ROUNDING  # of the rows of three depths at most


@pytest.mark.parametrize("name", ["k_sequential", "token_verification"])
def test_padding_columns_and_strides_are_no_matter(name, monkeypatch):
    draft, target, drafts, uniforms = problem(name, 40, 4)
    wanted = batch.from_logits(name, draft, target, drafts, uniforms)
    straight, taken = _running.straight, []
    monkeypatch.setattr(
        _running,
        "straight",
        lambda *args, **more: taken.append(straight(*args, **more)) or taken[-1],
    )
    padded = [np.full((*part.shape[:-1], 64), np.nan, np.float32) for part in (draft, target)]
    for one, part in zip(padded, (draft, target), strict=True):
        one[..., :40] = part
    cut = [part[..., :40] for part in padded]
    columns = [np.asfortranarray(part) for part in (draft, target)]
    backwards = [part[::-1].copy()[::-1] for part in (draft, target)]
    shared = [np.broadcast_to(part[:1], part.shape) for part in (draft, target)]
    for pair in (cut, columns, backwards):
        agree(batch.from_logits(name, *pair, drafts, uniforms), wanted)
    agree(
        batch.from_logits(name, *shared, drafts, uniforms),
        batch.from_logits(name, *(part.copy() for part in shared), drafts, uniforms),
    )
    rows = [found is not None for found in taken]
    assert rows == ([True, False, False, True, True] if "rows" in PATHS else [False] * 5)


@pytest.mark.usefixtures("path")
def test_rows_without_a_law_give_no_token():
    logits = np.zeros((4, 300), np.float32)
    logits[0], logits[1, 7], logits[2, 299] = -np.inf, np.nan, np.inf
    for options in ({}, {"top_k": 2}, {"temperature": 0.0}, {"top_p": 0.5}, {"min_p": 0.5}):
        rows = batch.warp(logits, **options)
        assert np.isnan(rows[:3]).all()
        assert rows[3].sum() == pytest.approx(1)
    fine = np.zeros((4, 300), np.float32)
    found = batch.from_logits(
        "token_verification",
        fine[:, None],
        np.stack([logits, logits], axis=1),
        np.full((4, 1), 3),
        np.full((4, 2), 0.5),
    )
    assert found.token.tolist()[0] == -1
    assert found.length.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.5}])
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.usefixtures("path")
def test_logits_as_far_apart_as_may_be(kind, options):
    torch = library("torch")
    logits = torch.full((1, 40), float(np.finfo(np.float32).min)).to(getattr(torch, kind))
    logits[0, 31] = float(np.finfo(np.float32).max) / 2
    np.testing.assert_array_equal(batch.warp(logits, **options)[0].numpy(), np.eye(40)[31])


@pytest.mark.parametrize("temperature", [1.0, 0.1])
@pytest.mark.parametrize("place", [0, 5, 37, 600, 1_299])
@pytest.mark.usefixtures("path")
def test_a_logit_that_is_no_number_beside_a_large_one(place, temperature):
    for kind in (np.float32, np.float16):
        logits = np.zeros((1, 1_300), kind)
        logits[0, 31], logits[0, 630], logits[0, place] = 100, 200, np.nan
        assert np.isnan(batch.warp(logits, temperature=temperature)).all()


@pytest.mark.parametrize("setting", ["temperature", "top_p", "min_p"])
@pytest.mark.parametrize("value", [np.nan, -1.0])
@pytest.mark.usefixtures("path")
def test_settings_of_tensors_that_are_no_numbers_stay_in_their_row(setting, value):
    """Their values are not checked, so that nothing waits for a device."""
    torch = library("torch")
    logits = torch.from_numpy(np.random.default_rng(5).normal(size=(3, 300)).astype(np.float32))
    usual = {"temperature": 0.7, "top_p": 0.8, "min_p": 0.1}[setting]
    settings = torch.tensor([usual, value, usual], dtype=torch.float64)
    found = batch.warp(logits, **{setting: settings})
    wanted = batch.warp(logits, **{setting: usual})
    assert torch.equal(found[::2], wanted[::2])


@pytest.mark.usefixtures("path")
def test_logits_of_any_size_and_the_coldest_temperature():
    logits = np.linspace(-1e38, 1e38, 700, dtype=np.float32)[None]
    assert batch.warp(logits)[0, -1] == 1
    ramp = np.arange(2_000, dtype=np.float32)[None] / 4
    wanted = np.exp(ramp[0].astype(float) - ramp.max())
    assert np.abs(batch.warp(ramp)[0] - wanted / wanted.sum()).sum() < 2 * ROUNDING
    cold = batch.warp(np.array([[1.0, 2.0, 2.0]], np.float32), temperature=1.2e-38)
    assert cold.tolist() == [[0, 0.5, 0.5]]
    assert batch.warp(np.array([[1.0, 2.0, 2.0]]), temperature=0).tolist() == [[0, 1, 0]]


DTYPES = ["int64", "bool", "uint8", "object", "complex64", "longdouble", "str", ">f4"]


@pytest.mark.parametrize("name", [*RULES, *BLOCKS, *TREES, *LONGER])
@pytest.mark.usefixtures("path")
def test_draft_probabilities_of_other_dtypes_and_shapes_are_refused_by_name(name):
    call = CALLS[getattr(batch, name)]
    options = {"draft_probabilities": True} | {key: call[key] for key in {"tree"} & {*call}}
    draft, given = call["draft"], (call["drafts"], call["uniforms"])
    with np.errstate(divide="ignore"):
        logits = np.log(call["target"])
    for kind in DTYPES:
        wrong, message = draft.astype(kind), f"draft_logits has dtype {np.dtype(kind)}: cast it"
        if kind == "str":
            message = "draft_logits has dtype <U32: cast it"
        for target in (logits, logits.astype(np.float32)):
            with pytest.raises(ValueError, match=message):
                batch.from_logits(name, wrong, target, *given, **options)
    with pytest.raises(ValueError, match=r"draft_logits has shape \(\): it must be \(\.\.\., V\)"):
        batch.from_logits(name, np.array(0.5), logits, *given, **options)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_beside_float64_is_refused_as_it_was_given(kind, known):
    torch = library("torch")
    rows = torch.zeros((2, 5), dtype=torch.float64)
    half, options = rows.to(getattr(torch, kind)), {"draft_probabilities": known}
    given = torch.zeros((2, 1), dtype=torch.int64), torch.full((2, 2), 0.5)
    for pair in ((half, rows), (rows, half)):
        one, other = (each.dtype for each in pair)
        message = f"draft_logits is {one} and target_logits {other}: cast one of them"
        with pytest.raises(ValueError, match=message):
            batch.from_logits("maximal_coupling", *pair, *given, **options)
        with pytest.raises(ValueError, match=message):
            batch.acceptance.from_logits("maximal_coupling", *pair, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"temperature": -1.0},
            "temperature is -1.0: it must be positive and finite, from .* or 0 for",
        ),
        (
            {"temperature": np.array([1, -1.0])},
            "temperature is -1.0: it must be positive and finite, from ",
        ),
        ({"temperature": np.ones(3)}, r"temperature is float64 of shape \(3,\): it must be one nu"),
        ({"temperature": np.ones(2, int)}, "temperature is int64 of shape .*float for each row"),
        ({"top_k": np.ones(2)}, "top_k is float64 of shape .*one integer for each row"),
        ({"top_k": np.array([1, 0])}, "top_k is 0: it must be at least 1"),
        ({"top_p": (0.5, 0)}, "top_p is 0: it must be above 0 and at most 1"),
        ({"min_p": np.array([0, np.nan])}, "min_p is nan: it must be at least 0 and at most 1"),
        ({"temperature": [1.0, 0.5]}, "pass one number, an array with one for each row"),
        ({"order": "last"}, "order is 'last': it must be one of temperature-first"),
        ({"draft_probabilities": 1}, "draft_probabilities is 1: it must be True or False"),
        ({"grades": 1, "rule": "pooled_selection"}, "grades is 1: it must be at least 2"),
        ({"rule": "softmax"}, "rule is 'softmax': it must be one of maximal_coupling, "),
        ({"mask": np.ones(2)}, "mask is float64 of shape"),
        ({"checked": 2}, "checked is 2: it must be True or False"),
    ],
)
@pytest.mark.usefixtures("path")
def test_what_does_not_fit_is_refused_by_name(options, message):
    rule = options.get("rule", "maximal_coupling")
    options = {name: value for name, value in options.items() if name != "rule"}
    logits, drafts = np.zeros((2, 5), np.float32), np.zeros((2, 1), int)
    with pytest.raises(ValueError, match=message):
        batch.from_logits(rule, logits, logits, drafts, np.full((2, 2), 0.5), **options)


@pytest.mark.usefixtures("path")
def test_arrays_that_do_not_fit_are_refused_by_name():
    logits, drafts, uniforms = (
        np.zeros((2, 5), np.float32),
        np.zeros((2, 1), int),
        np.ones((2, 2)) / 2,
    )
    rule = "maximal_coupling"
    for wrong, message in (
        ((logits.astype(int), logits), "draft_logits has dtype int64: cast it"),
        ((logits, logits.astype(np.int16)), "target_logits has dtype int16: cast it"),
        ((logits[:, :0], logits), "draft_logits has shape"),
        ((logits, logits[:1]), "^draft_logits has shape .* and target_logits "),
        ((logits, logits.astype(float)), "^draft_logits is float32 and target_logits float64"),
    ):
        with pytest.raises(ValueError, match=message):
            batch.from_logits(rule, *wrong, drafts, uniforms)
    with pytest.raises(ValueError, match="drafts has the token 5: token ids are from 0 to 4"):
        batch.from_logits(rule, logits, logits, drafts + 5, uniforms)


@each(
    "function", [f for f in CALLS if [*CALLS[f]][:4] == ["draft", "target", "drafts", "uniforms"]]
)
@pytest.mark.usefixtures("path")
def test_what_does_not_fit_has_the_name_that_the_caller_gave(function):
    call = dict(CALLS[function])
    tree = {"tree": call.pop("tree")} if "tree" in call else {}
    draft, target, drafts, uniforms = call.values()
    for wrong, about in (
        ((draft[:1], target, drafts), "(draft|target)_logits has shape"),
        ((draft, target[:1], drafts), "(draft|target)_logits has shape"),
        ((draft[..., :3], target, drafts), "(draft|target)_logits has shape"),
        ((draft.astype(np.float32), target, drafts), "draft_logits is float32 and target_logits "),
        ((draft, target, drafts[:1]), r"drafts has shape \(1, .*\)( and draft_logits .*)?: "),
    ):
        with pytest.raises(ValueError, match=f"^{about}") as caught:
            batch.from_logits(function.__name__, *wrong, uniforms, **tree)
        assert not re.search(r"\b(draft|target)\b", str(caught.value).partition(":")[0])


@pytest.mark.parametrize("order", [STEPS, "temperature-last"])
def test_plain_settings_are_checked_once(order):
    settings = 0.7, 3, 0.9, None, order
    first, again = (settings_of("logits", np.zeros((2, 5)), *settings) for _ in range(2))
    assert first is again


def test_gradients_go_through_warping_and_are_not_asked_of_rules():
    torch = library("torch")
    logits = torch.zeros((2, 5), requires_grad=True)
    assert batch.warp(logits).requires_grad
    drafts, uniforms = torch.zeros((2, 1), dtype=torch.int64), torch.full((2, 2), 0.5)
    found = batch.from_logits("maximal_coupling", logits, logits, drafts, uniforms)
    assert found.accepted.all()


def test_the_law_at_full_vocabulary_is_the_exact_one_of_the_given_logits():
    """Total variation of what the rules are given, on rows as a language model has them."""
    rng = np.random.default_rng(0)
    logits = (rng.gumbel(size=(2, 128_256)) * 2).astype(np.float32)
    for settings in ({}, {"temperature": 0.6}, {"top_p": 0.9}, {"top_k": 50, "min_p": 0.01}):
        for row, found in zip(logits, batch.warp(logits, **settings), strict=True):
            assert np.abs(found - warp(row, **settings)).sum() / 2 < ROUNDING
