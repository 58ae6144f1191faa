"""What logged numbers are, and the distribution that is sampled from, by :mod:`otspec.warping`."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, as_array, as_flag, as_instance
from otspec.distributions import Distribution, as_distribution
from otspec.models.warped import as_floats, checked_warp
from otspec.warping import STEPS, name_of_order, warped

SIDES = ("draft", "target")
"""The two models; names of their arrays begin with these and an underscore."""

DRAFTED = "block_"
"""What the names of arrays begin with that hold blocks beside a sample of positions."""

KINDS = ("logits", "log_probabilities", "probabilities")
"""What the numbers of a source may be; arrays are called ``draft_`` or ``target_`` and the kind."""


@dataclass(frozen=True)
class Warp(Frozen):
    """How a distribution is made of what one model says; see :func:`otspec.traces.warp`.

    Parameters
    ----------
    temperature, top_k, top_p, min_p
        As for :func:`otspec.traces.warp`; a ValueError names an option out of range.
    order : str or iterable of str
        Of the four steps; a name is kept as the steps that it stands for.
    normalize : bool
        Scale logged probabilities to sum 1 before that.

    Examples
    --------
    >>> str(Warp(0.6, min_p=0.05, order="temperature-last"))
    'T = 0.6, min-p = 0.05, temperature-last'
    """

    temperature: float = 1.0
    _: KW_ONLY
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    order: str | Iterable[str] = STEPS
    normalize: bool = False

    def __post_init__(self) -> None:
        as_flag(self.normalize, "normalize")
        self._hold(**as_floats(checked_warp(**self.options())))

    def options(self) -> dict[str, Any]:
        """Return the numbers of the four steps and their order: keywords of ``warp``."""
        return {name: getattr(self, name) for name in (*STEPS, "order")}

    @property
    def idle(self) -> bool:
        """Whether probabilities stay as they are."""
        return self.temperature == 1 and self.restrictions() == {}

    def restrictions(self) -> dict[str, float]:
        """Return what tokens are cut by, such as ``{"top-k": 50}``."""
        cuts = {"top-k": self.top_k, "top-p": self.top_p, "min-p": self.min_p}
        return {name: value for name, value in cuts.items() if value is not None}

    def __str__(self) -> str:
        cuts = [f"{name} = {value:g}" for name, value in self.restrictions().items()]
        order = [] if tuple(self.order) == STEPS else [name_of_order(self.order)]
        return ", ".join([f"T = {self.temperature:g}", *cuts, *order])

    def distribution(self, row: Array, kind: str, name: str) -> Distribution:
        """Return what is sampled from where these numbers, of a kind of :data:`KINDS`, were logged.

        Errors are those of :func:`otspec.traces.warp`, or that probabilities are no distribution;
        they call the row by its ``name``.
        """
        if kind == "probabilities":
            row = as_distribution(row, name, normalize=self.normalize)
            if self.idle:
                return row
            with np.errstate(divide="ignore"):
                row = np.log(row)
        return as_distribution(warp(row, **self.options(), name=name), name)


@dataclass(frozen=True)
class Warping(Warp):
    """What is done to the target, and to the draft if that is something else.

    Parameters
    ----------
    temperature, top_k, top_p, min_p, order, normalize
        Of the target, as those of :class:`Warp`, with its errors.
    draft : Warp, optional
        What is done to the draft; the same as to the target if it is not given.

    Examples
    --------
    >>> apart = Warping(0.6, top_k=50, draft=Warp(1.0))
    >>> str(apart)
    'T = 0.6, top-k = 50; draft T = 1'
    >>> apart.of("draft")
    Warp(temperature=1, order=..., normalize=False)
    """

    _: KW_ONLY
    draft: Warp | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.draft is not None:
            as_instance(self.draft, "draft", Warp, "a Warp, or None for the target's")

    def __str__(self) -> str:
        target, draft = self.of("target"), self.of("draft")
        return f"{target}" if draft == target else f"{target}; draft {draft}"

    def of(self, side: str) -> Warp:
        """Return what is done to one of the two models, ``"draft"`` or ``"target"``."""
        if side == "target" or self.draft is None:
            return Warp(**self.options(), normalize=self.normalize)
        return self.draft


def check_logged(names: Sequence[str], draft: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Refuse shapes of two arrays that are not logged at the same positions, one at least."""
    if draft != target:
        raise ValueError(
            f"{names[0]} has shape {draft} and {names[1]} {target}: both models must be logged at "
            "the same positions"
        )
    if len(draft) < 2 or math.prod(draft) == 0:
        raise ValueError(
            f"{names[0]} has shape {draft}: it must be (..., n) with at least one position and "
            "one token"
        )


