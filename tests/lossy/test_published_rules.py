"""Published lossy rules: their kernels, the output that they declare, and the lossy frontier."""

from __future__ import annotations

import importlib.metadata
import inspect
import math
from fractions import Fraction
from importlib.metadata import EntryPoint

import numpy as np
import oracles
import pytest
from instances import floats, pairs, turn
from published_cases import PUBLISHED, made
from searching import of_all

import otspec
from otspec._base.registry import Registry, subclass_of
from otspec.plots.axes import LOOKS
from otspec.rules.lossy import LOSSY_RULES, LossyRule
from otspec.rules.lossy.base import entropy, jensen_shannon, kullback_leibler


def test_every_rule_has_a_kernel_of_its_own():
    assert list(LOSSY_RULES) == list(PUBLISHED)
    exported = {
        kind for kind in vars(otspec.rules.lossy).values()
        if isinstance(kind, type) and issubclass(kind, LossyRule) and hasattr(kind, "name")
    }  # fmt: skip
    assert exported == set(LOSSY_RULES.values())
    looks = [LOOKS[rule.title] for rule in LOSSY_RULES.values()]
    assert len(set(looks)) == len(looks)
    assert not any(rule.compared for rule in exported)  # tables have the lossless ones


@pytest.mark.parametrize("name", PUBLISHED)
def test_kernels_and_declared_outputs_are_those_of_the_source(name):
    seen = 0
    for rule, table, kernel, _ in made(name, 910, 72):
        n = rule.law.n
        for x in table:
            assert rule.kernel(x).tolist() == kernel(x), (rule, x)
        output = oracles.output(table, kernel, n)
        assert rule.declared_output.tolist() == output
        assert rule.acceptance() == oracles.acceptance(table, kernel)
        assert isinstance(rule.acceptance(), Fraction)
        accepted = [sum(m * kernel(x)[y] for x, m in table.items() if y in x) for y in range(n)]
        assert rule.accepted().by_token.tolist() == accepted
        joint = {x: rule.joint_kernel(x).tolist() for x in table}
        by_position = oracles.by_position(table, joint.__getitem__, rule.k)
        assert rule.accepted().by_position.tolist() == by_position
        seen += output != rule.target.tolist()
    assert seen >= of_all(15)


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_rule_accepts_more_than_its_total_variation_allows(name):
    """For an output off by ε the most is min(1, α + ε): on hundreds of instances in all."""
    lossy = 0
    for rule, _, _, optimum in made(name, 911, 96):
        off = sum(max(o - q, 0) for o, q in zip(rule.declared_output, rule.target, strict=True))
        frontier = min(Fraction(1), optimum + off)
        assert rule.acceptance() <= frontier
        if PUBLISHED[name].on_frontier:
            assert rule.acceptance() == frontier
            between = zip(rule.draft, rule.declared_output, rule.target, strict=True)
            assert all(min(p, q) <= o <= max(p, q) for p, o, q in between)
        if name == "thresholded-target-only":
            assert rule.acceptance() == frontier
        lossy += off > 0
    assert lossy >= of_all(20)


@pytest.mark.parametrize("name", [name for name, each in PUBLISHED.items() if each.lossless])
def test_each_has_its_lossless_end(name):
    for draft, target in pairs(912, 24, 5):
        if name != "thresholded-target-only" or any(draft[1:]):
            rule = LOSSY_RULES[name](draft, target, 1, **PUBLISHED[name].lossless)
            assert rule.declared_output.tolist() == list(target)


@pytest.mark.parametrize("name", PUBLISHED)
def test_floats_follow_the_exact_rule(name):
    eps = np.finfo(float).eps
    for index, (rule, table, _, _) in enumerate(made(name, 913, 48)):
        if name == "relaxed-top":  # a token on the threshold may fall on either side of it
            edge = rule.target - (rule.target.max() - rule.delta)
            if (abs(edge.astype(float)) < 1e-12).any():
                continue
        given = PUBLISHED[name].parameters[turn(index, 3)]
        rounded = type(rule)(floats(rule.draft), floats(rule.target), rule.k, **{
            key: getattr(rule, key) for key in given
        })  # fmt: skip
        for found, exact in (
            (rounded.declared_output, rule.declared_output),
            (rounded.accepted().by_token, rule.accepted().by_token),
            *((rounded.kernel(x), rule.kernel(x)) for x in table if name != "cactus"),
        ):
            # A few roundings a token, of sums of n of them.
            assert np.abs(found - exact.astype(float)).max() < 100 * eps * rule.law.n


