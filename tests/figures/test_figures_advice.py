"""What to draft, on the bundled trace: the picture says what its numbers say."""

import pytest
from captions import caption

from figures.advice import AdvicePicture


@pytest.fixture(scope="module")
def picture(computed):
    return computed(AdvicePicture)


def test_the_caption_says_what_the_numbers_say(picture):
    best = picture.advice.best
    assert f"{best.rule.removesuffix(' (distinct)')} of distinct drafts" in caption("advice")
    assert f"tree of {best.nodes} tokens is the fastest, {best.speed_up:.2f} times" in caption(
        "advice"
    )
    (simpler,) = (loss for loss in picture.advice.simpler if loss.kind == "a chain")
    assert (simpler.rule, simpler.tree) == ("block verification (published)", "1x1x1")
    assert f"is {100 * simpler.loss:.0f} % slower" in caption("advice")


def test_all_choices_are_drawn_and_the_best_is_ringed(picture):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    picture.draw([axes])
    labels = [line.get_label() for line in axes.lines]
    assert {one.rule for one in picture.advice.choices} <= set(labels)
    ring = axes.lines[labels.index("the fastest")]
    best = picture.advice.best
    (alone,) = (one.seconds for one in picture.advice.choices if one.rule == "no draft")
    assert ring.get_xydata().tolist() == [[best.seconds / alone, best.tokens]]
    steps = axes.lines[labels.index("the most for the time")]
    assert [y for _, y in steps.get_xydata()] == [one.tokens for one in picture.advice.pareto()]
