"""An advice as a chart, as a document for programs, and as one HTML file."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base import as_instance, webpage, write_text
from otspec.advice.advice import Advice, percent_words, sentences, short, too_few
from otspec.advice.evaluation.choices import CHAIN_RULES, NO_DRAFT, Choice, Loss
from otspec.plots import explain, look_of_several, svg
from otspec.plots.axes import MOST_NAMES, UNNAMED, legend_beside
from otspec.plots.canvas import Axes, Figure, ink, panel_on
from otspec.plots.pictures import titled
from otspec.reports.findings import UNKNOWN, Origin, interval_words, origin_section, percent

_CHAINS = {rule.title for rule in CHAIN_RULES}
_BOTTOM = 0.9  # of the tokens per call, which are 1 at least
_CORNER = 0.08  # the part of an axis within which a ray has no number
_RAYS = 6  # about how many lines of equal speed there are


def draw_pareto(advice: Advice, ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of each choice against its seconds, as parts of a call without.

    The steps join the choices than which none keeps more in no more time. Along a gray line
    through the origin all choices are equally fast, so many times as fast as without drafts; the
    best is ringed. Of more than six rules the five with the fastest choices have names; the others
    are gray.

    Parameters
    ----------
    advice : Advice
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Raises
    ------
    ValueError
        Something else; or Matplotlib is not installed.
    """
    as_instance(advice, "advice", Advice, "an Advice, as advise() returns it")
    alone = next(one.seconds for one in advice.choices if one.rule == NO_DRAFT)
    marks: dict[str, list[Choice]] = {}
    for choice in advice.choices:
        marks.setdefault(choice.rule, []).append(choice)
    times = [one.seconds / alone for one in advice.choices]
    margin = 0.06 * max(max(times) - min(times), 0.1)
    left, right = max(min(times) - margin, 0.01), max(times) + margin
    top = 0.3 + max(float(one.tokens) for one in advice.choices)
    with panel_on(ax) as panel:
        _draw_rays(panel, left, right, top)
        front = advice.pareto()
        (steps,) = panel.step(
            [one.seconds / alone for one in front], [float(one.tokens) for one in front],
            where="post", color=ink(), linewidth=1.2, zorder=2, label="the most for the time",
        )  # fmt: skip
        shown: dict[str, Any] = {str(steps.get_label()): steps}
        named = _fastest(marks)
        for rule, choices in marks.items():
            look = look_of_several(rule) | {"linestyle": "none"}
            if rule in _CHAINS:
                look |= {"markerfacecolor": "none", "markersize": 9}
            (drawn,) = panel.plot(
                [one.seconds / alone for one in choices], [float(one.tokens) for one in choices],
                label=rule, **(look if rule in named or rule == NO_DRAFT else UNNAMED),
            )  # fmt: skip
            explain(drawn, [_words(one) for one in choices])
            if rule in named:
                shown[rule] = drawn
            elif rule != NO_DRAFT:
                shown[f"{len(marks) - 1 - len(named)} other rules"] = drawn
        best = advice.best
        places = {"the fastest": best, NO_DRAFT: marks[NO_DRAFT][0]}
        panel.plot(
            [best.seconds / alone], [float(best.tokens)], marker="o", markersize=14,
            markerfacecolor="none", markeredgecolor="#D55E00", markeredgewidth=2, linestyle="none",
            label="the fastest",
        )  # fmt: skip
        for name, one in places.items():
            panel.annotate(
                name, (one.seconds / alone, float(one.tokens)), (0, 10), va="bottom", ha="center",
                textcoords="offset points", fontsize="small", color=ink(),
            )  # fmt: skip
        panel.set_xlim(left, right)
        panel.set_ylim(_BOTTOM, top)
        panel.set_xlabel("time of a call with its drafts (a call without drafts: 1)")
        panel.set_ylabel("tokens per call of the target")
        return legend_beside(panel, handles=list(shown.values()), labels=list(shown))


def _fastest(marks: dict[str, list[Choice]]) -> Sequence[str]:
    """Return the rules that have names: all if they are few, else those with fast choices."""
    rules = [rule for rule in marks if rule != NO_DRAFT]
    if len(rules) <= MOST_NAMES:
        return rules
    best = {rule: max(one.speed_up for one in marks[rule]) for rule in rules}
    return sorted(rules, key=lambda rule: -best[rule])[: MOST_NAMES - 1]


