"""What is shown of each class: its title, its rows, and the laws that have bars.

The table names classes, so that it needs none of their modules and they do not need it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias

from otspec.display.values import Verbatim, token_set

Row: TypeAlias = tuple[str, Any]  # a name, as attributes have it, and what it is; None: not shown
Masses: TypeAlias = Mapping[str, Any]
"""Laws of one token, by name: vectors of one length; None for one that is not to be drawn."""

MOST_BARS = 16  # the largest vocabulary whose masses have bars
_FEW = 256
_SHORT, _SHORT_EXACT = 100_000, 500  # pairs whose sums take no time


class Fields(NamedTuple):
    """What is shown of the objects of a class; functions of the object.

    Nothing there may take long: what does is not shown.
    """

    title: Callable[[Any], str]  # what it is, in a few words
    rows: Callable[[Any], Iterable[Row]]  # what is said on one line, too
    # what else a card says, where it is small enough to be computed at once
    more: Callable[[Any], Iterable[Row]]
    masses: Callable[[Any], Masses]  # the laws whose masses a card draws, of whatever length


def fields_of(thing: Any) -> Fields:
    """Return what is shown of an object, by its class and those that it inherits from."""
    kinds = [kind.__qualname__ for kind in type(thing).__mro__ if kind.__module__[:7] == "otspec."]
    tables = [TABLE[name] for name in kinds if name in TABLE]
    return Fields(*(next(each[part] for each in [*tables, _ANY] if part in each) for part in _ANY))


def is_small(law: Any) -> bool:
    """Return whether whatever is asked of a draft law takes next to no time."""
    return bool(law.n <= MOST_BARS and law.table_rows() <= _FEW)


def _is_short(masses: Any) -> bool:
    return len(masses) <= (_SHORT_EXACT if masses.dtype.hasobject else _SHORT)


def _attributes(*names: str) -> Callable[[Any], Iterator[Row]]:
    """Return a function that yields the attributes of an object."""
    return lambda thing: ((name, getattr(thing, name)) for name in names)


def _own_fields(thing: Any) -> Iterator[Row]:
    names = [field.name for field in fields(thing) if field.repr] if is_dataclass(thing) else ()
    return ((name, getattr(thing, name)) for name in names)


def _counted(many: int) -> str:
    return "1 draft" if many == 1 else f"{many:,} drafts"


# The optimum


def _optimum_rows(best: Any) -> Iterator[Row]:
    yield "acceptance", best.acceptance
    yield "cut", token_set(best.cut, best.law.n)
    yield "law", best.law
    yield "target", best.target


def _lossy_more(best: Any) -> Iterator[Row]:
    yield "lossless", best.lossless
    if is_small(best.law):
        yield "output", best.output
        yield "distance", best.distance


def _optimum_masses(best: Any) -> Masses:
    return {"target": best.target, "selection": best.selection if is_small(best.law) else None}


def _plan_rows(plan: Any) -> Iterator[Row]:
    yield "acceptance", plan.acceptance if _is_short(plan.accepted) else None
    if plan.solution is not None:
        yield "program", plan.solution.program.title
    yield "pairs", len(plan.accepted)
    yield "law", plan.law
    yield "target", plan.target


def _decomposition_rows(found: Any) -> Iterator[Row]:
    if _is_short(found.weights):
        yield "acceptance", found.acceptance
        yield "law_of_selection", found.law_of_selection
    yield "target", found.target
    yield "law", found.support.law


def _decomposition_masses(found: Any) -> Masses:
    if not _is_short(found.weights):
        return {}
    return {"target": found.target, "selection": found.law_of_selection}


# Rules


def _rule_title(rule: Any) -> str:
    title: str = getattr(rule, "title", type(rule).__name__)
    named = f"{title[:1].upper()}{title[1:]}"
    return f"{named}, a rule for {_counted(rule.k)} of {len(rule.target):,} tokens"


def _rule_more(rule: Any) -> Iterator[Row]:
    from otspec.optimum import optimal_acceptance

    if is_small(rule.law):
        optimum = optimal_acceptance(rule.law, rule.target).acceptance
        accepted = rule.acceptance()
        yield "acceptance", accepted
        yield "optimum", optimum
        yield "gap", optimum - accepted


def _rule_masses(rule: Any) -> Masses:
    accepted = rule.accepted().by_token if is_small(rule.law) else None
    return {"draft": getattr(rule, "draft", None), "target": rule.target, "accepted": accepted}


# Audits


def _audit_title(report: Any) -> str:
    within = "exactly" if report.exact else f"within {report.tolerance:.1g} per token"
    if report.lossless:
        return f"The rule is lossless, {within}"
    if report.lossless is None:
        return "The rule could not be audited"
    lossy = {None: "", True: ", as it declares", False: ", and not as it declares"}
    return f"The rule is NOT lossless{lossy[report.as_declared]}"


def _audit_rows(report: Any) -> Iterator[Row]:
    yield "lossless", report.lossless
    yield "witness", None if report.witness is None else report.witness.reason
    yield from _attributes(
        "as_declared", "acceptance", "optimum", "gap", "total_variation", "output", "target"
    )(report)


def _samples_title(report: Any) -> str:
    if report.consistent is None:
        return "The sampler could not be tested"
    if report.consistent:
        return f"{report.size:,} samples are as those of a lossless rule"
    return f"The rule is NOT lossless, by {report.size:,} samples"


def _search_title(search: Any) -> str:
    if search.report is not None and search.report.lossless is None:
        return "The rule could not be audited"
    if not search.conclusive:
        return "Too little was audited to say anything"
    if search.lossless:
        return f"The rule is lossless on {search.audited:,} instances"
    return f"The rule is NOT lossless{', as it declares' if search.as_declared else ''}"


def _search_rows(search: Any) -> Iterator[Row]:
    yield from _attributes(
        "lossless", "audited", "exact", "refused", "worst_gap", "laws", "refusal", "failure"
    )(search)
    if search.report is not None and search.report.witness is not None:
        yield "witness", search.report.witness.reason


def _blocks_title(report: Any) -> str:
    if report.lossless is None:
        return "The rule could not be audited"
    within = f"within {report.tolerance:.1g} per text" if report.tolerance else "exactly"
    return f"Texts are the target's, {within}" if report.lossless else "The rule is NOT lossless"


def _blocks_rows(report: Any) -> Iterator[Row]:
    yield from _attributes("lossless", "reason", "witness")(report)
    yield "error", None if report.lossless else report.error
    yield from _attributes("expected", "optimum", "gap", "total_variation")(report)
    yield "texts", Verbatim(f"{len(report.texts):,}")


def _texts_title(report: Any) -> str:
    if report.lossless is None:
        return "The engine could not be followed"
    within = f"within {report.tolerance:.1g} per text"
    return f"Texts are the target's, {within}" if report.lossless else "The engine is NOT lossless"


def _conformance_title(report: Any) -> str:
    many = "1 case" if len(report.findings) == 1 else f"{len(report.findings)} cases"
    words = {
        "passed": "nothing is wrong",
        "failed": f"wrong on {many}",
        "undecided": f"raises on {many}" if report.raises else "not looked at closely enough",
    }
    return f"{report.verifier}: {words[report.outcome]}"


def _conformance_rows(report: Any) -> Iterator[Row]:
    yield from _attributes("outcome", "kind", "mode")(report)
    yield "cases", len(report.cases)
    yield "findings", len(report.findings)
    if report.findings:
        yield "first", f"{report.findings[0].case}: {report.findings[0].reason}"
    yield from _attributes("detectable", "false_alarm")(report)


# Advice


def _advice_rows(advice: Any) -> Iterator[Row]:
    best, several = advice.best, advice.texts > 1
    yield "rule", best.rule
    yield "drafts", best.drafts or None
    yield "tree", best.tree or None
    yield "speed_up", best.speed_up
    yield "speed_up_interval", best.speed_up_interval if several else None
    yield "tokens", best.tokens
    yield "held_out", advice.held_out if several else None
    yield "texts", advice.texts or None
    yield "choices", len(advice.choices)


_ANY: dict[str, Any] = {
    "title": lambda thing: type(thing).__name__,
    "rows": _own_fields,
    "more": lambda _: (),
    "masses": lambda _: {},
}

TABLE: dict[str, dict[str, Any]] = {
    "DraftLaw": {
        "title": lambda law: f"{type(law).__name__}: {_counted(law.k)} over {law.n:,} tokens",
    },
    "SingleDraftLaw": {"masses": lambda law: {"draft": law.draft}},
    "Model": {"rows": _attributes("n", "exact")},
    "Optimum": {
        "title": lambda _: "The most that any lossless rule accepts",
        "rows": _optimum_rows,
        "more": lambda best: [("selection", best.selection)] if is_small(best.law) else [],
        "masses": _optimum_masses,
    },
    "LossyOptimum": {
        "title": lambda best: (
            f"The most that any rule accepts within a {best.budget.words} of the target"
        ),
        "rows": lambda best: [*_optimum_rows(best), ("budget", best.budget)],
        "more": _lossy_more,
        "masses": lambda best: {
            **_optimum_masses(best), "output": best.output if is_small(best.law) else None
        },
    },
    "Plan": {
        "title": lambda plan: f"A coupling of {plan.law.k} drafts and the output",
        "rows": _plan_rows,
    },
    "Decomposition": {
        "title": lambda _: "Selecting a draft, and accepting it",
        "rows": _decomposition_rows,
        "masses": _decomposition_masses,
    },
    "Rule": {"title": _rule_title, "more": _rule_more, "masses": _rule_masses},
    "Audit": {
        "title": _audit_title,
        "rows": _audit_rows,
        "masses": lambda report: {"target": report.target, "output": report.output},
    },
    "SampleAudit": {"title": _samples_title},
    "SearchReport": {"title": _search_title, "rows": _search_rows},
    "BlockAudit": {"title": _blocks_title, "rows": _blocks_rows},
    "TextAudit": {"title": _texts_title},
    "Report": {
        "title": _conformance_title,
        "rows": _conformance_rows,
        "more": lambda report: (("note", note) for note in report.notes),
    },
    "Advice": {
        "title": lambda advice: f"What to draft and how to verify it, from {advice.source}",
        "rows": _advice_rows,
    },
}  # fmt: skip
"""What is shown by the name of a class, where it is not a dataclass's fields under its name."""
