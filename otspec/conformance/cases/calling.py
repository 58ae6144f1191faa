"""Calling a verifier with the arrays, and the kind of randomness, that it asks for."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Frozen, IntArray, as_callable, cached_property
from otspec.conformance.cases import arrays, settings
from otspec.conformance.cases.arrays import Form, plain
from otspec.conformance.cases.cases import Case, named
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind

LENGTHS = ("lengths", "mask")  # parameters that say how many drafts a row has
ARRAYS = ("draft", "target", "drafts", *LENGTHS, "parents")  # parameters of a verifier
CORRECTIONS = "corrections"  # returned, and taken with the next block of a text
RANDOMNESS = ("rng", "generator", "seed", "uniforms")  # none of them: the global generators


def wanted_by(function: Any, known: Collection[str]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function without a default, and those that are known."""
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and (name in known or parameter.default is parameter.empty)
    }


@dataclass(frozen=True, eq=False)
class Verifier(Frozen):
    """A callable with the names of what it asks for."""

    function: Callable[..., Any]
    form: Form

    argument: ClassVar[str] = "verifier"  # what the caller calls it
    names: ClassVar[tuple[str, ...]] = (  # what it may ask for
        *ARRAYS,
        CORRECTIONS,
        *settings.LOGITS,
        *settings.SETTINGS,
        settings.ALLOWED,
    )
    random: ClassVar[tuple[str, ...]] = RANDOMNESS  # names under which it may take randomness

    def __post_init__(self) -> None:
        super().__post_init__()
        as_callable(self.function, self.argument, "a callable that takes draft, target and drafts")
        known = (*self.names, *self.random)
        for name in self.wanted:
            if name not in known:
                ours = (each for each in self.names if each not in settings.SETTINGS)
                raise ValueError(
                    f"{self.argument} takes {name!r}: name its parameters {', '.join(ours)} and "
                    f"one of {', '.join(self.random)}, or wrap it in a function that does"
                )

    @cached_property
    def wanted(self) -> dict[str, inspect.Parameter]:
        """The parameters without a default, and those that are known."""
        try:
            return wanted_by(self.function, (*self.names, *self.random))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.argument} does not tell its parameters: wrap it in a function with names "
                f"of {', '.join(self.names)}"
            ) from error

    def check_kind(self, kind: Kind) -> None:
        """Refuse parameters that a kind does not have."""
        if self.corrects and kind.name != "block":
            raise ValueError("verifier takes corrections: only those of blocks have any")
        if kind.name == "tree" and "uniforms" in self.wanted:
            raise ValueError("verifier takes uniforms: for a tree take rng or generator, and draw")
        if kind.name == "tree" and "lengths" in self.wanted:
            raise ValueError("verifier takes lengths: a tree has a mask, so take that")

    @property
    def name(self) -> str:
        """The name of its module, and its own."""
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{named.__module__}.{named.__qualname__}"

    @property
    def uneven(self) -> bool:
        """Whether rows may have different numbers of drafts."""
        return any(name in self.wanted for name in LENGTHS)

    @property
    def corrects(self) -> bool:
        """Whether it corrects more than one token, so that texts are made of its blocks alone."""
        return CORRECTIONS in self.wanted

    def parted(self, answer: Any) -> tuple[Any, Any]:
        """Return what it says of a block, and what it is handed with the next one."""
        if not self.corrects:
            return answer, None
        parts = named(answer, ("length", "token", CORRECTIONS), least=3)
        return (parts["length"], parts["token"]), parts[CORRECTIONS]

    def randomness(self, seed: int) -> "Randomness":
        """Return where it gets its random numbers from, for a whole test."""
        return Randomness(self.form, np.random.default_rng(seed), seed)

    def given(
        self,
        kind: Kind,
        case: Case,
        sample: Sample,
        randomness: "Randomness",
        corrections: Any = None,
    ) -> dict[str, Any]:
        """Return what it asks for, in arrays of its own, with the corrections of the last block."""
        given = self.arrays(kind, case, sample) | {CORRECTIONS: corrections}
        return self.with_numbers(given, randomness, sample.drafts.shape)

    def with_numbers(
        self, given: Mapping[str, Any], randomness: "Randomness", shape: tuple[int, ...]
    ) -> dict[str, Any]:
        """Return what it asks for: arrays, and randomness for so many rows of so many nodes."""
        return {
            name: randomness.of(name, *shape) if name in self.random else given[name]
            for name in self.wanted
        }

    def __call__(self, given: Mapping[str, Any]) -> Any:
        """Verify a batch; what it returns is NumPy's."""
        return plain(self.raw(given))

    def raw(self, given: Mapping[str, Any]) -> Any:
        """Verify a batch, and return what the verifier returns."""
        positional, named = [], {}
        for name, parameter in self.wanted.items():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(given[name])
            else:
                named[name] = given[name]
        return self.function(*positional, **named)

    def arrays(self, kind: Kind, case: Case, sample: Sample) -> dict[str, Any]:
        """Return what it may ask for, but for randomness."""
        rows = kind.arrays(case, sample)
        tokens = sample.tokens
        if case.behind != "same":
            filled_behind(rows, sample.there, case.behind, after=self.corrects)
            # Tokens of any kind, also of probability 0.
            anything = (tokens * 7 + np.arange(len(tokens))[:, None]) % case.vocabulary
            tokens = np.where(sample.there, tokens, anything)
        return (
            {
                name: self.form.own(values)
                if case.named
                else self.form.spread(case.shares(values), case.symbols)
                for name, values in rows.items()
            }
            | self._warps(kind, case, sample, rows)
            | {
                "drafts": self.form.own(tokens, "int64"),
                "lengths": self.form.own(sample.lengths, "int64"),
                "mask": self.form.own(sample.there, "bool"),
                "parents": kind.parents,
            }
        )

    def _warps(
        self, kind: Kind, case: Case, sample: Sample, rows: Mapping[str, Array]
    ) -> dict[str, Any]:
        """Return logits, settings and the mask, if it asks for any."""
        made = self.settings_of(case, sample.variants)
        if set(settings.LOGITS) & set(self.wanted):
            plain = kind.arrays(arrays.unwarped(case), sample)
            if case.behind != "same":
                filled_behind(plain, sample.there, case.behind, after=self.corrects)
            given = arrays.logits_given(case, rows, plain)
            made |= {name: self.form.own(values) for name, values in given.items()}
        if settings.ALLOWED in self.wanted:
            allowed = kind.arrays(arrays.masks(case), sample)["target"]
            made[settings.ALLOWED] = self.form.own(arrays.allowed_given(case, allowed), "bool")
        return made

    def settings_of(self, case: Case, variants: IntArray) -> dict[str, Any]:
        """Return the settings that it asks for: of the call, or of each row."""
        found = arrays.settings_given(case, variants, tuple(self.wanted))
        for name, values in found.items():
            if np.ndim(values):
                whole = values.dtype.kind in "iu"
                found[name] = self.form.own(values, "int64" if whole else self.form.precise)
        return found


