"""Options that several commands share."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from otspec._base.tables import listed
from otspec.cli.shared import arguments
from otspec.cli.shared.arguments import COUNTS, NUMBERS, Choice
from otspec.distributions import Distribution, check_alike
from otspec.drafts import IID, LAWS, Independent
from otspec.models.warped import as_temperature
from otspec.rules import compared_rules
from otspec.rules.importance.importance_sampling import FREE

Command = TypeVar("Command", bound=Callable[..., Any])


def added(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    """Return a command with options, in the order of its help."""
    for option in reversed(options):
        command = option(command)
    return command


def given_options() -> Iterator[tuple[str, click.Parameter]]:
    """Yield what the command line gives of the parameters of the command, by name."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(name := str(parameter.name))
        if source is click.core.ParameterSource.COMMANDLINE:
            yield name, parameter


class PairCommand(click.Command):
    """A command whose arguments may be numbers that start with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse with a blank before such numbers, so that they are not taken for options."""
        numbers = re.compile(r"-(\d|\.\d|inf)")
        return super().parse_args(ctx, [f" {arg}" if numbers.match(arg) else arg for arg in args])


def counts_option(default: str) -> Callable[[Command], Command]:
    """Return the option -k with a default."""
    return click.option(
        "-k", "ks", type=COUNTS, default=default,
        help="Numbers of drafts, separated by commas.",
    )  # fmt: skip


def law_option(default: str | None, purpose: str) -> Callable[[Command], Command]:
    """Return the option --drafts."""
    return click.option("--drafts", type=Choice(tuple(LAWS)), default=default, help=purpose)


models_option = click.option(
    "--draft", "models", multiple=True, metavar="DRAFT",
    help="A draft model, instead of DRAFT. Several: each drafts one token.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")

table_option = click.option(
    "--table", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Also write the rows as a table, to FILE.parquet, FILE.arrow or FILE.csv.",
)  # fmt: skip

free_option = click.option(
    "--free", type=click.IntRange(0), metavar="S", default=FREE,
    help="Tokens in the linear programs of importance sampling.",
)  # fmt: skip


def cost_options(purpose: str = "", *, required: bool = True) -> Callable[[Command], Command]:
    """Return the options --draft-cost and --target-cost; says first what they are for."""
    of_draft = (
        f"{purpose}Seconds of a call of the draft by the tokens that it reads at once: 0.05, or "
        "1,1,1.2 for one, two and three, or 1:1,64:2, or a .csv of two columns."
    )
    of_target = "Of a call of the target, in the same way and unit."
    draft, target = (
        click.option(name, required=required, metavar="SECONDS", help=said)
        for name, said in (("--draft-cost", of_draft), ("--target-cost", of_target))
    )
    return lambda command: draft(target(command))


def rules_option(default: str) -> Callable[[Command], Command]:
    """Return the option --rule for several rules; says which are compared by default."""
    return click.option(
        "--rule", "only", type=Choice(tuple(rule.name for rule in compared_rules())),
        multiple=True, metavar="NAME",
        help=f"Compare these rules; may be given several times.  [default: {default}]",
    )  # fmt: skip


SLOW = listed([rule.name for rule in compared_rules() if not rule.quick], "and")
"""The rules that comparisons of many positions have only if they are named."""

detect_option = click.option(
    "--detect", type=float, metavar="DISTANCE", default=0.005,
    help="The total variation that is detected with probability 0.999.",
)  # fmt: skip
false_alarm_option = click.option(
    "--false-alarm", type=float, metavar="PROBABILITY", default=1e-6,
    help="Probability that a correct verifier fails.",
)  # fmt: skip

_TEMPERATURE = 1.0


temperature_option = click.option(
    "--temperature", type=float, default=_TEMPERATURE, help="Divide logits by this."
)
temperatures_option = click.option(
    "--temperature", "temperatures", type=NUMBERS, default=str(_TEMPERATURE),
    help="Divide logits by each of these, separated by commas.",
)  # fmt: skip


def filled(**words: str) -> Callable[[Command], Command]:
    """Fill words that follow from tables into the docstring of a command, which its help shows."""

    def decorator(command: Command) -> Command:
        if command.__doc__ is not None:  # as under python -OO
            command.__doc__ = inspect.cleandoc(command.__doc__).format(**words)
        return command

    return decorator


