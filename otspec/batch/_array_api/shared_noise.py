"""Noise that is a function of a seed and a position, and the races that it decides (Theory, 16)."""

import math

from otspec.batch._array_api.library import Array, Library
from otspec.batch._results import Verified

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_WORD = 0xFFFFFFFF


class _Words:
    """Arithmetic of 32 bits: in uint32, which wraps, or in int64 where a library lacks that."""

    def __init__(self, library: Library) -> None:
        self.xp = library.xp
        # PyTorch's uint32 can neither be added nor shifted.
        self.wraps = "torch" not in library.xp.__name__
        self.dtype = library.xp.uint32 if self.wraps else library.xp.int64

    def plus(self, one, other) -> Array:
        return one + other if self.wraps else (one + other) & _WORD

    def rotated(self, word, bits: int) -> Array:
        high = word << bits if self.wraps else (word << bits) & _WORD
        return high | (word >> (32 - bits))


def threefry(library: Library, key: tuple[int, int], first, second) -> tuple[Array, Array]:
    """Return two words for each pair and a key (Threefry-2x32, 20 rounds; Salmon et al., 2011)."""
    words = _Words(library)
    keys = (*key, _PARITY ^ key[0] ^ key[1])

    def constant(value: int) -> Array:
        return library.xp.full((), value & _WORD, dtype=words.dtype, device=library.device)

    one = words.plus(first, constant(keys[0]))
    two = words.plus(second, constant(keys[1]))
    for group in range(1, 6):
        for bits in _ROTATIONS[(group - 1) % 2]:
            one = words.plus(one, two)
            two = words.rotated(two, bits) ^ one
        one = words.plus(one, constant(keys[group % 3]))
        two = words.plus(two, constant(keys[(group + 1) % 3] + group))
    return one, two


def exponentials(library: Library, seed: int, positions, size: int) -> Array:
    """Return exponential numbers for each position and token: (...) -> (..., V)."""
    # 64 random bits make a uniform number u with as many digits as its size needs, and −log(1 − u)
    # is exponential.
    xp, words = library.xp, _Words(library)
    tokens = xp.astype(library.arange(size), words.dtype)
    places = xp.astype(positions, words.dtype)[..., None]
    high, low = threefry(library, (seed & _WORD, seed >> 32), tokens, places)
    low = (library.narrowed(low) + 0.5) * 2.0**-32
    uniform = (library.narrowed(high) + low) * 2.0**-32
    # Rounded to 1 the logarithm would be infinite: 1 − 2⁻²⁴ is the last float32 below 1.
    return -xp.log1p(-xp.where(uniform < 1, uniform, 1 - 2.0**-24))


def arrival_times(library: Library, rates, noise, logits: bool) -> Array:
    """Return noise/rate, the times at which tokens arrive, or their logarithms; inf is never."""
    rates = library.narrowed(rates)
    if logits:  # E/q is least where log E − log q is
        return library.xp.log(noise) - rates
    return noise / library.xp.abs(rates)  # −0.0 is never, too


def first_arrival(library: Library, times) -> Array:
    """Return which token of a race arrives first; −1 if none ever does."""
    xp = library.xp
    token = library.ids(xp.argmin(times, axis=-1))
    return xp.where(library.pick(times, token) < math.inf, token, -1)


def arrivals(library: Library, rates, noise, k: int) -> Array:
    """Return the first k tokens of a race, in their order: (..., k)."""
    xp = library.xp
    found: list[Array] = []
    times = arrival_times(library, rates, noise, logits=False)
    for i in range(k):
        if i:
            before = library.arange(times.shape[-1]) == found[-1][..., None]
            times = xp.where(before, math.inf, times)
        found.append(first_arrival(library, times))
    return xp.stack(found, axis=-1)


def verify(library: Library, target, drafts, noise, mask: Array | None, logits: bool) -> Verified:
    """Accept the draft that is the first token of the target's race, if one is."""
    token = first_arrival(library, arrival_times(library, target, noise, logits))
    hits = drafts == token[..., None]
    if mask is not None:
        hits = hits & mask
    accepted = library.xp.any(hits, axis=-1)
    index = library.xp.where(accepted, library.first(hits), -1)
    return Verified(token, accepted, index)
