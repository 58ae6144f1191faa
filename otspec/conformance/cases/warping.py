"""Cases whose models a verifier warps itself: logits, settings of calls or rows, and masks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base import Array, cached_property
from otspec.conformance.cases.cases import FEWER, Case, begun, memoryless, remembering
from otspec.conformance.cases.settings import (
    ALLOWED,
    ANYWHERE,
    ENOUGH,
    GREEDY,
    LOGITS,
    MASKED,
    WARPINGS,
    Pair,
    asked,
    clear,
    logits_of,
    of_logits,
    pairs_of,
    shift,
    telling,
    words_of,
)

SHIFTS = {"draft": 0.5, "target": -1.25}  # of logits: a constant is no part of the distribution
FAR_AWAY = "logits far from 0"  # the name of a case
FAR = 100.0  # of logits whose powers float32 does not hold, or holds without digits


@dataclass(frozen=True, eq=False, kw_only=True)
class Warped(Case):
    """A case whose ``draft`` and ``target`` are those that a verifier has to make of logits."""

    draft_logits: Array  # (variants, n + 1, n)
    target_logits: Array
    allowed: Array  # (variants, n + 1, n), bool: what the grammar allows; before all else
    settings: tuple[Mapping[str, Any], ...]  # of the target, for each variant
    draft_settings: tuple[Mapping[str, Any], ...]

    @property
    def masked(self) -> Array:
        """The logits of the target, −∞ for what is not allowed."""
        return np.where(self.allowed, self.target_logits, -np.inf)

    @property
    def raw(self) -> dict[str, Array]:
        """The distributions before warping, and those of the target without its mask."""
        return {
            "draft": of_logits(self.draft_logits, {}),
            "target": of_logits(self.masked, {}),
            "unmasked": _each(self.target_logits, self.settings),
            "twice": _each(logits_of(self.target), self.settings),
        }

    @cached_property
    def after_any_symbol(self) -> Case:
        """The case whose pairs begin where texts of this one have got to."""
        count = self.n + 1
        return replace(
            self,
            draft=begun(self.draft),
            target=begun(self.target),
            draft_logits=begun(self.draft_logits),
            target_logits=begun(self.target_logits),
            allowed=begun(self.allowed),
            settings=_repeated(self.settings, count),
            draft_settings=_repeated(self.draft_settings, count),
        )

    @cached_property
    def undrafted(self) -> Case:
        """The case whose draft is not warped, which an engine may draft from, too."""
        nothing: tuple[Mapping[str, Any], ...] = ({},) * self.variants
        return replace(self, draft=of_logits(self.draft_logits, {}), draft_settings=nothing)


@lru_cache(maxsize=256)
def neutral(case: Case) -> Case:
    """Return a case with the settings that change nothing."""
    if isinstance(case, Warped):
        return case
    made = warped_by(case, [({}, {})] * case.variants, shifted_logits(case, "target"))
    return replace(made, draft=case.draft, target=case.target)


def warped_by(case: Case, pairs: Sequence[Pair], logits: Array) -> Warped:
    """Return a case whose variants are warped by their own settings; these are target's logits."""
    draft = shifted_logits(case, "draft")
    return _of_logits(case, pairs, draft, logits, np.ones_like(logits, dtype=bool))


def _of_logits(
    case: Case, pairs: Sequence[Pair], draft: Array, target: Array, allowed: Array, **more: Any
) -> Warped:
    """Return a case with logits in place of its rows, what is allowed, and other fields."""
    given = {each.name: getattr(case, each.name) for each in fields(Case)}
    masked = np.where(allowed, target, -np.inf)
    settings, draft_settings = zip(*pairs, strict=True)
    given |= {"draft": _each(draft, draft_settings), "target": _each(masked, settings)}
    return Warped(
        **given | more,
        draft_logits=draft,
        target_logits=target,
        allowed=allowed,
        settings=settings,
        draft_settings=draft_settings,
    )


def _repeated(settings: Sequence[Mapping[str, Any]], count: int) -> tuple[Mapping[str, Any], ...]:
    return tuple(each for each in settings for _ in range(count))


def warped_cases(
    bases: Mapping[str, Any],
    wanted: Sequence[str],
    taken: Callable[[Case], bool],
    uneven: bool = False,
) -> Iterator[Case]:
    """Yield cases for a verifier that asks for logits, settings or a mask.

    The last base is that of masks beside settings, and of rows of fewer drafts if there may be any.
    Settings of rows are those of which the verifier takes a case alone, by ``taken``.
    """
    each, _, _ = asked(wanted)
    for place, (name, base) in enumerate(bases.items(), start=1):
        small = memoryless(name, *base) if np.ndim(base[0]) == 1 else remembering(name, *base)
        hard = place == len(bases)
        if hard and uneven:
            small = replace(small, name=f"{name}, {FEWER}", uneven=True)
        pairs = pairs_of(small, wanted, (*WARPINGS, *([GREEDY] if each else [])))
        if each:
            pairs = [pair for pair in pairs if taken(_warped(small, [pair]))]
        if ALLOWED in wanted:
            tried = (*MASKED, *([GREEDY] if each else [])) if hard else ()
            under = [*pairs_of(small, wanted, tried), ({}, {})]
            if each:
                under = [pair for pair in under if taken(_warped(small, [pair] * 2, mask=True))]
            for group in [under] * bool(under) if each else [[pair] for pair in under]:
                # One mask forbids the likeliest token, one the next.
                yield _warped(small, [pair for pair in group for _ in range(2)], mask=True)
        groups = [[pair] for pair in pairs]
        if each and pairs:  # the last rows are greedy, if a temperature is asked for
            groups = [[*pairs, ({}, {})], pairs[-1:]]
        for group in groups:
            yield _warped(small, group)
    if set(LOGITS) & set(wanted):
        yield _far()