def pair_command(
    counts: str,
    law: str | None = IID.name,
    purpose: str = "How the drafts are drawn.",
    of_models: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of DRAFT and TARGET, numbers of drafts and a draft law."""
    # The function gets them as pair, ks and drafts. counts: the numbers of drafts by default. law:
    # the law by default, by name. purpose: what the command needs the law for. of_models: what to
    # do with several --draft: it gets the law of one draft of each and the target, as law and
    # target, and as_json.

    def decorator(command: Callable[..., Any]) -> click.Command:
        optional = counts_option(counts)(law_option(law, purpose)(command))
        return click.command(cls=PairCommand)(pair_arguments(optional, of_models))

    return decorator


def pair_arguments(command: Callable[..., Any], of_models: Callable[..., Any] | None = None) -> Any:
    """Add DRAFT, TARGET and what says how to read them; the command gets them as ``pair``."""

    @wraps(command)
    def with_pair(
        draft: str | None,
        target: str | None,
        how: Reading,
        models: tuple[str, ...] = (),
        **rest: Any,
    ) -> Any:
        if models:
            *models_given, wanted = _after_options(models, draft, target)
            if of_models is not None and len(models_given) > 1:
                _refuse_others(("as_json",))
                return of_models(**how.models(models_given, wanted), as_json=rest["as_json"])
            (draft,), target = models_given, wanted
        return command(pair=how.pair(_given(draft, "draft"), _given(target, "target")), **rest)

    decorators = (
        click.argument("draft", required=of_models is None, metavar="DRAFT"),
        click.argument("target", required=of_models is None, metavar="TARGET"),
        *([models_option] if of_models is not None else []),
    )
    return added(reading_options(with_pair), decorators)


def reading_options(command: Callable[..., Any]) -> Any:
    """Add what says how to read DRAFT and TARGET; the command gets it as ``how``."""

    @wraps(command)
    def with_reading(**given: Any) -> Any:
        how = Reading(*(given.pop(name) for name in Reading._fields))
        return command(how=how, **given)

    decorators = (
        click.option("--exact", is_flag=True, help="Read decimals exactly; print fractions."),
        click.option("--logits", is_flag=True, help="The numbers are logits: take their softmax."),
        temperature_option,
        click.option(
            "--draft-temperature", type=float,
            help="Divide the logits of DRAFT by this. [default: as those of TARGET]",
        ),
        click.option("--normalize", is_flag=True, help="Scale both to sum 1."),
    )  # fmt: skip
    return added(with_reading, decorators)


class Reading(NamedTuple):
    """How to read distributions."""

    exact: bool
    logits: bool
    temperature: float
    draft_temperature: float | None
    normalize: bool

    def pair(self, draft: str, target: str) -> tuple[Distribution, Distribution]:
        """Read DRAFT and TARGET."""
        first, second = self._read({"draft": draft, "target": target})
        return first, second

    def models(self, drafts: Sequence[str], target: str) -> dict[str, Any]:
        """Read several DRAFT and TARGET: the law of one draft of each, and the target."""
        named = {f"draft {i}": text for i, text in enumerate(drafts, start=1)}
        *found, wanted = self._read({**named, "target": target})
        return {"law": Independent(found), "target": wanted}

    def _of(self, name: str) -> dict[str, Any]:
        """Return how to read one distribution."""
        options = self._asdict()
        del options["exact"]
        draft = options.pop("draft_temperature")
        return options if name == "target" or draft is None else options | {"temperature": draft}

    def _read(self, texts: Mapping[str, str]) -> list[Distribution]:
        given = {"--temperature": self.temperature, "--draft-temperature": self.draft_temperature}
        for option, value in given.items():
            if value not in (_TEMPERATURE, None) and not self.logits:
                raise ValueError(f"{option} {value} needs --logits: probabilities are final")
        if self.draft_temperature is not None:
            as_temperature(self.draft_temperature, "--draft-temperature")
        if self.logits and self.exact:
            raise ValueError("--exact and --logits exclude each other: a softmax is not rational")
        if self.logits:
            numbers = {it: arguments.read_numbers(text, it) for it, text in texts.items()}
        else:
            numbers = arguments.read_alike(texts, exact=self.exact)
        found = {
            it: arguments.to_distribution(each, it, **self._of(it)) for it, each in numbers.items()
        }
        (first_name, first), *others = found.items()
        for name, other in others:
            try:
                check_alike(first_name, first, name, other)
            except ValueError as error:
                hint = "" if self.exact or len(first) != len(other) else " (or add --exact)"
                raise ValueError(f"{error}{hint}") from error
        return list(found.values())


def _given(text: str | None, name: str) -> str:
    """Return an argument; refuse the command without it as click does."""
    if text is None:
        context = click.get_current_context()
        argument = next(it for it in context.command.params if it.name == name)
        raise click.MissingParameter(ctx=context, param=argument)
    return text


def _after_options(models: Sequence[str], draft: str | None, target: str | None) -> list[str]:
    """Return the models of --draft and TARGET, the only argument beside them."""
    if target is not None:
        raise ValueError(
            f"{draft!r} and {target!r} stand beside --draft: write each model after a --draft of "
            "its own, and TARGET alone"
        )
    # The first argument is taken for DRAFT.
    return [*models, _given(draft, "target")]


def _refuse_others(known: Sequence[str]) -> None:
    """Refuse options that are for one DRAFT if they are given beside several --draft."""
    reading = {*Reading._fields, "models", "draft", "target", *known}
    for name, parameter in given_options():
        if name not in reading:
            raise ValueError(
                f"{parameter.opts[0]} is for one DRAFT, and there are several --draft, of which "
                f"each drafts one token: leave {parameter.opts[0]} out"
            )
