"""Settings of temperature, top-k, top-p and min-p that verifiers are tried with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from otspec._base import Array
from otspec.conformance.cases.cases import Case
from otspec.warping import warped

WARPS = ("temperature", "top_k", "top_p", "min_p")
"""Settings of one call; with an s behind, one for each row; with ``draft_`` before, the draft's."""
ROWS_OF = {f"{name}s": name for name in WARPS}
SETTINGS = tuple(f"{model}{name}" for model in ("", "draft_") for name in (*WARPS, *ROWS_OF))
"""What a verifier may ask for."""
LOGITS = ("draft_logits", "target_logits")
ALLOWED = "allowed"  # the mask of a grammar, of the target's shape: True for tokens that may follow
Pair = tuple[Mapping[str, Any], Mapping[str, Any]]  # settings of the target, and of the draft
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
# In all orders these keep the same tokens, whatever the logits are. Of each, a case has one value.
ANYWHERE: tuple[tuple[dict[str, Any], ...], ...] = (
    tuple({"temperature": 2.0, "top_k": most} for most in range(2, 9)),
    ({"temperature": 0.6}, {"temperature": 0.25}),
    tuple({"top_p": percent / 100} for percent in (60, *range(45, 98))),
    tuple({"min_p": value} for value in (0.54, 0.65, 0.48, 0.37, 0.28, 0.21)),
)
ENOUGH = 1 / 8  # the law is to move so far where a setting is forgotten, if it does for any value
GREEDY = {"temperature": 0.0}  # for rows of a batch only: many engines have another function for it


def engine_settings(
    wanted: Sequence[str],
    turn: int,
    logits: Array,
    vocabulary: int,
    settings: Sequence[Mapping[str, Any]],
) -> list[Pair]:
    """Return some of the settings for each variant; none if an engine asks for none of them.

    The variants of a case differ if it takes settings of rows, and some are greedy then.
    """
    each, shared, apart = asked(wanted)
    tried = [*settings, *([GREEDY] if each else []), {}]
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


def telling(
    values: Sequence[Mapping[str, Any]], moved: Callable[[Mapping[str, Any]], float]
) -> Mapping[str, Any]:
    """Return the first value of a setting that moves the law enough; or that moves it most."""
    found: list[float] = []
    for options in values:
        found.append(moved(options))
        if found[-1] >= ENOUGH:
            return options
    return values[found.index(max(found))]


def telling_of(wanted: Sequence[str], logits: Array) -> list[Mapping[str, Any]]:
    """Return the settings of :data:`ANYWHERE` whose values are clear on a target and tell most."""
    _, shared, _ = asked(wanted)

    def moved(options: Mapping[str, Any]) -> float:
        own = _taken(options, shared)
        return shift(logits, own) if own and clear(logits, own) else -1.0

    return [telling(values, moved) for values in ANYWHERE]


def shift(logits: Array, settings: Mapping[str, Any]) -> float:
    """Return how far the last of some settings moves the first row of each variant at least."""
    first, others = logits[:, 0], dict(list(settings.items())[:-1])
    moved = np.abs(of_logits(first, settings) - of_logits(first, others)).sum(axis=-1) / 2
    return float(moved.min())


def asked(wanted: Sequence[str]) -> tuple[bool, set[str], set[str]]:
    """Return whether settings of rows are asked for, and which of the target and of the draft."""
    own = [name.removeprefix("draft_") for name in wanted if name.startswith("draft_")]
    shared, apart = ({ROWS_OF.get(it, it) for it in some} & set(WARPS) for some in (wanted, own))
    return any(it in ROWS_OF for it in (*wanted, *own)), shared, apart


def pairs_of(small: Case, wanted: Sequence[str], tried: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Return what of some settings a verifier asks for, where they are clear on a case."""
    _, plain, apart = asked(wanted)
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


def logits_of(rows: Array) -> Array:
    """Return logarithms of probabilities, −∞ of 0."""
    with np.errstate(divide="ignore"):
        logs: Array = np.log(rows)
    return logs
