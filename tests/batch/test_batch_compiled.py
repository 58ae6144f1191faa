"""Every batch function compiled whole by PyTorch: the same tokens, one graph, the exact laws.

All of it by operations on arrays; rules that go row by row outside are one operation of a graph in
:mod:`test_batch_whole`. Here the graph is run as it was found, which shows that nothing stands in
its way; at night PyTorch makes machine code of it.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from batch_backends import fresh_graphs, library
from batch_calls import CALLS, MASKED
from batch_laws import joint_kernel_of, residual_cuts
from batch_paths import taking
from batch_table import RULES, drafts_number, drafts_of, reference_at_rho
from searching import NIGHTLY, by_day
from test_batch_laws import CASES, ROUNDING, pooled_cuts

from otspec import batch
from otspec.batch._array_api.sums import KnownWeight

AT_NIGHT = pytest.mark.nightly
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # by PyTorch itself
SIZES = [5, 2, 17, 5]
"""Numbers of rows that one graph is for; one row, and none, have graphs of their own."""
IN_TURN = [name for name in RULES if not name.startswith(("pooled", "k_"))]
"""Rules with laws of few cells, of three drafts, too."""


ALIKE = {
    "recursive_rejection_without_replacement", "pooled_selection_without_replacement", "spechub",
    "token_verification", "block_verification_preprint", "greedy_multi_path",
    "traversal_verification",
}  # fmt: skip
ONE_OF_A_KIND = [
    each for each in CALLS
    if each.__module__ != batch.acceptance.__name__ and each.__name__ not in ALIKE
]  # fmt: skip
"""Functions of which graphs are made by day: others have one of their kind among these."""


def test_weights_have_a_hash_before_they_have_fields():
    """PyTorch 2.11 asks for it while it makes a graph."""
    assert len({object.__new__(KnownWeight) for _ in range(3)}) == 3


def names(function):
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


@pytest.fixture(autouse=True, scope="module")
def no_graph_twice():
    """A graph that does not fit to a call of it is an error, unless a test says otherwise."""
    with taking("arrays"), fresh_graphs():
        yield


@pytest.fixture(autouse=NIGHTLY)
def no_graph_of_another_test():
    """So many tests of one function would have more graphs of it than PyTorch keeps."""
    library("torch")._dynamo.reset()


@functools.cache
def compiled(function, backend="eager"):
    """A function of NumPy's arrays that calls the compiled one, for any number of rows."""
    torch = library("torch")
    whole = torch.compile(function, fullgraph=True, backend=backend)

    def call(*arguments):
        given = [tensor(value) for value in arguments]
        for part in given:
            if isinstance(part, torch.Tensor):
                torch._dynamo.mark_dynamic(part, 0)
        return in_numpy(whole(*given))

    return call


def tensor(value):
    if not isinstance(value, np.ndarray):
        return value
    return library("torch").asarray(
        np.array(value, order="C")
    )  # strides of its own, which belong to a graph


def in_numpy(result):
    if not isinstance(result, tuple):
        return result.numpy()
    parts = map(in_numpy, result)
    return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)


def agree(found, wanted):
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            agree(one, other)
    elif wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    else:
        np.testing.assert_array_equal(found, wanted)