def with_settings(
    case: Case, wanted: Sequence[str], taken: Callable[[Case], bool], *, alike: bool = False
) -> list[Case]:
    """Return a case again with settings and masks as far as a verifier asks for them.

    There is a case for each setting of calls. Settings of rows are those of variants of one case,
    of which one is greedy and the last has none; where rows are to be ``alike``, there is a case
    for each, too. ``taken`` says what cases the verifier takes.
    """
    mask = ALLOWED in wanted
    nothing: Pair = ({}, {})
    each, _, _ = asked(wanted)
    twice = _of_variants(case, 2 * case.variants)  # masks of two variants differ

    def told(pair: Pair) -> tuple[float, bool]:
        # A setting that is not clear behind any mask, or tells little there, comes without one.
        found = [(-1.0, mask)]
        for masked in {mask, False}:
            left = _warped(twice, [pair] * twice.variants, masked)
            if taken(left) and clear(left.masked, pair[0]):
                how = min(shift(left.masked, pair[0] or pair[1]), ENOUGH)
                found.append((how if masked == mask else 0.99 * how, masked))
        return max(found)

    def moved(options: Mapping[str, Any]) -> float:
        return max((told(pair)[0] for pair in pairs_of(case, wanted, [options])), default=-1.0)

    tried = [telling(values, moved) for values in ANYWHERE]
    tried += [GREEDY] if each and not alike else []
    found = [(pair, *told(pair)) for pair in pairs_of(case, wanted, tried)]
    pairs = [(pair, masked) for pair, how, masked in found if how >= 0]
    if not pairs and not mask:
        return [case]
    if alike or not each:
        pairs += [(nothing, True)] if mask and not any(masked for _, masked in pairs) else []
        made = [_warped(case, [pair] * case.variants, masked) for pair, masked in pairs]
        return [replace(made[0], name=case.name), *made[1:]]
    pairs.append((nothing, mask))
    several = _of_variants(case, max(case.variants, len(pairs)))
    own, masks = zip(*(pairs[at % len(pairs)] for at in range(several.variants)), strict=True)
    return [replace(_warped(several, own, masks), name=case.name)]


def _of_variants(case: Case, count: int) -> Case:
    """Return a case of so many variants, which are those that it has in turn."""
    which = np.arange(count) % case.variants
    return replace(case, draft=case.draft[which], target=case.target[which])


def _warped(small: Case, pairs: Sequence[Pair], mask: bool | Sequence[bool] = False) -> Warped:
    """Return a case of one variant for each pair of settings, or whose variants have them.

    A mask forbids the likeliest token that is allowed in the variant before, at the beginning of
    the text, and after the symbol before, if there is one. All variants have a mask, or those of
    which this is said.
    """
    draft, target = (
        np.repeat(shifted_logits(small, model), len(pairs) // small.variants, axis=0)
        for model in SHIFTS
    )
    allowed = np.ones_like(target, dtype=bool)
    masks = np.broadcast_to(mask, len(pairs))
    for variant in np.flatnonzero(masks):
        for after in range(allowed.shape[1]):
            row = target[variant, after]
            before = [allowed[variant, 0], allowed[variant, max(after - 1, 0)]]
            before += [allowed[variant - 1, after]] if variant else []
            clashes = np.where(np.isfinite(row), np.sum(np.logical_not(before), axis=0), len(row))
            if np.isfinite(row).sum() > 1:
                allowed[variant, after, np.lexsort((-row, clashes))[0]] = False
    words = words_of(pairs) + ", masked" * bool(masks.any())
    name = f"{small.name}, {words.removeprefix(', ')}"
    return _of_logits(small, pairs, draft, target, allowed, name=name)


def shifted_logits(case: Case, model: str) -> Array:
    """Return the logits of a model of a case, which no softmax tells from its logarithms."""
    logits: Array = logits_of(getattr(case, model)) + SHIFTS[model]
    return logits


def _far() -> Warped:
    """Return a case of rows whose logits are far above 0 or far below, exact in all types."""
    small = memoryless(FAR_AWAY, *np.ones((2, 3)))
    shifts = np.array([FAR, -FAR])[:, None, None]
    rows = ((1.0, 2.0, -1.5), (2.0, 1.0, 0.0))
    target, draft = (np.broadcast_to(row, (2, 4, 3)) + shifts for row in rows)
    return _of_logits(small, [({}, {})] * 2, draft, target[::-1], np.ones((2, 4, 3), dtype=bool))


def _each(logits: Array, settings: Sequence[Mapping[str, Any]]) -> Array:
    pairs = zip(logits, settings, strict=True)
    return np.stack([of_logits(rows, given) for rows, given in pairs])
