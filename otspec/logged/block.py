"""Tokens that were logged (Theory, 11 and 27): both models along them, nowhere else."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, Number, as_number, is_exact, zeros
from otspec._base.arguments import as_callable, as_flag, as_list, as_tokens
from otspec.blocks.single_draft import SingleDraftRule, as_single_draft_rule
from otspec.blocks.trees.shapes import Shape, as_shape
from otspec.blocks.trees.verifiers.nodes import TokenRule, made_rule
from otspec.distributions import Distribution, as_distribution, as_k, as_pair, check_alike
from otspec.estimate import Estimate, Exact, Known
from otspec.logged.traversal import traversal_kept
from otspec.models.derived import EndingModel, LoggedModel
from otspec.rules import NotExactError, Rule, TargetOnly
from otspec.rules.base.accepted import acceptance_or_estimate

MOST_LOST = 1e-12  # up to which mass floats that were rounded to zero count as such


def as_sampling(
    sampling: Any, draft: Sequence[Distribution], target: Sequence[Distribution], positions: int
) -> tuple[Distribution, ...]:
    """Check the rows of the law that logged tokens were drawn from."""
    given = as_list(sampling, "sampling", "a sequence of distributions")
    if len(given) < positions:
        raise ValueError(
            f"sampling has {len(given)} rows, but there are {positions} tokens: log the law that "
            "each of them was drawn from"
        )
    rows = tuple(as_distribution(row, f"sampling[{i}]") for i, row in enumerate(given))
    for i, row in enumerate(rows):
        check_alike("draft[0]", draft[0], f"sampling[{i}]", row)
    for position, three in enumerate(zip(rows[:positions], draft, target, strict=False)):
        _check_support(position, *three)
    return rows


def _check_support(
    position: int, row: Distribution, draft: Distribution, target: Distribution
) -> None:
    lost = np.flatnonzero((row == 0) & (draft > 0) & (target > 0))
    if lost.size == 0:
        return
    mass: Number = np.minimum(draft[lost], target[lost]).sum()
    if is_exact(draft) or mass > MOST_LOST:
        raise ValueError(
            f"sampling[{position}] never draws token {lost[0]}, which can be drafted and accepted "
            "there: estimates would miss it; use tokens of a law that draws all that both models "
            "give, such as the target's own"
        )


def check_drafted(draft: Sequence[Distribution], sampled: Sequence[Distribution]) -> None:
    """Refuse tokens of another law than the draft's."""
    for position, rows in enumerate(zip(draft, sampled, strict=False)):
        if not np.array_equal(*rows):
            raise ValueError(
                f"sampling[{position}] is not the draft there, and the law of one block is that of "
                "drafted tokens only: ask by_level() or expected(), which weigh tokens"
            )


