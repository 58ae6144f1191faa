"""Calling engines whose noise has a key, a seed and a position, and calling them plainly."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Frozen, IntArray, as_array, depths_of
from otspec.batch import shared_noise
from otspec.conformance.cases.arrays import Form, plain
from otspec.conformance.cases.calling import ARRAYS, Randomness, Verifier
from otspec.conformance.cases.cases import Answer, Case, memoryless, prompted
from otspec.conformance.cases.drafting import Sample, drafted
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.engines import TextEngine, TokenEngine
from otspec.conformance.evidence.batches import KernelBatches

KEYS = ("seed", "seeds")  # one seed of all rows, or one for each
PROBED = 64  # positions at which the noise has to change


@dataclass(frozen=True, eq=False)
class Rows(Frozen):
    """Rows of one call."""

    sample: Sample = field(repr=False)
    seeds: IntArray  # (size,): the seed of each text, and how many tokens it has
    starts: IntArray

    def alone(self, row: int) -> "Rows":
        """Return one row."""
        return Rows(
            Sample(*(part[[row]] for part in self.sample)), self.seeds[[row]], self.starts[[row]]
        )


@dataclass(frozen=True, eq=False)
class Key(Randomness):
    """The key of the noise of a call."""

    seeds: IntArray  # of each row; and of each row of the target
    positions: IntArray
    vocabulary: int

    def of(self, name: str, size: int, nodes: int) -> Any:  # noqa: ARG002
        """Return what a verifier asks for by a name."""
        if name == "seed":
            return int(self.seeds[0])
        if name == "noise":
            noise = noise_of(self.seeds, self.positions, self.vocabulary, self.form)
            return self.form.own(noise, self.form.precise)
        return self.form.own(getattr(self, name), "int64")


class Keyed(Verifier):
    """A verifier of drafts that gets exponential noise, or the key of it."""

    names: ClassVar[tuple[str, ...]] = ARRAYS
    random: ClassVar[tuple[str, ...]] = ("noise", *KEYS, "positions")

    def __post_init__(self) -> None:
        super().__post_init__()
        keys = self.random[:-1]
        if not set(keys) & set(self.wanted):
            raise ValueError(f"verifier takes no noise: let it take one of {', '.join(keys)}")

    def say(self, kind: Kind, case: Case, rows: Rows) -> Answer:
        """Return what it says of a batch; raises as :class:`KernelBatches` does."""
        positions, rng = rows.starts, np.random.default_rng(0)
        if kind.name != "tokens":
            positions = positions[:, None] + np.array([0, *depths_of(kind.parents)])
        key = Key(self.form, rng, 0, rows.seeds, positions, case.vocabulary)
        return KernelBatches(self, kind, case, key, rng).answer(rows.sample)


class KeyedTokens(Keyed, TokenEngine):
    """An engine that drafts and verifies one token."""

    names = TokenEngine.names
    random = (*KEYS, "positions")


class KeyedTexts(Keyed, TextEngine):
    """A decoder of texts; of one in each call where there is one seed."""

    names = (*TextEngine.names, "prompt")
    random = (*KEYS, "positions")

    def models(self, case: Case, sample: Sample) -> dict[str, Any]:
        """Return two models and prompts; ``prompt`` is the first of them as a list."""
        made = super().models(case, sample)
        return made | {"prompt": case.places[sample.variants[:1]].tolist()}

    def raw(self, given: Mapping[str, Any]) -> Any:
        """Return what it says; of the one text after a prompt as many tokens as are asked for."""
        found = super().raw(given)
        if "prompt" not in self.wanted:
            return found
        text = as_array(plain(found), "what the verifier returned")
        return text.reshape(1, -1)[:, : given.get("length")]

    def say(self, kind: Kind, case: Case, rows: Rows) -> Answer:
        """Return what it says of a batch; raises as a verifier does."""
        if "seeds" in self.wanted:
            return super().say(kind, case, rows)
        say, count = super().say, len(rows.seeds)
        each = [say(kind, case, rows.alone(row)).texts for row in range(count)]
        return Answer(np.concatenate(each), None)


def keyed(function: Any, form: Form, kind: Kind, mode: str) -> Keyed:
    """Return an engine with the names of what it asks for."""
    if mode != "pipeline":
        made = Keyed(function, form)
        made.check_kind(kind)
        return made
    return KeyedTokens(function, form) if kind.name == "tokens" else KeyedTexts(function, form)


def noise_of(seeds: IntArray, positions: IntArray, vocabulary: int, form: Form) -> Array:
    """Return the noise of positions of texts, shape (*positions.shape, V)."""
    like = np.zeros((1, vocabulary), form.precise)
    own = np.broadcast_to(seeds.reshape(-1, *(1,) * (positions.ndim - 1)), positions.shape)
    keys, which = np.unique(np.stack([own, positions]).reshape(2, -1), axis=1, return_inverse=True)
    each = [shared_noise(like, place[None], int(seed))[0] for seed, place in keys.T]
    return np.array(each)[which.reshape(-1)].reshape(*positions.shape, vocabulary)


@dataclass(frozen=True, eq=False)
class Plain(Frozen):
    """Plain decoding: an engine with nothing drafted, one row in each call."""

    engine: Keyed
    given: bool  # whether the noise is given, so that the race is run here
    rounding: float  # errors of a probability that count as rounding

    def text(self, kind: Texts, case: Case, rows: Rows) -> IntArray:
        """Return the symbols of whole texts."""
        say, nothing, count = self.engine.say, _undrafted(kind), len(rows.seeds)
        return np.concatenate([say(nothing, case, rows.alone(row)).texts for row in range(count)])

    def token(
        self, kind: Kind, case: Case, weights: Array, seed: int, position: int
    ) -> tuple[int, bool]:
        """Return the symbol after a row of weights, and whether rounding leaves it as it is."""
        table = np.broadcast_to(weights / weights.sum(), (1, case.n + 1, case.n))
        alone = replace(case, draft=table, target=table, uneven=False, behind="same")
        if self.given:
            return self._raced(alone, seed, position)
        sample = drafted((), "iid", alone, np.zeros(1, dtype=np.intp), np.random.default_rng(0))
        row = Rows(sample, np.array([seed]), np.array([position]))
        said = self.engine.say(_undrafted(kind), alone, row)
        return int(said.texts[0, 0]), True

    def wrong(self, kind: Kind) -> tuple[str, tuple[str, ...]]:
        """Return what is wrong with texts of four equally likely tokens, "" if nothing is."""
        # And the known faults that explain it. By chance any of this is so with a probability below
        # 1e-18.
        text, again, other = (self._of_alike(kind, seed) for seed in (1, 1, 2))
        if text != again:
            return "one seed gives two texts", ()
        if len(set(text)) == 1:
            causes = ("noise counted from the beginning of each step",)
            return "all positions have one token", causes
        if text[::2] == text[1::2]:
            words = "positions 2 i and 2 i + 1 have one token for all i"
            return words, ("one noise for neighboring positions",)
        return "two seeds give one text" if text == other else "", ()

    def _of_alike(self, kind: Kind, seed: int) -> list[int]:
        """Return a text of four equally likely tokens."""
        if not isinstance(kind, Texts):
            row = np.full(4, 0.25)
            case = memoryless("alike", row, row)
            return [self.token(kind, case, row, seed, place)[0] for place in range(PROBED)]
        alike = np.ones((4, 4))
        case = prompted("alike", alike, alike, 1)
        sample = kind.draw(case, 1, np.random.default_rng(0))
        rows = Rows(sample, np.array([seed]), np.zeros(1, dtype=np.intp))
        return self.text(replace(kind, count=PROBED), case, rows)[0].tolist()

    def _raced(self, case: Case, seed: int, position: int) -> tuple[int, bool]:
        """Return the first of the race E/q, and whether the second is later by more than rounding.

        The logarithm of each arrival is off by the rounding of two logarithms, and of q.
        """
        rates = case.rows(case.target[0, 0])
        at = np.array([seed]), np.array([position])
        noise = noise_of(*at, case.vocabulary, self.engine.form)[0]
        there = np.flatnonzero(rates)
        logs = np.log(noise[there].astype(float)), np.log(rates[there])
        times = logs[0] - logs[1]
        order = np.argsort(times)[:2]
        errors = self.rounding * (1 + np.abs(logs[0]) + np.abs(logs[1]))[order].sum()
        sure = len(order) == 1 or times[order[1]] - times[order[0]] > errors
        return int(case.symbols[there[order[0]]]), bool(sure)


def _undrafted(kind: Any) -> Kind:
    """Return a kind with nothing drafted."""
    if isinstance(kind, Texts):
        return replace(kind, step=_undrafted(kind.step))
    return replace(kind, **({"k": 0} if kind.name == "tokens" else {"parents": ()}))
