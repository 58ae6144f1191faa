"""Calling a verifier with the arrays, and the kind of randomness, that it asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_callable
from otspec.arithmetic import Array
from otspec.conformance.cases import Case
from otspec.conformance.kinds import Kind, Sample
from otspec.extras import needed
from otspec.frozen import Frozen

ARRAYS = ("draft", "target", "drafts", "lengths", "parents")
"""What a verifier may ask for, by the names of its parameters."""
RANDOMNESS = ("rng", "generator", "seed", "uniforms")
"""How a verifier may get its randomness; one that asks for none has the global generators."""
LIBRARIES = ("numpy", "torch")
DTYPES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-9}
"""Types of probabilities, and the errors of a probability that count as rounding in each."""


@dataclass(frozen=True, eq=False)
class Form(Frozen):
    """What a verifier is called with.

    Parameters
    ----------
    library : str
        One of :data:`LIBRARIES`.
    dtype : str
        One of :data:`DTYPES`.
    device : str
        Where torch has its tensors.
    """

    library: str = "numpy"
    dtype: str = "float32"
    device: str = "cpu"

    def probabilities(self, rows: Array) -> Any:
        """Return probabilities as the verifier's arrays."""
        if self.library == "numpy":
            return rows.astype(self.dtype)
        torch = needed("torch", "a verifier of torch tensors", "backends")
        return torch.from_numpy(rows).to(self.device, getattr(torch, self.dtype))

    def integers(self, values: Array) -> Any:
        """Return token ids and counts as the verifier's arrays."""
        if self.library == "numpy":
            return values.astype(np.int64)
        torch = needed("torch", "a verifier of torch tensors", "backends")
        return torch.from_numpy(values.astype(np.int64)).to(self.device)

    def rounded(self, rows: Array) -> Array:
        """Return probabilities as they are handed over, in float64."""
        handed: Array = plain(self.probabilities(rows)).astype(float)
        return handed

    def generator(self, seed: int) -> Any:
        """Return a generator of torch."""
        torch = needed("torch", "a verifier that takes a generator of torch", "backends")
        return torch.Generator(device=self.device).manual_seed(seed)


@dataclass(frozen=True, eq=False)
class Verifier:
    """A callable with the names of what it asks for.

    Parameters
    ----------
    function : callable
    form : Form
    """

    function: Callable[..., Any]
    form: Form

    def __post_init__(self) -> None:
        as_callable(self.function, "verifier", "a callable that takes draft, target and drafts")
        unknown = [name for name in self._wanted() if name not in (*ARRAYS, *RANDOMNESS)]
        if unknown:
            raise ValueError(
                f"verifier takes {unknown[0]!r}: name its parameters {', '.join(ARRAYS)} and one "
                f"of {', '.join(RANDOMNESS)}, or wrap it in a function that does"
            )

    def _wanted(self) -> dict[str, inspect.Parameter]:
        """Return the parameters without a default, and those that are known."""
        known = (*ARRAYS, *RANDOMNESS)
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return {
            name: parameter
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind not in variable
            and (name in known or parameter.default is parameter.empty)
        }

    @property
    def name(self) -> str:
        """The name of its module, and its own."""
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{named.__module__}.{named.__qualname__}"

    @property
    def uneven(self) -> bool:
        """Whether rows may have different numbers of drafts."""
        return "lengths" in self._wanted()

    def randomness(self, seed: int) -> Randomness:
        """Return where it gets its random numbers from, for a whole test."""
        return Randomness(self.form, np.random.default_rng(seed), seed)

    def __call__(self, kind: Kind, case: Case, sample: Sample, randomness: Randomness) -> Any:
        """Verify a batch; the arrays are the verifier's own, and what it returns is NumPy's."""
        given = self.arrays(kind, case, sample)
        wanted = self._wanted()
        random = [name for name in RANDOMNESS if name in wanted]
        if random:
            given[random[0]] = randomness.of(random[0], kind, len(sample.drafts))
        positional, named = [], {}
        for name, parameter in wanted.items():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(given[name])
            else:
                named[name] = given[name]
        return plain(self.function(*positional, **named))

    def arrays(self, kind: Kind, case: Case, sample: Sample) -> dict[str, Any]:
        """Return what it may ask for, but for randomness."""
        rows = {
            name: self.form.probabilities(_embedded(values, case))
            for name, values in kind.arrays(case, sample).items()
        }
        return rows | {
            "drafts": self.form.integers(case.places[sample.drafts]),
            "lengths": self.form.integers(sample.lengths),
            "parents": kind.parents,
        }


@dataclass(frozen=True, eq=False)
class Randomness:
    """What a verifier gets its random numbers from.

    Parameters
    ----------
    form : Form
    rng : numpy.random.Generator
    seed : int
    """

    form: Form
    rng: np.random.Generator
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "_generators", {})

    def of(self, name: str, kind: Kind, size: int) -> Any:
        """Return randomness of one of the names :data:`RANDOMNESS`."""
        if name == "rng":
            return self.rng
        if name == "seed":
            return int(self.rng.integers(2**31))
        if name == "generator":
            generators: dict[str, Any] = vars(self)["_generators"]
            if name not in generators:
                generators[name] = self.form.generator(self.seed)
            return generators[name]
        if kind.name == "tree":
            raise ValueError("verifier takes uniforms: for a tree take rng or generator, and draw")
        return self.form.probabilities(self.rng.random((size, len(kind.parents) + 1)))


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


def _embedded(rows: Array, case: Case) -> Array:
    if case.vocabulary == case.n:
        return rows
    wide = np.zeros((*rows.shape[:-1], case.vocabulary))
    wide[..., case.places] = rows
    return wide
