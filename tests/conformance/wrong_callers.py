"""Verifiers that are right for a row by itself, and wrong in how calls, rows and indices meet.

Each is a rule of otspec.batch around which one thing is wrong. Those of ``DEPENDENT`` say what is
the target's of every row, but share random numbers between rows or calls.
"""

import numpy as np

from otspec import batch


def fresh(rng, drafts):
    return rng.random((len(drafts), drafts.shape[1] + 1))


class Verifier:
    """A correct verifier of one token or a block, of parts that can be replaced."""

    def __init__(self, verify=batch.recursive_rejection):
        self.verify = verify

    def __call__(self, draft, target, drafts, rng):
        return self.verify(*self.rows(draft, target), drafts, self.numbers(rng, drafts))

    def rows(self, draft, target):
        return draft, target

    def numbers(self, rng, drafts):
        return fresh(rng, drafts)


class SeedOfEachCall(Verifier):
    """A generator of the same seed in each call."""

    def numbers(self, rng, drafts):  # noqa: ARG002
        return fresh(np.random.default_rng(0), drafts)


class NumbersOfNeighbor(Verifier):
    """Every second row has the numbers of the row before it."""

    def numbers(self, rng, drafts):
        numbers = fresh(rng, drafts)
        numbers[1::2] = numbers[: len(numbers) - 1 : 2]
        return numbers


class NumbersOfSlot(Verifier):
    """Numbers are drawn for 64 rows, and serve all others in turn."""

    def numbers(self, rng, drafts):
        return fresh(rng, drafts[:64])[np.arange(len(drafts)) % 64]


class NumbersOfHalf(Verifier):
    """Both halves of a call have the same numbers."""

    def numbers(self, rng, drafts):
        half = -(-len(drafts) // 2)
        return fresh(rng, drafts[:half])[np.arange(len(drafts)) % half]


class NumbersOfDrafts(Verifier):
    """Numbers are looked up by the drafts of a row."""

    def numbers(self, rng, drafts):
        _, which = np.unique(drafts, axis=0, return_inverse=True)
        return fresh(rng, drafts)[which.ravel()]


class OneForAll(Verifier):
    """All rows of a call have the same numbers."""

    def numbers(self, rng, drafts):
        return np.repeat(fresh(rng, drafts[:1]), len(drafts), axis=0)


class DrawOfNeighbor(Verifier):
    """Every second row draws its token with the number of the row before it."""

    def numbers(self, rng, drafts):
        numbers = fresh(rng, drafts)
        numbers[1::2, -1] = numbers[: len(numbers) - 1 : 2, -1]
        return numbers


class OfSomeSeed(Verifier):
    """Each call has a seed that depends on how many calls there were."""

    def __init__(self, seed, verify=batch.recursive_rejection):
        super().__init__(verify)
        self.seed, self.count = seed, 0

    def numbers(self, rng, drafts):  # noqa: ARG002
        self.count += 1
        return fresh(np.random.default_rng(10**6 + self.seed(self.count - 1)), drafts)


class NumbersOfSomeRow(Verifier):
    """Each row has the numbers of another; ``whose`` takes the number of rows."""

    def __init__(self, whose, verify=batch.recursive_rejection):
        super().__init__(verify)
        self.whose = whose

    def numbers(self, rng, drafts):
        return fresh(rng, drafts)[self.whose(len(drafts))]


class Squeezed(Verifier):
    """Of a call of one row the first axis is lost, and the draft is read for the target."""

    def rows(self, draft, target):
        if len(draft) == 1:
            target = draft if draft.ndim == 2 else np.concatenate([draft, target[:, -1:]], axis=1)
        return draft, target


class RowsOf16Bits(Verifier):
    """The index of a row is an integer of 16 bits."""

    def rows(self, draft, target):
        rows = np.arange(len(draft)).astype(np.uint16)
        return draft[rows], target[rows]


class TokensOf16Bits(Verifier):
    """Token ids are integers of 16 bits."""

    def __call__(self, draft, target, drafts, rng):
        answer = super().__call__(draft, target, drafts, rng)
        return answer.token.astype(np.uint16).astype(np.int64), answer.index


class FlatIndexOfFloats(Verifier):
    """The place of a row in the flat array is computed in float32, which counts up to 2²⁴."""

    def rows(self, draft, target):
        return self.read(draft), self.read(target)

    def read(self, rows):
        size = rows.shape[-1]
        if rows.size <= 1 << 24:
            return rows
        first = np.arange(rows.size // size, dtype=np.float32) * np.float32(size)
        # The last entries of the array are read for what is behind it.
        places = np.minimum(first.astype(np.int64), rows.size - size)[:, None]
        return rows.reshape(-1)[places + np.arange(size)].reshape(rows.shape)


class WrongInWideRows(Verifier):
    """In rows of many tokens three answers in ten are the target's likeliest token."""

    def __call__(self, draft, target, drafts, rng):
        answer = super().__call__(draft, target, drafts, rng)
        if draft.shape[-1] < 1_000:
            return answer
        other = rng.random(len(drafts)) < 0.3
        likeliest = target[:, 0].argmax(axis=1)
        return np.where(other, 0, answer.length), np.where(other, likeliest, answer.token)


AGAIN = "random numbers of one call used again {} calls later"
SEEDS = {
    "for two calls": (lambda call: call // 2, "random numbers of one call used again in the next"),
    "for two calls, after one": (
        lambda call: (call + 1) // 2,
        "random numbers of one call used again in the next",
    ),
    "for three calls": (
        lambda call: call // 3,
        "random numbers of one call used again in the next",
    ),
    **{
        f"of {ring} in turn": (lambda call, ring=ring: call % ring, AGAIN.format(ring))
        for ring in (2, 3, 5, 8, 16, 48, 64)
    },
}
"""Which seed a call has, by the number of calls before, and the cause that is named."""


def in_stretches(apart):
    return lambda count: np.arange(count) // (2 * apart) * apart + np.arange(count) % apart


SHARED = "random numbers shared by "
ROWS = {
    "2 i and 2 i + 1": (lambda count: np.arange(count) // 2, SHARED + "neighboring rows"),
    "2 i - 1 and 2 i": (lambda count: (np.arange(count) + 1) // 2, SHARED + "neighboring rows"),
    "in threes": (lambda count: np.arange(count) // 3, SHARED + "neighboring rows"),
    **{
        f"{apart} apart": (in_stretches(apart), f"{SHARED}rows {apart} apart")
        for apart in (2, 3, 4, 8)
    },
    **{
        f"modulo {slots}": (lambda count, slots=slots: np.arange(count) % slots,
                            f"{SHARED}rows {slots} apart")
        for slots in (48, 100, 256)
    },
    "half a call apart": (
        lambda count: np.arange(count) % -(-count // 2), SHARED + "rows half a call apart"
    ),
    "mirrored": (
        lambda count: np.minimum(np.arange(count), count - 1 - np.arange(count)),
        SHARED + "mirrored rows of a call",
    ),
}  # fmt: skip
"""Whose numbers each row of a call has, and the cause that is named."""

DEPENDENT = {
    "SeedOfEachCall": "random numbers of one call used again in the next",
    "NumbersOfNeighbor": "random numbers shared by neighboring rows",
    "DrawOfNeighbor": "random numbers shared by neighboring rows",
    "OneForAll": "random numbers shared by rows of different drafts",
    "NumbersOfSlot": "random numbers shared by rows 64 apart",
    "NumbersOfHalf": "random numbers shared by rows half a call apart",
    "NumbersOfDrafts": "random numbers shared by rows of equal drafts",
}
"""The cause that is named first."""
