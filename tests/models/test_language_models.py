"""Language models: what they answer and remember, from files, at random, and along a log."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from block_models import literal
from instances import EPS, fractions, weights

from otspec.blocks import BLOCK_RULES, BlockVerificationPreprint
from otspec.models import CallableModel, TableModel, load_model, markov, memoryless, random_pair
from otspec.models.base import Continued, as_models

HALVES, THIRDS = fractions("1/2", "1/2"), fractions("1/3", "2/3")


def texts_of(n, most):
    return [text for length in range(most + 1) for text in product(range(n), repeat=length)]


def random_table(rng, n):
    """A table with rows after some prefixes only, of up to three tokens."""
    listed = [x for x in texts_of(n, 3) if not x or rng.random() < 0.4]
    return {x: weights(rng, n, 5, 0.3) for x in listed}


def same(model, other, prefix):
    return model(prefix).tolist() == other(prefix).tolist()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tables_answer_for_the_longest_listed_ending_and_remember_enough(n):
    rng = np.random.default_rng(n)
    for _ in range(12):
        rows = random_table(rng, n)
        model, wanted = TableModel(rows), literal(rows)
        assert model.exact
        assert (model.n, model.order) == (n, max(map(len, rows)))
        assert {x: tuple(row) for x, row in model.rows.items()} == rows
        for prefix in texts_of(n, 4):
            assert model(prefix).tolist() == list(wanted(prefix))
            assert model.mass(prefix) == wanted.mass(prefix)
            assert type(model.mass(prefix)) is Fraction
            short = model.context(prefix)
            assert len(short) <= model.order
            rest, known = model.after(prefix), model.after(short)
            for more in texts_of(n, 2):  # what is forgotten does not matter
                assert rest(more).tolist() == known(more).tolist() == model(prefix + more).tolist()
                assert rest.after(more).mass((0,)) == model(prefix + more)[0]
                assert rest.context(more) == model.context(short + more)
        for length in range(4):
            found = list(model.texts(length))
            assert found == sorted(found)
            assert dict(found) == wanted.blocks(length)


def test_equal_contexts_have_equal_futures_in_every_kind_of_model():
    rows = random_table(np.random.default_rng(8), 2)
    table = TableModel(rows)
    for model in (table, table.after((1, 0)), CallableModel(literal(rows)), memoryless(HALVES)):
        for x, z in product(texts_of(2, 4), repeat=2):
            if model.context(x) == model.context(z):
                assert all(same(model.after(x), model.after(z), y) for y in texts_of(2, 2))


def test_a_memoryless_model_remembers_nothing_and_a_chain_its_order():
    model = memoryless(THIRDS)
    assert model.context((0, 1, 1)) == ()
    assert model.mass((1, 0, 1)) == Fraction(4, 27)
    chain = markov([[["1/2", "1/2"], ["1", 0]], [[0, "1"], ["1/4", "3/4"]]])
    assert (chain.n, chain.order, chain.context((0, 1, 1))) == (2, 2, (1, 1))
    # The first tokens: means over what could have stood before.
    assert chain(()).tolist() == [Fraction(7, 16), Fraction(9, 16)]
    assert chain((0,)).tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert chain((1,)).tolist() == [Fraction(5, 8), Fraction(3, 8)]
    assert chain((1, 1, 0, 1)).tolist() == [1, 0]
    given = markov(chain_rows := [[0.5, 0.5], [0.25, 0.75]], first=[[1.0, 0.0]])
    assert not given.exact
    assert [given(x).tolist() for x in [(), (0,), (0, 1)]] == [[1.0, 0.0], *chain_rows]
    assert type(given.mass((0, 1))) is float


def test_models_of_one_token_and_of_zeros():
    certain = memoryless([1])
    assert list(certain.texts(3)) == [((0, 0, 0), 1)]
    assert list(certain.texts(0)) == [((), 1)]
    only = memoryless([0.0, 1.0])
    assert list(only.texts(2)) == [((1, 1), 1.0)]
    assert only.mass((1, 0)) == 0.0
    assert type(only.number(2)) is float
    assert certain.number(2) == Fraction(2)
    assert [rule(certain, certain, 3).expected() for rule in BLOCK_RULES.values()] == [3, 3, 3]


def test_callables_are_checked_asked_once_and_continued():
    asked = []

    def own(prefix):
        asked.append(prefix)
        return np.float32([0.5, 0.5]) if len(prefix) % 2 else [0.25, 0.75]

    draft, target = as_models(own, memoryless([0.5, 0.5]))
    assert isinstance(draft, CallableModel)
    assert as_models(draft, target) == (draft, target)
    assert draft.mass((0, 1, 1)) == 0.25 * 0.5 * 0.75
    rest = draft.after((0,)).after((1, 1))
    assert isinstance(rest, Continued)
    assert rest(()).tolist() == draft((0, 1, 1)).tolist() == [0.5, 0.5]
    assert rest.context((0,)) == (0, 1, 1, 0)
    assert draft.after(()) is draft
    assert sorted(asked) == sorted(set(asked))
    assert BlockVerificationPreprint(own, own, 3).expected() == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TableModel({(0,): HALVES}), r"model has no row for the empty prefix: add"),
        (lambda: TableModel({(): HALVES, (0, 1): ["1/2"]}, "m"), r"m\[0 1\] sums to 1/2"),
        (lambda: TableModel({(): HALVES, (2,): HALVES}), r"model\[2\]: token ids run from 0 to 1"),
        (lambda: TableModel({(): HALVES, (-1,): HALVES}), r"model\[-1\]: token ids run"),
        (lambda: TableModel({(): HALVES, (0,): [1]}), r"model has 2 tokens and model\[0\] h"),
        (lambda: TableModel({(): HALVES, (1,): [0.5, 0.5]}), r"model is exact but model\[1\]"),
        (lambda: TableModel({(): HALVES, 1: HALVES}), r"1"),
        (lambda: TableModel({(): HALVES, "1": HALVES}), r"1"),
        (lambda: memoryless([0.5, 0.6]), r"row sums to 1.1"),
        (lambda: markov([0.5, 0.5]), r"transition has shape \(2,\): a chain of order m"),
        (lambda: markov([[0.5, 0.5]]), r"transition has shape \(1, 2\)"),
        (lambda: markov(0.5), r"transition has shape \(\)"),
        (lambda: markov([[1.0], [1.0, 0.0]]), r"transition is ragged"),
        (lambda: markov([HALVES, HALVES], first=[]), r"first has shapes \[\]: for order 1 over 2"),
        (lambda: markov([HALVES, HALVES], first=[[1.0, 0.0]]), r"float|exact"),
        (lambda: markov([HALVES, ["1/2", 0]]), r"sums to"),
        (lambda: as_models(HALVES, memoryless(HALVES)), r"draft is tuple: .* use memoryless\(row"),
        (lambda: as_models(memoryless(HALVES), None), r"target is NoneType"),
        (lambda: as_models(memoryless([1]), memoryless(HALVES)), r"draft\(\(\)\) has 1 tokens and"),
        (lambda: as_models(lambda _: [0.5, 0.5], lambda _: HALVES), r"target\(\(\)\) is exact but"),
        (lambda: CallableModel(lambda _: [0.5]), r"model\(\(\)\) sums to 0.5"),
        (lambda: CallableModel(lambda x: HALVES if not x else [1])((1,)), r"model\(\(1,\)\) has 1"),
        (lambda: CallableModel(lambda x: [[1], [0.5]][len(x)])((0,)), r"model\(\(0,\)\) sums"),
        (lambda: random_pair(1, 0.5, np.random.default_rng(0)), r"n is 1: with one token"),
        (
            lambda: random_pair(2, 1.5, np.random.default_rng(0)),
            r"divergence is 1.5: it must be a total",
        ),
        (lambda: random_pair(2, "-1/2", np.random.default_rng(0)), r"divergence is '-1/2'"),
        (lambda: random_pair(2, float("nan"), np.random.default_rng(0)), r"divergence is nan"),
        (lambda: random_pair(2, "1/0", np.random.default_rng(0)), r"1/0"),
        (
            lambda: random_pair(2, "1/2", np.random.default_rng(0), order=-1),
            r"order must be at least 0, got -1",
        ),
    ],
)
def test_unusable_models_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def write(tmp_path, text, name="model.json"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def test_models_are_read_from_files(tmp_path):
    path = write(tmp_path, {"": [0.1, 0.9], "0": [1, 0], "0 1": [0.5, 0.5]})
    model = load_model(path)
    assert not model.exact
    assert model((0, 1)).tolist() == [0.5, 0.5]
    assert model((0,)).tolist() == [1.0, 0.0]
    exact = load_model(str(path), exact=True)
    assert exact(()).tolist() == [Fraction(1, 10), Fraction(9, 10)]
    # One fraction makes the whole file exact.
    mixed = load_model(write(tmp_path, {"": [0.1, 0.9], " 1 ": ["1/3", "2/3"]}))
    assert mixed(()).tolist() == [Fraction(1, 10), Fraction(9, 10)]
    assert mixed((1,)).tolist() == [Fraction(1, 3), Fraction(2, 3)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"cannot read .*model.json: the file is empty"),
        ("{", r"cannot read .*model.json"),
        ("3", "holds a single value, not a list"),
        ({}, r"model.json: model has no row for the empty prefix"),
        ({"0": [0.5, 0.5]}, r"model has no row for the empty prefix"),
        ({"": [0.5, 0.5], "a": [0.5, 0.5]}, r"'a' is no prefix: write token ids with blanks"),
        ({"": [0.5, 0.5], "-1": [0.5, 0.5]}, r"'-1' is no prefix"),
        ({"": [0.5, 0.5], "0,1": [0.5, 0.5]}, r"'0,1' is no prefix"),
        ({"": [0.5, 0.5], "²": [0.5, 0.5]}, r"'²' is no prefix"),
        ({"": [0.5, 0.5], "2": [0.5, 0.5]}, r"model\[2\]: token ids run from 0 to 1"),
        ({"": [1], "0 0": [1], "0  0": [1]}, r"two keys mean the same prefix"),
        ({"": [1], "0": [1], "00": [1]}, r"two keys mean the same prefix"),
        ({"": 1}, r"the row of '' is not one list of numbers"),
        ({"": {"0": 1}}, r"the row of '' is not one list"),
        ({"": [[0.5, 0.5], [0.5, 0.5]]}, r"the row of '' is not one list"),
        ({"": ["x", 0.5]}, r"model\[0\] is 'x': write numbers"),
        ({"": [True, 0]}, r"model\[0\] is True"),
        ({"": ["1/2", None]}, r"model\[1\] is None"),
        ({"": [0.5, 0.6]}, r"model sums to 1.1"),
        ({"": ["1/2", "1/3"]}, r"model sums to 5/6"),
        ({"": [0.5, 0.5], "1": [1]}, r"model has 2 tokens and model\[1\] has 1"),
        ({"": []}, r"model is empty"),
    ],
)
def test_unusable_files_are_refused_by_name(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def test_files_of_another_kind_or_none_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"rows.csv: a language model is a .json file"):
        load_model(write(tmp_path, "0.5,0.5", "rows.csv"))
    with pytest.raises(ValueError, match="no such file"):
        load_model(tmp_path / "none.json")
    with pytest.raises(ValueError, match=r"draft\[0\]\[1\] is 'y'"):
        load_model(write(tmp_path, {"": [1, 0], "0": [0, "y"]}), "draft")


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("divergence", ["0", "1/7", "0.3", 1, 0.0, 0.3, 1.0])
def test_random_pairs_differ_by_the_divergence_after_every_context(divergence, order):
    for n in (2, 3, 5):
        draft, target = random_pair(n, divergence, np.random.default_rng(5), order=order)
        repeated = random_pair(n, divergence, np.random.default_rng(5), order=order)
        other = random_pair(n, divergence, np.random.default_rng(6), order=order)
        assert draft.order == target.order == order
        assert draft.exact == target.exact == (not isinstance(divergence, float))
        assert set(draft.rows) == set(texts_of(n, order))
        if n == 5:
            assert not all(same(other[0], draft, x) for x in draft.rows)
        for prefix in texts_of(n, order + 1):
            assert same(draft, repeated[0], prefix)
            assert same(target, repeated[1], prefix)
            found = abs(draft(prefix) - target(prefix)).sum() / 2
            if draft.exact:
                assert found == Fraction(divergence)
            else:  # 3 roundings of each entry, one of a difference, and sums of n entries
                assert abs(found - divergence) <= (4 + n) * EPS
