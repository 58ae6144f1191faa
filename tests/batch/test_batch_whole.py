"""Rules as single operations of a graph that PyTorch compiles on a CPU: as the calls outside do.

That the operations on arrays compile, too, :mod:`test_batch_compiled` shows.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from batch_backends import fresh_graphs, library
from batch_calls import CALLS
from batch_paths import taking
from batch_table import MASKED, RULES

from otspec import batch
from otspec._base import compiling

pytestmark = [
    pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed"),
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # by PyTorch itself
]
AT_NIGHT = pytest.mark.nightly
BLOCKS = ["token_verification", "block_verification"]
OPERATIONS = [*RULES, *BLOCKS]
TREE = "tree_verification"
QUICK = ["k_sequential", "block_verification", "optimal_acceptance"]
"""What PyTorch makes machine code around in every run."""
SIZES = [5, 2, 17]


@pytest.fixture(autouse=True)
def no_graph_twice():
    """A graph that does not fit to a call of it is an error."""
    with fresh_graphs():
        yield


def compiled(function, backend="aot_eager"):
    """Return the compiled function, and the operations of its graphs in a list that grows."""
    torch, seen = library("torch"), []

    def noting(graph, inputs):
        targets = [str(node.target) for node in graph.graph.nodes]
        seen.append([name.split(".")[1] for name in targets if name.startswith("otspec.")])
        return torch._dynamo.lookup_backend(backend)(graph, inputs)

    return torch.compile(function, fullgraph=True, backend=noting), seen


def given_to(function, rows=2):
    """Tensors for a number of rows, with uniform numbers of their own; and what is no array."""
    rng, torch = np.random.default_rng(rows), library("torch")
    found = {
        name: torch.asarray(value[np.arange(rows) % len(value)])
        if isinstance(value, np.ndarray)
        else value
        for name, value in CALLS[function].items()
    }
    if "uniforms" in found:
        found["uniforms"] = torch.asarray(rng.random(found["uniforms"].shape))
    return list(found.values())


def agree(found, wanted):
    torch = library("torch")
    assert type(found) is type(wanted)
    if isinstance(wanted, torch.Tensor):
        found, wanted = (found,), (wanted,)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        *((name, "aot_eager") for name in [*OPERATIONS, "optimal_acceptance", TREE]),
        *((name, "inductor") for name in QUICK),
        *(
            pytest.param(name, "inductor", marks=AT_NIGHT)
            for name in [*OPERATIONS, TREE]
            if name not in QUICK
        ),
    ],
)
def test_a_call_is_one_operation_for_all_numbers_of_rows(name, backend):
    function = getattr(batch, name)
    whole, seen = compiled(function, backend)
    for rows in SIZES:
        arguments = given_to(function, rows)
        for part in arguments:
            if isinstance(part, library("torch").Tensor):
                library("torch")._dynamo.mark_dynamic(part, 0)
        agree(whole(*arguments), function(*arguments))
    assert seen == [["recursive_rejection" if name == TREE else name]]  # of a tree at each depth


@pytest.mark.parametrize("name", MASKED)
def test_masks_and_options_are_those_of_the_call(name):
    function = getattr(batch, name)
    options = {"grades": 3} if RULES[name].graded else {}
    whole, seen = compiled(functools.partial(function, **options))
    arguments = given_to(function, 17)
    mask = library("torch").asarray(np.arange(arguments[2].shape[-1]) < np.arange(17)[:, None] % 3)
    agree(whole(*arguments, mask=mask), function(*arguments, mask=mask, **options))
    assert seen == [[name]]


def test_what_calls_outside_do_by_arrays_graphs_do_so_too(monkeypatch):
    torch = library("torch")
    rule, block = batch.maximal_coupling, batch.token_verification  # the shortest graphs
    draft, target, drafts, uniforms = given_to(rule)
    learnt = draft.clone().requires_grad_()
    places = [part.transpose(0, 1).contiguous().transpose(0, 1) for part in given_to(block)]

    def operations(function, *arguments):
        torch._dynamo.reset()
        whole, seen = compiled(function, "eager")
        agree(whole(*arguments), function(*arguments))
        return seen[0]

    whole = ["maximal_coupling"]
    assert operations(rule, draft, target, drafts, uniforms) == whole
    assert operations(rule, learnt, target, drafts, uniforms) == whole
    assert operations(rule, draft.T.contiguous().T, target, drafts, uniforms) == whole
    assert operations(rule, draft.half(), target.half(), drafts, uniforms) == []
    assert operations(rule, draft[:1].expand(2, -1), target, drafts, uniforms) == []
    assert operations(block, *places) == []
    with taking("arrays"):
        assert operations(rule, draft, target, drafts, uniforms) == []
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert operations(rule, draft, target, drafts, uniforms) == []


def test_a_loss_beside_a_rule_has_its_gradient():
    torch = library("torch")
    logits = torch.zeros((2, 4), dtype=torch.float64, requires_grad=True)
    _, target, drafts, uniforms = given_to(batch.k_sequential)

    def step(logits):
        draft = torch.softmax(logits, -1)
        found = batch.k_sequential(draft, target, drafts, uniforms)
        return found, draft.log().gather(-1, found.token[:, None]).sum()

    whole, seen = compiled(step)
    found, loss = whole(logits)
    wanted, same = step(logits)
    agree(found, wanted)
    gradient, outside = (torch.autograd.grad(each, logits)[0] for each in (loss, same))
    torch.testing.assert_close(gradient, outside)
    assert seen == [["k_sequential"]]


@pytest.mark.parametrize("name", ["pooled_selection", "block_verification"])
def test_calls_are_mapped_over(name):
    """With an axis of the mapping that is not the first, and uniform numbers that are shared."""
    torch, function = library("torch"), getattr(batch, name)
    draft, target, drafts, uniforms = given_to(function, 3)
    mapped = torch.vmap(function, (-1, 0, 0, None))
    whole, seen = compiled(mapped)
    found = whole(draft.movedim(0, -1), target, drafts, uniforms[0])
    agree(found, function(draft, target, drafts, uniforms[:1].expand(3, -1)))
    assert seen == [[name]]


@pytest.mark.parametrize("name", ["spechub", "token_verification"])
def test_what_does_not_fit_is_said_while_a_graph_is_made_and_tokens_when_it_is_run(name):
    function = getattr(batch, name)
    draft, target, drafts, uniforms = given_to(function)
    whole, _ = compiled(function)
    with pytest.raises(Exception, match=re.escape(": it must be (2, 3)")):
        whole(draft, target, drafts, uniforms[:, :2])
    with pytest.raises(Exception, match="draw them in float32 or float64"):
        whole(draft, target, drafts, uniforms.half())
    agree(whole(draft, target, drafts, uniforms), function(draft, target, drafts, uniforms))
    with pytest.raises(ValueError, match="drafts has the token 4: token ids are from 0 to 3"):
        whole(draft, target, drafts + 4 * (drafts == 0), uniforms)


def test_the_optimum_of_rows_is_mapped_over_outside_of_a_graph_too():
    torch, optimum = library("torch"), batch.optimal_acceptance
    draft, target, k = given_to(optimum, 3)
    mapped = torch.vmap(lambda row: optimum(row, target[0], k))
    agree(mapped(draft), optimum(draft, target[:1].expand(3, -1), k))


def test_operations_are_what_pytorch_asks_of_one():
    torch = library("torch")
    from otspec.batch import _torch_operations

    for name, options in (("pooled_selection", (6,)), ("block_verification", ())):
        arguments = given_to(getattr(batch, name))
        torch.library.opcheck(_torch_operations.OPERATIONS[name], (*arguments, None, *options))
