"""Engines that draft and verify, each with one fault that public code has had, or could have."""

import numpy as np
from text_engines import BlockEngine, choose, emitted

from otspec.batch import token_verification, warp


class OneUniform(BlockEngine):
    """The number that draws a draft decides whether it is accepted."""

    def step(self, draft, target, last, rng):
        uniforms = rng.random((len(last), self.block + 1))
        text = last
        for place in range(self.block):
            drawn = choose(draft(text), uniforms[:, place])
            text = np.concatenate([text, drawn[:, None]], 1)
        return self.verified(draft.rows(text)[:, :-1], target.rows(text), text, uniforms)


class NumbersOfFirstStep(BlockEngine):
    """Numbers for verification are drawn once for a text."""

    def __call__(self, draft, target, prompts, length, rng):
        self.uniforms = rng.random((len(prompts), self.block + 1))
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        text = self.drafted(draft, last, rng)
        return self.verified(draft.rows(text)[:, :-1], target.rows(text), text, self.uniforms)


class SeedOfEachStep(BlockEngine):
    """A generator of the same seed in each step."""

    def __call__(self, draft, target, prompts, length, rng):
        return super().__call__(draft, target, prompts, length, int(rng.integers(2**31)))

    def step(self, draft, target, last, rng):
        return super().step(draft, target, last, np.random.default_rng(rng))


class DraftsOfFirstStep(BlockEngine):
    """Numbers for drafting are drawn once for a text."""

    def __call__(self, draft, target, prompts, length, rng):
        self.numbers = rng.random((self.block, len(prompts)))
        return super().__call__(draft, target, prompts, length, rng)

    def drafted(self, draft, text, rng):  # noqa: ARG002
        return super().drafted(draft, text, Tape(self.numbers))


class DrawOfStepBefore(BlockEngine):
    """The number that drew a step's token draws the next step's first draft."""

    drawn = None

    def __call__(self, draft, target, prompts, length, rng):
        self.drawn = None
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        fresh = rng.random((self.block, len(last)))
        if self.drawn is not None:
            fresh[0] = self.drawn
        text = self.drafted(draft, last, Tape(fresh))
        uniforms = rng.random((len(last), self.block + 1))
        self.drawn = uniforms[:, -1]
        return self.verified(*self.rows(draft, target, text), text, uniforms)


class Tape:
    """Numbers that are handed out in order."""

    def __init__(self, numbers):
        self.numbers = iter(numbers)

    def random(self, _):
        return next(self.numbers)


class SeedOfEachCall(BlockEngine):
    """A generator of the same seed in each call."""

    def __call__(self, draft, target, prompts, length):
        return super().__call__(draft, target, prompts, length, np.random.default_rng(0))


class NumbersOfFirstRow(BlockEngine):
    """Every second row has the numbers of the row before it."""

    def step(self, draft, target, last, rng):
        return super().step(draft, target, last, EvenRows(rng))


class EvenRows:
    def __init__(self, rng):
        self.rng = rng

    def random(self, shape):
        uniforms = self.rng.random(shape)
        uniforms[1::2] = uniforms[: len(uniforms) - 1 : 2]
        return uniforms


class DraftTemperature(BlockEngine):
    """Drafts are drawn at temperature 0.8, and declared at 1."""

    def drafted(self, draft, text, rng):
        def cold(text):
            return warp(draft.logits(text)[:, -1], temperature=0.8)

        return super().drafted(cold, text, rng)


class DraftRowsOfStepBefore(BlockEngine):
    """The declared draft rows are those of the text without its last token."""

    def rows(self, draft, target, text):
        stale = np.concatenate([text[:, :1], text[:, :-1]], axis=1)
        return draft.rows(stale)[:, :-1], target.rows(text)


class RowsOfAnotherText(BlockEngine):
    """After a rejection the target's rows are those of the next row of the batch."""

    rejected = None

    def rows(self, draft, target, text):
        rows = target.rows(text)
        if self.rejected is not None:
            rows = np.where(self.rejected[:, None, None], np.roll(rows, 1, axis=0), rows)
        return draft.rows(text)[:, :-1], rows

    def step(self, draft, target, last, rng):
        step, count = super().step(draft, target, last, rng)
        self.rejected = count <= self.block
        return step, count

    def __call__(self, draft, target, prompts, length, rng):
        self.rejected = None
        return super().__call__(draft, target, prompts, length, rng)


