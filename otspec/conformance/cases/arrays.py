"""An engine's own arrays, parameter names, vocabulary, reserved ids, logits and settings."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, IntArray, memory, needed, shown
from otspec._base.arguments import as_callable, as_instance, as_tokens
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.settings import ROWS_OF, SETTINGS, logits_of
from otspec.conformance.cases.warping import SHIFTS, Warped

LIBRARIES = ("numpy", "torch")
DTYPES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-9}
"""Types of probabilities, and the errors of a probability that count as rounding in each."""
NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0}
MOSTLY = 0.9  # zeros are filled at once from this share of them on


@dataclass(frozen=True, eq=False)
class Form(Frozen):
    """What a verifier is called with."""

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
                self.own(np.ones(1))
            except (AssertionError, RuntimeError) as error:  # as torch says that there is none
                reason = str(error).splitlines()[0]
                raise ValueError(
                    f"device is {self.device!r}, which torch refuses: {reason}"
                ) from error

    def refuse_too_many(self, entries: int, numbers: int) -> None:
        """Refuse a call whose arrays half of the memory does not hold."""
        size = 2 * numbers * {"float64": 8, "float32": 4}.get(self.dtype, 2)
        most = memory()
        if self.device.startswith("cuda"):
            torch = needed("torch", "a verifier of torch tensors", "backends")
            most = int(torch.cuda.get_device_properties(self.device).total_memory)
        if size > most / 2:
            raise ValueError(
                f"entries is {entries}, for which the arrays of one call take {size / 2**30:.3g} "
                "GiB, more than half of the memory: pass fewer"
            )

    def own(self, values: Array, dtype: str | None = None) -> Any:
        """Return a copy as the verifier's array, of a type, or of the type of probabilities."""
        if self.library == "numpy":
            with np.errstate(under="ignore"):
                return values.astype(dtype or self.dtype)
        torch = needed("torch", "a verifier of torch tensors", "backends")
        return torch.tensor(values, dtype=getattr(torch, dtype or self.dtype), device=self.device)

    def spread(self, rows: Array, places: IntArray) -> Any:
        """Return probabilities of many places, each one of few on the last axis."""
        few, rest = self.own(rows), rows.shape[-1] - 1
        if (places == rest).mean() < MOSTLY or rows[..., rest].any():
            if self.library == "numpy":
                return np.take(few, places, axis=-1)
            return few.index_select(few.dim() - 1, self.own(places, "int64"))
        # To fill with zeros takes a quarter of the time.
        own = np.flatnonzero(places != rest)
        shape = (*rows.shape[:-1], len(places))
        wide = np.zeros(shape, few.dtype) if self.library == "numpy" else few.new_zeros(shape)
        wide[..., own] = few[..., places[own]]
        return wide

    @property
    def precise(self) -> str:
        """The type of random numbers, and of settings of rows: float32 or float64."""
        return "float64" if self.dtype == "float64" else "float32"

    def generator(self, seed: int) -> Any:
        """Return a generator of torch."""
        torch = needed("torch", "a verifier that takes a generator of torch", "backends")
        return torch.Generator(device=self.device).manual_seed(seed)


def plain(answer: Any) -> Any:
    """Return an answer with NumPy arrays in place of tensors."""
    if isinstance(answer, tuple):
        parts = [plain(part) for part in answer]
        return getattr(answer, "_make", tuple)(parts)
    if isinstance(answer, Mapping):
        return {name: plain(part) for name, part in answer.items()}
    if hasattr(answer, "detach"):
        tensor = answer.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return answer


MOST_RESERVED = 1024  # most ids that may be reserved


