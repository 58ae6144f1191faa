"""Lossless decoding of language models with several drafts: a tree is verified in each call."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from otspec._base import as_callable, as_integer, as_list, as_tokens
from otspec.decoding import transformer
from otspec.decoding.choices import AnyRule, AnyTree, as_shape, decoder_of
from otspec.decoding.decoder import Decoder, EndingShape, Generated, Step, together
from otspec.decoding.verification import SeededChance
from otspec.models.pretrained import without_layers
from otspec.models.warped import checked_warp
from otspec.traces import Warp
from otspec.warping import STEPS

_OPTIONS = (
    "rule", "tree", "max_new_tokens", *STEPS, "order", "end", "skip_layers",
    *(f"draft_{name}" for name in STEPS),
)  # fmt: skip
"""Those of :func:`generate` that texts of a batch have in common."""
MOST_NEW = 1_000_000  # most tokens that are decoded at once


def generate(
    target: Any,
    draft: Any,
    prompt: Sequence[int],
    *,
    rule: AnyRule = "pooled-selection",
    tree: AnyTree = (4, 2, 1),
    max_new_tokens: int = 64,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    order: str | Iterable[str] = STEPS,
    seed: int = 0,
    end: Iterable[int] | None = None,
    on_step: Callable[[Step], None] | None = None,
    skip_layers: str | Iterable[int] | None = None,
    draft_temperature: float | None = None,
    draft_top_k: int | None = None,
    draft_top_p: float | None = None,
    draft_min_p: float | None = None,
) -> Generated:
    """Decode a text of the target model, with drafts of another one.

    In each step the draft model drafts a tree, the target reads it in one call, the rule says which
    of its tokens are kept, and one more token follows them.

    Law: the text is distributed as the target's, warped, whatever the draft model, its own warping,
    the rule and the tree are.

    Parameters
    ----------
    target, draft : transformers.PreTrainedModel
        Causal models with one tokenizer, full attention and ``position_ids``, such as Llama. The
        draft is None with ``skip_layers``.
    prompt : sequence of int
        Token ids, one at least.
    rule : str, type or callable
        A name or a class of :data:`otspec.rules.RULES`, which also says how the children of a node
        are drawn; of :data:`otspec.blocks.TREE_VERIFIERS`, such as ``"traversal"``; or, if the
        tree is a chain, of :data:`otspec.blocks.BLOCK_RULES`. Or a function ``verify(drafts,
        chance)`` of your own, see :class:`otspec.blocks.ProgramTree`.
    tree : str, sequence of int or TokenTree
        Children of each node by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``, or a tree of any
        shape. Equal i.i.d. children go on together, with the children of all; of distinct ones no
        more are drawn than the draft model has tokens. ``TokenTree(())`` is plain decoding, which
        never asks the draft model.
    max_new_tokens : int
    temperature, top_k, top_p, min_p, order
        How both models are warped, see :func:`otspec.traces.warp`.
    seed : int
    end : iterable of int, optional
        Tokens that end a text; by default those of the target's configuration. Nothing is drafted
        after them.
    on_step : callable, optional
        Gets each :class:`Step` with its new tokens as soon as it is there.
    skip_layers : str or iterable of int, optional
        Draft with the target itself without these layers, counted from 0, such as ``"14-17"``: as
        with the draft ``otspec.models.pretrained.without_layers(target, skip_layers)``.
    draft_temperature, draft_top_k, draft_top_p, draft_min_p : optional
        How the draft model is warped, where not as the target. ``draft_top_p=1`` and
        ``draft_min_p=0`` cut nothing.

    Raises
    ------
    ValueError
        Models, a prompt, a rule, a tree or options that cannot be used or do not go together; too
        long a text; missing packages.
    """
    heard = on_step and as_callable(on_step, "on_step", "a function of one step")
    decoding = _Decoding.of(
        target, draft, rule=rule, tree=tree, max_new_tokens=max_new_tokens,
        temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, order=order, end=end,
        skip_layers=skip_layers, draft_temperature=draft_temperature, draft_top_k=draft_top_k,
        draft_top_p=draft_top_p, draft_min_p=draft_min_p,
    )  # fmt: skip
    decoder, chance = decoding.begun(prompt, "prompt"), SeededChance(seed)
    [text] = decoding.texts([decoder], [chance], heard and (lambda _, step: heard(step)))
    return text


def generate_batch(
    target: Any,
    draft: Any,
    prompts: Iterable[Sequence[int]],
    *,
    seed: int = 0,
    on_step: Callable[[int, Step], None] | None = None,
    **options: Any,
) -> list[Generated]:
    """Decode several texts of the target model together.

    In each call a model reads for all texts: the draft model a level of their trees, the target
    whole trees. A text that is complete leaves the batch.

    Law: the texts are independent of each other, each as of :func:`generate`. The random numbers of
    a text follow from the seed and its number, and not from the other prompts. The calls of a text
    are those in which it took part: the target was called as often as for the longest. Parameters
    and errors are those of :func:`generate`, but for:

    Parameters
    ----------
    prompts : iterable of sequence of int
        Token ids of each prompt; lengths may differ.
    on_step : callable, optional
        Gets the number of a text, counted from 0, and each of its steps.
    """
    heard = on_step and as_callable(on_step, "on_step", "a function of a number and a step")
    given = as_list(prompts, "prompts", "a list of prompts, each a sequence of token ids")
    bound = inspect.signature(generate).bind(target, draft, (), **options)
    bound.apply_defaults()
    decoding = _Decoding.of(target, draft, **{name: bound.arguments[name] for name in _OPTIONS})
    decoders = [decoding.begun(each, f"prompts[{i}]") for i, each in enumerate(given)]
    return decoding.texts(decoders, [SeededChance(seed, i) for i in range(len(given))], heard)


@dataclass(frozen=True)
class _Decoding:
    """Two models and the checked options of decoding."""

    target: transformer.TransformerReader
    draft: transformer.TransformerReader
    rule: AnyRule
    shape: EndingShape
    most: int

    @classmethod
    def of(
        cls,
        target: Any,
        draft: Any,
        *,
        rule: AnyRule,
        tree: AnyTree,
        max_new_tokens: int,
        end: Iterable[int] | None,
        skip_layers: str | Iterable[int] | None,
        **warping: Any,
    ) -> "_Decoding":
        """Check all that the texts have in common."""
        if skip_layers is not None:
            if draft is not None:
                raise ValueError(
                    "draft and skip_layers are two draft models: pass draft=None, or one"
                )
            transformer.check_model(target, "target")
            draft = without_layers(target, skip_layers, "skip_layers")
        for model, name in ((target, "target"), (draft, "draft")):
            transformer.check_model(model, name)
        of_target, of_draft = _warps(**warping)
        n = min(transformer.vocabulary(target), transformer.vocabulary(draft))
        last = (
            transformer.end_tokens(target)
            if end is None
            else as_tokens(end, n, "end", unordered=True)
        )
        return cls(
            transformer.TransformerReader(target, n, of_target),
            transformer.TransformerReader(draft, n, of_draft),
            rule,
            as_shape(tree, last),
            as_integer(max_new_tokens, "max_new_tokens", 1, MOST_NEW),
        )

    def begun(self, prompt: Sequence[int], name: str) -> Decoder:
        """Return the decoder of a text that has only its prompt, checked."""
        text = as_tokens(prompt, self.target.n, name)
        if not text:
            raise ValueError(f"{name} has no token: pass one at least, such as the model's first")
        length = len(text) + self.most + self.shape.tree.depth
        most = min(
            transformer.positions(self.target.model), transformer.positions(self.draft.model)
        )
        if length > most:
            raise ValueError(
                f"{name}, max_new_tokens and the depth of the tree come to {length:,} tokens, but "
                f"the models have positions for {most:,}: decode fewer"
            )
        return decoder_of(text, self.rule, self.shape, draft=self.draft, target=self.target)

    def texts(
        self,
        decoders: Sequence[Decoder],
        chances: Sequence[SeededChance],
        heard: Callable[[int, Step], None] | None,
    ) -> list[Generated]:
        """Decode texts, and tell of each step."""
        steps: list[list[Step]] = [[] for _ in decoders]
        for number, step in together(decoders, self.most, chances):
            steps[number].append(step)
            if heard:
                heard(number, step)
        return [Generated(tuple(each), self.shape.tree.depth) for each in steps]


def _warps(order: str | Iterable[str], **options: Any) -> tuple[Warp, Warp]:
    """Return how the target and the draft are warped."""
    target = Warp(**{name: options[name] for name in STEPS}, order=order)
    own = {name: options[f"draft_{name}"] for name in STEPS}
    given = {name: value for name, value in own.items() if value is not None}
    checked_warp(**(target.options() | given), called="draft_{}".format)
    return target, replace(target, **given)