class CorruptedInPlace(BlockEngine):
    """The residual is computed in the target's own rows, which later steps read again."""

    def __call__(self, draft, target, prompts, length, rng):
        kept = Remembered(target, prompts)
        return super().__call__(draft, kept, prompts, length, rng)

    def verified(self, draft, target, text, uniforms):
        answer = super().verified(draft, target, text, uniforms)
        self.target.subtract(text, draft)
        return answer

    def rows(self, draft, target, text):
        self.target = target
        return super().rows(draft, target, text)


class Remembered:
    """The rows of each text after each token, as a cache has them."""

    def __init__(self, model, prompts):
        symbols = np.arange(int(model.rows(prompts).shape[-1]))
        self.table = np.repeat(model.rows(symbols[None]), len(prompts), axis=0)

    def rows(self, text):
        return np.take_along_axis(self.table, text[..., None], axis=1)

    def subtract(self, text, draft):
        rows, after = np.arange(len(text)), text[:, 0]
        left = np.maximum(self.table[rows, after] - 0.25 * draft[:, 0], 0)
        total = left.sum(axis=-1, keepdims=True)
        self.table[rows, after] = np.where(total > 0, left / np.where(total > 0, total, 1), 0.5)


class BonusOfDraft(BlockEngine):
    """The token after a whole block is drawn from the draft model."""

    def rows(self, draft, target, text):
        rows = target.rows(text)
        rows[:, -1] = draft.rows(text)[:, -1]
        return draft.rows(text)[:, :-1], rows


class EatenToken(BlockEngine):
    """The token after a whole block is not given out, but the next block follows it."""

    def __call__(self, draft, target, prompts, length, rng):
        self.after = None
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        text = last if self.after is None else self.after
        step, count = super().step(draft, target, text, rng)
        self.after = step[np.arange(len(step)), count - 1][:, None]
        return step, np.minimum(count, self.block)


class AfterRejectedDraft(BlockEngine):
    """The next block follows the rejected draft, not the token in its place."""

    def __call__(self, draft, target, prompts, length, rng):
        self.after = None
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        text = self.drafted(draft, last if self.after is None else self.after, rng)
        uniforms = rng.random((len(text), self.block + 1))
        step, count = self.verified(*self.rows(draft, target, text), text, uniforms)
        read = np.concatenate([text[:, 1:], step[:, -1:]], axis=1)
        self.after = np.take_along_axis(read, count[:, None] - 1, axis=1)
        return step, count


class LastTokenLost(BlockEngine):
    """A block gives out its kept drafts alone, but the next block follows the token after them."""

    def __call__(self, draft, target, prompts, length, rng):
        self.after = None
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        step, count = super().step(draft, target, last if self.after is None else self.after, rng)
        self.after = step[np.arange(len(step)), count - 1][:, None]
        return step, count - 1


class LastTokenDoubled(BlockEngine):
    """Each block begins with the last token of the block before."""

    def __call__(self, draft, target, prompts, length, rng):
        rows = np.arange(len(prompts))
        texts = np.zeros((len(rows), length + self.block + 2), dtype=np.int64)
        known, last = np.zeros(len(rows), dtype=np.int64), prompts
        while known.min() < length:
            step, count = self.step(draft, target, last, rng)
            if last is not prompts:
                step, count = np.concatenate([last, step], axis=1), count + 1
            places = np.minimum(known, length)[:, None] + np.arange(step.shape[1])
            texts[rows[:, None], places] = step
            known, last = known + count, step[rows, count - 1][:, None]
        return texts[:, :length]


class PaddedEnd(BlockEngine):
    """The last token of a text that a block would exceed is padding."""

    def __call__(self, draft, target, prompts, length, rng):
        texts = super().__call__(draft, target, prompts, length, rng)
        texts[:, -1] = 0
        return texts


class RepeatedEnd(BlockEngine):
    """The last token of a text is the one before it."""

    def __call__(self, draft, target, prompts, length, rng):
        texts = super().__call__(draft, target, prompts, length, rng)
        texts[:, -1] = texts[:, -2]
        return texts


class UnverifiedEnd(BlockEngine):
    """A text that is full ends with a draft that nobody has verified."""

    def __call__(self, draft, target, prompts, length, rng):
        texts = super().__call__(draft, target, prompts, length, rng)
        texts[:, -1] = choose(draft(texts[:, :-1]), rng.random(len(texts)))
        return texts


class NearTheEnd(BlockEngine):
    """An engine that knows how many tokens its texts still need."""

    def __call__(self, draft, target, prompts, length, rng):
        self.needed = np.full(len(prompts), length)
        return super().__call__(draft, target, prompts, length, rng)

    def step(self, draft, target, last, rng):
        step, count = super().step(draft, target, last, rng)
        self.needed = self.needed - count
        return step, count


