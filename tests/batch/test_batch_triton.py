"""The kernels in Triton against the array operations, and the laws of rules that go through them.

They run on a CUDA device, or in Triton's interpreter: test_batch_triton_runs.py starts that.
"""

from dataclasses import replace

import numpy as np
import pytest
from batch_backends import INTERPRETED, library
from batch_laws import joint_kernel_of, residual_cuts
from batch_table import RULES, drafts_number, reference_at_rho
from searching import NIGHTLY
from test_batch_laws import pooled_cuts

from otspec import batch
from otspec.batch import _triton
from otspec.batch._array_api import inversion, sums
from otspec.batch._array_api.library import BLOCK, library_of

ROUNDING = 1e-12
"""Of laws, as in test_batch_laws.py."""
DTYPES = ["float16", "bfloat16", "float32", "float64"]
PLACES = [255, 256, 0, 299]
"""Tokens in two blocks, at their ends."""


@pytest.fixture(scope="module")
def torch():
    """PyTorch, where rows on its device go through the kernels."""
    found = library("torch")
    library("triton")
    if not INTERPRETED and not found.cuda.is_available():
        pytest.skip("no CUDA device")
    return found


@pytest.fixture(scope="module")
def rows(torch):
    """A function that makes rows of a shape and a dtype on the device: draft and target."""

    def made(shape, dtype="float64", seed=0):
        numbers = np.random.default_rng(seed).gamma(0.3, size=(2, *shape))
        numbers[0, ..., 1::7] = numbers[1, ..., 2::5] = 0
        numbers[1, ..., 3::7] = numbers[0, ..., 3::7]  # ties
        both = on_device(torch, numbers / numbers.sum(axis=-1, keepdims=True))
        return both.to(getattr(torch, dtype))

    return made


def on_device(torch, values):
    return torch.from_numpy(np.array(values)).to("cpu" if INTERPRETED else "cuda")


def weights_of(torch, library, lead):
    """Weights of every kind, with numbers of their own for every row."""
    rng = np.random.default_rng(1)

    def numbers(low, high):
        return on_device(torch, rng.uniform(low, high, lead))

    def narrow(low, high):
        return library.narrowed(numbers(low, high))[..., None]

    line = sums.KnownWeight("line", library, (narrow(0, 1), narrow(0, 1), narrow(1, 3)))
    scaled = sums.excess(library, numbers(1, 3) / library.factor, library.factor)
    weights = [
        sums.the_draft,
        sums.the_target,
        sums.common(library),
        sums.common(library, numbers(0, 4)),
        sums.common(library, excess=True),
        scaled,
        line,
        replace(line, excess=True),
    ]
    weights += [replace(rest, share=narrow(0, 1)) for rest in weights[3:]]
    light = narrow(0, 0.01), narrow(0, 4)
    return [*weights, sums.KnownWeight("light", library, light, library.factor)]


def allowed(library, mass):
    """What two sums of the same 256 numbers may differ by, added up in whatever order."""
    return 2 * BLOCK * library.xp.finfo(library.dtype).eps / 2 * mass


def by_arrays(function, *arguments):
    """Call a function with the kernels switched off."""
    kinds = set(_triton.on)
    _triton.on.clear()
    try:
        return function(*arguments)
    finally:
        _triton.on.update(kinds)


@pytest.fixture(params=[4, 40])
def number(request, torch, monkeypatch):
    """How many rows: a few in pieces as on a GPU, many in one as the interpreter has them."""
    if request.param == 4:
        from otspec.batch._triton import pieces

        monkeypatch.setattr(pieces, "at_once", lambda *_: _[-1])
    return request.param


def numbers_and_dtypes(by_day, at_night):
    """Try numbers of rows and dtypes, some pairs of them at night only."""
    late = [pytest.param(*pair, marks=pytest.mark.nightly) for pair in at_night]
    return pytest.mark.parametrize(("number", "dtype"), [*by_day, *late], indirect=["number"])


