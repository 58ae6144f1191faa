"""What a rule is given: checked arguments, and the library that they belong to."""

from dataclasses import dataclass

from otspec.batch._array_api.library import Array, Library


@dataclass(frozen=True)
class Problem:
    """Checked arguments of a rule."""

    library: Library
    draft: Array  # (..., V)
    target: Array  # (..., V)
    drafts: Array  # (..., k): 0 where a draft does not count
    uniforms: Array  # (..., k + 1), wide
    valid: Array | None  # (..., k): which drafts count; None if all do

    @property
    def k(self) -> int:
        """How many drafts a row has at most."""
        return int(self.drafts.shape[-1])

    def which(self) -> Array:
        """Return which drafts count, shape (..., k)."""
        xp = self.library.xp
        return xp.ones_like(self.drafts, dtype=xp.bool) if self.valid is None else self.valid

    def counted(self, flags: Array) -> Array:
        """Return flags of the drafts, (..., k), false where a draft does not count."""
        return flags if self.valid is None else flags & self.valid

    def count(self) -> Array:
        """Return how many drafts of each row count, wide, shape (..., 1)."""
        if self.valid is None:
            return self.library.full((*self.drafts.shape[:-1], 1), float(self.k))
        return self.library.xp.sum(self.library.widened(self.valid), axis=-1, keepdims=True)

    def none(self) -> Array | None:
        """Return 1 for rows without a draft, else 0: wide, shape (...); None where all count."""
        if self.valid is None:
            return None
        return self.library.widened(~self.library.xp.any(self.valid, axis=-1))

    def drafted(self) -> Array:
        """Return the draft's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.draft, self.drafts)

    def wanted(self) -> Array:
        """Return the target's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.target, self.drafts)
