"""Calling a black box, its random numbers, and reading what it returns."""

import inspect
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.random import mtrand

from otspec._base import Array, IntArray, as_seed, needed
from otspec.auditing.declared import DisagreementError
from otspec.auditing.sandbox import attempt, takes_token, write_index


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the random numbers that a process shares, and put them back afterwards."""
    # Those of random, numpy.random and, if it is loaded by then, torch, on all devices. Each gets a
    # seed of its own that follows from seed: from the same seed, NumPy and PyTorch would draw the
    # same numbers. Other threads that use them meanwhile see the change.
    words = np.random.SeedSequence((as_seed(seed), 2)).generate_state(10)
    with ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        random.seed(int(words[0]) << 32 | int(words[1]))
        _seed_numpy(words[2:], stack)
        torch = sys.modules.get("torch")
        if torch is not None:
            _seed_torch(torch, int(words[0]) << 32 | int(words[2]), stack)
        yield


def _seed_numpy(words: Any, stack: ExitStack) -> None:
    """Give ``numpy.random`` a bit generator; the one before may be of any kind."""
    before, state = mtrand.get_bit_generator(), mtrand.get_state(legacy=False)
    stack.callback(mtrand.set_state, state)  # last: also the half of a pair of normal numbers
    stack.callback(mtrand.set_bit_generator, before)
    mtrand.set_bit_generator(np.random.MT19937(words.tolist()))


def _seed_torch(torch: Any, seed: int, stack: ExitStack) -> None:
    """Seed PyTorch. CUDA is not started for it: a seed waits there until it is."""
    if torch.cuda.is_initialized():
        stack.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
    else:  # as it would have started, had nothing been seeded here
        stack.callback(torch.cuda.manual_seed_all, torch.initial_seed())
    stack.callback(torch.set_rng_state, torch.get_rng_state())
    torch.manual_seed(seed)


def randomness(name: str, rng: np.random.Generator) -> Callable[[], Any]:
    """Return what to give code for its random numbers at each call, by the name that it uses."""
    # generator is a torch.Generator, seed an integer, drawn anew for each call from rng, and
    # anything else rng itself.
    if name == "seed":
        return lambda: int(rng.integers(2**32))
    if name == "generator":
        torch = needed("torch", "a function whose second argument is its generator", "backends")
        generator = torch.Generator().manual_seed(int(rng.integers(2**32)))
        return lambda: generator
    return lambda: rng


Drawn: TypeAlias = tuple[IntArray, IntArray | None]
"""Tokens and accepted indices (−2: accepted, index unknown), each of shape (size,)."""


def drawn(
    sampler: Callable[..., Any],
    drafts: IntArray,
    rng: np.random.Generator,
    batched: bool,
    chunk: int | None = None,
) -> Drawn:
    """Call a sampler for all drafts, shape (size, k), as :func:`otspec.audit_samples` does."""
    if not callable(sampler):
        raise ValueError(f"sampler is {type(sampler).__name__}: pass a callable")
    name, _ = attempt(second_argument, sampler)
    give = None if name is None else randomness(name, rng)
    if not batched:
        return _one_by_one(sampler, drafts, give)
    step = chunk or len(drafts)
    read = [_batch(sampler, drafts, range(start, min(start + step, len(drafts))), give)
            for start in range(0, len(drafts), step)]  # fmt: skip
    marks = [each for _, each in read if each is not None]
    if 0 < len(marks) < len(read):
        raise ValueError("sampler returned a pair for some drafts only: do so for all or none")
    return np.concatenate([tokens for tokens, _ in read]), np.concatenate(marks) if marks else None


def second_argument(sampler: Callable[..., Any]) -> str | None:
    """Return the name of a second argument that a sampler wants; with a default it is its own."""
    try:
        parameters = inspect.signature(sampler).parameters.values()
    except ValueError:  # a builtin that does not tell
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [p.name for p in parameters if p.kind in positional and p.default is p.empty]
    return wanted[1] if len(wanted) >= 2 else None


def _batch(
    sampler: Callable[..., Any], drafts: IntArray, rows: range, give: Callable[[], Any] | None
) -> Drawn:
    """Call a sampler for some rows of the drafts."""
    part = drafts[rows.start : rows.stop]
    whole = len(rows) == len(drafts)
    where = "" if whole else f"drafts number {rows.start} to {rows.stop - 1}: "
    # A copy: the sampler may write to what it is given.
    answer = _asked(where, sampler, part.copy(), give)
    return _arrays(_plain([answer])[0], part)


def _one_by_one(
    sampler: Callable[..., Any], drafts: IntArray, give: Callable[[], Any] | None
) -> Drawn:
    """Call a sampler for each tuple of drafts."""
    tuples = [tuple(x) for x in drafts.tolist()]
    sampler, first = _first_answer(sampler, tuples[0], give)
    answers = _plain([first, *(_asked(f"drafts {x}: ", sampler, x, give) for x in tuples[1:])])
    paired = isinstance(answers[0], tuple)
    if any(isinstance(each, tuple) != paired for each in answers):
        raise ValueError("sampler returned a pair for some drafts only: do so for all or none")
    lengths = {len(each) for each in answers} if paired else {1}
    if len(lengths) > 1:
        raise ValueError(f"sampler returned {min(lengths)} values for some drafts only")
    return _arrays(tuple(zip(*answers, strict=True)) if paired else answers, drafts)


def _first_answer(
    sampler: Callable[..., Any], x: tuple[int, ...], give: Callable[[], Any] | None
) -> tuple[Callable[..., Any], Any]:
    """Return a sampler as it is called, of a tuple or of one token, and its first answer."""
    try:
        return sampler, _asked(f"drafts {x}: ", sampler, x, give)
    except DisagreementError as found:
        if not takes_token(sampler, x, found.crash, *([] if give is None else [give()])):
            raise
        if len(x) > 1:
            reason = found.reason + write_index(x)
            raise DisagreementError("sampler", reason, found.crash) from found

    def of_token(x: tuple[int, ...], *rng: Any) -> Any:
        return sampler(x[0], *rng)

    return of_token, _asked(f"drafts {x}: ", of_token, x, give)


def _asked(where: str, sampler: Callable[..., Any], x: Any, give: Callable[[], Any] | None) -> Any:
    answer, crash = attempt(sampler, x) if give is None else attempt(sampler, x, give())
    if crash is not None:
        raise DisagreementError("sampler", f"{where}the sampler {crash.what}", crash)
    return answer


def _plain(answers: list[Any]) -> list[Any]:
    """Return answers with plain tuples, whatever tuples of other classes say of themselves."""
    return _reading(lambda: [tuple(each) if isinstance(each, tuple) else each for each in answers])


def _arrays(parts: Any, drafts: IntArray) -> Drawn:
    """Read a tuple of one or two columns, or one column alone, with an entry per draft tuple."""
    alone = not isinstance(parts, tuple)
    if not alone and len(parts) != 2:
        raise ValueError(
            f"sampler returned {len(parts)} values: it must return a token, or a token and which "
            "draft is accepted"
        )
    columns = _reading(lambda: [_array(part) for part in ((parts,) if alone else parts)])
    tokens = _tokens(columns[0], len(drafts))
    return tokens, None if alone else _marks(columns[1], tokens, drafts.shape[1])


def _reading(read: Callable[[], Any]) -> Any:
    """Return what is read of answers; what they raise is their own."""
    value, crash = attempt(read)
    if crash is not None:
        raise DisagreementError("sampler", f"reading what the sampler returned {crash.what}", crash)
    return value


def _array(values: Any) -> Array:
    """Return a column as an array; tensors are taken from their devices."""
    if isinstance(values, (list, tuple)):
        values = [_on_host(value) for value in values]
    return np.asarray(_on_host(values))


def _on_host(value: Any) -> Any:
    torch = sys.modules.get("torch")
    return value.detach().cpu() if torch and isinstance(value, torch.Tensor) else value


def _tokens(ids: Array, size: int) -> IntArray:
    if ids.dtype.kind not in "iu" or ids.shape != (size,):
        raise ValueError(
            f"sampler returned tokens of type {ids.dtype} and shape {ids.shape}: it must return "
            "one integer per draft tuple"
        )
    return ids.astype(np.intp)


def _marks(flags: Array, tokens: IntArray, k: int) -> IntArray:
    if flags.dtype == bool and flags.shape == tokens.shape:
        return np.where(flags, -2, -1)
    if (
        flags.dtype.kind not in "iu"
        or flags.shape != tokens.shape
        or not ((flags >= -1) & (flags < k)).all()
    ):
        raise ValueError(
            f"sampler returned marks of type {flags.dtype} and shape {flags.shape}: beside each "
            f"token it must return a bool, or the index of the accepted draft, -1 to {k - 1}"
        )
    return flags.astype(np.intp)
