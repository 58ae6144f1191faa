"""A logged trace: the logits of a draft and a target model at the same positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from otspec._base import Array, Frozen, as_array, as_instance, as_path
from otspec._base.tables import listed
from otspec.distributions import Distribution
from otspec.files import read_file, small_formats
from otspec.models.warped import as_temperature
from otspec.traces.readers.logged_numbers import DRAFTED, SIDES, Warp, Warping, check_logged

if TYPE_CHECKING:
    from otspec.logged import LoggedBlock

AS_LOGGED, AS_DRAWN = Warping(), Warp()
"""Both models at temperature 1, and tokens that were drawn so."""
_ARRAYS = tuple(f"{side}_logits" for side in SIDES)


@dataclass(frozen=True, eq=False)
class Trace(Frozen):
    """Logits of two models along the same text.

    The arrays are copied. For logs that are larger than the memory see :mod:`otspec.traces.runs`.

    Parameters
    ----------
    draft_logits, target_logits : ndarray of float, shape (..., n)
        The last axis is the vocabulary; the others are positions, such as (block, position). Any
        other shape or type is a ValueError.
    draft_tokens : ndarray of int, optional
        The drafted tokens, if they were logged: drawn from the draft at temperature 1.
    prompts : tuple of str
        The prompt of each block, if they were logged.
    drafted : Trace, optional
        Drafted blocks of other texts, if these are positions that were sampled one by one.
    target_tokens : ndarray of int, optional
        The tokens of the texts themselves, drawn from the target.
    """

    draft_logits: Array
    target_logits: Array
    draft_tokens: Array | None = None
    prompts: tuple[str, ...] = ()
    drafted: Trace | None = None
    target_tokens: Array | None = None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            logits = getattr(self, name)
            if not isinstance(logits, np.ndarray) or logits.dtype.kind != "f":
                kind = getattr(logits, "dtype", type(logits).__name__)
                raise ValueError(f"{name} has type {kind}: logits must be an array of floats")
            as_array(logits, name)  # refuses masked entries
        check_logged(_ARRAYS, self.draft_logits.shape, self.target_logits.shape)
        if self.drafted is not None:
            as_instance(self.drafted, "drafted", Trace, "a Trace of the drafted blocks")
        super().__post_init__()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the logits, (..., n)."""
        return self.draft_logits.shape

    @property
    def positions(self) -> int:
        """Number of positions."""
        return int(np.prod(self.shape[:-1]))

    def pairs(
        self,
        warping: Warping | None = None,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        draft_temperature: float | None = None,
    ) -> Iterator[tuple[tuple[int, ...], Distribution, Distribution]]:
        """Return position, draft and target distribution, one position at a time.

        Parameters
        ----------
        warping : Warping, optional
            What is done to each model, instead of the other options.
        temperature, top_k, top_p
            As for :func:`otspec.traces.warp`, of both models.
        draft_temperature : float, optional
            Of the draft, whose other options are the target's.

        Raises
        ------
        ValueError
            Logits that are no distribution; the message names the position. An option out of
            range, or beside ``warping``.
        """
        done = _warping(warping, temperature, top_k, top_p, draft_temperature)
        positions = np.ndindex(*self.shape[:-1])
        return ((position, *self._pair(position, done)) for position in positions)

    def _pair(
        self, position: tuple[int, ...], warping: Warping
    ) -> tuple[Distribution, Distribution]:
        """Return draft and target at a position."""
        place = ", ".join(map(str, position))
        logged = (self.draft_logits, self.target_logits)
        draft, target = (
            warping.of(side).distribution(logits[position], "logits", f"{side}_logits[{place}]")
            for side, logits in zip(SIDES, logged, strict=True)
        )
        return draft, target

    def blocks(
        self, warping: Warping = AS_LOGGED, *, drawn: Warp = AS_DRAWN
    ) -> Iterator[LoggedBlock]:
        """Yield the logged blocks with the distributions of both models along them.

        Their tokens were drafted, or without any drafted ones are those of the target's own text.
        Where they were drawn in another way than they are looked at, a block holds the rows that
        they were drawn from as :attr:`otspec.logged.LoggedBlock.sampling`. Those of ``drafted``, if
        there are any.

        Parameters
        ----------
        warping : Warping
            How both models are looked at.
        drawn : Warp
            How the tokens were drawn from the logits; by default at temperature 1.

        Raises
        ------
        ValueError
            No tokens were logged, or not one block of at most as many tokens as there are positions
            for each text; or tokens that cannot be weighted like this.
        """
        as_instance(warping, "warping", Warping, "a Warping")
        as_instance(drawn, "drawn", Warp, "a Warp")
        if self.drafted is not None:
            yield from self.drafted.blocks(warping, drawn=drawn)
        elif self.draft_tokens is not None:
            yield from self._logged("draft_tokens", warping, "draft", drawn)
        elif self.target_tokens is not None:
            yield from self._logged("target_tokens", warping, "target", drawn)
        else:
            raise ValueError(
                "the trace has no draft_tokens: log the drafted tokens of each block, or as "
                "target_tokens those of the text"
            )

    def texts(self, warping: Warping = AS_LOGGED) -> Iterator[LoggedBlock]:
        """Yield the texts of the target, for :func:`otspec.logged.replay`.

        ``warping`` says how both models are looked at, and how the target's texts were drawn. A
        ValueError asks for ``target_tokens``: one text of at most as many tokens as positions each.
        """
        as_instance(warping, "warping", Warping, "a Warping")
        if self.target_tokens is None:
            raise ValueError("the trace has no target_tokens: log the tokens of the target's texts")
        yield from self._logged("target_tokens", warping, "target", warping.of("target"))

    def _logged(self, name: str, warping: Warping, side: str, drawn: Warp) -> Iterator[LoggedBlock]:
        """Yield blocks of tokens that were drawn from one side, warped in its own way."""
        from otspec.logged import LoggedBlock  # and all that is known of blocks and trees

        tokens, shape = as_array(getattr(self, name), name), self.shape
        fits = tokens.ndim == len(shape) - 1 and tokens.shape[:-1] == shape[:-2]
        if not fits or not 1 <= tokens.shape[-1] <= shape[-2] or tokens.dtype.kind not in "iu":
            raise ValueError(
                f"{name} has shape {tokens.shape} and type {tokens.dtype} beside logits of "
                f"shape {shape}: it must hold integers, (..., L) beside (..., L + 1, n)"
            )
        at = SIDES.index(side)
        for text in np.ndindex(*shape[:-2]):
            places = [(*text, i) for i in range(tokens.shape[-1])]
            rows = list(zip(*(self._pair(place, warping) for place in places), strict=True))
            sampling = rows[at]
            if drawn != warping.of(side):
                alike = Warping(**drawn.options(), normalize=drawn.normalize)
                sampling = tuple(self._pair(place, alike)[at] for place in places)
            draft, target = rows
            as_drafted = None if sampling is draft else sampling
            yield LoggedBlock(draft, target, tokens[text].tolist(), sampling=as_drafted)


