"""``otspec audit`` of a kernel or a program: for one draft law and one target."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from otspec._base import Number, plain
from otspec._base.tables import listed, say
from otspec.auditing import Audit, Witness
from otspec.auditing import audit as audited
from otspec.auditing.declared import is_program, is_step
from otspec.cli.shared.options import Reading
from otspec.cli.shared.output import print_json, shown
from otspec.drafts import IID, named_law

_EXAMPLE = {"--draft": "1/2,1/2", "--target": "1/4,3/4", "-k": "2"}
_MOST_TOKENS = 8


def audit_kernel(
    name: str,
    kernel: Callable[..., Any],
    how: Reading,
    given: Mapping[str, Any],
    drafts: str | None,
    tolerance: float | None,
) -> tuple[Audit, str]:
    """Audit a kernel or a program; return what is found and for which drafts."""
    # name: what messages call it. how: of the numbers. given: the values of --draft, --target and
    # -k; None for what was not given. drafts: the draft law, by name. tolerance: as for audit.
    step = is_step(kernel)
    needed = ["--target"] if step else list(_EXAMPLE)
    for option, value in {**given, "--drafts": drafts}.items():
        if step and value is not None and option not in needed:
            raise ValueError(
                f"{option} is for what gets drafts, and {name} takes chance alone: it draws its "
                f"own drafts: leave {option} out"
            )
    missing = [option for option in needed if given[option] is None]
    if missing:
        example = " ".join(f"{option} {_EXAMPLE[option]}" for option in needed)
        takes = "chance alone" if step else "drafts and chance" if is_program(kernel) else "x"
        raise ValueError(
            f"{name} takes {takes}, so that it is audited for one law and target: add "
            f"{listed(missing, 'and')}, as in otspec audit {name} {example}"
        )
    # A step has no draft.
    draft, target = how.pair(given["--target" if step else "--draft"], given["--target"])
    if step:
        return audited(kernel, target=target, tolerance=tolerance), ""
    law, k = drafts or IID.name, given["-k"]
    found = audited(kernel, law=named_law(law, draft, k), target=target, tolerance=tolerance)
    return found, f"{k} {law} draft{'s' if k > 1 else ''}"


def why_not_audited(witness: Witness, traceback: bool) -> str:
    """Return why code could not be audited, and show its traceback if that is wanted."""
    if witness.traceback is None:
        return witness.reason
    if traceback:
        say(*witness.traceback.splitlines(), err=True)
        return witness.reason
    return f"{witness.reason}; add --traceback to see where"


def print_kernel(name: str, found: Audit, of: str) -> None:
    """Print what was found of a kernel, and for which drafts; a step has none."""
    drafts = of and f" for {of}"
    if found.lossless:
        how = "exactly" if found.exact else f"to within {found.tolerance:.1e} per token"
        say(f"{name} is lossless{drafts}, {how}.")
        if of:
            say(
                f"It accepts {if_known(found.acceptance)}, and the optimum is "
                f"{if_known(found.optimum)}: {if_known(found.gap)} more."
            )
        return
    say(f"{name} is NOT lossless{drafts}.")
    say(*(f"  {line}" for line in what_is_wrong(found)))


def what_is_wrong(found: Audit) -> list[str]:
    """Return lines that say why a rule is not lossless, and how far off it is."""
    witness = found.witness
    lines = [] if witness is None else [f"{witness.reason}."]
    if found.output is not None:
        off = f"total variation {if_known(found.total_variation)}, KL {found.kullback_leibler:.4f}"
        if found.acceptance is not None:
            off += f", acceptance {shown(found.acceptance)}, at most {if_known(found.frontier)}"
        lines += [f"output {_listed(found.output)}, target {_listed(found.target)}", off]
    return lines


def if_known(value: Number | None) -> str:
    """Return a number for a sentence, or that it is unknown."""
    return "unknown" if value is None else shown(value)


def print_kernel_json(name: str, found: Audit, drafts: str | None, k: int | None) -> None:
    """Print what was found of a kernel for programs; a step has no draft law."""
    laws = [] if k is None else [drafts or IID.name]
    about = {"rule": name, "lossless": found.lossless, "drafts": laws, "k": k}
    numbers = attributes(found, "exact", "tolerance", "largest_error", "optimum", "gap")
    witness = witness_document(found) or None
    print_json(about | numbers | law_document(found) | {"witness": witness})


def law_document(found: Audit) -> dict[str, Any]:
    """Return the output of a rule, and how far off it is, for JSON."""
    names = ("output", "total_variation", "kullback_leibler", "acceptance", "frontier")
    return attributes(found, *names) | {
        "output": None if found.output is None else list(found.output),
        "kullback_leibler": finite(found.kullback_leibler),
    }


def witness_document(found: Audit) -> dict[str, Any]:
    """Return why a rule is not what it should be, for JSON; nothing if it is."""
    names = ("token", "error", "drafts", "reason")
    return {} if found.witness is None else attributes(found.witness, *names)


def attributes(thing: Any, *names: str) -> dict[str, Any]:
    """Return some attributes by name."""
    return {name: getattr(thing, name) for name in names}


def finite(number: float | None) -> float | None:
    """Return a number as JSON has it: nothing for infinity."""
    return number if number is not None and isfinite(number) else None


def _listed(values: Any) -> str:
    more = f",... {len(values):,} tokens" if len(values) > _MOST_TOKENS else ""
    return ",".join(map(plain, values[:_MOST_TOKENS])) + more
