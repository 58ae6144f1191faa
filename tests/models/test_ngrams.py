"""Models counted from a text, and models at a temperature or cut to their likeliest tokens."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from each_case import each

from otspec.models import NGramModel, TableModel, WarpedModel, memoryless
from otspec.models.base import as_beginnings
from otspec.traces import warp

TEXT = (0, 1, 2, 0, 1, 1, 2, 0, 0, 1)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_row_is_the_counts_around_the_circle_and_one_more(order):
    model = NGramModel(TEXT, 3, order)
    assert (model.n, model.exact, model.order) == (3, True, order)
    circle = TEXT * 3
    grams = Counter(circle[i : i + order + 1] for i in range(len(TEXT)))
    contexts = Counter(circle[i : i + order] for i in range(len(TEXT)))
    for context in product(range(3), repeat=order):
        wanted = [Fraction(grams[*context, y] + 1, contexts[context] + 3) for y in range(3)]
        assert model(context).tolist() == wanted
        assert model((2, 2, *context)).tolist() == wanted
        assert model.context((2, 2, *context)) == context
        assert sum(model(context)) == 1
        rounded = NGramModel(TEXT, 3, order, exact=False)(context)
        assert rounded.dtype == np.float64
        assert rounded == pytest.approx([float(chance) for chance in wanted], rel=1e-15)
    shares = {context: Fraction(count, len(TEXT)) for context, count in contexts.items()}
    assert model.contexts() == shares
    assert list(model.contexts()) == sorted(shares)


def test_the_empty_prefix_goes_on_with_the_start():
    model = NGramModel(TEXT, 3, 2)
    assert model.context(()) == (0, 1) == TEXT[-2:]
    assert model.context((2,)) == (1, 2)
    placed = NGramModel(TEXT, 3, 2, start=(1, 1, 2))
    assert placed.context(()) == (1, 2)
    assert (placed(()) == model((1, 2))).all()
    assert placed.after((0,)).context((1,)) == (0, 1)
    short = NGramModel((1,), 2, 3)
    assert short.context(()) == (1, 1, 1)
    assert short(()).tolist() == [Fraction(1, 3), Fraction(2, 3)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(((), 3, 1), "text is empty"), (((0, 3), 3, 1), r"text\[1\] is 3"),
     ((TEXT, 3, -1), "order"), ((TEXT, 3, 101), "order"), ((TEXT, 1000, 4), "use a smaller n or"),
     ((TEXT, 0, 1), "n must be")],
)  # fmt: skip
def test_texts_that_cannot_be_counted_are_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        NGramModel(*arguments)


def test_a_start_is_as_long_as_what_is_remembered():
    with pytest.raises(ValueError, match="start has 1 tokens, but 2 are remembered"):
        NGramModel(TEXT, 3, 2, start=(0,))


def rows(seed, count, n):
    """Rows of fractions with zeros and ties."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        weights = rng.integers(0, 5, n)
        weights[rng.integers(n)] += 1
        yield [Fraction(int(weight), int(weights.sum())) for weight in weights]


@each("power", [1, 2, 5])
@each("top_k", [None, 1, 2, 9])
@each("top_p", [None, Fraction(1, 2), Fraction(9, 10), 1])
def test_warping_is_exact(power, top_k, top_p):
    for row in rows(7, 30, 5):
        model = WarpedModel(memoryless(row), temperature=f"1/{power}", top_k=top_k, top_p=top_p)
        found = model(()).tolist()
        assert sum(found) == 1
        ranked = sorted(range(5), key=lambda y: (-row[y], y))
        least = row[ranked[min(top_k or 5, 5) - 1]]
        powers = [mass**power if mass >= least else 0 for mass in row]
        share, kept = Fraction(0), []
        for token in ranked:
            if top_p is None or share < top_p * sum(powers):
                kept.append(token)
                share += powers[token]
        assert found == [powers[y] / share if y in kept else 0 for y in range(5)]


def test_floats_are_warped_as_logits_are():
    for row in rows(8, 30, 6):
        chances = np.array([float(mass) for mass in row])
        for temperature, top_k, top_p in ((0.7, None, None), (1.3, 3, 0.85), (1, None, 0.4)):
            options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
            with np.errstate(divide="ignore"):
                wanted = warp(np.log(chances), **options)
            assert WarpedModel(memoryless(chances), **options)(()).tolist() == wanted.tolist()
        exact = WarpedModel(memoryless(row), temperature="1/3")(())
        rounded = WarpedModel(memoryless(chances), temperature=1 / 3)(())
        assert rounded == pytest.approx(exact.astype(float), rel=1e-13)


def test_a_warped_model_remembers_what_its_model_does():
    model = WarpedModel(TableModel({(): ["1/2", "1/2"], (1,): ["1/3", "2/3"]}), temperature="1/2")
    assert model.context((0, 1, 0)) == (0,)
    assert model((1,)).tolist() == [Fraction(1, 5), Fraction(4, 5)]
    assert model.mass((1, 1)) == Fraction(1, 2) * Fraction(4, 5)
    tied = WarpedModel(lambda _: ["1/2", "1/2"], top_k=1)
    assert tied((0,)).tolist() == [Fraction(1, 2)] * 2


@pytest.mark.parametrize(
    ("options", "says"),
    [({"temperature": 0.7}, "exact models take 1, '1/2', '1/3'"),
     ({"temperature": 2}, "exact models take"), ({"temperature": 0}, "temperature is 0"),
     ({"temperature": "1/1001"}, "1 / temperature"), ({"top_k": 0}, "top_k"),
     ({"top_p": 0}, "top_p"), ({"top_p": 1.5}, "top_p")],
)  # fmt: skip
def test_options_that_nothing_follows_from_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        WarpedModel(memoryless(["1/2", "1/2"]), **options)


@pytest.mark.parametrize(
    ("given", "says"),
    [([()], "it must be a mapping"), ({(2,): 1}, r"beginnings\[0\] is 2"), ({(): "1/2"}, "sums to"),
     ({}, "empty"), ({(): 1.0}, "write fractions")],
)  # fmt: skip
def test_beginnings_are_a_law_of_texts(given, says):
    with pytest.raises(ValueError, match=says):
        as_beginnings(given, memoryless(["1/2", "1/2"]))
    assert as_beginnings({(0,): "1/2", (1,): "1/2", (): 0}, memoryless([0.5, 0.5])) == {
        (0,): 0.5,
        (1,): 0.5,
    }