def _warping(
    warping: Warping | None,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    draft_temperature: float | None,
) -> Warping:
    """Return a warping, or the one that the options beside it make; not both may be given."""
    draft = None
    if draft_temperature is not None:
        heat = float(as_temperature(draft_temperature, "draft_temperature"))
        draft = Warp(heat, top_k=top_k, top_p=top_p)
    told = Warping(temperature, top_k=top_k, top_p=top_p, draft=draft)
    if warping is None:
        return told
    as_instance(warping, "warping", Warping, "a Warping")
    if told != Warping():
        raise ValueError("warping is given beside other options: say all of it in the warping")
    return warping


def load_trace(path: str | PathLike[str]) -> Trace:
    """Read a trace from a file of named arrays, such as .npz or .safetensors.

    Parameters
    ----------
    path : path
        With float arrays ``draft_logits`` and ``target_logits`` of one shape (..., n), and
        optionally ``draft_tokens``, ``target_tokens`` and ``prompts``. Arrays of the same names
        after ``block_`` are drafted blocks beside these positions.

    Raises
    ------
    ValueError
        As :func:`otspec.files.read_file`; a missing array; logits of unusable shape or
        type. The message names the file.
    """
    endings = [ending for ending, reader in small_formats().items() if reader.named]
    if as_path(path).suffix not in endings:
        raise ValueError(f"{path}: a trace is a {listed(endings, 'or')} file")
    arrays = read_file(path)
    for name in _ARRAYS:
        if name not in arrays:
            raise ValueError(
                f"{path} has no array {name!r} (it holds {', '.join(arrays) or 'nothing'}): "
                "a trace needs draft_logits and target_logits of shape (..., n)"
            )
    try:
        aside = all(DRAFTED + name in arrays for name in _ARRAYS)
        return _trace(arrays, "", _trace(arrays, DRAFTED) if aside else None)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _trace(arrays: Mapping[str, Any], prefix: str, drafted: Trace | None = None) -> Trace:
    """Return the trace of the arrays whose names begin with a prefix."""
    draft, target = (arrays[prefix + name] for name in _ARRAYS)
    tokens, of_target = (arrays.get(f"{prefix}{side}_tokens") for side in SIDES)
    prompts = tuple(map(str, np.ravel(arrays.get(f"{prefix}prompts", []))))
    return Trace(draft, target, tokens, prompts, drafted, of_target)