@pytest.mark.parametrize("name", PUBLISHED)
def test_full_vocabularies_are_served(name):
    rows = np.random.default_rng(914).dirichlet(np.full(20_000, 0.01), size=2)
    rule = LOSSY_RULES[name].of_pair(*rows, LOSSY_RULES[name].only_k or 4)
    assert abs(rule.declared_output.sum() - 1) < 1e-9
    assert rule.declared_output.min() >= 0
    assert 0 < rule.acceptance() <= 1 + 1e-9
    assert rule.accepted().by_token.shape == (20_000,)


def extreme(rng, n):
    """A law with subnormal masses, zeros, or one token that is nearly certain."""
    kind = rng.integers(4)
    if kind == 0:
        drawn = 10.0 ** rng.uniform(-320, 0, n)
    elif kind == 1:
        drawn = np.where(rng.random(n) < 0.5, 0, 10.0 ** rng.uniform(-20, 0, n))
    elif kind == 2:
        drawn = np.where(rng.random(n) < 0.5, 5e-324, rng.random(n))
    else:
        drawn = rng.dirichlet(np.full(n, 0.02))
    drawn[rng.integers(n)] += drawn.sum() < 1e-300
    return drawn / drawn.sum()


@pytest.mark.parametrize("name", [name for name, rule in LOSSY_RULES.items() if rule.only_k == 1])
def test_of_many_tokens_the_declared_output_is_the_mean_over_drafts(name):
    rng = np.random.default_rng(919)
    for index in range(150):
        draft, target = rng.dirichlet(np.full(9, 0.5), 2)
        rule = LOSSY_RULES[name](draft, target, **PUBLISHED[name].parameters[index % 3])
        output = sum(mass * rule.kernel([x]) for x, mass in enumerate(draft))
        assert rule.declared_output == pytest.approx(output, abs=1e-13)


@pytest.mark.parametrize("name", [name for name, rule in LOSSY_RULES.items() if rule.only_k == 1])
def test_extreme_floats_are_taken(name):
    rng = np.random.default_rng(918)
    for index in range(150):
        n = int(rng.integers(1, 7))
        draft, target = extreme(rng, n), extreme(rng, n)
        rule = LOSSY_RULES[name](draft, target, **PUBLISHED[name].parameters[index % 3])
        output = sum(mass * rule.kernel([x]) for x, mass in enumerate(draft))
        assert np.abs(output - rule.declared_output).max() < 1e-13
        assert abs(output.sum() - 1) < 1e-13
        most = min(1, np.minimum(draft, target).sum() + np.maximum(output - target, 0).sum())
        assert rule.acceptance() < most + 1e-13


@pytest.mark.parametrize("name", PUBLISHED)
def test_samples_follow_the_kernel(name):
    draft, target = [0.4, 0.3, 0.2, 0.1], [0.1, 0.25, 0.25, 0.4]
    rule = LOSSY_RULES[name].of_pair(draft, target, LOSSY_RULES[name].only_k or 2)
    rng, size = np.random.default_rng(915), 1000
    for x in [(0,), (3,)] if rule.k == 1 else [(0, 1)]:
        drawn = [rule.sample(x, rng) for _ in range(size)]
        assert all(accepted == (token in x) for token, accepted in drawn)
        counts = np.bincount([token for token, _ in drawn], minlength=4)
        # Hoeffding, for eight tokens of twelve rules: a false alarm once in 10^6.
        assert np.abs(counts / size - rule.kernel(x)).max() < math.sqrt(math.log(2e8) / 2 / size)
        assert not counts[rule.kernel(x) == 0].any()


