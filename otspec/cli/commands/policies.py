"""``otspec policies``: which drafting policies are lossless, and which cuts are not."""

from typing import Any

import click

from otspec._base.tables import print_table, say
from otspec.auditing.policies import PolicyAudit, audit_policy
from otspec.blocks.policies import policies as shipped
from otspec.cli.shared import arguments, options, output
from otspec.models import Model, memoryless


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--draft", help="Audit on this draft distribution, the same for every token, in fractions."
)
@click.option("--target", help="The target distribution, in the same way.")
@click.option("-c", "--threshold", default="1/2", help="Confidence below this is low.")
@click.option(
    "-L", "--length", type=click.IntRange(1, 4), default=2,
    help="The most tokens of a drafted text.",
)  # fmt: skip
@click.option(
    "--nodes", type=click.IntRange(1, 8), default=4, help="The most nodes of a tree.",
)  # fmt: skip
@options.json_option
def policies(
    names: tuple[str, ...],
    draft: str | None,
    target: str | None,
    threshold: str,
    length: int,
    nodes: int,
    as_json: bool,
) -> int:
    """Which drafting policies are lossless?

    Each policy is followed along all branches of drafting and verification, on small exact models.
    The verifier is recursive rejection; certain drafts are verified by a draw from the target. For
    a policy that is not lossless, the smallest example is shown: draft, target, and the text with
    the largest error.

    Exit status 1: a policy that is named is not lossless.

    Example: otspec policies confidence-dropped --draft 9/10,1/10 --target 1/2,1/2 -L 1
    """
    known = shipped(threshold, length, nodes)
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is no policy: choose from {', '.join(known)}")
    pairs = None
    if (draft is None) != (target is None):
        raise ValueError("--draft and --target go together: give both, or none")
    if draft is not None and target is not None:
        rows = [arguments.read_distribution(draft, "draft", exact=True)]
        rows.append(arguments.read_distribution(target, "target", exact=True))
        pairs = [(memoryless(rows[0]), memoryless(rows[1]))]
    found = [audit_policy(known[name], pairs=pairs) for name in names or known]
    if as_json:
        output.print_json({"policies": [_document(each) for each in found]})
    else:
        columns = ("policy", "case", "lossless", "instead", "what it does")
        rows_shown = [
            (
                each.policy.name, each.case, "yes" if each.lossless else "NO",
                each.policy.cure or "-", each.policy.title,
            )
            for each in found
        ]  # fmt: skip
        print_table(columns, rows_shown, text=len(columns))
        say()
        for each in found:
            if each.loss is not None:
                say(f"{each.policy.name}{' is NOT lossless' * bool(names)}: {_in_words(each)}.")
    return int(bool(names) and not all(each.lossless for each in found))


def _in_words(report: PolicyAudit) -> str:
    """Return the loss in a sentence."""
    loss: Any = report.loss
    draft, target = (_rows(model) for model in (loss.draft, loss.target))
    text = " ".join(map(str, loss.text))
    return (
        f"with draft ({draft}) and target ({target}) text {text} comes with probability "
        f"{loss.found}, not {loss.wanted}"
    )


def _rows(model: Model) -> str:
    """Return what a model says of the first token, and after each token where that is another."""
    first = model(()).tolist()
    texts = [", ".join(map(str, first))]
    for token in range(model.n):
        row = model((token,)).tolist()
        if row != first:
            texts.append(f"after {token} {', '.join(map(str, row))}")
    return "; ".join(texts)


def _document(report: PolicyAudit) -> dict[str, Any]:
    loss = report.loss and {
        "draft": report.loss.draft(()).tolist(),
        "target": report.loss.target(()).tolist(),
        "text": report.loss.text,
        "probability": report.loss.found,
        "wanted": report.loss.wanted,
    }
    return {
        "policy": report.policy.name,
        "what": report.policy.title,
        "case": report.case,
        "lossless": report.lossless,
        "instead": report.policy.cure,
        "pairs": report.pairs,
        "loss": loss,
    }
