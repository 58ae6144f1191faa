"""Cases whose models a verifier warps itself: logits, settings of calls or rows, and masks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base import Array, cached_property
from otspec.conformance.cases.cases import FEWER, Case, begun, memoryless, remembering
from otspec.warping import warped

WARPS = ("temperature", "top_k", "top_p", "min_p")
"""Settings of one call; with an s behind, one for each row; with ``draft_`` before, the draft's."""
ROWS_OF = {f"{name}s": name for name in WARPS}
SETTINGS = tuple(f"{model}{name}" for model in ("", "draft_") for name in (*WARPS, *ROWS_OF))
"""What a verifier may ask for."""
LOGITS = ("draft_logits", "target_logits")
ALLOWED = "allowed"  # the mask of a grammar, of the target's shape: True for tokens that may follow
Pair = tuple[Mapping[str, Any], Mapping[str, Any]]  # settings of the target, and of the draft
SHIFTS = {"draft": 0.5, "target": -1.25}  # of logits: a constant is no part of the distribution
FAR_AWAY = "logits far from 0"  # the name of a case
FAR = 100.0  # of logits whose powers float32 does not hold, or holds without digits
CLEAR = 0.02  # distance of top-p and min-p from other kept tokens, and of logits from ties

# In all orders of the limits the same tokens are left; now one limit is stricter, now another.
WARPINGS: tuple[dict[str, Any], ...] = (
    {"temperature": 0.6},
    {"temperature": 1.5, "top_k": 2, "min_p": 0.3},
    {"top_p": 0.7, "min_p": 0.6},
    {"temperature": 2.0, "min_p": 0.6},
    {"temperature": 2.0, "top_p": 0.64},
    {"temperature": 0.25},
    {"top_k": 1},
    {"top_k": 3, "min_p": 0.6},
    {"top_p": 0.45, "min_p": 0.3},
)
# Before a mask, each of the limits keeps other tokens of "no ties" than behind it.
MASKED: tuple[dict[str, Any], ...] = (
    {"temperature": 0.6},
    {"top_k": 2},
    {"top_p": 0.6},
    {"min_p": 0.37},
)
GREEDY = {"temperature": 0.0}  # for rows of a batch only: many engines have another function for it


