"""``otspec conform``: is an engine's verification lossless, from what it does with samples?"""

import shlex
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import click

from otspec._base.tables import listed, say
from otspec.cli.shared import arguments, options, output
from otspec.cli.shared.progress import counting
from otspec.cli.shared.trees import MEANING, read_tree


@click.command()
@click.argument("verifier", metavar="MODULE:FUNCTION")
@click.option(
    "--kind", type=arguments.Choice(("tokens", "block", "tree")), default="tokens",
    help="What is verified.",
)  # fmt: skip
@click.option(
    "--mode", type=arguments.Choice(("kernel", "exact", "pipeline")), default="kernel",
    help="kernel: otspec draws the drafts. exact: the same, and every random choice on the small "
    "cases is followed. pipeline: FUNCTION drafts, too.",
)  # fmt: skip
@click.option(
    "--shape", metavar="SHAPE",
    help=f"The number of drafts of one token, the length of a block, or the tree: {MEANING}.  "
    "[default: 3, 2, 2x1]",
)  # fmt: skip
@click.option("--distinct", is_flag=True, help="Drafts of one node are drawn without replacement.")
@options.law_option(
    None, "What drafts of one node are drawn from.  [default: iid, or what --rule says]"
)
@click.option(
    "--names", metavar="THEIRS=OURS,...",
    help="What parameters of FUNCTION are, such as p=draft,q=target.",
)  # fmt: skip
@click.option(
    "--rule", metavar="NAME",
    help="A rule of the package: the acceptance is compared with its law, too.",
)  # fmt: skip
@click.option(
    "--same-seed", is_flag=True,
    help="FUNCTION claims that the same seed gives the same text: it is compared with itself "
    "without drafts, or with the race of its noise.",
)  # fmt: skip
@options.detect_option
@click.option(
    "--coarse", type=float, metavar="DISTANCE",
    help="The total variation that is detected where rows are expensive: in the large vocabulary, "
    "and in calls of one row (twice that in calls of very many rows).  "
    "[default: 0.1, or --detect if that is more]",
)  # fmt: skip
@options.false_alarm_option
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N",
    help="The most target probabilities that are passed to FUNCTION.  [default: what usual "
    "shapes take]",
)  # fmt: skip
@click.option(
    "--require", type=float, default=1.0, show_default=False, metavar="DISTANCE",
    help="A total variation that every case must detect; otherwise exit status 2.",
)  # fmt: skip
@click.option(
    "--seconds", type=float, metavar="SECONDS",
    help="With --mode exact: stop after this time and report what was found.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option(
    "--arrays", type=arguments.Choice(("numpy", "torch")), default="numpy",
    help="The arrays that FUNCTION takes.",
)  # fmt: skip
@click.option(
    "--dtype", type=arguments.Choice(("float16", "bfloat16", "float32", "float64")),
    default="float32", help="The type of probabilities.",
)  # fmt: skip
@click.option(
    "--rounding", type=float, metavar="ERROR",
    help="Errors of a probability that count as rounding.  [default: those of the type]",
)  # fmt: skip
@click.option("--device", default="cpu", help="The device of torch tensors.")
@click.option(
    "--vocabulary",
    type=click.IntRange(min=8),
    metavar="N",
    help="Vocabulary size of the large cases.",
)
@click.option(
    "--least-vocabulary", type=click.IntRange(min=1), default=1, show_default=False, metavar="N",
    help="Tokens of the small cases, at least.",
)  # fmt: skip
@click.option(
    "--reserved",
    type=arguments.TOKENS,
    default=(),
    help="Ids that no text has, such as 0,1,2.",
)
@click.option(
    "--entries", type=click.IntRange(min=1), metavar="N",
    help="In one call, this many entries of each array precede those that are counted: 2147483648 "
    "reveals overflowing 32-bit indices.  [default: 16777216, for float32]",
)  # fmt: skip
@click.option(
    "--report", "reports", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
    help="Also write the report there, as .html, .md, .txt or .json. May be given again.",
)  # fmt: skip
@click.option(
    "--certificate", type=click.Path(path_type=Path), metavar="FILE",
    help="Also write a certificate, to FILE.md or FILE.html and FILE.json: what was run on which "
    "commit, what was found, and how to repeat it.",
)  # fmt: skip
@click.option("--cases", is_flag=True, help="List all cases, with what was found on each.")
@click.option("--traceback", is_flag=True, help="Show where an import fails.")
@options.json_option
def conform(
    verifier: str,
    kind: str,
    mode: str,
    shape: str | None,
    names: str | None,
    reports: tuple[Path, ...],
    certificate: Path | None,
    cases: bool,
    traceback: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Is an engine's verification lossless? From samples, with error rates.

    FUNCTION of MODULE, importable from here, verifies batches. The names of its parameters decide
    what it gets: draft, target and drafts (lengths, mask, parents), and its randomness as rng,
    generator, seed or uniforms. It returns tokens, or kept lengths or nodes and tokens. With --mode
    pipeline it draws the drafts itself. It is tried on small cases, each of which provokes a common
    mistake, and on each again in a large vocabulary.

    The code runs in this process; what it prints goes to standard error. Exit status: 0 no fault
    was found, 1 a fault was found, 2 undecided: too few samples, or FUNCTION raised an error.

    Example: otspec conform my_engine:verify --kind block --report report.html
    """
    from otspec.conformance import Certificate, check
    from otspec.conformance.report.certificate import PAGES
    from otspec.conformance.report.report import FORMS

    if certificate is not None and certificate.suffix not in PAGES:
        raise ValueError(f"--certificate {certificate} ends in none of {listed(list(PAGES), 'or')}")
    for path in (*reports, *([] if certificate is None else [certificate])):
        output.check_place(path)
    for path in reports:
        if path.suffix not in FORMS:
            raise ValueError(f"--report {path} ends in none of {listed(list(FORMS), 'or')}")
    given = {name: value for name, value in asked.items() if value is not None}
    with redirect_stdout(sys.stderr):
        function = arguments.imported(
            verifier, "my_engine:verify", "draft, target, drafts and randomness", traceback
        )
        with counting("cases") as progress:
            report = check(
                function, kind=kind, mode=mode, shape=_shape(kind, shape), progress=progress,
                names=_names(names), **given,
            )  # fmt: skip
    if as_json:
        output.print_json(report.document())
    else:
        say(*report.text(cases=cases).rstrip("\n").split("\n"))
    fine = [output.was_written(str(path), partial(report.save, path)) for path in reports]
    if certificate is not None:
        # An adapter's own module says nothing of the function that it was given.
        adapted = report.verifier.startswith(ADAPTERS)
        source = sys.modules[verifier.partition(":")[0]].__file__ if adapted else None
        made = Certificate(report, source, _command())
        fine.append(output.was_written(str(certificate), partial(made.save, certificate)))
    status = {"passed": 0, "failed": 1, "undecided": 2}[report.outcome]
    return status if all(fine) else status or 1


ADAPTERS = "otspec.conformance.adapters."
_SHOWN = ("reports", "certificate", "cases", "traceback", "as_json")
"""What says how a report is shown, which is no matter to repeat it."""


def _command() -> str:
    """Return the command line as it was given, but for how its report is shown."""
    words = ["otspec", "conform"]
    for name, option in options.given_options():
        value = click.get_current_context().params[name]
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if isinstance(option, click.Argument):
            words.append(text)
        elif name not in _SHOWN:
            words += [option.opts[0], *([] if value is True else [text])]
    return shlex.join(words)


def _names(text: str | None) -> dict[str, str] | None:
    """Return ours by the verifier's names."""
    if text is None:
        return None
    pairs = [part.split("=") for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"--names {text!r} is no list of pairs: write p=draft,q=target")
    return {theirs.strip(): ours.strip() for theirs, ours in pairs}


def _shape(kind: str, text: str | None) -> Any:
    """Return a shape as it is meant for the kind."""
    if text is None:
        return None
    if kind == "tree":
        return read_tree(text, "--shape")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"--shape {text!r} is no number: a {kind} shape is one, such as 2")
    return int(text)