def filled_behind(
    rows: Mapping[str, Array], there: IntArray, behind: str, *, after: bool = False
) -> None:
    """Overwrite rows of drafts that do not count, which a verifier must not look at."""
    # rows: by name, one for a batch entry or one for each of its nodes. there: bool, (size, nodes).
    # after: whether the draft's row after the last draft of a block is looked at.
    for values in rows.values():
        if values.ndim == 3:
            # As many rows as nodes are those that they were drawn from, else those after them.
            drawn_from = values.shape[1] == there.shape[1]
            own = values if drawn_from else values[:, 1:]
            kept = there.copy()
            if after and drawn_from:
                kept[:, 0], kept[:, 1:] = True, there[:, :-1]
            own[~kept] = np.nan if behind == "nan" else np.eye(values.shape[-1])[0]


@dataclass(frozen=True, eq=False)
class Randomness(Frozen):
    """What a verifier gets its random numbers from."""

    form: Form
    rng: np.random.Generator
    seed: int

    @cached_property
    def generator(self) -> Any:
        """A generator of torch, the same for all calls."""
        return self.form.generator(self.seed)

    def of(self, name: str, size: int, nodes: int) -> Any:
        """Return randomness of one of the names :data:`RANDOMNESS`."""
        if name == "rng":
            return self.rng
        if name == "generator":
            return self.generator
        if name == "seed":
            return int(self.rng.integers(2**31))
        uniforms = self.rng.random((size, nodes + 1), dtype=np.dtype(self.form.precise).type)
        return self.form.own(uniforms, self.form.precise)


def copy_of(values: Any) -> Any:
    """Return an array or a tensor that may be written to; anything else as it is."""
    copy = getattr(values, "clone", None) or getattr(values, "copy", None)
    return values if copy is None else copy()


def written(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of arrays that are not what they were."""
    return [
        name
        for name, values in before.items()
        if isinstance(values, np.ndarray)
        and values.tobytes() != np.asarray(plain(after[name])).tobytes()
    ]


def copied(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays as they are now, of NumPy."""
    return {
        name: np.array(plain(values))
        for name, values in given.items()
        if name in ARRAYS and name != "parents"
    }