def test_parameters_are_checked_and_follow_the_arithmetic():
    rule = LOSSY_RULES["lenience"]([0.5, 0.5], [0.25, 0.75])
    assert (type(rule.lenience), rule.lenience) == (float, 0.5)
    assert type(LOSSY_RULES["lenience"](["1/2", "1/2"], ["1/4", "3/4"]).lenience) is Fraction
    with pytest.raises(ValueError, match=r"lenience is 0\.5, a float beside exact"):
        LOSSY_RULES["lenience"](["1/2", "1/2"], ["1/4", "3/4"], lenience=0.5)
    for name, wrong in (
        ("lenience", {"lenience": 0}),
        ("mentored-decoding", {"alpha": 1.5}),
        ("interpolated", {"weight": -0.5}),
        ("cactus", {"delta": -1}),
        ("typical-acceptance", {"epsilon": 2}),
        ("typical-acceptance", {"otherwise": "draft"}),
        ("relaxed-top", {"count": 0}),
        ("rollback", {"rollback": -1}),
        ("fuzzy", {"threshold": math.inf}),
        ("cascade-by-position", {"alpha": math.nan}),
        ("cascade-by-token", {"alpha": "much"}),
        ("thresholded-target-only", {"accumulated": 0}),
    ):
        (parameter,) = wrong
        with pytest.raises(ValueError, match=parameter):
            LOSSY_RULES[name]([0.5, 0.5], [0.25, 0.75], 1, **wrong)


HUGE = 1e300
PARAMETERS = {
    # rule, parameter: its default, the least and the most that it takes, and whether the least is
    # itself too small
    ("lenience", "lenience"): ("1/2", 0, 1, True),
    ("entropy-lenience", "alpha"): ("2/5", 0, HUGE, False),
    ("entropy-lenience", "most"): ("19/20", 0, 1, True),
    ("mentored-decoding", "alpha"): ("1/2", 0, 1, True),
    ("interpolated", "weight"): ("1/2", 0, 1, False),
    ("cactus", "delta"): ("1/4", 0, HUGE, False),
    ("typical-acceptance", "epsilon"): ("9/100", 0, 1, False),
    ("typical-acceptance", "delta"): ("3/10", 0, 1, False),
    ("relaxed-top", "count"): (10, 1, None, False),
    ("relaxed-top", "delta"): ("3/5", 0, 1, False),
    ("rollback", "rollback"): (2, 0, None, False),
    ("fuzzy", "threshold"): (0.3, 0, None, False),
    ("cascade-by-position", "alpha"): ("1/20", -HUGE, HUGE, False),
    ("cascade-by-token", "alpha"): ("3/10", 0, 1, False),
    ("thresholded-target-only", "single"): ("1/2", 0, 1, False),
    ("thresholded-target-only", "accumulated"): ("1/2", 0, 1, True),
}


def test_every_parameter_is_in_the_table():
    own = {
        (name, parameter.name)
        for name, rule in LOSSY_RULES.items()
        for parameter in inspect.signature(rule).parameters.values()
        if parameter.name not in ("law", "draft", "target", "k", "normalize", "otherwise")
    }
    assert own == set(PARAMETERS)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_parameter_is_a_keyword_that_has_its_bounds_and_its_default(name, parameter):
    default, least, most, is_open = PARAMETERS[name, parameter]
    kind = LOSSY_RULES[name]
    signature = inspect.signature(kind).parameters[parameter]
    assert signature.kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.default == (Fraction(default) if isinstance(default, str) else default)
    pair = [0.5, 0.5], [0.25, 0.75]

    def takes(value):
        try:
            rule = kind(*pair, kind.only_k or 2, **{parameter: value})
        except ValueError as error:
            assert parameter in str(error)  # noqa: PT017
            return False
        assert getattr(rule, parameter) == value
        return True

    less, more = (
        1 if parameter == "count" else 1e-9 * max(1, abs(each or 0)) for each in (least, most)
    )
    assert takes(least) is not is_open
    if is_open:  # floats round it to the bound, with which all drafts are accepted
        assert not takes(Fraction(1, 10**400))
    assert not takes(least - less)
    assert takes(least + less)
    assert takes(10**9 if most is None else most)
    if most is not None:
        assert not takes(most + more)
        assert takes(most - more)