class Named:
    """A function some of whose parameters have other names, by which it is called."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, str]) -> None:
        as_callable(function, "verifier", "a callable that takes draft, target and drafts")
        wanted = "a dict from the verifier's names to ours, such as {'p': 'draft'}"
        given = dict(as_instance(names, "names", Mapping, wanted))
        taken = inspect.signature(function).parameters
        for name, ours in given.items():
            if name not in taken or not (isinstance(ours, str) and ours.isidentifier()):
                raise ValueError(
                    f"names maps {shown(name)} to {shown(ours)}: the verifier takes "
                    f"{', '.join(taken)}, so pass {wanted}"
                )
        back = {given.get(name, name): name for name in taken}
        if len(back) < len(taken):
            raise ValueError(f"names is {shown(given)}: two parameters get the same name")
        update_wrapper(self, function)
        self.function, self.back = function, back
        self.__signature__ = inspect.Signature(
            [
                each.replace(name=given.get(name, name), kind=inspect.Parameter.KEYWORD_ONLY)
                for name, each in taken.items()
                if each.kind
                not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            ]
        )

    def __call__(self, **given: Any) -> Any:
        """Call the function by its own names."""
        own = {self.back[name]: value for name, value in given.items()}
        taken = inspect.signature(self.function).parameters.items()
        first = [name for name, each in taken if each.kind is each.POSITIONAL_ONLY]
        return self.function(*[own.pop(name) for name in first if name in own], **own)


def as_reserved(reserved: Any, vocabulary: int) -> tuple[int, ...]:
    """Return ids that no text has, of a large vocabulary."""
    found = as_tokens(reserved, vocabulary, "reserved", count=MOST_RESERVED, unordered=True)
    if -1 in found or len(set(found)) > vocabulary - 8:
        raise ValueError(
            f"reserved is {shown(reserved)}: pass at most {min(MOST_RESERVED, vocabulary - 8)} ids"
        )
    return tuple(sorted(set(found)))


def placed(case: Case, least: int, reserved: tuple[int, ...]) -> Case:
    """Return a case of at least so many tokens, none of whose symbols is a reserved id."""
    if case.named and not reserved and least <= case.n:
        return case
    if case.named:
        free = np.setdiff1d(np.arange(case.n + len(reserved)), reserved)[: case.n]
        symbols = np.full(max(least, int(free[-1]) + 1), case.n)
        symbols[free] = np.arange(case.n)
        return replace(case, symbols=symbols)
    symbols = case.symbols.copy()
    symbols[list(reserved)] = case.n
    free = np.flatnonzero(symbols == case.n)
    free = free[~np.isin(free, reserved)]
    for symbol in sorted(set(range(case.n)) - set(symbols.tolist())):
        # The place beside the one that is reserved is as near to a border.
        was = int(np.flatnonzero(case.symbols == symbol)[0])
        nearest = free[np.abs(free - was).argmin()]
        symbols[nearest], free = symbol, free[free != nearest]
    return replace(case, symbols=symbols)


def logits_given(case: Case, rows: Mapping[str, Array], unwarped: Mapping[str, Array]) -> Any:
    """Return logits by name over tokens: those that a case has, or logarithms."""
    if isinstance(case, Warped):
        wide = {
            name: np.append(values, np.full((*values.shape[:-1], 1), -np.inf), axis=-1)
            for name, values in unwarped.items()
        }
    else:
        wide = {name: logits_of(case.shares(rows[name])) + SHIFTS[name] for name in rows}
    return {f"{name}_logits": values[..., case.symbols] for name, values in wide.items()}


def unwarped(case: Case) -> Case:
    """Return a case whose rows are the logits of one that is warped."""
    if not isinstance(case, Warped):
        return case
    return replace(case, draft=case.draft_logits, target=case.target_logits)


def settings_given(case: Case, variants: IntArray, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the settings that a verifier asks for: of the call, or of each row."""
    neutral = NEUTRAL | {"top_k": case.vocabulary}
    own: list[dict[str, Any]] = [{}] * case.variants
    found: dict[str, Any] = {}
    for name in wanted:
        if name not in SETTINGS:
            continue
        short = name.removeprefix("draft_")
        one = ROWS_OF.get(short, short)
        which = "draft_settings" if name != short else "settings"
        values = [{**neutral, **given}[one] for given in getattr(case, which, own)]
        found[name] = np.array(values)[variants] if short in ROWS_OF else values[0]
    return found


def masks(case: Case) -> Case:
    """Return a case whose target is the mask, 1 for what is allowed."""
    allowed = case.allowed if isinstance(case, Warped) else np.ones_like(case.target)
    return replace(case, target=allowed.astype(float))


def allowed_given(case: Case, rows: Array) -> Array:
    """Return the mask over tokens; all tokens without a symbol are allowed."""
    wide = np.append(rows, np.ones((*rows.shape[:-1], 1)), axis=-1)
    return wide[..., case.symbols] > 0