def check_tokens(name: str, shape: tuple[int, ...], dtype: str, logged: tuple[int, ...]) -> None:
    """Refuse an array that does not hold the tokens that were drawn along logged positions."""
    lengths = [length for length in (logged[-2] - 1, logged[-2]) if length]
    wanted = [(*logged[:-2], length) for length in lengths]
    if np.dtype(dtype).kind not in "iu" or shape not in wanted:
        raise ValueError(
            f"{name} has type {np.dtype(dtype)} and shape {shape} beside models of shape {logged}: "
            f"it must hold integers, of shape {' or '.join(map(str, wanted))}"
        )


def warp(
    logits: Array,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    order: str | Iterable[str] = STEPS,
    name: str = "logits",
) -> Distribution:
    """Turn logits into a distribution: by temperature, top-k, top-p, min-p and a softmax.

    Parameters
    ----------
    logits : ndarray, shape (n,)
        Of any float type; computed in float64. ``-inf`` masks a token.
    temperature : float
        Divides the logits; positive and finite.
    top_k : int, optional
        Keep the k largest logits, and all that tie with the smallest of them.
    top_p : float, optional
        Keep the fewest likeliest tokens whose probability (after the steps before) reaches
        ``top_p``, in (0, 1]; of tokens that tie, those of lowest id. If top-k came before, these
        are the probabilities among the tokens that it has kept.
    min_p : float, optional
        Keep the tokens whose probability is at least ``min_p`` times the largest one's, in [0, 1].
    order : str or iterable of str
        The order of the steps: ``"temperature-first"`` (then top-k, top-p, min-p), another name of
        :data:`otspec.warping.ORDERS` such as ``"temperature-last"``, or each of
        ``"temperature"``, ``"top_k"``, ``"top_p"`` and ``"min_p"`` once.
    name : str
        What error messages call the logits.

    Returns
    -------
    ndarray of float64, shape (n,)
        Sums to 1 up to rounding.

    Raises
    ------
    ValueError
        NaN or +inf among the logits, all of them -inf, or an option out of range.

    Examples
    --------
    >>> warp(np.log([0.5, 0.3, 0.2]), top_k=2).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    options = as_floats(checked_warp(temperature, top_k, top_p, min_p, order))
    given = as_array(logits, name)
    if given.dtype.kind not in "fiu" or given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"{name} has type {given.dtype} and shape {given.shape}: logits are one row of floats"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
        scaled = given.astype(np.float64)
    _check_largest(scaled, name)
    with np.errstate(over="ignore"):  # far below the largest at a tiny temperature: probability 0
        return np.asarray(warped(np, scaled, **options))


def _check_largest(logits: Array, name: str) -> None:
    """Refuse what no softmax exists of."""
    highest = float(logits.max())
    if highest == -math.inf:
        raise ValueError(f"{name} is -inf everywhere: there is no token to draw")
    if not math.isfinite(highest):
        at = int(np.argmax(np.isnan(logits) | (logits == np.inf)))
        raise ValueError(f"{name}[{at}] is {logits[at]}: logits must be numbers or -inf")