def test_mentored_decoding_spends_its_budget():
    rng = np.random.default_rng(916)
    for draft, target in rng.dirichlet(np.full(6, 0.5), size=(12, 2)):
        most = kullback_leibler(target, draft)
        for budget in (0.0, most / 3, 2 * most):
            rule = LOSSY_RULES["mentored-decoding"].within(draft, target, budget)
            spent = kullback_leibler(target, rule.declared_output)
            assert spent <= budget + 1e-12
            # α is known to one part in 2^40, and so is what is spent.
            assert spent == pytest.approx(min(budget, most), abs=1e-6)
            if budget > most:
                assert rule.alpha == 2**-40
    with pytest.raises(ValueError, match="budget"):
        LOSSY_RULES["mentored-decoding"].within(draft, target, -1)


def test_no_rollback_accepts_what_the_target_never_draws():
    rule = LOSSY_RULES["rollback"](["1/2", "1/2"], ["0", "1"], rollback=1e3)
    assert rule.threshold == 0  # exp(−1,000) in floats
    assert rule.declared_output.tolist() == [0, 1]
    assert rule.acceptance() == Fraction(1, 2)


def test_a_rollback_of_0_accepts_what_is_certain():
    """A draft is accepted from the threshold on, which is 1 here."""
    rule = LOSSY_RULES["rollback"](["1/2", "1/2"], ["0", "1"], rollback=0)
    assert (rule.threshold, rule.chances.tolist()) == (1, [0, 1])


def test_fuzzy_verification_is_lossless_where_the_divergence_is_its_threshold():
    """Accept every draft where the divergence is *below* the threshold, else verify losslessly."""
    apart = ["1", "0"], ["0", "1"]  # the divergence of disjoint laws is ln 2
    for threshold, wanted in ((math.log(2), 0), (math.nextafter(math.log(2), 1), 1)):
        rule = LOSSY_RULES["fuzzy"](*apart, threshold=threshold)
        assert rule.divergence == math.log(2)
        assert rule.acceptance() == wanted
        assert rule.declared_output.tolist() == [wanted, 1 - wanted]
    # Of two laws that are this close a float says 0, which is not below 0 either.
    small = Fraction(1, 10**200)
    near = [Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2) - small, Fraction(1, 2) + small]
    rule = LOSSY_RULES["fuzzy"](*near, threshold=0)
    assert rule.divergence == 0
    assert rule.declared_output.tolist() == near[1]
    assert rule.acceptance() == 1 - small


def test_divergences():
    draft, target = (np.array(law, dtype=object) for law in next(iter(pairs(917, 1, 5, 5))))
    rows = draft.astype(float), target.astype(float)
    wanted = sum(p * math.log(p / q) for p, q in zip(*rows, strict=True))
    assert kullback_leibler(draft, target) == pytest.approx(wanted, abs=1e-15)
    assert kullback_leibler(*rows) == pytest.approx(wanted, abs=1e-15)
    assert kullback_leibler(draft, draft) == 0
    assert kullback_leibler(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == math.inf
    assert kullback_leibler(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == math.log(2)
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == math.log(2)
    assert entropy(np.array([0.25, 0.25, 0.5, 0.0])) == pytest.approx(1.5 * math.log(2), abs=1e-15)
    # Two laws that differ by 10^-30, of which floats know nothing.
    near = Fraction(1, 2) + Fraction(1, 10**30)
    close = kullback_leibler(
        np.array([near, 1 - near], dtype=object), np.array([Fraction(1, 2)] * 2, dtype=object)
    )
    assert 0 <= close < 1e-30


def test_lossy_rules_of_other_packages_join_by_entry_point(monkeypatch):
    points = [
        EntryPoint("lenience", "otspec.rules.lossy:Lenience", "tests.lossy"),
        EntryPoint("naive-sampling", "otspec.rules:NaiveSampling", "tests.lossy"),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: points)
    table = Registry("lossy rule", "tests.lossy", subclass_of(LossyRule))
    with pytest.warns(UserWarning, match=r"NaiveSampling.* is no subclass of LossyRule"):
        assert list(table) == ["lenience"]


def test_a_token_just_as_far_below_the_likeliest_as_is_allowed_is_accepted():
    """TensorRT-LLM keeps what has at least the likeliest one's probability less delta."""
    target = ["1/2", "1/4", "1/8", "1/8"]
    rule = LOSSY_RULES["relaxed-top"](["1/4"] * 4, target, count=3, delta="1/4")
    assert rule.chances.tolist() == [1, 1, 0, 0]