def _words(choice: Choice) -> str:
    """Return what a mark shows."""
    tree = f", {choice.tree}" if choice.tree else ""
    return (
        f"{choice.rule}{tree}: {float(choice.tokens):.4f} tokens per call, "
        f"{choice.speed_up:.3f} times as fast"
    )


def _draw_rays(ax: Axes, left: float, right: float, top: float) -> None:
    """Draw lines of equal speed, each with its number where it leaves the axes."""
    step = _round((top / left - _BOTTOM / right) / _RAYS)
    for speed in np.arange(step, top / left, step):
        end = min(right, top / speed)
        if speed * end > _BOTTOM and end > left:
            ax.plot([left, end], [speed * left, speed * end], color="#BBBBBB", lw=0.7, zorder=0)
            # A number in a corner would lie on the numbers of the axes.
            beside = (end - left) / (right - left), (speed * end - _BOTTOM) / (top - _BOTTOM)
            if min(beside) < _CORNER:
                continue
            ax.annotate(
                f"×{speed:g} ", (end, speed * end), color="#777777", fontsize="small", ha="right",
                va="top",
            )  # fmt: skip


def _round(number: float) -> float:
    """Return a quarter, a half or a whole number near a number above 0."""
    return max(0.25, round(number * 4) / 4 if number < 1 else round(number * 2) / 2)


def pareto_figure(advice: Advice, *, title: str) -> Figure:
    """Return a picture of its own of what :func:`draw_pareto` draws."""
    with titled(title, height=4.6) as figure:
        draw_pareto(advice, figure.add_subplot())
        return figure


_CAPTION = (
    "Each mark is a choice; a gray line joins what is equally fast. The steps are the most tokens "
    "for the time, the ring is around the fastest. Point at a mark to read its numbers."
)
_CHOICES = ("rule", "drafts", "tree", "nodes", "levels", "tokens per call", "time", "speed-up")
_SIMPLER = ("simpler", "rule", "drafts", "tree", "speed-up", "loss")
_INTERVALS = "Below each number is its 95% confidence interval for the mean over texts."


def write_report(path: Path, advices: Sequence[Advice], origin: Origin = UNKNOWN) -> None:
    """Write the report."""
    title = "What to draft, and how to verify it"
    write_text(path, "\n".join(webpage.page(title, _body(advices, origin))))


def _body(advices: Sequence[Advice], origin: Origin) -> Iterator[str]:
    first = advices[0]
    yield f'<p class="lead">{webpage.escaped(" ".join(_meaning(first)))}</p>'
    yield from webpage.key_figures(_figures(first))
    yield from webpage.beside(
        _pareto(first), webpage.titled_list("What is uncertain", _uncertainties(first))
    )
    if len(advices) > 1:
        yield "<h2>How it depends on what is done to the models</h2>"
        columns = ("models", "rule", "tree", "tokens per call", "speed-up")
        yield from webpage.table(columns, [_overview(advice) for advice in advices], words=3)
    for advice in advices:
        yield f"<h2>{webpage.escaped(advice.source)}</h2>"
        if advice is not first:
            yield f"<p>{webpage.escaped(' '.join(sentences(advice)))}</p>"
            yield _pareto(advice)
        yield from _tables(advice)
    yield from origin_section(origin)


def _meaning(advice: Advice) -> Iterator[str]:
    """Yield what is best, what that gains over the simplest way to draft, and how sure it is."""
    said, *more = sentences(advice)
    best = said.replace(f"the tree {advice.best.tree}:", f"{_drafted(advice.best)}:")
    yield f"On {advice.source}: {best[:1].lower()}{best[1:]}"
    usual = _usual(advice)
    if usual is not None and usual is not advice.best:
        yield _gained(advice, usual)
    yield from more[:1]


def _gained(advice: Advice, usual: Choice) -> str:
    tokens = float(advice.best.tokens) - float(usual.tokens)
    many = f"{abs(tokens):.4f} {'fewer' if tokens > 0 else 'more'}" if tokens else "as many"
    return (
        f"{usual.rule[:1].upper()}{usual.rule[1:]} of a chain is {usual.speed_up:.3f} "
        f"times as fast at best, {percent(1 - usual.speed_up / advice.best.speed_up)} slower, with "
        f"{many} tokens per call."
    )


