"""What follows a kept text if a share of it is handed over (Theory, 47)."""

from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, positive_part
from otspec._base.frozen import cached_property, read_only
from otspec.distributions import Distribution, normalized
from otspec.models.base import Model, Prefix, as_prefix
from otspec.models.joint_contexts import GivenBeginning


class KeptTarget(Model):
    """The law of the token after each text of a block that was kept."""

    def __init__(self, draft: Model, target: Model, first: int, parts: int | None) -> None:
        self.draft, self.target, self.first, self.parts = draft, target, first, parts
        self.n, self.exact = target.n, target.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the next token, shape (n,)."""
        return self._along(as_prefix(prefix, self.n))[0]

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return self.target.ended(prefix)

    def handed(self, kept: Prefix, token: int) -> Distribution | None:
        """Return Q', the law after a correction, or None where it is the target's."""
        row, weight = self._along(kept)
        return self._split(kept, token, weight * row[token])[1]

    @cached_property
    def _known(self) -> dict[Prefix, tuple[Distribution, Any]]:
        return {(): (self.target(()), self.target.number(1))}

    def _along(self, text: Prefix) -> tuple[Distribution, Any]:
        """Return the law after a kept text, and its weight: kept over drafted mass."""
        if text not in self._known:
            head, token = text[:-1], text[-1]
            row, weight = self._along(head)
            wanted, drafted = weight * row[token], self.draft(head)[token]
            # p_i = min(1, p_{i−1} M_b/M_s), as in block verification.
            weight = self.target.number(1) if wanted >= drafted else wanted / drafted
            after = self._split(head, token, wanted)[0]
            self._known[text] = (self.target(text) if after is None else after, weight)
        return self._known[text]

    def _split(
        self, head: Prefix, token: int, wanted: Any
    ) -> tuple[Distribution | None, Distribution | None]:
        """Split the target after head and token between kept and corrected ones, if both are."""
        drafted, text = self.draft(head)[token], (*head, token)
        if len(head) < self.first or not 0 < drafted < wanted or self.target.ended(text):
            return None, None
        kept = drafted / wanted
        rounded = kept
        if self.parts is not None:
            rounded = self.target.number(kept * self.parts // 1) / self.parts
        if rounded == 0:
            return None, None
        return split_law(self.draft(text), self.target(text), kept, rounded)


def split_law(
    draft: Distribution, target: Distribution, kept: Any, rounded: Any
) -> tuple[Array, Array]:
    """Split a target into the laws of a share that was kept, and of the rest, close to the draft.

    Law: kept · first + (1 − kept) · second = target. Without rounding of 0 < kept < 1, Σ min(draft,
    second) is the most that this allows, Σ min(draft, target/(1 − kept)).
    """
    close = np.minimum(draft, target / (1 - rounded))
    lacking = positive_part(target - draft)
    missing = 1 - close.sum()
    if missing > 0 and lacking.sum() > 0:
        close = close + lacking * (missing / lacking.sum())
    corrected = read_only(normalized(close, target))
    rest = positive_part(target - (1 - kept) * corrected)
    return read_only(normalized(rest, target)), corrected


class HandedOver(Model):
    """What follows a kept text: one token of a row, what is handed over, and then the target.

    Nothing is handed over where the token does not correct a draft: after a whole block.
    """

    def __init__(
        self, laws: KeptTarget, kept: Prefix, row: Distribution, *, after_correction: bool
    ) -> None:
        self._laws, self._kept, self._row = laws, kept, read_only(row)
        self._after_correction = after_correction
        self.n, self.exact = laws.n, laws.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        text = as_prefix(prefix, self.n)
        return self.after(text[:1])(text[1:]) if text else self._row

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return self._laws.ended(self._kept + prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return what is handed over after a token, or what is left of it."""
        text = as_prefix(prefix, self.n)
        if not text:
            return self
        token = text[0]
        plain = self._laws.target.after((*self._kept, token))
        handed = self._laws.handed(self._kept, token) if self._after_correction else None
        following = plain if handed is None else GivenBeginning(plain, handed)
        return following.after(text[1:])
