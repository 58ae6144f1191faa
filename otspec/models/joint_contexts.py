"""What a draft and a target remember of a text, joined: a finite automaton (Theory, 20)."""

from __future__ import annotations

import numpy as np

from otspec._base.frozen import Frozen
from otspec.models.base import Model, Prefix

MOST_CONTEXTS = 20_000
"""Most joint contexts; models that forget nothing have ever more."""


class JointContexts(Frozen):
    """The contexts of two models, and of the last tokens, that the target's texts lead to.

    Texts follow one another: an end token leads to the beginning of the next text, context 0.

    Parameters
    ----------
    draft, target : Model
    past : int
        How many of the last tokens are told apart, whatever the models remember.

    Raises
    ------
    ValueError
        More than 20,000 contexts.
    """

    texts: tuple[Prefix, ...]
    """A text for each context, the shortest that leads to it."""
    next: tuple[dict[int, int], ...]
    """For each context the context after each token that the target may draw."""

    def __init__(self, draft: Model, target: Model, past: int = 0) -> None:
        texts: list[Prefix] = [()]
        numbers = {_remembered(draft, target, (), past): 0}
        following = []
        for text in texts:  # which grows meanwhile
            after = {}
            for token in np.flatnonzero(target(text) > 0).tolist():
                longer = (*text, token)
                if target.ended(longer):
                    after[token] = 0
                    continue
                key = _remembered(draft, target, longer, past)
                if key not in numbers:
                    numbers[key] = len(texts)
                    texts.append(longer)
                after[token] = numbers[key]
            following.append(after)
            _refuse_many(len(texts))
        self.texts, self.next = tuple(texts), tuple(following)

    def after(self, context: int, tokens: Prefix) -> int:
        """Return the context after some more tokens of the target."""
        for token in tokens:
            context = self.next[context][token]
        return context


def _remembered(draft: Model, target: Model, text: Prefix, past: int) -> tuple[Prefix, ...]:
    return draft.context(text), target.context(text), text[max(0, len(text) - past) :]


def _refuse_many(contexts: int) -> None:
    if contexts > MOST_CONTEXTS:
        raise ValueError(
            f"the models have more than {MOST_CONTEXTS:,} contexts: use models that remember "
            "fewer tokens, or a shorter past"
        )
