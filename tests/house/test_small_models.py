"""The models that the note trains: a table of pairs, and a transformer that sees no later token."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the small models are trained with PyTorch")

from docs.note.pairs.__main__ import HELD_OUT, PROMPT, files, prompts  # noqa: E402
from docs.note.pairs.model import CONTEXT, Model, Size, loss_on, pair_table, trained  # noqa: E402

STREAM = np.tile(np.array([0, 1, 2, 1]), 100)
SIZE = Size(layers=1, width=8, heads=2, steps=3, seed=5)


def small(size=SIZE):
    return trained(size, STREAM, 3, print)


def test_the_table_of_pairs_is_smoothed_counts():
    table = pair_table(STREAM, 3).exp().numpy()
    assert table.sum(1) == pytest.approx(1, abs=1e-6)
    # 0 is followed by 1 all of its 100 times; 1 has 200 of the 399 pairs as their second token.
    alone = (200 + 0.5) / (399 + 1.5)
    assert table[0, 1] == pytest.approx((100 + 5 * alone) / 105, abs=1e-6)


def test_a_table_is_added_to_what_the_transformer_says():
    tokens, table, said = torch.tensor([[0, 1, 2, 1]]), pair_table(STREAM, 3), []
    for each in (table, torch.zeros(3, 3)):
        torch.manual_seed(0)
        said.append(Model(SIZE, each)(tokens))
    assert torch.allclose(said[0] - said[1], table[tokens], atol=1e-5)
    untrained = Size(layers=1, width=8, heads=2, steps=0, seed=5, table=True)
    assert torch.equal(small(untrained).table, table)


def test_a_later_token_changes_nothing():
    model = small()
    tokens = torch.tensor([[0, 1, 2, 1, 0, 1]])
    changed = tokens.clone()
    changed[0, 4:] = 2
    with torch.no_grad():
        one, other = model(tokens)[0], model(changed)[0]
    assert torch.equal(one[:4], other[:4])
    assert not torch.equal(one[4], other[4])


def test_training_is_the_same_each_time_and_lowers_the_loss():
    one, again = small(), small()
    for weight, same in zip(one.parameters(), again.parameters(), strict=True):
        assert torch.equal(weight, same)
    longer = Size(layers=1, width=8, heads=2, steps=30, seed=5)
    assert loss_on(small(longer), STREAM) < loss_on(one, STREAM)
    assert len(STREAM) > CONTEXT + 1


def test_files_come_in_order_and_links_are_left_out(tmp_path):
    for name in ("b/y.rst.txt", "a.rst.txt", "c.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (tmp_path / "link.rst.txt").symlink_to(tmp_path / "a.rst.txt")
    assert files(tmp_path) == ["a.rst.txt", "b/y.rst.txt"]
    assert HELD_OUT > 1


def test_prompts_are_the_middle_of_files_that_are_long_enough():
    (found,) = prompts([np.arange(PROMPT - 1), np.arange(PROMPT + 4)])
    assert found.tolist() == list(range(2, PROMPT + 2))