def layouts(rows, dtype):
    """Rows as rules hand them on: of blocks, in copies, with gaps, of one token."""
    draft, target = rows((2, 3, 700), dtype)
    yield draft[:, :2], target[:, 1:]
    yield draft[0, 0], target[0, 0]
    yield draft[:, :, ::3], target[:, :, ::3]
    yield draft[:, :1].expand(2, 3, 700), target
    yield draft.reshape(2, 1, 3, 700), target.reshape(2, 1, 3, 700)
    yield draft, draft
    yield rows((3, 5), dtype)
    yield rows((2, 1), dtype)


def in_blocks(library, draft, target, weight):
    """The sums of a weight over blocks in float64, of weights as array operations round them."""
    weights = weight(library.narrowed(draft), library.narrowed(target)).double().cpu().numpy()
    beyond = -weights.shape[-1] % BLOCK
    weights = np.pad(weights, [(0, 0)] * (weights.ndim - 1) + [(0, beyond)])
    return weights.reshape(*weights.shape[:-1], -1, BLOCK).sum(axis=-1)


@numbers_and_dtypes([(4, "bfloat16"), (40, "float32")], [(4, each) for each in DTYPES[2:]])
def test_sums_are_those_of_array_operations(torch, rows, dtype, number):
    for i, (draft, target) in enumerate(layouts(rows, dtype)):
        library = library_of(draft)
        weights = weights_of(torch, library, draft.shape[:-1])
        # By day each weight comes in two layouts or more, and each layout with every third weight.
        weights = weights if NIGHTLY else weights[i % 3 :: 3]
        assert library.fused.takes(library, draft, target, *weights)
        found = sums.block_sums(library, draft, target, *weights)
        whole = sums.totals(library, draft, target, *weights)
        for weight, blocks, total in zip(weights, found, whole, strict=True):
            exact = in_blocks(library, draft, target, weight)
            assert blocks.dtype == total.dtype == library.wide
            assert (abs(blocks.cpu().numpy() - exact) <= allowed(library, exact)).all()
            exact = exact.sum(axis=-1)
            assert (abs(total.cpu().numpy() - exact) <= allowed(library, exact)).all()


@pytest.mark.parametrize("many", [1, 9])
def test_overlaps_are_those_of_array_operations(torch, rows, many):
    draft, target = rows((3, 2, 300), "float32")
    library = library_of(draft)
    scales = library.rounded(1 + torch.rand(3, 2, many, dtype=torch.float64).to(draft.device))
    found = sums.overlaps(library, draft, target, scales)
    wanted = by_arrays(sums.overlaps, library, draft, target, scales)
    assert found.shape == (3, 2, many)
    assert (abs(found - wanted) <= 2 * allowed(library, wanted)).all()


@numbers_and_dtypes([(4, "float64"), (40, "float32")], [(4, "float32"), (40, "float64")])
def test_draws_fall_where_the_cumulative_weights_say(torch, rows, dtype, number):
    draft, target = (row.expand(number, 600) for row in rows((1, 600), dtype))
    uniforms = np.random.default_rng(2).random((number, 2))
    excluded = on_device(torch, np.tile([3, 599, 256], (number, 1)))
    library = library_of(draft)
    weights = weights_of(torch, library, (number,))
    for weight in (weights[0], weights[-4], weights[-2]):
        (blocks,) = sums.block_sums(library, draft, target, weight)
        law = weight(draft, target).double().cpu().numpy()
        for left_out in (None, excluded):
            if left_out is not None:
                for i in range(3):
                    blocks = inversion.without(
                        library, draft, target, weight, blocks, left_out[:, : i + 1]
                    )
                law[:, [3, 599, 256]] = 0
            drawn = inversion.draw(
                library, draft, target, weight, blocks, on_device(torch, uniforms)[:, 1], left_out
            )
            upto = law.cumsum(axis=1) / law.sum(axis=1, keepdims=True)
            wanted = (upto <= uniforms[:, 1:]).sum(axis=1)
            far = abs(upto - uniforms[:, 1:]).min(axis=1) > allowed(library, 1)
            assert far.mean() > 0.7
            assert (drawn.cpu().numpy() == wanted)[far].all()