@dataclass(frozen=True, eq=False, kw_only=True)
class Warped(Case):
    """A case whose ``draft`` and ``target`` are those that a verifier has to make of logits."""

    draft_logits: Array  # (variants, n + 1, n)
    target_logits: Array
    allowed: Array  # (variants, n + 1, n), bool: what the grammar allows; before all else
    settings: tuple[Mapping[str, Any], ...]  # of the target, for each variant
    draft_settings: tuple[Mapping[str, Any], ...]

    @property
    def raw(self) -> dict[str, Array]:
        """The distributions before warping, and those of the target without its mask."""
        masked = np.where(self.allowed, self.target_logits, -np.inf)
        return {
            "draft": of_logits(self.draft_logits, {}),
            "target": of_logits(masked, {}),
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


def engine_settings(wanted: Sequence[str], turn: int, logits: Array, vocabulary: int) -> list[Pair]:
    """Return settings of each variant for an engine that asks for some; none if it asks for none.

    The variants of a case differ if it takes settings of rows, and some are greedy then.
    """
    each, shared, apart = _asked(wanted)
    tried = [*WARPINGS, *([GREEDY] if each else []), {}]
    pairs: list[Pair] = []
    for variant, rows in enumerate(logits):
        at = turn + variant * each
        target, draft = (
            {name: min(value, {"top_k": vocabulary}.get(name, value)) for name, value in some}
            for some in (
                _taken(tried[at % len(tried)], shared).items(),
                _taken(tried[(at - 1) % len(tried)], apart).items(),
            )
        )
        if not clear(rows if each else logits, target):
            target = {name: target[name] for name in target if name == "temperature"}
        pairs.append((target, draft if apart else target))
    return pairs if any(target or draft for target, draft in pairs) else []


def _asked(wanted: Sequence[str]) -> tuple[bool, set[str], set[str]]:
    """Return whether settings of rows are asked for, and which of the target and of the draft."""
    own = [name.removeprefix("draft_") for name in wanted if name.startswith("draft_")]
    shared, apart = ({ROWS_OF.get(it, it) for it in some} & set(WARPS) for some in (wanted, own))
    return any(it in ROWS_OF for it in (*wanted, *own)), shared, apart


def _repeated(settings: Sequence[Mapping[str, Any]], count: int) -> tuple[Mapping[str, Any], ...]:
    return tuple(each for each in settings for _ in range(count))


def of_logits(logits: Array, settings: Mapping[str, Any]) -> Array:
    """Return the distributions of rows of logits; at temperature 0 the likeliest token."""
    temperature = settings.get("temperature", 1.0)
    if temperature == 0:
        return np.eye(logits.shape[-1])[np.argmax(logits, axis=-1)]
    top_k, top_p, min_p = map(settings.get, WARPS[1:])
    return warped(np, logits, temperature, top_k, top_p, min_p)


def clear(logits: Array, settings: Mapping[str, Any]) -> bool:
    """Return whether rounding, and the order of equal tokens, makes no difference."""
    kept = of_logits(logits, settings) > 0
    for name in ("top_p", "min_p"):
        for moved in (-CLEAR, CLEAR) if name in settings else ():
            other = {**settings, name: settings[name] + moved}
            if ((of_logits(logits, other) > 0) != kept).any():
                return False
    if (kept.sum(axis=-1) > settings.get("top_k", np.inf)).any():  # some tie, and not all keep both
        return False
    least = np.where(kept, logits, np.inf).min(axis=-1)
    return bool((np.where(kept, -np.inf, logits).max(axis=-1) < least - CLEAR).all())


def warped_cases(
    bases: Mapping[str, Any], wanted: Sequence[str], uneven: bool = False
) -> Iterator[Case]:
    """Yield cases for a verifier that asks for logits, settings or a mask.

    The last base is that of masks beside settings, and of rows of fewer drafts if there may be any.
    """
    each, _, _ = _asked(wanted)
    for place, (name, base) in enumerate(bases.items(), start=1):
        small = memoryless(name, *base) if np.ndim(base[0]) == 1 else remembering(name, *base)
        hard = place == len(bases)
        if hard and uneven:
            small = replace(small, name=f"{name}, {FEWER}", uneven=True)
        pairs = _pairs_of(small, wanted, (*WARPINGS, *([GREEDY] if each else [])))
        if ALLOWED in wanted:
            tried = (*MASKED, *([GREEDY] if each else [])) if hard else ()
            under = [*_pairs_of(small, wanted, tried), ({}, {})]
            for group in [under] if each else [[pair] for pair in under]:
                # One mask forbids the likeliest token, one the next.
                yield _warped(small, [pair for pair in group for _ in range(2)], mask=True)
        groups = [[pair] for pair in pairs]
        if each and pairs:  # the last rows are greedy, if a temperature is asked for
            groups = [[*pairs, ({}, {})], pairs[-1:]]
        for group in groups:
            yield _warped(small, group)
    if set(LOGITS) & set(wanted):
        yield _far()


def _pairs_of(small: Case, wanted: Sequence[str], tried: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Return what of some settings a verifier asks for, where they are clear on a case."""
    _, plain, apart = _asked(wanted)
    # The draft is warped as the target is, if a verifier has its logits; else it is what it is.
    alike = "draft_logits" in wanted
    pairs: list[Pair] = []
    for place, options in enumerate(tried):
        target = _taken(options, plain)
        draft = _taken(tried[place - 1], apart) if apart else target if alike else {}
        fits = clear(logits_of(small.target), target) and clear(logits_of(small.draft), draft)
        if (target or draft) and fits and (target, draft) not in pairs:
            pairs.append((target, draft))
    return pairs


def words_of(pairs: Sequence[Pair]) -> str:
    """Return the settings of the variants of a case in words."""
    target, draft = pairs[0]
    if any(pair != pairs[0] for pair in pairs):
        return "rows warped apart"
    words = [f"{name} {value}" for name, value in target.items()]
    if draft is not target:
        words += [f"draft's {name} {value}" for name, value in draft.items()]
    return ", ".join(words)


def _taken(options: Mapping[str, Any], names: set[str]) -> Mapping[str, Any]:
    return {name: value for name, value in options.items() if name in names}


def logits_of(rows: Array) -> Array:
    """Return logarithms of probabilities, −∞ of 0."""
    with np.errstate(divide="ignore"):
        logs: Array = np.log(rows)
    return logs


def _warped(small: Case, pairs: Sequence[Pair], mask: bool = False) -> Warped:
    """Return a case of one variant for each pair of settings.

    A mask forbids one likely token: another one in the next variant, and after each symbol.
    """
    draft, target = (
        np.repeat(shifted_logits(small, model), len(pairs), axis=0) for model in SHIFTS
    )
    allowed = np.ones_like(target, dtype=bool)
    if mask:
        for variant, after in np.ndindex(allowed.shape[:2]):
            likeliest = np.argsort(-target[variant, after], kind="stable")
            count = np.isfinite(target[variant, after]).sum()
            if count > 1:
                allowed[variant, after, likeliest[(variant % 2 + after) % count]] = False
    words = words_of(pairs) + ", masked" * mask
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
