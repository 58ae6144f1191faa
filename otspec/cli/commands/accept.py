"""``otspec accept``: the optimal acceptance of a draft and a target."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from otspec._base import Number, as_real, is_exact
from otspec._base.tables import print_table, say
from otspec.cli.shared import arguments, options, output, progress
from otspec.cli.shared.different_models import PROVED, accept_models
from otspec.distributions import Distribution
from otspec.drafts import named_law
from otspec.files import small_formats
from otspec.optimum import LossyOptimum, Optimum, optimal_acceptance

_NUMBERS = {
    "total_variation": "By how much the output may be off, from 0 to 1.",
    "kullback_leibler": "How large D(output||target) may be, in nats.",
    "reverse_kullback_leibler": "How large D(target||output) may be, in nats.",
}


def budget_options(command: Callable[..., Any]) -> Any:
    """Add the options of budgets; the command gets those that are given as ``budgets``."""

    @wraps(command)
    def with_budgets(
        pair: tuple[Distribution, Distribution], renyi: str | None, **rest: Any
    ) -> Any:
        texts = {name: rest.pop(name) for name in _NUMBERS}
        budgets: dict[str, Any] = {
            name: _read(text, _option(name), pair[1])
            for name, text in texts.items()
            if text is not None
        }
        if renyi is not None:
            cells = renyi.split(",")
            if len(cells) != 2:
                raise ValueError(f"--renyi is {renyi!r}: write an order and a budget, as 2,0.1")
            budgets["renyi"] = [_read(cell, "--renyi", pair[1]) for cell in cells]
        return command(pair=pair, budgets=budgets, **rest)

    decorators = [
        *(click.option(_option(name), metavar="NUMBER", help=help_) for name, help_ in
          _NUMBERS.items()),
        click.option("--renyi", metavar="ORDER,NUMBER",
                     help="How large the Renyi divergence of an order may be, in nats."),
    ]  # fmt: skip
    return options.added(with_budgets, decorators)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read(text: str, option: str, target: Distribution) -> Number:
    number = as_real(text.strip(), option)
    return number if is_exact(target) else float(number)


@options.pair_command("2", of_models=accept_models)
@budget_options
@options.json_option
@options.filled(files=", ".join(reader.example for reader in small_formats().values()))
def accept(
    pair: tuple[Distribution, Distribution],
    ks: tuple[int, ...],
    drafts: str,
    as_json: bool,
    budgets: dict[str, Any],
) -> None:
    """How often can one of k drafts be accepted at best? And what proves it?

    For several draft models that draft one token each, write --draft DRAFT --draft DRAFT TARGET.
    DRAFT and TARGET are numbers (0.5,0.3,0.2 or 1/2,3/10,1/5) or files: {files};
    a row of a larger array is FILE.npz:KEY:0,3.

    Rules are lossless, unless an option says how far the output may be from the target.

    Example: otspec accept 1/2,3/10,1/5 1/10,3/5,3/10 -k 1,2
    """
    arguments.check_digits([drafts], pair, ks)
    results = []
    with progress.working(len(ks), "numbers of drafts") as done:
        for k in ks:
            law = named_law(drafts, pair[0], k)
            results.append(optimal_acceptance(law, pair[1], **budgets))
            done()
    if as_json:
        found = [_document(k, best) for k, best in zip(ks, results, strict=True)]
        output.print_json({"drafts": drafts, "n": len(pair[0]), "results": found})
        return
    columns = ("k", "optimum", *(("lossless",) if budgets else ()), "cut A")
    rows = [
        (str(k), *(output.shown(it, 6) for it in _numbers(best)), output.shown_set(best.cut))
        for k, best in zip(ks, results, strict=True)
    ]
    print_table(columns, rows, text=len(columns))
    say()
    say(*_meaning(drafts, ks[-1], results[-1]))


def _numbers(best: Optimum) -> list[Number]:
    """Return the acceptance, and the lossless optimum where that is another question."""
    return [best.acceptance, *([best.lossless] if isinstance(best, LossyOptimum) else [])]


def _document(k: int, best: Optimum) -> dict[str, Any]:
    document = {
        "k": k,
        "acceptance": best.acceptance,
        "acceptance_float": float(best.acceptance),
        "cut": best.cut,
    }
    if isinstance(best, LossyOptimum):
        document |= {"lossless": best.lossless, "at_most": best.bound}
    return document


def _meaning(drafts: str, k: int, best: Optimum) -> tuple[str, str]:
    counted = f"With {k} {drafts} draft{'s' if k > 1 else ''}, a draft is accepted with probability"
    most = output.percent(best.acceptance)
    if not isinstance(best, LossyOptimum):
        return f"{counted} {most} at best.", PROVED
    budget = best.budget
    within = f"within {budget.words} {float(budget.amount):g} of the target"
    lossless = f"lossless rules reach {output.percent(best.lossless)}"
    return f"{counted} {most} at best if the output is {within}; {lossless}.", best.proof
