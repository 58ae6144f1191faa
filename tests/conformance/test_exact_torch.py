"""The exact laws of code that draws with PyTorch, compared with what they are."""

import itertools
import math

import pytest
from tiny_models import transformers

from otspec.chance import CannotFollowError
from otspec.conformance import exact_law

transformers()

import torch  # noqa: E402 # only where it is installed

P = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
Q = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
TOKENS = {0: 0.2, 1: 0.3, 2: 0.5}
PAIRS = {(i, j): TOKENS[i] * TOKENS[j] for i in range(3) for j in range(3)}
DISTINCT = {
    (i, j): TOKENS[i] * TOKENS[j] / (1 - TOKENS[i]) for i in range(3) for j in range(3) if i != j
}
BELOW = {(True,): 0.3, (False,): 0.7}


def gumbels(guard=0.0):
    return -torch.log(-torch.log(torch.rand_like(P) + guard) + guard)


def in_place():
    clocks = torch.empty_like(P)
    clocks.exponential_()
    return P.div(clocks).argmax()


def row_by_row():
    clocks = torch.empty(2, 3, dtype=torch.float64)
    for row in range(2):
        clocks[row].exponential_(generator=torch.Generator().manual_seed(row))
    return (P / clocks).argmax(dim=-1)


def one_of_two_races():
    """As vLLM does: one race for all positions, of which one is used."""
    clocks = torch.empty(1, 3, dtype=torch.float64).exponential_()
    recovered = torch.argmax(torch.stack([P, Q]) / clocks.expand(2, 3), dim=-1)
    output = torch.full((2,), -1)
    first = torch.rand(()) < 0.5
    output[:1] = torch.where(first, recovered[0], recovered[1])
    return output[0]


def written_to_a_buffer():
    output = torch.full((1, 3), -1)
    token = torch.multinomial(P, 1)
    output[0, 1], output[:, 2] = token, token[0]
    return output


def smallest_first():
    return torch.topk(torch.empty(3).exponential_().double() / P, 2, largest=False).indices


def nucleus():
    order = P.argsort(descending=True)
    kept = P[order][:2]
    return order[torch.multinomial(kept / kept.sum(), 1)].item()


