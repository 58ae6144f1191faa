"""What a drafting policy is, and a policy and a verifier as one rule (Theory, 36 and 37)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod
from typing import Any, ClassVar

from otspec._base import Frozen, Number, as_callable, as_instance
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.drafted_tree import DraftedTree, Found
from otspec.blocks.trees.best.dynamic_tree import matched_by_depth
from otspec.blocks.trees.verifiers.draft_selection import verified_by_depth
from otspec.chance import Chance, branches, law_of
from otspec.distributions import as_k
from otspec.models import Model, Prefix, as_models, masked
from otspec.models.derived import Keep, WithNull
from otspec.rules import RecursiveRejection

Grow = Callable[[Model, Chance], Sequence[Prefix]]
"""A policy as a program: from the draft model and chance to the drafted texts, parents first."""
Verify = Callable[[DraftedTree, Chance], Found]
by_ratio: Verify = partial(verified_by_depth, RecursiveRejection)
"""Verify drafts by the ratio of target and draft, which believes that they were drawn."""
by_match: Verify = matched_by_depth
"""Draw from the target and go on where that was drafted, which asks for no draft probability."""


@dataclass(frozen=True, eq=False)
class Policy(Frozen):
    """A drafting policy: how a chain or tree is grown, and where it stops or is pruned.

    Parameters
    ----------
    name, title : str
        ``title``: what it does, in a few words.
    grow : callable
        ``grow(draft, chance)`` returns the drafted texts, one for each draft: tuples of token ids,
        each after the text without its last token; twice if it is drafted twice. All its randomness
        is from the :class:`otspec.chance.Chance`.
    levels : int
        The most tokens of a drafted text.
    keep : callable, optional
        Which tokens are kept after a drafted text, as :func:`otspec.models.masked` takes it: the
        policy drafts with the masked model, and a withdrawn draft is a null token.
    certain : bool
        Whether nothing is drawn, so that drafts are verified by a draw from the target.
    cure : str, optional
        The name of a lossless policy to use instead.

    Examples
    --------
    >>> from otspec import audit_blocks
    >>> from otspec.models import memoryless
    >>> def grow(draft, chance):  # one token, which is forgotten if it is not likely
    ...     token = chance.choose(draft(()))
    ...     return [(token,)] if draft(())[token] >= 0.5 else []
    >>> policy = Policy("mine", "drop unlikely tokens", grow, levels=1)
    >>> draft, target = memoryless(["9/10", "1/10"]), memoryless(["1/2", "1/2"])
    >>> report = audit_blocks(policy.rule(draft, target), 1, optimum=False)
    >>> report.lossless, [str(mass) for mass in report.texts.values()]
    (False, ['11/20', '9/20'])
    >>> policy.case(draft)
    'anticipating'
    """

    name: str
    title: str
    grow: Grow
    levels: int
    keep: Keep | None = field(default=None, kw_only=True)
    certain: bool = field(default=False, kw_only=True)
    cure: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        as_callable(self.grow, "grow", "a function grow(draft, chance) that returns drafted texts")
        self._hold(levels=as_k(self.levels, "levels"))

    def rule(self, draft: Any, target: Any, verify: Verify | None = None) -> BlockRule:
        """Return the policy and a verifier as one rule, which :func:`otspec.audit_blocks` takes.

        Parameters
        ----------
        draft, target : callable
            Language models.
        verify : callable, optional
            A program ``verify(drafts, chance)``; by default recursive rejection depth by depth, or
            of certain drafts a draw from the target.

        Raises
        ------
        ValueError
            Models that do not fit, or a verifier that cannot be called.
        """
        if verify is None:
            verify = by_match if self.certain else by_ratio
        as_callable(verify, "verify", "a function verify(drafts, chance)")
        if self.keep is not None:
            draft, target = masked(draft, target, self.keep)
        return PolicyRule(draft, target, self, verify)

    def law(self, draft: Model) -> dict[tuple[Prefix, ...], Number]:
        """Return the law of the drafted texts, given what drafts are drawn from."""
        return law_of(lambda chance: tuple(self.grow(draft, chance)))

    def case(self, draft: Any) -> str:
        """Return how the cuts of a block depend on the drafts of an exact draft model.

        ``"certain"``: nothing is drawn. ``"predictable"``: given the drafts along the path, and
        their number after it, drafts have the law of the draft model. ``"masked"``: they have that
        of the model with null tokens. ``"anticipating"``: neither; a chain is then lossy already
        where the target is the draft model (Theory, 37).
        """
        model = as_models(draft, draft)[0]
        if self.keep is not None:
            model = masked(model, model, self.keep)[0]
        grown = self.law(model)
        if len(grown) == 1 and self.certain:
            return "certain"
        if not _as_drawn(grown, model):
            return "anticipating"
        return "predictable" if self.keep is None else "masked"


def _as_drawn(grown: Mapping[tuple[Prefix, ...], Number], draft: Model) -> bool:
    """Return whether the drafts after each text have the law of the draft model."""
    # That is given the drafts along the path, which a verifier has seen, and how many follow.
    groups: dict[Any, dict[Prefix, Any]] = {}
    for texts, mass in grown.items():
        families: dict[Prefix, Prefix] = {}
        for text in texts:
            families[text[:-1]] = (*families.get(text[:-1], ()), text[-1])
        for text, drafts in families.items():
            seen = tuple(families[text[:i]] for i in range(len(text)))
            group = groups.setdefault((text, seen, len(drafts)), {})
            group[drafts] = group.get(drafts, 0) + mass
    for (text, _, k), group in groups.items():
        row, total = draft(text).tolist(), sum(group.values())
        for drafts in product(range(draft.n), repeat=k):
            if group.get(drafts, 0) != total * prod(row[token] for token in drafts):
                return False
    return True


@dataclass(frozen=True, eq=False)
class PolicyRule(BlockRule):
    """A policy that drafts, and a program ``verify(drafts, chance)`` that verifies its drafts.

    :func:`otspec.audit_blocks` says whether it is lossless. Parameters and errors:
    :class:`otspec.blocks.BlockRule`; masked models if the policy masks.
    """

    title: ClassVar[str] = "policy"

    policy: Policy
    function: Verify

    def __post_init__(self) -> None:
        super().__post_init__()
        as_instance(self.policy, "policy", Policy, "a Policy")
        as_callable(self.function, "function", "a function verify(drafts, chance)")

    @property
    def depth(self) -> int:
        """The most tokens of a drafted text."""
        return self.policy.levels

    def draw(self, chance: Chance) -> DraftedTree:
        """Draft with the policy; nothing is drafted after an end token."""
        return self._tree(self.policy.grow(self.draft, chance))

    def _tree(self, texts: Sequence[Prefix]) -> DraftedTree:
        """Return drafted texts as a tree."""
        ended = self.target.ended
        going = (text for text in texts if not any(ended(text[:i]) for i in range(len(text))))
        return DraftedTree.of_texts(going, self.draft, self.target)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield all outcomes; drafts that are left alike are verified once."""
        return self._summed(
            (mass * share, ending)
            for texts, mass in self.policy.law(self.draft).items()
            for share, ending in branches(partial(self._ending, self._tree(texts)))
        )

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Run the program."""
        return self.function(drafts, chance)

    def nodes(self) -> Number:
        """Return the expected number of drafted tokens that are verified, without null tokens."""
        null = None if self.policy.keep is None else self.target.n - 1
        total: Any = 0
        for mass, drafts in branches(self.draw):
            total += mass * sum(token != null for token in drafts)
        return self.target.number(total)

    def restarted(self, draft: Model, target: Model) -> BlockRule:
        """Return the same for other models, such as those after some more text: a block begins."""
        begins = draft.begun() if isinstance(draft, WithNull) else draft
        return replace(self, draft=begins, target=target)


def named(*policies: Policy) -> Mapping[str, Policy]:
    """Return policies by name."""
    return {policy.name: policy for policy in policies}
