"""A report on advice as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from otspec.advice.advice import Advice
from otspec.advice.charts import pareto_figure
from otspec.advice.choices import Choice, Loss
from otspec.advice.document import interval_words, sentences, short
from otspec.plots import svg
from otspec.webpage import escaped, page, table
from otspec.writing import write_text

_CAPTION = (
    "Each mark is a choice; a grey line joins what is equally fast. The steps are the most tokens "
    "for the time, the ring is around the fastest."
)
_CHOICES = (
    "rule", "drafts", "tree", "nodes", "levels", "tokens per call", "95% interval", "time",
    "speed-up", "95% interval",
)  # fmt: skip
_SIMPLER = ("simpler", "rule", "drafts", "tree", "speed-up", "loss", "95% interval")


def write_report(path: Path, advices: Sequence[Advice]) -> None:
    """Write the report.

    Parameters
    ----------
    path : path
    advices : sequence of Advice
        One for each way in which the models were looked at.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    write_text(path, "\n".join(page("What to draft, and how to verify it", _body(advices))))


def _body(advices: Sequence[Advice]) -> Iterator[str]:
    if len(advices) > 1:
        yield "<h2>How it depends on what is done to the models</h2>"
        yield from table(
            ("models", "rule", "tree", "tokens per call", "speed-up", "95% interval"),
            [_overview(advice) for advice in advices],
            words=3,
        )
    for advice in advices:
        yield from _section(advice)


def _overview(advice: Advice) -> tuple[str, ...]:
    best = advice.best
    return (
        advice.source, best.rule, short(best.tree), f"{float(best.tokens):.4f}",
        f"{best.speed_up:.3f}", interval_words(best.speed_up_interval),
    )  # fmt: skip


def _section(advice: Advice) -> Iterable[str]:
    yield f"<h2>{escaped(advice.source)}</h2>"
    yield f"<p>{escaped(' '.join(sentences(advice)))}</p>"
    title = f"The fastest: {advice.best.rule}"
    figure = svg(pareto_figure(advice, title=title), title)
    yield f"<figure>{figure}<figcaption>{_CAPTION}</figcaption></figure>"
    yield "<h3>What simpler choices lose</h3>"
    yield from table(_SIMPLER, [_lost(one) for one in advice.simpler], words=4)
    yield "<h3>All choices</h3>"
    yield from table(_CHOICES, [_cells(one) for one in advice.choices], words=3)


def _lost(one: Loss) -> tuple[str, ...]:
    return (
        one.kind, one.rule, one.drafts, short(one.tree), f"{one.speed_up:.3f}",
        f"{100 * one.loss:.1f}%", interval_words(one.loss_interval),
    )  # fmt: skip


def _cells(one: Choice) -> tuple[str, ...]:
    return (
        one.rule, one.drafts, short(one.tree), str(one.nodes), str(one.depth),
        f"{float(one.tokens):.4f}", interval_words(one.tokens_interval, 4), f"{one.seconds:.4g}",
        f"{one.speed_up:.3f}", interval_words(one.speed_up_interval),
    )  # fmt: skip
