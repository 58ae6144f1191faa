"""Every broken rule of the gallery is caught, exactly and by its samples."""

from __future__ import annotations

from fractions import Fraction

import pytest
from broken_rules import GALLERY, sampler_of
from instances import fractions
from searching import enough

import otspec
from otspec.auditing import Instance, audit_over, random_instances
from otspec.drafts import named_law
from otspec.rules import RecursiveRejection

SIZE = 6_000
SAMPLED = [name for name, broken in GALLERY.items() if broken.sampled]


def test_the_gallery_names_every_mistake():
    assert len(GALLERY) >= 10
    assert all(broken.make.__doc__ for broken in GALLERY.values())


@pytest.mark.parametrize("name", GALLERY)
def test_a_search_catches_every_mistake_and_shrinks_it(name):
    broken = GALLERY[name]
    report = audit_over(broken.make, random_instances(300, seed=1), drafts=broken.drafts)
    assert not report.lossless
    failure = report.failure
    assert isinstance(failure, Instance)
    # Every mistake here shows with at most three tokens, two drafts and weights of at most 4.
    assert len(failure.draft_weights) <= 3
    assert failure.k <= 2
    assert max(failure.draft_weights + failure.target_weights) <= 4
    again = otspec.audit(
        broken.make(failure.draft, failure.target, failure.k),
        law=named_law(broken.drafts, otspec.IID(failure.draft, 1).draft, failure.k),
        target=failure.target,
    )
    assert not again.lossless
    assert again.witness == report.report.witness
    assert report.report.witness.drafts


def lossy_instance(name):
    """The instance, of a fixed list, whose output is furthest from the target."""
    broken, worst = GALLERY[name], None
    for draft, target in (
        (fractions("1/2", "1/2"), fractions(0, 1)),
        (fractions("1/2", "1/2"), fractions("1/4", "3/4")),
        (fractions("2/5", "2/5", "1/5"), fractions("1/5", "1/5", "3/5")),
        (fractions("3/4", 0, "1/4"), fractions("1/5", "2/5", "2/5")),
        (fractions("2/7", 0, "5/7"), fractions("1/2", "1/2", 0)),
        (fractions("2/3", 0, "1/3"), fractions("3/8", "1/4", "3/8")),
        (fractions("3/5", "3/10", "1/10"), fractions("1/10", "7/10", "1/5")),
        (fractions("1/4", "1/4", "1/2"), fractions("3/4", "1/4", 0)),
        (fractions("9/20", "9/20", "1/10"), fractions("9/10", "1/10", 0)),
    ):
        for k in (2, 3):
            if broken.drafts != "iid" and k != 2:
                continue
            law = named_law(broken.drafts, otspec.IID(draft, 1).draft, k)
            kernel = broken.make(list(draft), list(target), k)
            report = otspec.audit(kernel, law=law, target=target)
            if worst is None or report.total_variation > worst[0].total_variation:
                worst = report, kernel, law, target
    return worst


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_catch_every_mistake_above_the_promised_resolution(name):
    exact, kernel, law, target = lossy_instance(name)
    assert not exact.lossless
    rows = {tuple(x): [float(m) for m in kernel(tuple(x))] for x in law.tuples()[0].tolist()}
    found = otspec.audit_samples(sampler_of(rows.__getitem__), law, target, SIZE, seed=2)
    # The promise is for every total variation from here on.
    assert exact.total_variation > found.resolution
    assert not found.consistent
    assert found.p_value <= found.false_alarm == 1e-3
    # Four standard deviations of each frequency around its exact law.
    assert abs(found.total_variation - exact.total_variation) <= 2 * len(target) / SIZE**0.5


def test_the_same_harness_passes_a_correct_rule():
    draft, target = list(fractions("2/5", "2/5", "1/5")), list(fractions("1/5", "1/5", "3/5"))
    rule = RecursiveRejection(draft, target, 3)
    rows = {tuple(x): rule.kernel(x).astype(float).tolist() for x in rule.law.tuples()[0].tolist()}
    found = otspec.audit_samples(sampler_of(rows.__getitem__), rule.law, target, SIZE, seed=2)
    assert found.consistent
    report = audit_over(RecursiveRejection, random_instances(enough(100), seed=1))
    assert report.lossless
    assert report.failure is None
    assert report.worst_gap > Fraction(0)