def _usual(advice: Advice) -> Choice | None:
    """Return the best choice of those that verify one drafted text token by token."""
    kinds = {one.kind: one for one in advice.simpler}
    found = kinds.get("token verification")
    if found is None or advice.best.rule == NO_DRAFT:
        return None
    same = (one for one in advice.choices if (one.rule, one.tree) == (found.rule, found.tree))
    return next(same, None)


def _figures(advice: Advice) -> Iterator[tuple[str, str, str]]:
    """Yield the figures that a reader looks for first."""
    best = advice.best
    yield "fastest", f"×{best.speed_up:.3f}", _sure(best.speed_up_interval, "of no drafts")
    yield "tokens per call", f"{float(best.tokens):.3f}", _sure(best.tokens_interval, "on average")
    yield "rule", best.rule, _drafted(best)
    usual = _usual(advice)
    if usual is not None:
        gain = best.speed_up / usual.speed_up - 1
        yield "gain over a chain", f"+{percent(gain)}", f"of {usual.rule}"


def _sure(ends: tuple[float, float], otherwise: str) -> str:
    words = interval_words(ends)
    return f"{words} (95% interval)" if words else otherwise


def _uncertainties(advice: Advice) -> Iterator[str]:
    """Yield what is not known, and what was assumed."""
    yield from too_few(advice)
    if not advice.texts:
        yield "Nothing: all numbers are exact for these two models."
    elif math.isnan(advice.best.speed_up_interval[0]):
        yield "All numbers are from one text, so that there are no intervals."
    else:
        yield (
            f"All numbers are means over {advice.texts:,} texts, with 95% confidence intervals for "
            "the mean over texts, if these texts are a random sample. Few texts give wide ones."
        )
    yield (
        "The best of many choices looks a little better than it is. The cross-validated number "
        "does not."
    )
    yield (
        "Times are the costs that the command was given: one call of the draft for each level of "
        "the tree, and one of the target. An engine needs time for more than these calls."
    )
    yield "Tokens per call are E[τ] + 1: the drafted tokens that are kept, and one of the target."


def _overview(advice: Advice) -> tuple[webpage.Cell, ...]:
    best = advice.best
    return advice.source, best.rule, short(best.tree), *_worth(best)


def _worth(one: Choice) -> tuple[webpage.Cell, webpage.Cell]:
    tokens = f"{float(one.tokens):.4f}", interval_words(one.tokens_interval, 4)
    return tokens, (f"{one.speed_up:.3f}", interval_words(one.speed_up_interval))


def _drafted(choice: Choice) -> str:
    """Return a tree in words: one that is no branching is hard to read in brackets."""
    if not choice.tree.startswith("["):
        return f"the tree {choice.tree}" if choice.tree else "no tree"
    return f"a tree of {choice.nodes} drafted tokens on {choice.depth} levels"


def _pareto(advice: Advice) -> str:
    title = f"The fastest: {advice.best.rule}"
    return webpage.picture(svg(pareto_figure(advice, title=title), title), _CAPTION)


def _tables(advice: Advice) -> Iterable[str]:
    if advice.best.tree:
        yield "<p>The fastest tree, as <code>--tree</code> takes it:</p>"
        yield webpage.verbatim([advice.best.tree])
    yield "<h3>Speed lost by simpler choices</h3>"
    yield from webpage.table(_SIMPLER, [_lost(one) for one in advice.simpler], words=4)
    yield "<h3>All choices</h3>"
    yield from webpage.table(_CHOICES, [_cells(one) for one in advice.choices], words=3)
    yield f"<p>{_INTERVALS}</p>"


def _lost(one: Loss) -> tuple[webpage.Cell, ...]:
    ends = percent_words(one.loss_interval)
    speed = f"{one.speed_up:.3f}"
    return one.kind, one.rule, one.drafts, short(one.tree), speed, (percent(one.loss), ends)


def _cells(one: Choice) -> tuple[webpage.Cell, ...]:
    tokens, speed = _worth(one)
    return (
        one.rule, one.drafts, short(one.tree), str(one.nodes), str(one.depth), tokens,
        f"{one.seconds:.4g}", speed,
    )  # fmt: skip
