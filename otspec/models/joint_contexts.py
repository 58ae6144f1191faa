"""What two models remember of a text, joined; and a law of first tokens continued (Theory, 20)."""

import numpy as np

from otspec._base import Array, Frozen, read_only, zeros
from otspec.distributions import Distribution, normalized
from otspec.models.base import Derived, Model, Prefix, as_prefix

MOST_CONTEXTS = 20_000  # most joint contexts; models that forget nothing have ever more


class JointContexts(Frozen):
    """Contexts of two models, and the last ``past`` tokens, of texts that follow one another."""

    texts: tuple[Prefix, ...]  # a text for each context, the shortest that leads to it
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


class GivenBeginning(Derived):
    """A model with a joint law of its first D tokens, (n,) * D, and the target's continuations."""

    def __init__(self, target: Model, law: Array) -> None:
        super().__init__(target)
        self._law = read_only(law)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        text = as_prefix(prefix, self.n)
        wanted = self._target(text)
        if len(text) >= self._law.ndim:
            return wanted
        masses = self._law[text].reshape(self.n, -1).sum(axis=1)
        return read_only(normalized(masses, wanted))

    def after(self, prefix: Prefix) -> Model:
        """Return what is left of the given law, or the target."""
        text = as_prefix(prefix, self.n)
        if not text:
            return self
        target = self._target.after(text)
        if len(text) >= self._law.ndim or not self._law[text].sum() > 0:
            return target
        rest = self._law[text]
        return GivenBeginning(target, rest / rest.sum())


def law_of_beginning(model: Model, length: int) -> Array:
    """Return the law of a model's first tokens, shape (n,) * length: see :func:`filled_up`."""
    law = zeros((model.n,) * length, like=model(()))
    for text, mass in model.texts(length):
        law[filled_up(text, length)] += mass
    return law


def filled_up(text: Prefix, length: int) -> Prefix:
    """Return a text of a length; one that is over before repeats its end token."""
    return text + text[-1:] * (length - len(text))
