"""The arrays of a verifier: of NumPy or PyTorch, of one type, on one device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.extras import needed
from otspec._base.frozen import Frozen
from otspec._base.memory import memory

LIBRARIES = ("numpy", "torch")
DTYPES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-9}
"""Types of probabilities, and the errors of a probability that count as rounding in each."""
MOSTLY = 0.9
"""The share of places without probability from which on they are filled at once."""


@dataclass(frozen=True, eq=False)
class Form(Frozen):
    """What a verifier is called with.

    Raises
    ------
    ValueError
        A type that NumPy does not have, or no such device.
    """

    library: str = "numpy"  # one of LIBRARIES
    dtype: str = "float32"  # one of DTYPES
    device: str = "cpu"  # where torch has its tensors

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.library == "numpy" and self.dtype == "bfloat16":
            raise ValueError("dtype is 'bfloat16', which NumPy does not have: use arrays='torch'")
        if self.library == "numpy" and self.device != "cpu":
            raise ValueError(f"device is {self.device!r}: for a GPU use arrays='torch'")
        if self.library == "torch":
            try:
                self.probabilities(np.ones(1))
            except (AssertionError, RuntimeError) as error:  # as torch says that there is none
                reason = str(error).splitlines()[0]
                raise ValueError(
                    f"device is {self.device!r}, which torch refuses: {reason}"
                ) from error

    def refuse_too_many(self, entries: int, numbers: int) -> None:
        """Refuse a call whose arrays half of the memory does not hold.

        Parameters
        ----------
        numbers : int
            Probabilities in the target's array; the draft's has no more.

        Raises
        ------
        ValueError
        """
        size = 2 * numbers * {"float64": 8, "float32": 4}.get(self.dtype, 2)
        if size > self._memory() / 2:
            raise ValueError(
                f"entries is {entries}, for which the arrays of one call take {size / 2**30:.3g} "
                "GiB, more than half of the memory: pass fewer"
            )

    def _memory(self) -> int:
        """Return the bytes of memory where the arrays are."""
        if self.device.startswith("cuda"):
            torch = needed("torch", "a verifier of torch tensors", "backends")
            return int(torch.cuda.get_device_properties(self.device).total_memory)
        return memory()

    def probabilities(self, rows: Array) -> Any:
        """Return probabilities as the verifier's arrays."""
        if self.library == "numpy":
            with np.errstate(under="ignore"):
                return rows.astype(self.dtype)
        return self._tensor(rows, self.dtype)

    def spread(self, rows: Array, places: IntArray) -> Any:
        """Return :meth:`probabilities` of many places, each one of few on the last axis."""
        few, rest = self.probabilities(rows), rows.shape[-1] - 1
        if (places == rest).mean() < MOSTLY or rows[..., rest].any():
            if self.library == "numpy":
                return np.take(few, places, axis=-1)
            return few.index_select(few.dim() - 1, self._tensor(places, "int64"))
        # To fill with zeros takes a quarter of the time.
        own = np.flatnonzero(places != rest)
        shape = (*rows.shape[:-1], len(places))
        wide = np.zeros(shape, few.dtype) if self.library == "numpy" else few.new_zeros(shape)
        wide[..., own] = few[..., places[own]]
        return wide

    def uniforms(self, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
        """Return uniform numbers below 1, in float32 or float64."""
        dtype = "float64" if self.dtype == "float64" else "float32"
        return self.numbers(rng.random(shape, dtype=np.dtype(dtype).type))

    def numbers(self, values: Array) -> Any:
        """Return random numbers, in the type that they have."""
        return values if self.library == "numpy" else self._tensor(values, str(values.dtype))

    def of_rows(self, values: Array) -> Any:
        """Return a setting of each row: integers, or numbers in float32 or float64."""
        if values.dtype.kind in "iu":
            return self.integers(values)
        return self.numbers(values.astype("float64" if self.dtype == "float64" else "float32"))

    def integers(self, values: Array) -> Any:
        """Return token ids and counts as the verifier's arrays."""
        numbers = values.astype(np.int64)
        return numbers if self.library == "numpy" else self._tensor(numbers, "int64")

    def flags(self, values: Array) -> Any:
        """Return a mask as the verifier's arrays."""
        return values.copy() if self.library == "numpy" else self._tensor(values.copy(), "bool")

    def generator(self, seed: int) -> Any:
        """Return a generator of torch."""
        torch = needed("torch", "a verifier that takes a generator of torch", "backends")
        return torch.Generator(device=self.device).manual_seed(seed)

    def _tensor(self, values: Array, dtype: str) -> Any:
        torch = needed("torch", "a verifier of torch tensors", "backends")
        # A copy, which the verifier may write to.
        return torch.tensor(values, dtype=getattr(torch, dtype), device=self.device)


def plain(answer: Any) -> Any:
    """Return an answer with NumPy arrays in place of tensors."""
    if isinstance(answer, tuple):
        parts = [plain(part) for part in answer]
        make: Callable[..., Any] = getattr(answer, "_make", tuple)
        return make(parts)
    if isinstance(answer, Mapping):
        return {name: plain(part) for name, part in answer.items()}
    if hasattr(answer, "detach"):
        tensor = answer.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return answer