class FilledUp(NearTheEnd):
    """Drafts that are enough for what a text still needs are not verified."""

    def verified(self, draft, target, text, uniforms):
        step, count = super().verified(draft, target, text, uniforms)
        enough = self.needed <= self.block
        step[enough, :-1] = text[enough, 1:]
        return step, np.where(enough, self.block, count)


class PaddingCounted(NearTheEnd):
    """Drafts that a text does not need are token 0, and verified as the others are."""

    def drafted(self, draft, text, rng):
        drafts = super().drafted(draft, text, rng)
        places = np.arange(1, self.block + 1)
        drafts[:, 1:] = np.where(places >= self.needed[:, None], 0, drafts[:, 1:])
        return drafts


class RowsOfTheNextText(BlockEngine):
    """The target's rows are those of the next row of the batch."""

    shift, both = -1, False

    def rows(self, draft, target, text):
        rows = draft.rows(text)[:, :-1], target.rows(text)
        moved = [np.roll(each, self.shift, axis=0) for each in rows]
        return (moved[0] if self.both else rows[0]), moved[1]


class RowsOfTheTextBefore(RowsOfTheNextText):
    """Both models' rows are those of the row before in the batch."""

    shift, both = 1, True


class DraftRowsOfTheNextText(BlockEngine):
    """The draft's rows are those of the next row of the batch."""

    def rows(self, draft, target, text):
        return np.roll(draft.rows(text)[:, :-1], -1, axis=0), target.rows(text)


class TargetInPlaceOfResidual(BlockEngine):
    """A rejected draft is replaced by a draw from the target."""

    def verified(self, draft, target, text, uniforms):
        kept = self.verify(draft, target, text[:, 1:], uniforms)
        rows = target[np.arange(len(text)), kept.length]
        return emitted(text[:, 1:], kept.length, choose(rows, uniforms[:, -1]))


class SecondDraw(BlockEngine):
    """A draft is kept if a draw from the target is the same; if not, another one is drawn."""

    def verified(self, draft, target, text, uniforms):  # noqa: ARG002
        same = choose(target[:, :-1], uniforms[:, :-1]) == text[:, 1:]
        length = same.cumprod(axis=1).sum(axis=1)
        token = choose(target[np.arange(len(text)), length], uniforms[:, -1])
        return emitted(text[:, 1:], length, token)


class ResidualOfFirstPlace(BlockEngine):
    """The residual of the first place is kept, and serves for all places."""

    def verified(self, draft, target, text, uniforms):
        kept = token_verification(draft, target, text[:, 1:], uniforms)
        residual = np.maximum(target[:, 0] - draft[:, 0], 0) + 1e-30
        token = np.where(
            (kept.length > 0) & (kept.length < self.block),
            choose(residual, uniforms[:, -1]),
            kept.token,
        )
        return emitted(text[:, 1:], kept.length, token)


class NearlyCertain(BlockEngine):
    """A draft that the target thinks likely is accepted without a number."""

    def verified(self, draft, target, text, uniforms):
        likely = np.take_along_axis(target[:, :-1], text[:, 1:, None], axis=2)[..., 0] > 0.7
        return super().verified(
            draft, target, text, np.where(np.pad(likely, ((0, 0), (0, 1))), 0.0, uniforms)
        )


class UnwarpedTarget(BlockEngine):
    """Only the draft is warped."""

    def __call__(self, draft, target, prompts, length, rng, temperature, top_k, top_p):
        options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        return super().__call__(Warped(draft, options), target, prompts, length, rng)


class WarmBonus(BlockEngine):
    """The token after a whole block is drawn at temperature 1, whatever was asked for."""

    def __call__(self, draft, target, prompts, length, rng, temperature):
        self.target, options = target, {"temperature": temperature}
        models = (Warped(model, options) for model in (draft, target))
        return super().__call__(*models, prompts, length, rng)

    def rows(self, draft, target, text):
        rows = target.rows(text).copy()
        rows[:, -1] = self.target.rows(text)[:, -1]
        return draft.rows(text)[:, :-1], rows


class Warped:
    """A model whose rows are warped."""

    def __init__(self, model, options):
        self.model, self.options = model, options

    def __call__(self, text):
        return self.rows(text[:, -1:])[:, 0]

    def rows(self, text):
        return warp(self.model.logits(text), **self.options)
