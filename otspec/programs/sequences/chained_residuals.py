"""The best rule in the long run that hands over given residuals (Theory, 20): a program."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec._base import Frozen, as_instance, as_list, as_tokens, cached_property, remembered
from otspec._base.arithmetic import Array, as_numbers, counted_power, zeros
from otspec.distributions import as_distribution, check_alike
from otspec.models.base import Prefix
from otspec.models.joint_contexts import GivenBeginning, law_of_beginning
from otspec.programs.formulation import ProgramBuilder, Size, check_size
from otspec.programs.sequences.one_corrected_token import LongRunProgram, Rows, padded
from otspec.solvers import LinearProgram, Sense

MOST_TOKENS = 2**31  # most tokens of an alphabet, where a law does not say how many there are


@dataclass(frozen=True, eq=False)
class Residual(Frozen):
    """What a block may be handed as its target.

    Parameters
    ----------
    text : tuple of int
        A text before it.
    law : ndarray, shape (n,) * D
        Of the next D tokens; after them the target follows.

    Raises
    ------
    ValueError
        No token ids, or no distribution on texts of D tokens.
    """

    text: Prefix
    law: Array

    def __post_init__(self) -> None:
        law = as_numbers(self.law, "law")
        n = law.shape[0] if law.ndim else MOST_TOKENS
        if law.shape != (n,) * law.ndim:
            raise ValueError(f"law has shape {law.shape}: it needs as many tokens along each axis")
        masses = as_distribution(law.reshape(-1), "law")
        self._hold(text=as_tokens(self.text, n, "text"), law=masses.reshape(law.shape))


class End(NamedTuple):
    """How a block may end."""

    begun: int  # the number of the residual that was its target
    decoded: Prefix  # what it decoded: the kept tokens, and one more
    handed: int  # the number of the residual that the next block has as its target


@dataclass(frozen=True, eq=False)
class ResidualsProgram(LongRunProgram):
    """Tokens per call, in the long run, of rules that hand over one of some residuals.

    Variables: the share of blocks that begin with each residual, and of those that decode y, 1 to
    L + 1 tokens, and hand over another. The texts that come out have the law of the residual, what
    is kept is drafted, and of each residual as many are handed over as used.

    Parameters
    ----------
    draft, target, length
        As for :class:`LongRunProgram`.
    residuals : sequence of Residual
        All with laws of equally many tokens.

    Raises
    ------
    ValueError
        As :class:`LongRunProgram`, or residuals that are none.
    """

    title: ClassVar[str] = "handed residuals in the long run"
    smaller: ClassVar[str] = "use shorter blocks, or fewer or shorter residuals"

    residuals: Sequence[Residual]

    def __post_init__(self) -> None:
        super().__post_init__()
        given = as_list(self.residuals, "residuals", "a sequence of Residuals")
        if not given:
            raise ValueError("residuals is empty: give at least the target after each context")
        residuals = [self._checked(number, residual) for number, residual in enumerate(given)]
        if len({residual.law.ndim for residual in residuals}) > 1:
            raise ValueError("residuals has laws of different lengths: all reach equally far")
        self._hold(residuals=tuple(residuals))

    def _checked(self, number: int, given: Any) -> Residual:
        name, n = f"residuals[{number}]", self.target.n
        residual: Residual = as_instance(given, name, Residual, "a Residual")
        row = zeros(residual.law.shape[0] if residual.law.ndim else n, like=residual.law)
        check_alike("target(())", self.target(()), f"the law of {name}, row by row,", row)
        as_tokens(residual.text, n, f"the text of {name}")
        return residual

    @property
    def depth(self) -> int:
        """D, how many tokens a residual reaches."""
        return self.residuals[0].law.ndim

    @cached_property
    def models(self) -> tuple[GivenBeginning, ...]:
        """The residuals as models of all that follows."""
        return tuple(GivenBeginning(self.target.after(r.text), r.law) for r in self.residuals)

    @cached_property
    def ends(self) -> dict[End, int]:
        """The number of the variable of each end; those of the residuals come before them."""
        numbers: dict[End, int] = {}
        for begun, context in enumerate(self._contexts):
            for length in range(1, self.length + 2):
                for text, _ in self.models[begun].texts(length):
                    if len(text) < length or not self._drafted(begun, text[:-1]) > 0:
                        continue
                    # After an end token the target is handed over anew.
                    alike = self._alike[self.contexts.after(context, text)]
                    for handed in self._anew if self.models[begun].ended(text) else alike:
                        numbers[End(begun, text, handed)] = len(self.residuals) + len(numbers)
        return numbers

    @cached_property
    def _contexts(self) -> list[int]:
        return [self.contexts.after(0, residual.text) for residual in self.residuals]

    @cached_property
    def _alike(self) -> dict[int, list[int]]:
        """The residuals of each context."""
        alike = defaultdict(list)
        for number, context in enumerate(self._contexts):
            alike[context].append(number)
        return alike

    @cached_property
    def _anew(self) -> list[int]:
        """The residuals that are the target at the beginning of a text."""
        law = law_of_beginning(self.target, self.depth)
        found = [i for i in self._alike[0] if bool((self.residuals[i].law == law).all())]
        if not found:
            raise ValueError(
                "residuals has none that is the target at the beginning of a text, where the next "
                "one begins after an end token: add it"
            )
        return found

    def _drafted(self, begun: int, text: Prefix) -> Any:
        return self.draft.after(self.residuals[begun].text).mass(text)

    def size(self) -> Size:
        """Return the size of the program: an upper bound where probabilities are zero."""
        n, count = self.target.n, len(self.residuals)
        texts = sum(counted_power(n, length) for length in range(1, self.length + 2))
        words = counted_power(n, self.length + 1 + self.depth)
        alike = max(map(len, self._alike.values()))
        ends = count * texts * alike
        coefficients = ends * (self.length + 1) + count * words * (1 + (self.length + 1) * alike)
        return Size(count * (words + texts + 1) + 1, count + ends, coefficients)

    def build(self) -> LinearProgram:
        """Build the linear program; errors as :meth:`LongRunProgram.build`."""
        check_size(self.title, self.size(), self.smaller)
        model = ProgramBuilder(self.target(()))
        used = model.columns("used", np.arange(len(self.residuals))[:, None], 0, np.inf)
        names = [(end.begun, *end.decoded, -1, end.handed) for end in self.ends]
        ended = model.columns("ends", padded(names), 0, np.inf)
        rows = Rows(model, self.target(()))
        for number in used.tolist():
            for text, shares in self._texts(number):
                rows.add("text", (number, *text), shares)
            for text, shares in self._kept(number):
                rows.add("drafted", (number, *text), shares)
            handed = [(column, 1) for end, column in self.ends.items() if end.handed == number]
            rows.add("handed", (number,), [*handed, (number, -1)])
        rows.add("all", (), [(number, 1) for number in used.tolist()])
        rows.put("text", 0, 0)
        rows.put("drafted", -np.inf, 0)
        rows.put("handed", 0, 0)
        rows.put("all", 1, 1)
        weights = np.array([len(end.decoded) for end in self.ends])
        return model.program(self.title, Sense.MAXIMIZE, ended, weights)

    def _texts(self, number: int) -> Iterator[tuple[Prefix, list[tuple[int, Any]]]]:
        """Yield the ways to each text that follows a residual, and that text as it should be."""
        length = self.length + 1 + self.depth
        shares: dict[Prefix, list[tuple[int, Any]]] = {
            text: [(number, -mass)] for text, mass in self.models[number].texts(length)
        }
        for end, column in self.ends.items():
            if end.begun == number:
                over = self.models[number].ended(end.decoded)
                left = 0 if over else length - len(end.decoded)
                for rest, mass in self._rests(end.handed, left):
                    shares.setdefault(end.decoded + rest, []).append((column, mass))
        yield from shares.items()

    @remembered
    def _rests(self, handed: int, length: int) -> list[tuple[Prefix, Any]]:
        return list(self.models[handed].texts(length))

    def _kept(self, number: int) -> Iterator[tuple[Prefix, list[tuple[int, Any]]]]:
        """Yield the ends in which each text is kept, and how often it is drafted."""
        kept: dict[Prefix, list[tuple[int, Any]]] = {}
        for end, column in self.ends.items():
            if end.begun == number:
                for length in range(1, len(end.decoded)):
                    kept.setdefault(end.decoded[:length], []).append((column, 1))
        for text, shares in kept.items():
            yield text, [*shares, (number, -self._drafted(number, text))]
