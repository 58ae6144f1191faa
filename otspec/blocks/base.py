"""What every rule for drafted blocks answers, and the answers that follow from its outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec._base.arguments import as_generator, as_instance
from otspec._base.arithmetic import Number
from otspec._base.frozen import Frozen
from otspec.drafts.base import draw
from otspec.models.base import Model, Prefix, as_beginnings
from otspec.models.callables import as_models


class Outcome(NamedTuple):
    """One way in which the verification of a block can end."""

    accepted: Prefix
    """X^τ, the drafted tokens that are kept."""
    mass: Number
    """Its probability; of a sample the number 1."""
    following: Model
    """The model that everything after X^τ is drawn from, first of all one more token at once."""


@dataclass(frozen=True, eq=False)
class BlockRule(Frozen, ABC):
    """A rule that keeps a beginning of what was drafted, and says what follows it.

    Law: what is kept, continued by tokens from :attr:`Outcome.following`, is distributed as the
    target's text. Subclasses give :meth:`outcomes` and :meth:`sample`.

    Parameters
    ----------
    draft, target : callable
        Language models: any maps from a prefix, a tuple of token ids, to a distribution, such as
        a :class:`otspec.models.TableModel`. Both over one vocabulary, in one arithmetic.

    Raises
    ------
    ValueError
        Models that cannot be used.
    """

    title: ClassVar[str]
    """What tables and charts call the rule."""
    batch: ClassVar[str | None] = None
    """The function of :mod:`otspec.batch` that does the same, if there is one."""

    draft: Model
    target: Model

    def __post_init__(self) -> None:
        draft, target = as_models(self.draft, self.target)
        self._hold(draft=draft, target=target)

    @property
    @abstractmethod
    def depth(self) -> int:
        """L, the most drafted tokens that can be kept."""

    @abstractmethod
    def outcomes(self) -> Iterator[Outcome]:
        """Yield all outcomes, each X^τ once; small vocabularies only.

        Their masses sum to 1 (in floats to rounding).
        """

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draft at random, verify, and return what happened."""

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the drafted set of sequences, by enumeration; small sizes only.

        Raises
        ------
        ValueError
            A rule that does not tell what it drafts.
        """
        raise ValueError(
            f"rule is {type(self).__name__}, whose drafts are not known: pass optimum=False"
        )

    def expected(self) -> Number:
        """Return E[τ], the expected number of drafted tokens that are kept.

        Returns
        -------
        float or Fraction
        """
        return enumerated_expected(self)

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random.

        Parameters
        ----------
        beginnings : mapping
            From texts of both models to their probabilities, which sum to 1, such as
            :meth:`otspec.models.NGramModel.contexts` for a random place of a text.

        Returns
        -------
        float or Fraction

        Raises
        ------
        ValueError
            No such mapping.
        """
        total: Any = self.target.number(0)
        for text, mass in as_beginnings(beginnings, self.target).items():
            after = self.restarted(self.draft.after(text), self.target.after(text))
            total += mass * enumerated_expected(after)
        return self.target.number(total)

    def efficiency(self) -> Number:
        """Return the block efficiency of one block: E[τ] + 1 tokens per call of the target.

        The 1 counts after a kept end token, too, where no token follows:
        :func:`otspec.blocks.decoded_after` counts what comes out.
        """
        return self.expected() + 1

    def restarted(self, draft: Model, target: Model) -> BlockRule:
        """Return the same rule for other models, such as those after some more text."""
        return replace(self, draft=draft, target=target)

    def kept_text(self, outcome: Outcome) -> Prefix:
        """Return the tokens that an outcome keeps, up to the end of the target's text."""
        return self.target.up_to_end(outcome.accepted)

    def next_token(self, outcome: Outcome, rng: np.random.Generator) -> int:
        """Draw the token that follows what was kept."""
        as_instance(outcome, "outcome", Outcome, "an Outcome, as sample() returns it")
        as_generator(rng)
        return int(draw(outcome.following(()), 1, rng)[0])


def as_block_rule(rule: Any) -> BlockRule:
    """Check a rule for drafted blocks.

    Raises
    ------
    ValueError
        Anything else.
    """
    wanted = "a BlockRule, such as BlockVerificationPreprint(draft, target, 2)"
    checked: BlockRule = as_instance(rule, "rule", BlockRule, wanted)
    return checked


def enumerated_expected(rule: BlockRule) -> Number:
    """Return E[τ] by enumerating the outcomes; small vocabularies only."""
    total: Any = rule.target.number(0)
    for outcome in rule.outcomes():
        total += outcome.mass * len(rule.kept_text(outcome))
    return rule.target.number(total)
