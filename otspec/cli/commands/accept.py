"""``otspec accept``: the optimal acceptance of a draft and a target."""

from __future__ import annotations

from typing import Any

from otspec._base.arithmetic import Number
from otspec._base.tables import print_table, say
from otspec.cli.commands.budgets import budget_options
from otspec.cli.commands.different_models import PROVED, accept_models
from otspec.cli.shared.limits import check_digits
from otspec.cli.shared.options import filled, json_option, pair_command
from otspec.cli.shared.output import percent, print_json, shown, shown_set
from otspec.cli.shared.progress import working
from otspec.distributions import Distribution
from otspec.drafts import named_law
from otspec.files import small_formats
from otspec.optimum import LossyOptimum, Optimum, optimal_acceptance


@pair_command("2", of_models=accept_models)
@budget_options
@json_option
@filled(files=", ".join(reader.example for reader in small_formats().values()))
def accept(
    pair: tuple[Distribution, Distribution],
    ks: tuple[int, ...],
    drafts: str,
    as_json: bool,
    budgets: dict[str, Any],
) -> None:
    """How often can one of k drafts be accepted at best?

    Several draft models, of which each drafts one token, are --draft DRAFT --draft DRAFT TARGET.
    DRAFT and TARGET are numbers (0.5,0.3,0.2 or 1/2,3/10,1/5) or files: {files};
    a row of a larger array is FILE.npz:KEY:0,3.

    Rules are lossless, unless an option says how far the output may be from the target.

    Example: otspec accept 1/2,3/10,1/5 1/10,3/5,3/10 -k 1,2
    """
    check_digits([drafts], pair, ks)
    results = []
    with working(len(ks), "numbers of drafts") as done:
        for k in ks:
            law = named_law(drafts, pair[0], k)
            results.append(optimal_acceptance(law, pair[1], **budgets))
            done()
    if as_json:
        found = [_document(k, best) for k, best in zip(ks, results, strict=True)]
        print_json({"drafts": drafts, "n": len(pair[0]), "results": found})
        return
    columns = ("k", "optimum", *(("lossless",) if budgets else ()), "cut A")
    rows = [
        (str(k), *(shown(number, 6) for number in _numbers(best)), shown_set(best.cut))
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
    counted = f"With {k} {drafts} draft{'s' if k > 1 else ''} one is accepted with probability"
    most = percent(best.acceptance)
    if not isinstance(best, LossyOptimum):
        return f"{counted} {most} at best.", PROVED
    budget = best.budget
    within = f"within {budget.words} {float(budget.amount):g} of the target"
    lossless = f"lossless rules reach {percent(best.lossless)}"
    return f"{counted} {most} at best if the output is {within}; {lossless}.", best.proof
