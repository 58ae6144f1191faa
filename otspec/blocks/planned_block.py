"""The rule of a best coupling with what was drafted (Theory, 16 to 18; Block, def. 1, sec. 3)."""

from dataclasses import dataclass
from typing import ClassVar

from otspec._base import Array, Number, as_instance, positive_part
from otspec._base.frozen import cached_property, frozen, read_only, remembered
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.chance import Chance
from otspec.distributions import Distribution, normalized
from otspec.models.base import Model, Prefix, as_prefix
from otspec.programs import PathPlan, PathProgram
from otspec.programs.sequences.drafted_texts import DraftedSets, Levels, Sequences, place_of
from otspec.programs.sequences.kept_texts import as_corrects


@dataclass(frozen=True, eq=False)
class PlannedBlock(BlockRule):
    """Keep of another rule's drafts what a best plan for them keeps.

    The plan knows the law of all that may be drafted, and is made anew for each block. With
    ``corrects="block"`` it is a best coupling of the drafts with the target's blocks: kept text is
    continued by the rest of the coupled block, drawn from residuals ∝ M_b(sy) − A(sy); then the
    target follows. With ``corrects="one"`` one token is drawn ∝ A(s) M_b(y | s) − A(sy), and then
    the target follows. A(s) is the probability that what is kept begins with s.

    Law: what is kept and its continuation is the target's text. E[τ] is the most of all rules for
    these drafts, or of all that correct one token. Source: Block, definition 1 and section 3.

    Parameters
    ----------
    draft, target
        As for :class:`otspec.blocks.base.BlockRule`.
    drafts : BlockRule
        The rule whose drafts are verified, and which tells their law by ``candidates()``: a
        :class:`otspec.blocks.DraftSelection`, or a rule for one drafted block.
    corrects : {"block", "one"}

    Raises
    ------
    ValueError
        Unusable models or drafts; later, drafts that are too many for a plan.

    Examples
    --------
    >>> from otspec.blocks import DraftSelection
    >>> from otspec.models import memoryless
    >>> from otspec.rules import PooledSelection
    >>> pair = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> drafts = DraftSelection(*pair, "2x1x1", PooledSelection)
    >>> drafts.expected(), PlannedBlock(*pair, drafts).expected()
    (Fraction(83, 32), Fraction(85, 32))
    >>> PlannedBlock(*pair, drafts, "one").expected()
    Fraction(21, 8)
    """

    title: ClassVar[str] = "planned block"

    drafts: BlockRule
    corrects: str = "block"

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = "a rule that tells what it drafts, such as a DraftSelection"
        as_instance(self.drafts, "drafts", BlockRule, wanted)
        as_corrects(self.corrects)
        self._hold(drafts=self.drafts.restarted(self.draft, self.target))

    @property
    def depth(self) -> int:
        """L, the most drafted tokens that can be kept."""
        return self.drafts.depth

    @cached_property
    def plan(self) -> PathPlan:
        """What is selected and kept of each drafted set."""
        drafted = DraftedSets(self.candidates(), self.target.n)
        return PathProgram(drafted, self.target, self.corrects).solve()

    def candidates(self) -> dict[Sequences, Number]:
        """Return the law of what is drafted."""
        return self.drafts.candidates()

    def expected(self) -> Number:
        """Return E[τ], the optimum of the plan's program."""
        return self.target.number(0) if self.target.ended(()) else self.plan.expected

    def draw(self, chance: Chance) -> DraftedTree:
        """Draw a set of sequences from the law of what is drafted, and return its tree."""
        drafted: set[Prefix] = set()
        if not self.target.ended(()):  # else nothing is drafted, and there is no plan
            law = self.plan.drafted
            for text in tuple(law.candidates)[chance.choose(law.chances)]:
                drafted.update(text[:length] for length in range(1, len(text) + 1))
        return DraftedTree.of_texts(sorted(drafted), self.draft, self.target)

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Draw what is kept of the drafted sequences, as the plan says."""
        leaves = set(range(len(drafts))) - set(drafts.parents)
        if not leaves:
            return ROOT
        law = self.plan.kept(frozenset(map(drafts.text, leaves)))
        text = tuple(law)[chance.choose(list(law.values()))]
        node, rest = drafts.node(text), PlannedRest(self.target, self.plan.at_least)
        if rest.is_over(text):
            return node
        # A(s) M_b(y | s) − A(sy) for one corrected token, M_b(sy) − A(sy) for the whole block.
        if self.corrects == "block":
            return node, rest.after(text)(())
        return node, rest.residual(text, self.plan.at_least[len(text)][place_of(text, rest.n)])

    def following(self, kept: Prefix, row: Distribution) -> Model:
        """Return the model of everything after what is kept."""
        if self.corrects == "block":
            return PlannedRest(self.target, self.plan.at_least).after(kept)
        return super().following(kept, row)


class PlannedRest(Model):
    """What the target's block is after what was kept of it, if no more is known.

    Law: after a text s of less than L tokens the next is drawn ∝ M_b(sy) − A(sy), A = ``at_least``;
    then the target follows. ``start``: what was kept, and what followed it.
    """

    def __init__(self, target: Model, at_least: Levels, start: Prefix = ()) -> None:
        self._target, self._at_least = target, frozen(tuple(at_least))
        self._start = as_prefix(start, target.n)
        self.n, self.exact = target.n, target.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after the start and a prefix, shape (n,)."""
        text = self._start + as_prefix(prefix, self.n)
        return self._target(text) if self.is_over(text) else self._row(text)

    @remembered
    def _row(self, text: Prefix) -> Distribution:
        return read_only(self.residual(text, self._target.mass(text)))

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return self._target.ended(self._start + prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return what is left of the block, or the target."""
        text = self._start + as_prefix(prefix, self.n)
        if self.is_over(text):
            return self._target.after(text)
        return PlannedRest(self._target, self._at_least, text)

    def residual(self, text: Prefix, mass: Number) -> Array:
        """Return the row ∝ mass · M_b(y | s) − A(sy) after a text s; else the target's."""
        wanted = self._target(text)
        first = place_of(text, self.n) * self.n
        kept = self._at_least[len(text) + 1][first : first + self.n]
        return normalized(positive_part(mass * wanted - kept), wanted)

    def is_over(self, text: Prefix) -> bool:
        """Whether nothing that goes on from a text is ever kept."""
        if len(text) + 1 >= len(self._at_least):
            return True
        first = place_of(text, self.n) * self.n
        return not (self._at_least[len(text) + 1][first : first + self.n] > 0).any()
