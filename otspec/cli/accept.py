"""``otspec accept``: the optimal acceptance of a draft and a target."""

from __future__ import annotations

from otspec.cli.different_models import PROVED, accept_models
from otspec.cli.limits import check_digits
from otspec.cli.options import filled, json_option, pair_command
from otspec.cli.output import percent, print_json, shown, shown_set
from otspec.cli.progress import working
from otspec.distributions import Distribution
from otspec.drafts import named_law
from otspec.files import READERS
from otspec.optimum import Optimum, optimal_acceptance
from otspec.tables import print_table, say


@pair_command("2", of_models=accept_models)
@json_option
@filled(files=", ".join(reader.example for reader in READERS.values()))
def accept(
    pair: tuple[Distribution, Distribution],
    ks: tuple[int, ...],
    drafts: str,
    as_json: bool,
) -> None:
    """How often can one of k drafts be accepted at best?

    Several draft models, of which each drafts one token, are --draft DRAFT --draft DRAFT TARGET.
    DRAFT and TARGET are numbers (0.5,0.3,0.2 or 1/2,3/10,1/5) or files: {files};
    a row of a larger array is FILE.npz:KEY:0,3.

    Example: otspec accept 1/2,3/10,1/5 1/10,3/5,3/10 -k 1,2
    """
    check_digits([drafts], pair, ks)
    results = []
    with working(len(ks), "numbers of drafts") as done:
        for k in ks:
            results.append(optimal_acceptance(named_law(drafts, pair[0], k), pair[1]))
            done()
    if as_json:
        print_json(
            {
                "drafts": drafts,
                "n": len(pair[0]),
                "results": [
                    {
                        "k": k,
                        "acceptance": best.acceptance,
                        "acceptance_float": float(best.acceptance),
                        "cut": best.cut,
                    }
                    for k, best in zip(ks, results, strict=True)
                ],
            }
        )
        return
    rows = [
        (str(k), shown(best.acceptance, 6), shown_set(best.cut))
        for k, best in zip(ks, results, strict=True)
    ]
    print_table(("k", "optimum", "cut A"), rows, text=3)
    say()
    say(*_meaning(drafts, ks[-1], results[-1]))


def _meaning(drafts: str, k: int, best: Optimum) -> tuple[str, str]:
    counted = f"{k} {drafts} draft{'s' if k > 1 else ''}"
    most = percent(best.acceptance)
    return (
        f"With {counted} one is accepted with probability {most} at best.",
        PROVED,
    )