LAWS = {
    "rand": (lambda: torch.rand(1) < 0.3, BELOW),
    "rand of a shape": (lambda: torch.rand((1, 1)).squeeze(0) <= 0.3, BELOW),
    "rand_like": (lambda: torch.rand_like(P[:1]) <= P[1], BELOW),
    "uniform": (lambda: torch.empty(1).uniform_(1, 3) < 1.6, BELOW),
    "the other side": (lambda: P[1:2] >= torch.rand(1), BELOW),
    "scaled": (lambda: torch.rand(1).double() * Q[:1] <= 0.18, BELOW),
    "logarithm": (lambda: torch.rand(1).double().log() < P[1:2].log(), BELOW),
    "kept from 0": (lambda: torch.rand(1).double().clamp(min=1e-10).log() < P[1:2].log(), BELOW),
    "item": (lambda: (torch.rand(1).item() < 0.3,), BELOW),
    "list": (lambda: (torch.rand(2).tolist()[1] < 0.3,), BELOW),
    "numpy": (lambda: torch.rand(1).numpy() < 0.3, BELOW),
    "alone in a sum": (lambda: torch.rand(1, 1).sum(-1) < 0.3, BELOW),
    "alone in a product": (lambda: torch.rand(1, 1).cumprod(-1)[0] < 0.3, BELOW),
    "products": (
        lambda: torch.rand(2).double().cumprod(-1) < P[:2],
        {
            (True, True): 0.2,
            (False, True): 0.1 - 0.3 * math.log(0.3),
            (False, False): 0.7 + 0.3 * math.log(0.3),
        },
    ),
    "where": (lambda: torch.where(torch.ones(1) > 0, torch.rand(1), 1.0) < 0.3, BELOW),
    "cat": (lambda: torch.cat([torch.ones(1), torch.rand(1)])[1:] < 0.3, BELOW),
    "gather": (lambda: torch.rand(3).gather(0, torch.tensor([1])) < 0.3, BELOW),
    "bernoulli": (lambda: torch.bernoulli(P[1:2]).bool(), BELOW),
    "certain bernoulli": (lambda: torch.bernoulli(torch.tensor([0.0, 1.0])), {(0, 1): 1}),
    "bernoulli in place": (lambda: torch.empty(1).bernoulli_(0.3) == 1, BELOW),
    "bernoulli of a number": (lambda: torch.empty(1).bernoulli(0.3) == 1, BELOW),
    "Bernoulli": (lambda: torch.distributions.Bernoulli(P[1:2]).sample() == 1, BELOW),
    "multinomial": (lambda: torch.multinomial(P, 1)[0], TOKENS),
    "method": (lambda: P.multinomial(num_samples=1).item(), TOKENS),
    "replaced": (lambda: torch.multinomial(P, 2, replacement=True), PAIRS),
    "distinct": (lambda: torch.multinomial(P, 2), DISTINCT),
    "rows": (lambda: torch.multinomial(torch.stack([P, P]), 1).flatten(), PAIRS),
    "Categorical": (lambda: torch.distributions.Categorical(P).sample(), TOKENS),
    "samples": (lambda: torch.distributions.Categorical(P).sample((2,)), PAIRS),
    "randint": (lambda: torch.randint(0, 2, (1,)), {(0,): 0.5, (1,): 0.5}),
    "randint below": (lambda: torch.randint(high=2, size=(1,)), {(0,): 0.5, (1,): 0.5}),
    "randperm": (lambda: torch.randperm(3)[:2], dict.fromkeys(DISTINCT, 1 / 6)),
    "searchsorted": (lambda: torch.searchsorted(P.cumsum(-1), torch.rand(1).double())[0], TOKENS),
    "rows searched": (
        lambda: torch.searchsorted(P.expand(2, 3).cumsum(-1), torch.rand(2, 1).double())[:, 0],
        PAIRS,
    ),
    "argmax of a mask": (lambda: (P.cumsum(-1) > torch.rand(1)).int().argmax(), TOKENS),
    "first of a mask": (lambda: (P.cumsum(-1) > torch.rand(1)).nonzero()[0, 0], TOKENS),
    "sum of a mask": (lambda: (P.cumsum(-1) < torch.rand(1)).sum().item(), TOKENS),
    "race": (lambda: torch.argmax(P / torch.empty_like(P).exponential_()), TOKENS),
    "race in place": (in_place, TOKENS),
    "race backwards": (lambda: torch.argmin(torch.empty_like(P).exponential_() / P), TOKENS),
    "best of a race": (lambda: (P / torch.empty_like(P).exponential_()).max(-1).indices, TOKENS),
    "rates": (lambda: torch.empty(2).double().exponential_(2.0).argmin(), {0: 0.5, 1: 0.5}),
    "exponential of a rate": (
        lambda: torch.empty(1).double().exponential_(2) < 0.75,
        {(True,): 1 - math.exp(-1.5), (False,): math.exp(-1.5)},
    ),
    "rates of two": (
        lambda: torch.cat([torch.empty(1).exponential_(rate) for rate in (1.0, 3.0)]).argmin(),
        {0: 0.25, 1: 0.75},
    ),
    "uniform below 0": (lambda: torch.empty(1).double().uniform_(-2, 0.5) < -1.25, BELOW),
    "randint of bounds": (lambda: torch.randint(3, 6, (1,)), {(i,): 1 / 3 for i in (3, 4, 5)}),
    "randint of named bounds": (
        lambda: torch.randint(low=2, high=4, size=(1,)),
        {(2,): 0.5, (3,): 0.5},
    ),
    "gumbel": (lambda: (P.log() + gumbels()).argmax(-1), TOKENS),
    "guarded gumbel": (lambda: (P.log() + gumbels(1e-20)).argmax(-1), TOKENS),
    "row by row": (row_by_row, PAIRS),
    "smallest first": (smallest_first, DISTINCT),
    "one of two races": (one_of_two_races, {i: (P[i] + Q[i]).item() / 2 for i in range(3)}),
    "buffer": (written_to_a_buffer, {((-1, i, i),): TOKENS[i] for i in range(3)}),
    "reciprocal": (
        lambda: torch.rand(1).double().reciprocal() < 4,
        {(True,): 0.75, (False,): 0.25},
    ),
    "likeliest of the last dimension": (
        lambda: torch.empty(1, 3).exponential_().topk(1, 1, largest=False).indices[0],
        {(i,): 1 / 3 for i in range(3)},
    ),
    "nucleus": (nucleus, {2: 0.625, 1: 0.375}),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_right(name):
    function, wanted = LAWS[name]
    law = exact_law(function)
    assert law.keys() == wanted.keys()
    # PyTorch keeps 0.3 as a float32 beside float32 numbers.
    assert all(math.isclose(law[each], wanted[each], abs_tol=2e-8) for each in wanted)


IMPORTED_ALONE = torch.manual_seed
REFUSED = {
    "adds two random numbers": lambda: torch.rand(2).sum() < 1,
    "ranks random numbers in torch's topk with dim=": lambda: torch.rand(2, 2).topk(1, 0),
    "rounds a random number that may be negative": lambda: (torch.rand(1) - 0.5).floor() < 0,
    "stores a random number among integers": lambda: torch.zeros(2).long().copy_(torch.rand(2)),
    "product of random numbers with a random number": lambda: (
        torch.rand(2).cumprod(-1).flip(0).argmax()
    ),
    "subtracts two random numbers": lambda: torch.rand(2) - torch.rand(2) < 1,
    "to torch's softmax": lambda: torch.rand(2).softmax(-1) < 0.5,
    "with torch's randn": lambda: torch.randn(2) < 0,
    "with torch's dropout": lambda: torch.nn.functional.dropout(P),
    "into a float": lambda: float(torch.rand(1)),
    "returns a random number": lambda: torch.rand(1),
    "random numbers for indices": lambda: P.gather(0, torch.rand(3)),
    "with chances that are random": lambda: torch.multinomial(torch.rand(3), 1),
    "more distinct tokens": lambda: torch.multinomial(torch.tensor([0.0, 1.0]), 2),
    "random numbers of torch": lambda: IMPORTED_ALONE(1),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_followed_is_named(what):
    with pytest.raises(CannotFollowError, match=what):
        exact_law(REFUSED[what])


@pytest.mark.parametrize(
    ("masses", "reason"),
    [
        ([0.0, 0.0], "sum of probabilities"),
        ([[0.5, 0.5], [0.0, 0.0]], "sum of probabilities"),
        ([math.nan, 1], "nan"),
        ([math.inf, 1], "inf"),
        ([-0.1, 1.1], "element < 0"),
    ],
)
def test_masses_that_are_none_are_refused_as_by_torch(masses, reason):
    for run in (exact_law, lambda function: function()):
        with pytest.raises(RuntimeError, match=reason):
            run(lambda: torch.multinomial(torch.tensor(masses), 1))


def test_a_tensor_that_is_written_to_is_followed_by_its_views():
    def run():
        clocks = torch.ones(2, 2)
        view = clocks[1]
        before = bool(view[0] < 0.5)
        clocks.uniform_()
        return before, view[0] < 0.5, clocks[0, 0] < 0.5

    assert exact_law(run) == {
        (False, a, b): 0.25 for a in (True, False) for b in (True, False)
    }  # fmt: skip


def test_random_numbers_that_are_overwritten_are_gone():
    def run():
        u = torch.rand(2)
        u[0] = 0.1
        u[1:].fill_(0.7)
        return u < 0.5

    assert exact_law(run) == {(True, False): 1}


def coin_first():
    coin = torch.multinomial(P, 1)
    return coin + 0, torch.multinomial(Q if coin == 0 else P, 1)


def twice():
    token = torch.multinomial(P, 1)
    return token, token.expand(2)


def looked_at():
    token = torch.multinomial(P, 1)
    return bool(token == 0), token


LAST = {
    "one token": (lambda: torch.multinomial(P, 1), 1, {(i,): m for i, m in TOKENS.items()}),
    "two": (lambda: torch.multinomial(P, 2, replacement=True), 3, PAIRS),
    "in 32 bits": (
        lambda: torch.multinomial(P, 1).int(), 3, {(i,): m for i, m in TOKENS.items()}
    ),
    "after a choice": (
        coin_first, 3,
        {((i,), (j,)): p * float((P if i else Q)[j]) for i, p in TOKENS.items() for j in range(3)},
    ),
    "at two places": (twice, 1, {((i,), (i, i)): mass for i, mass in TOKENS.items()}),
    "looked at before": (looked_at, 3, {(i == 0, (i,)): mass for i, mass in TOKENS.items()}),
    "as a number of floats": (lambda: torch.bernoulli(P[:1]), 2, {(1.0,): 0.2, (0.0,): 0.8}),
}  # fmt: skip
"""Code, how often it is run, and its law: the last token that nothing depends on takes one run."""


@pytest.mark.parametrize("name", LAST)
def test_the_last_token_is_drawn_in_all_its_ways_in_one_run(name):
    code, runs, law = LAST[name]
    calls = []

    def counted():
        calls.append(1)
        return code()

    found = exact_law(counted)
    assert found == pytest.approx(law, rel=0, abs=1e-15)
    assert len(calls) == runs


def test_what_counts_as_rounding_is_left_out_of_the_last_token_too():
    masses = torch.tensor([1.0, 1e-9, 1.0], dtype=torch.float64)
    law = exact_law(lambda: torch.multinomial(masses, 1), least=1e-8)
    assert law == {(0,): 0.5, (2,): 0.5}
    assert len(exact_law(lambda: torch.multinomial(masses, 1))) == 3


def test_rows_are_ranked_each_by_itself():
    law = exact_law(lambda: tuple(map(tuple, torch.rand(2, 3).argsort(-1).tolist())))
    orders = list(itertools.permutations(range(3)))
    assert law == pytest.approx(dict.fromkeys(itertools.product(orders, orders), 1 / 36))