def of_rows(arguments, number, rng):
    """The arguments of a call for another number of rows, with other uniform numbers."""
    changed = {
        name: value[np.arange(number) % len(value)] if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    if "uniforms" in changed:
        changed["uniforms"] = rng.random(changed["uniforms"].shape)
    return changed


@pytest.mark.parametrize("function", by_day(CALLS, ONE_OF_A_KIND), ids=names)
def test_one_graph_gives_the_same_for_all_numbers_of_rows(function):
    rng = np.random.default_rng(0)
    for number in SIZES:
        arguments = of_rows(CALLS[function], number, rng).values()
        agree(compiled(function)(*arguments), function(*arguments))


def problem(name, rows, size, seed=0):
    """Float64 arguments of a rule for one token."""
    rng = np.random.default_rng(seed)
    draft, target = np.exp(2 * rng.normal(size=(2, rows, size)))
    draft, target = (part / part.sum(axis=1, keepdims=True) for part in (draft, target))
    k = drafts_number(name, 3)
    drafts = drafts_of(name, draft, rng.random((rows, k)), k)
    return draft, target, drafts, rng.random((rows, k + 1))


@AT_NIGHT
@pytest.mark.parametrize("name", RULES)
def test_machine_code_gives_the_same(name):
    whole = library("torch").compile(getattr(batch, name), fullgraph=True)
    for seed in range(2):
        arguments = problem(name, 40, 700, seed)
        with library("torch")._dynamo.config.patch(error_on_recompile=seed > 0):
            found = in_numpy(whole(*map(tensor, arguments)))
        agree(found, getattr(batch, name)(*arguments))


@AT_NIGHT
@pytest.mark.parametrize("function", CALLS, ids=names)
def test_machine_code_of_every_function_gives_the_same(function):
    rng = np.random.default_rng(0)
    for number in SIZES:
        arguments = of_rows(CALLS[function], number, rng).values()
        agree(compiled(function, "inductor")(*arguments), function(*arguments))


@AT_NIGHT
@pytest.mark.parametrize("function", MASKED, ids=names)
def test_masks_are_part_of_a_graph(function):
    torch = library("torch")
    whole = torch.compile(function, fullgraph=True, backend="eager")
    arguments = of_rows(CALLS[function], 4, np.random.default_rng(0))
    with torch._dynamo.config.patch(error_on_recompile=False):
        for mask in (arguments["drafts"] < 1, arguments["drafts"] < 2):
            given = [tensor(part) for part in arguments.values()]
            found = in_numpy(whole(*given, mask=torch.asarray(mask)))
            agree(found, function(*arguments.values(), mask=mask))


def has_the_law(name, rule, x, backend):
    """Compare the law of a compiled rule with that of its reference, for one tuple of drafts."""
    cuts = list(residual_cuts(rule, x))
    if name == "pooled_selection":
        cuts += pooled_cuts(rule.draft, rule.target, x, len(x))

    def whole(*arguments):
        """Call it with two rows at least, since one has a graph of its own."""
        twice = [np.concatenate([part, part]) for part in arguments]
        found = compiled(getattr(batch, name), backend)(*twice)
        return type(found)(*(part[: len(arguments[0])] for part in found))

    found = joint_kernel_of(whole, rule.draft, rule.target, x, known=cuts)
    np.testing.assert_allclose(found, rule.joint_kernel(x), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", IN_TURN)
def test_the_law_of_that_graph_is_exact(name):
    rule = reference_at_rho(name, *CASES["dense"], drafts_number(name, 3))
    has_the_law(name, rule, rule.law.tuples()[0].tolist()[-1], "eager")


@AT_NIGHT
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [*IN_TURN, "k_sequential", "pooled_selection"])
def test_the_law_of_machine_code_is_exact(name, case):
    draft, target = CASES[case]
    k = min(drafts_number(name, 2), np.count_nonzero(draft)) if "without" in name else 2
    rule = reference_at_rho(name, draft, target, drafts_number(name, k))
    with library("torch")._dynamo.config.patch(error_on_recompile=False):
        for x in rule.law.tuples()[0].tolist():
            has_the_law(name, rule, x, "inductor")


def test_a_call_inside_a_compiled_function_is_one_graph():
    torch = library("torch")
    settings = {"temperature": 0.7, "top_k": 20, "top_p": 0.9, "min_p": 0.01, "order": "joint"}

    @functools.partial(torch.compile, fullgraph=True, backend="eager")
    def step(draft_logits, target_logits, uniforms):
        draft = batch.warp(draft_logits, **settings)
        target = batch.warp(target_logits, **settings)
        drafts = batch.sample_iid(draft, uniforms[:, :2])
        return batch.recursive_rejection(draft, target, drafts, uniforms[:, 2:], checked=True)

    logits = torch.asarray(np.random.default_rng(0).normal(size=(2, 3, 700)))
    uniforms = torch.asarray(np.random.default_rng(1).random((3, 5)))
    found = step(*logits, uniforms)
    draft, target = (batch.warp(part, **settings) for part in logits)
    drafts = batch.sample_iid(draft, uniforms[:, :2])
    wanted = batch.recursive_rejection(draft, target, drafts, uniforms[:, 2:])
    agree(in_numpy(found), in_numpy(wanted))


def test_what_does_not_fit_is_said_while_a_graph_is_made():
    torch = library("torch")
    arguments = [torch.asarray(part) for part in CALLS[batch.spechub].values()]
    arguments[2] = arguments[2][:, :1]
    whole = torch.compile(batch.spechub, fullgraph=True, backend="eager")
    with (
        torch._dynamo.config.patch(error_on_recompile=False),
        pytest.raises(Exception, match=re.escape("this rule needs exactly k = 2")),
    ):
        whole(*arguments)


@pytest.mark.parametrize("function", [batch.maximal_coupling, batch.spechub], ids=names)
def test_jax_compiles_once_for_each_shape(function):
    jax = library("jax")
    whole = jax.jit(functools.partial(function))  # others jit the function itself
    for seed in range(2):
        arguments = [
            value if value.dtype == np.int64 else value.astype(np.float32)
            for value in of_rows(CALLS[function], 2, np.random.default_rng(seed)).values()
        ]
        agree(tuple(map(np.asarray, whole(*arguments))), tuple(function(*arguments)))
    assert whole._cache_size() == 1


def test_rows_are_mapped_over():
    """Calls of one row, mapped over rows, are a call of all of them."""
    arguments = list(CALLS[batch.maximal_coupling].values())
    wanted = tuple(batch.maximal_coupling(*arguments))
    agree(in_numpy(library("torch").vmap(batch.maximal_coupling)(*map(tensor, arguments))), wanted)
    jax = library("jax")
    mapped = jax.jit(jax.vmap(batch.maximal_coupling))
    agree(tuple(map(np.asarray, mapped(*arguments))), wanted)