def test_draws_at_the_ends_and_from_nothing(torch, rows):
    draft, target = rows((4, 300))
    draft[0] = target[0] = 0
    draft[1, :-1] = 0
    library = library_of(draft)
    rest = sums.excess(library, library.full((4,), 1.0))
    weight = replace(rest, share=library.full((4, 1), 0.0))
    for chosen in (sums.the_draft, weight):
        (blocks,) = sums.block_sums(library, draft, target, chosen)
        weights = chosen(draft, target).cpu().numpy()
        for end in (0.0, 1 - 2**-53, 1.0):
            uniforms = library.full((4,), end)
            found = inversion.draw(library, draft, target, chosen, blocks, uniforms).cpu().numpy()
            some = weights.any(axis=1)
            assert (weights[some, found[some]] > 0).all()
            assert (found[~some] == 0).all()
            if end == 0:
                assert (found == (weights > 0).argmax(axis=1)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_taking_tokens_out_of_block_sums(torch, rows, dtype):
    draft, target = rows((3, 2, 700), dtype)
    library = library_of(draft)
    tokens = on_device(torch, np.random.default_rng(0).integers(0, 700, (3, 2, 8)))[..., ::2]
    for weight in weights_of(torch, library, (3, 2))[::4]:
        (blocks,) = sums.block_sums(library, draft, target, weight)
        arguments = library, draft, target, weight, blocks, tokens
        found, wanted = inversion.without(*arguments), by_arrays(inversion.without, *arguments)
        assert (abs(found - wanted) <= allowed(library, blocks)).all()


@pytest.mark.nightly
def test_places_beyond_32_bits(torch, rows):
    """Rows so far apart that no 32-bit number says where the last one is."""
    if INTERPRETED:
        pytest.skip("the interpreter copies all of the 4 GB")
    far = torch.zeros(2**31 + 300, dtype=torch.float16, device="cuda").as_strided(
        (2, 300), (2**31, 1)
    )
    far.copy_(rows((2, 300), "float16")[0])
    library = library_of(far)
    (found,) = sums.block_sums(library, far, far, sums.the_draft)
    (wanted,) = sums.block_sums(library, *[far.contiguous()] * 2, sums.the_draft)
    assert (found == wanted).all()
    drawn = inversion.draw(library, far, far, sums.the_draft, found, library.full((2,), 0.5))
    assert (far[[0, 1], drawn] > 0).all()


def test_a_graph_of_a_call_replays(torch, rows):
    if INTERPRETED:
        pytest.skip("graphs are of CUDA devices")
    draft, target = rows((4, 700), "float32")
    uniforms = torch.rand(4, 3, device="cuda")
    drafts = batch.sample_iid(draft, uniforms[:, :2])
    for name in ("recursive_rejection", "k_sequential", "pooled_selection"):
        rule = getattr(batch, name)
        rule(draft, target, drafts, uniforms)  # compiles the kernels
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = rule(draft, target, drafts, uniforms)
        uniforms.copy_(torch.rand(4, 3))
        graph.replay()
        wanted = rule(draft, target, drafts, uniforms)
        assert all((one == other).all() for one, other in zip(found, wanted, strict=True))


def through_kernels(torch, name):
    """A rule on the device for arrays of NumPy."""
    rule = getattr(batch, name)

    def called(*arrays):
        result = rule(*(on_device(torch, values) for values in arrays))
        return type(result)(*(part.cpu().numpy() for part in result))

    return called


def known_cuts(rule, drafts):
    """Where the outcome changes by the reference: drafts in turn, and the draw."""
    kernel = rule.joint_kernel(drafts)
    passed = kernel[:-1].sum(axis=1)
    for axis in range(len(drafts)):
        for before in {0.0, passed[:axis].sum(), passed[axis + 1 :].sum()}:
            for chance in passed:
                if before < 1:
                    yield axis, chance / (1 - before)
    yield from residual_cuts(rule, drafts)


LAWS = [name for name in RULES if not name.startswith("pooled_selection_without")]


@pytest.mark.parametrize("size", [pytest.param(3, marks=pytest.mark.nightly), 300])
@pytest.mark.parametrize("name", LAWS)
def test_rules_are_lossless(torch, name, size):
    draft, target = np.array([0.6, 0.3, 0.1, 0.0]), np.array([0.2, 0.3, 0.0, 0.5])
    if size == 3:
        draft, target = draft[:3], np.array([0.2, 0.3, 0.5])
    rule = reference_at_rho(name, draft, target, drafts_number(name, 1))
    drafts = [0, 1][: rule.k] if name != "spechub" else [1, 0]
    cuts = list(known_cuts(rule, drafts))
    if name == "pooled_selection":
        cuts += pooled_cuts(draft, target, drafts, rule.k)
    wide, place = [np.zeros(size), np.zeros(size)], PLACES[: len(draft)]
    if size == 3:
        wide, place = [draft, target], [0, 1, 2]
    for row, given in zip(wide, (draft, target), strict=True):
        row[place] = given
    called = through_kernels(torch, name)
    found = joint_kernel_of(called, *wide, np.array(place)[drafts], known=cuts)
    np.testing.assert_allclose(found[:, place], rule.joint_kernel(drafts), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("dtype", DTYPES)
def test_logits_become_probabilities(torch, dtype):
    """A softmax in float64 of the given logits: temperatures of rows, masks and greedy rows."""
    rng = np.random.default_rng(5)
    for shape, places in (((2, 3, 5_000), np.s_[:, 1:, ::2]), ((7, 1), ...), ((300,), ...)):
        logits = on_device(torch, 4 * rng.standard_normal(shape)).to(getattr(torch, dtype))[places]
        logits[..., 1:-1:3] = -torch.inf
        lead = tuple(logits.shape[:-1])
        heats, given = rng.choice([0.0, 0.5, 3.0], lead), logits.double().cpu().numpy()
        for heat in (1.0, 0.0, heats) if lead else (0.7,):
            assert library_of(logits).fused.takes_rows(library_of(logits), logits)
            exact = expected(given, np.broadcast_to(heat, lead)[..., None])
            told = heat if isinstance(heat, float) else on_device(torch, heat)
            found = batch.warp(logits, temperature=told)
            assert found.dtype == library_of(logits).dtype
            off = abs(found.double().cpu().numpy() - exact).sum(axis=-1) / 2
            assert (off <= (1e-15 if dtype == "float64" else 3e-7) * 8).all()


def expected(logits, heats):
    """Probabilities in float64 by the definition; those of temperature 0 at the first largest."""
    apart = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(apart / np.where(heats == 0, 1.0, heats))
    greedy = np.arange(logits.shape[-1]) == logits.argmax(axis=-1)[..., None]
    return np.where(heats == 0, greedy, weights / weights.sum(axis=-1, keepdims=True))


def test_logits_that_are_no_numbers(torch):
    logits = np.zeros((4, 3_000), np.float32)
    logits[0] = -np.inf
    logits[1, 2_500], logits[2, 2_500] = np.nan, np.inf
    logits[3, :2_900] = -np.inf
    for heat in (1.0, 0.0):
        found = batch.warp(on_device(torch, logits), temperature=heat).cpu()
        assert found[:3].isnan().all()
        assert (found[3, :2_900] == 0).all()
        assert found[3].sum() == pytest.approx(1, abs=1e-6)
        assert (found[3, 2_900] == 1) == (heat == 0)


def test_rules_take_logits(torch):
    """Tokens are those of the probabilities, which are given to the same kernels."""
    rng = np.random.default_rng(6)
    logits = on_device(torch, rng.standard_normal((2, 4, 700))).bfloat16()
    uniforms = on_device(torch, rng.random((4, 6)))
    draft, target = (batch.warp(each, temperature=0.7) for each in logits)
    drafts = batch.sample_iid(draft, uniforms[:, :2])
    for name in ("recursive_rejection", "pooled_selection"):
        found = batch.from_logits(name, *logits, drafts, uniforms[:, 3:], temperature=0.7)
        wanted = getattr(batch, name)(draft, target, drafts, uniforms[:, 3:])
        assert all((one == other).all() for one, other in zip(found, wanted, strict=True))
