"""What a rule is given: checked arguments, and the library that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from otspec.batch._kernels.library import Array, Library


@dataclass(frozen=True)
class Problem:
    """Checked arguments of a rule.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    drafts : array of token ids, shape (..., k)
        0 where a draft does not count.
    uniforms : array, shape (..., k + 1)
        Wide.
    valid : array of bool, shape (..., k)
        Which drafts count.
    """

    library: Library
    draft: Array
    target: Array
    drafts: Array
    uniforms: Array
    valid: Array

    @property
    def k(self) -> int:
        """How many drafts a row has at most."""
        size: int = self.drafts.shape[-1]
        return size

    def count(self) -> Array:
        """Return how many drafts of each row count, wide, shape (...)."""
        return self.library.xp.sum(self.library.widened(self.valid), axis=-1)

    def drafted(self) -> Array:
        """Return the draft's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.draft, self.drafts)

    def wanted(self) -> Array:
        """Return the target's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.target, self.drafts)
