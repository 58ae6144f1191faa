"""What every rule for drafted blocks answers, and the answers that follow from its outcomes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec._base import Frozen, Number, as_generator, as_instance
from otspec.blocks.drafted_tree import DraftedTree, Found, node_and_row
from otspec.chance import Chance, Drawn, branches
from otspec.distributions import Distribution, normalized
from otspec.drafts.base import draw
from otspec.models.base import Model, Prefix, as_beginnings, as_models
from otspec.models.derived import OneCorrectedToken

Ending = tuple[Prefix, Distribution | None]
"""What is kept, and the distribution of the next token if it is not the target's."""


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
    target's text. A subclass gives :meth:`verify`, and :meth:`draw` if it drafts a tree: programs
    that have all their randomness from a :class:`otspec.chance.Chance`. Samples and exact laws run
    them; a subclass with a formula or a dynamic program overrides what is enumerated here.

    Parameters
    ----------
    draft, target : callable
        Language models: maps from a prefix, a tuple of token ids, to a distribution, such as a
        :class:`otspec.models.TableModel`. Both over one vocabulary, in one arithmetic, else
        ``ValueError``.
    """

    title: ClassVar[str]
    """What tables and charts call the rule."""
    batch: ClassVar[str | None] = None
    """The function of :mod:`otspec.batch` that does the same, if there is one."""
    renews: ClassVar[bool] = False
    """Whether the plain target follows one corrected token, and the next block begins anew."""

    draft: Model
    target: Model

    def __post_init__(self) -> None:
        draft, target = as_models(self.draft, self.target)
        self._hold(draft=draft, target=target)

    @property
    @abstractmethod
    def depth(self) -> int:
        """L, the most drafted tokens that can be kept."""

    def draw(self, chance: Chance) -> DraftedTree:
        """Draft a block of L tokens, up to the end of the target's text: their law as a program."""
        block: Prefix = ()
        while len(block) < self.depth and not self.target.ended(block):
            block = (*block, chance.choose(self.draft(block)))
        return DraftedTree.chain(block, self.draft, self.target)

    @abstractmethod
    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Verify drafted tokens: the rule as a program, in the steps of its source.

        Parameters
        ----------
        drafts : DraftedTree
            The drafted tokens, with the distributions of both models after each.
        chance : Chance
            All the randomness of the program. It must make the same choices again when it is run
            again for the same drafts.

        Returns
        -------
        int, ndarray of shape (n,), or both
            The node up to which everything is kept: the target goes on after it. Or the node, −1
            if nothing is kept, and the distribution of the one token after it. A distribution
            alone means that nothing is kept.
        """

    def following(self, kept: Prefix, row: Distribution) -> Model:
        """Return the model of everything after what is kept: ``row``, (n,), and then the target."""
        return OneCorrectedToken(self.target.after(kept), row)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield all outcomes, each X^τ once; masses sum to 1. Small vocabularies only."""
        return self._summed(
            (mass * share, ending)
            for mass, drafts in branches(self.draw)
            for share, ending in branches(partial(self._ending, drafts))
        )

    def outcomes_of(self, drafts: DraftedTree) -> Iterator[Outcome]:
        """Yield the same given the drafts."""
        return self._summed(branches(partial(self._ending, drafts)))

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draft at random, verify, and return what happened."""
        chance = Drawn(as_generator(rng))
        return self.outcome(self.draw(chance), chance)

    def outcome(self, drafts: DraftedTree, chance: Chance) -> Outcome:
        """Verify given drafts, and return what happened."""
        return self.ended(*self._ending(drafts, chance))

    def ended(self, kept: Prefix, row: Distribution | None, mass: Number = 1) -> Outcome:
        """Return the outcome in which a text is kept; without a row the target goes on."""
        following = self.target.after(kept) if row is None else self.following(kept, row)
        return Outcome(kept, self.target.number(mass), following)

    def _ending(self, drafts: DraftedTree, chance: Chance) -> Ending:
        """Run the program, and return how it ends."""
        node, row = node_and_row(self.verify(drafts, chance))
        return drafts.text(node), row

    def _summed(self, ways: Iterable[tuple[Number, Ending]]) -> Iterator[Outcome]:
        """Yield the outcome of each text that is kept, with the mean of the rows after it."""
        masses: dict[Prefix, Any] = {}
        plain: dict[Prefix, Any] = {}  # the mass of the ways after which the target follows
        rows: dict[Prefix, tuple[Any, Distribution]] = {}  # Σ mass · row of the others, and a row
        for mass, (kept, row) in ways:
            masses[kept] = masses.get(kept, 0) + mass
            if row is None:
                plain[kept] = plain.get(kept, 0) + mass
            else:
                rows[kept] = rows.get(kept, (0, row))[0] + mass * row, row
        for kept, mass in masses.items():
            if kept not in rows:
                yield self.ended(kept, None, mass)
                continue
            total, row = rows[kept]
            if kept in plain:
                total = total + plain[kept] * self.target(kept)
            yield self.ended(kept, normalized(total, row), mass)

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the drafted set of sequences, by enumeration; else ``ValueError``."""
        raise ValueError(
            f"rule is {type(self).__name__}, whose drafts are not known: audit it with "
            "optimum=False"
        )

    def expected(self) -> Number:
        """Return E[τ], the expected number of drafted tokens that are kept."""
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
        known: dict[tuple[Prefix, Prefix], Number] = {}
        for text, mass in as_beginnings(beginnings, self.target).items():
            remembered = self.draft.context(text), self.target.context(text)
            if remembered not in known:
                after = self.restarted(self.draft.after(text), self.target.after(text))
                known[remembered] = after.expected()
            total += mass * known[remembered]
        return self.target.number(total)

    def efficiency(self) -> Number:
        """Return E[τ] + 1, the tokens per call of the target; a token counts after an end, too."""
        return self.expected() + 1

    def restarted(self, draft: Model, target: Model) -> "BlockRule":
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
    """Check a rule for drafted blocks."""
    wanted = "a BlockRule, such as BlockVerificationPreprint(draft, target, 2)"
    return as_instance(rule, "rule", BlockRule, wanted)


def enumerated_expected(rule: BlockRule) -> Number:
    """Return E[τ] by enumerating the outcomes; small vocabularies only."""
    total: Any = rule.target.number(0)
    for outcome in rule.outcomes():
        total += outcome.mass * len(rule.kept_text(outcome))
    return rule.target.number(total)