@dataclass(frozen=True, eq=False)
class LoggedBlock(Frozen):
    """A block of tokens and the distributions of both models along it.

    The tokens are a drafted block, or with ``sampling`` those of another law, such as the target's
    own text. Then every estimate has the same mean, by the weights of that law: with those of the
    target no token weighs more than 1.

    Parameters
    ----------
    draft, target : array_like, shape (L + 1, n) or (L, n)
        Row i: the distribution of the token after the first i tokens of the block. The last row
        of L + 1 is not needed to verify.
    tokens : sequence of int, length L
        The block, drawn from the draft model, or from ``sampling``.
    end : collection of int, optional
        Tokens that end a text, with the first of which the block is over: what was logged behind
        it is left out. Then it is a block of any greater length, too.
    sampling : array_like, shape (L + 1, n) or (L, n), optional
        Row i: the distribution that token i was drawn from, if not the draft's: the draft's at
        another temperature, or the target's.

    Raises
    ------
    ValueError
        Rows that are no distributions, unlike each other or too few; a token that both models give
        but ``sampling`` does not, so that no estimate would count it.
    """

    draft: Sequence[Distribution]
    target: Sequence[Distribution]
    tokens: Sequence[int]
    end: Collection[int] = ()
    sampling: Sequence[Distribution] | None = None

    def __post_init__(self) -> None:
        drafts, targets = (
            as_list(rows, name, "a sequence of distributions")
            for rows, name in ((self.draft, "draft"), (self.target, "target"))
        )
        if len(drafts) != len(targets):
            raise ValueError(
                f"draft has {len(drafts)} rows and target {len(targets)}: log both models "
                "at the same positions"
            )
        given = as_list(self.tokens, "tokens", "a sequence of integer token ids")
        if not 0 < len(given) <= len(drafts):
            raise ValueError(
                f"tokens has {len(given)} tokens, but there are rows for {len(drafts)}: a "
                "block of L tokens, at least one, needs L rows or L + 1"
            )
        n = len(as_distribution(drafts[0], "draft[0]"))
        tokens = as_tokens(given, n, "tokens")
        pairs = [as_pair(*rows) for rows in zip(drafts, targets, strict=True)]
        draft, target = zip(*pairs, strict=True)
        for i, row in enumerate(draft):
            check_alike("draft[0]", draft[0], f"draft[{i}]", row)
        end = tuple(sorted(as_tokens(self.end, n, "end", unordered=True)))
        stop = next((i for i, token in enumerate(tokens, 1) if token in end), len(tokens))
        self._hold(draft=draft, target=target, tokens=tokens[:stop], end=end)
        if self.sampling is not None:
            self._hold(sampling=as_sampling(self.sampling, draft, target, stop))

    @property
    def sampled(self) -> Sequence[Distribution]:
        """The rows that the tokens were drawn from."""
        return self.draft if self.sampling is None else self.sampling

    @property
    def ended(self) -> bool:
        """Whether the block is over with an end token."""
        return self.tokens[-1] in self.end

    def kept(self, rule: type[SingleDraftRule], length: int) -> Array:
        """Return the law of τ when a rule verifies the first tokens of the block.

        Parameters
        ----------
        rule : type
            A rule for one drafted block.
        length : int
            How many tokens of the block count as the draft.

        Returns
        -------
        ndarray, shape (length + 1,), or less if the block ends before
            Its mean τ is an unbiased estimate of E[τ] after the block's prompt;
            :meth:`expected` is a closer one.

        Raises
        ------
        ValueError
            More tokens than the block has, one that is never drafted, or tokens of another law.
        """
        self.check(length)
        as_single_draft_rule(rule)
        check_drafted(self.draft[:length], self.sampled)
        text = tuple(self.tokens)
        draft = LoggedModel(self.draft, text, "draft")
        target = EndingModel(LoggedModel(self.target, text, "target"), self.end)
        return rule(draft, target, length).kept(text[:length])

    def expected(self, rule: type[SingleDraftRule], length: int) -> Number:
        """Estimate how many of the first tokens a rule keeps, E[τ] after the block's prompt.

        Σ_ℓ of what the formula of E[τ] says of all texts that follow the first ℓ − 1 logged tokens.
        It is unbiased over drafted blocks. For every block the published block verification has at
        least what token verification has, and the preprint's at least that. Errors: :meth:`kept`.
        """
        return as_number(self.by_level(rule, length).sum(), like=self.draft[0])

    def by_level(self, rule: type[SingleDraftRule], length: int) -> Array:
        """Estimate P(τ ≥ 1), …, P(τ ≥ length) without bias; errors: :meth:`kept`."""
        self.check(length)
        as_single_draft_rule(rule)
        kept = zeros(length, like=self.draft[0])
        wanted: Any = 1
        drafted: Any = 1
        rows = zip(self.tokens[:length], self.draft, self.target, self.sampled, strict=False)
        for level, (token, draft, target, sampled) in enumerate(rows):
            possible = np.flatnonzero((draft > 0) & (target > 0))
            with np.errstate(over="ignore"):  # a ratio beyond the floats: kept for sure
                masses = rule.step(wanted, drafted, draft[possible], target[possible])
            kept[level] = np.minimum(*masses).sum()
            place = np.flatnonzero(possible == token)
            if place.size == 0:  # no rule keeps it: longer texts add nothing
                break
            wanted, drafted = (mass[place[0]] / sampled[token] for mass in masses)
        return kept

    def expected_of_tree(self, tree: Any, rule: TokenRule) -> Known:
        """Estimate how many tokens a tree of drafts keeps, E[τ] after the block's prompt.

        Only one drafted text was logged. Its token x stands for a selected one that goes on with
        child i with the weight a(i, x)/p(x), a the law of the accepted output by the first draft
        that it equals, and p the law that x was drawn from.

        Parameters
        ----------
        tree : str, sequence of int, TokenTree or Shape
            Any tree, see :func:`otspec.blocks.as_shape`; equal children stay apart
            (:class:`otspec.blocks.DraftSelection` with ``merge=False``).
        rule : callable
            (draft, target, k) → a rule for one token.

        Returns
        -------
        Exact or Estimate
            Σ_ℓ Σ_paths Π_{i<ℓ} a_i(path_i, x_i)/p_i(x_i) · acceptance_ℓ, unbiased over drafted
            blocks. An :class:`otspec.estimate.Estimate` of that where the rule has no exact
            acceptance.

        Raises
        ------
        ValueError
            As :meth:`kept`; or a rule without a formula or an estimate of its accepted law above
            the last depth.
        """
        shape = as_shape(tree)
        as_callable(rule, "rule", "a class of otspec.rules, or a function of draft, target and k")
        self.check(shape.depth)
        total: Any = 0
        weights: dict[Shape, Any] = {shape: 1}
        rows = zip(self.tokens, self.draft, self.target, self.sampled, strict=False)
        for token, draft, target, sampled in rows:
            after: dict[Shape, Any] = {}
            for shape, weight in weights.items():
                made = made_rule(
                    TargetOnly if shape.top else rule, draft, target, len(shape.children)
                )
                acceptance = acceptance_or_estimate(made)
                total += weight * acceptance
                if shape.depth > 1:
                    simulated = isinstance(acceptance, Estimate)
                    for child, output in _accepted_children(made, shape, token, simulated):
                        after[child] = after.get(child, 0) + weight * output / sampled[token]
            weights = {
                shape: weight
                for shape, weight in after.items()
                if shape.children and (isinstance(weight, Estimate) or weight != 0)
            }
        if isinstance(total, Estimate):
            return total
        return Exact(as_number(total.value, self.draft[0]))

    def expected_of_traversal(self, tree: Any, *, merge: bool = True) -> Number:
        """Estimate what Traversal Verification keeps of a tree, unbiased; errors: :meth:`kept`."""
        shape = as_shape(tree)
        as_flag(merge, "merge")
        self.check(shape.depth)
        steps = zip(self.tokens, self.draft, self.target, self.sampled, strict=False)
        one = as_number(1, like=self.draft[0])
        return as_number(traversal_kept(steps, shape, one, merge), like=self.draft[0])

    def check(self, length: int) -> None:
        """Refuse more tokens than there are, or one that is never drawn, with a ``ValueError``."""
        if as_k(length, "length") > len(self.tokens) and not self.ended:
            raise ValueError(f"length is {length}, but the block has {len(self.tokens)} tokens")
        for depth, token in enumerate(self.tokens[:length]):
            if not self.sampled[depth][token] > 0:
                never = "sampling never draws" if self.sampling else "the draft model never drafts"
                raise ValueError(f"tokens[{depth}] is {token}, which {never} there")


def _accepted_children(
    rule: Rule, shape: Shape, token: int, simulated: bool
) -> Iterator[tuple[Shape, Number | Estimate]]:
    """Yield what may be drafted after a token, and the probability that it is accepted there."""
    children = shape.children[: rule.k]
    if len(set(children)) > 1:
        yield from zip(children, _by_draft(rule, token, simulated), strict=True)
    else:
        output = rule.estimate().of_token(token) if simulated else rule.accepted().by_token[token]
        yield children[0], output


def _by_draft(rule: Rule, token: int, simulated: bool) -> Sequence[Number | Estimate]:
    """Return the probability that a token is accepted, by draft, or estimates of it."""
    if not simulated:
        try:
            return list(rule.accepted().by_position_and_token[:, token])
        except NotExactError:
            pass
    return rule.estimate().of_token_by_position(token)
