"""The numbers in what rules say where they refuse."""

import math

import pytest

from otspec.rules import (
    KSequential,
    NaiveSampling,
    NotExactError,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.importance.stages import _refuse_many_free
from otspec.rules.rejection import without_replacement

PAIR = ["1/2", "1/2"], ["1/4", "3/4"]
THREE = ["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]


@pytest.mark.parametrize("exact", [True, False])
def test_a_lossy_rho_says_which_token_comes_out_too_often(exact):
    """Accepted at once are (1/4, 1/2), at one of two drafts 5/4 times as much: 5/16 and 5/8."""
    pair = PAIR if exact else [[0.5, 0.5], [0.25, 0.75]]
    served, target = ("5/16", "1/4") if exact else ("0.3125", "0.25")
    with pytest.raises(ValueError, match="rho is 1") as said:
        KSequential(*pair, 2, rho=1 if exact else 1.0)
    words, _, least = str(said.value).removesuffix(", or leave it out").rpartition(" = ")
    assert words.endswith(
        f"it puts token 0 out with probability {served} at least, the target with {target}; "
        "raise rho to at least rho*"
    )
    # 8 ρ³ − 8 ρ² − 4 ρ + 1 = 0.
    assert float(least) == pytest.approx((3 + math.sqrt(5)) / 4, rel=1e-15)


def test_too_many_terms_are_of_so_many_drafts(monkeypatch):
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 2)
    with pytest.raises(NotExactError, match="a sum over the first 1 drafts of k = 3 has too many"):
        RecursiveRejectionWithoutReplacement(*THREE, 3).acceptance()


def test_positions_may_take_half_of_the_memory(monkeypatch):
    """Two drafts of three tokens are six numbers of eight bytes."""
    rule = NaiveSampling(*THREE, 2)
    monkeypatch.setattr("otspec.rules.base.rule.memory", lambda: 96)
    assert len(rule.accepted().by_position) == 2
    monkeypatch.setattr("otspec.rules.base.rule.memory", lambda: 95)
    says = "k is 2: positions of 3 tokens are 6 numbers, more than half"
    with pytest.raises(ValueError, match=says):
        _ = NaiveSampling(*THREE, 2).accepted().by_position


def test_pairs_of_free_tokens_may_take_all_of_the_memory(monkeypatch):
    monkeypatch.setattr("otspec.rules.importance.stages.memory", lambda: 80 * 2**20)
    _refuse_many_free(2**10)
    with pytest.raises(ValueError, match=r"free is 1,025: .* about 0\.0783 GiB, more than this"):
        _refuse_many_free(2**10 + 1)
