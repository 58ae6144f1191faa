"""What the papers' algorithms do with given drafts, along all branches with exact probabilities.

A rule takes the drafts and yields branches; :class:`Ran` is the rule over a law of drafts. Most
algorithms are sequential: they accept each draft in turn with some chance, and draw a token from
some law where all are rejected (:class:`Run`). Nothing here calls the package.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from validation import notation
from validation.claim import Fails
from validation.domains import Exact
from validation.notation import ONE, ZERO, Tokens, collect, total


class Undefined(Fails):
    """A step that divides zero by zero."""


def normalized(weights: Sequence[Fraction]) -> Exact:
    """Return weights divided by their sum."""
    if not any(weights):
        raise Undefined(f"normalizes {tuple(map(str, weights))}, whose sum is 0")
    return notation.normalized(weights)


def residual(target: Sequence[Fraction], draft: Sequence[Fraction]) -> Exact:
    """Return (target − draft)₊, normalized."""
    return normalized(notation.positive(target, draft))


def at_most_one(numerator: Fraction, denominator: Fraction) -> Fraction:
    """Return min(1, a/b), which is 1 where b is 0 and a is not."""
    return min(ONE, numerator / denominator) if denominator else Fraction(numerator > 0)


class Branch(NamedTuple):
    """One way to return: its probability, the output, and which draft was accepted if any."""

    mass: Fraction
    output: int
    accepted: int | None


Rule = Callable[[Tokens], Iterable[Branch]]


@dataclass(frozen=True)
class Run:
    """What a sequential algorithm does with given drafts."""

    drafts: Tokens
    chances: tuple[Fraction, ...]
    """The probability that draft i is accepted if all earlier ones were rejected; shorter than the
    drafts if one is accepted with certainty."""
    targets: tuple[Exact, ...]
    """The target in each of these rounds and, last, the law that is drawn from after all."""

    def reach(self, rounds: int) -> Fraction:
        """Return the probability that the first ``rounds`` drafts are all rejected."""
        return self._reaches[min(rounds, len(self.chances))]

    @cached_property
    def _reaches(self) -> list[Fraction]:
        return list(accumulate(self.chances, lambda left, chance: left * (1 - chance), initial=ONE))

    def branches(self) -> Iterator[Branch]:
        """Yield the branches of positive probability."""
        for i, (token, chance) in enumerate(zip(self.drafts, self.chances, strict=False)):
            if chance and self.reach(i):
                yield Branch(self.reach(i) * chance, token, i)
        if last := self.reach(len(self.chances)):
            drawn = self.targets[-1]
            yield from (Branch(last * mass, y, None) for y, mass in enumerate(drawn) if mass)


def one_by_one(
    drafts: Tokens, chance: Callable[[int, int], Fraction], drawn: Callable[[], Exact]
) -> Run:
    """Run a sequential algorithm: ``chance(i, token)`` of each draft, and what is drawn last.

    ``drawn`` is asked only where all drafts can be rejected."""
    chances: list[Fraction] = []
    for i, token in enumerate(drafts):
        chances.append(chance(i, token))
        if chances[-1] == 1:
            return Run(drafts, tuple(chances), ())
    return Run(drafts, tuple(chances), (drawn(),))


def maximal_coupling(draft: Exact, target: Exact) -> Rule:
    """Return speculative sampling of one draft (SpecTr, alg. 1); p^res only if it is drawn from."""
    return lambda x: rejection(target, draft, x).branches()


def rejection(target: Exact, draft: Exact, drafts: Tokens) -> Run:
    """Run recursive rejection (MCSD, alg. 1): the residual is the target of the next round."""
    return _recursive(target, draft, drafts)


def rejection_distinct(target: Exact, draft: Exact, drafts: Tokens, literal: bool = False) -> Run:
    """Run recursive rejection without replacement (MCSD, alg. 2; SpecHub, alg. 1).

    The residual first, then the rejected token leaves the draft, which is normalized; with
    ``literal`` also after the last round, where nobody reads it."""
    return _recursive(target, draft, drafts, len(drafts) - (not literal))


def _recursive(target: Exact, draft: Exact, drafts: Tokens, leaving: int = 0) -> Run:
    """The first ``leaving`` drafts leave the draft law when they are rejected."""
    chances, targets = [], [target]
    for i, token in enumerate(drafts):
        chances.append(min(ONE, targets[-1][token] / draft[token]))
        if chances[-1] == 1:
            break  # the branch of a rejection is never entered
        targets.append(residual(targets[-1], draft))
        if i < leaving:
            draft = normalized((*draft[:token], ZERO, *draft[token + 1 :]))
    return Run(drafts, tuple(chances), tuple(targets))


def naive(target: Exact) -> Rule:
    """Return naive sampling: draw from the target; it is accepted if it is one of the drafts."""

    def run(x: Tokens) -> Iterator[Branch]:
        for y, mass in enumerate(target):
            yield Branch(mass, y, x.index(y) if y in x else None)

    return run


def k_sequential(draft: Exact, target: Exact, rho: Fraction, drafts: Tokens) -> Run:
    """Run k-sequential selection (SpecTr, alg. 2)."""
    return one_by_one(
        drafts,
        lambda _, y: min(ONE, target[y] / (rho * draft[y])),
        lambda: notation.normalized(remaining(draft, target, len(drafts), rho)),
    )


def beta(draft: Exact, target: Exact, rho: Fraction) -> Fraction:
    """Return Σ min(p, q/ρ), the chance of one draft in k-sequential selection."""
    return notation.overlap(draft, [mass / rho for mass in target])


@lru_cache(maxsize=4096)
def remaining(draft: Exact, target: Exact, k: int, rho: Fraction) -> Exact:
    """Return what k-sequential selection leaves of the target; below 0 for a small ρ.

    That is (1 − p_acc) p^res of (5), with p_acc/β written as Σ_{i<k} (1 − β)^i."""
    left = 1 - beta(draft, target, rho)
    times = total(left**i for i in range(k))
    return tuple(q - times * min(p, q / rho) for p, q in zip(draft, target, strict=True))


def halved(fits: Callable[[Fraction], bool], low: Fraction, high: Fraction, accuracy: Fraction):
    """Return numbers at most so far apart, of which the higher one fits: by halving."""
    while high - low > accuracy:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return low, high


Kernel = Mapping[Tokens, Mapping[int, Fraction]]
"""The probability of each token, given the drafts."""


def selecting(kernel: Kernel, target: Exact, law: Exact) -> Rule:
    """Return the canonical two steps: select a draft by a kernel, verify it against its law."""
    rest = residual(target, law) if law != target else ()

    def run(x: Tokens) -> Iterator[Branch]:
        for y, chance in kernel[x].items():
            keep = min(ONE, target[y] / law[y]) if chance else ONE
            yield Branch(chance * keep, y, x.index(y) if y in x else None)
            if keep < 1:
                yield from (Branch(chance * (1 - keep) * m, z, None) for z, m in enumerate(rest))

    return run


class Ran:
    """What a rule does over a law of drafts, the drafts with their probabilities."""

    def __init__(self, rule: Rule, table: Mapping[Tokens, Fraction]) -> None:
        self.table = table
        self.branches = [
            (x, branch._replace(mass=mass * branch.mass))
            for x, mass in table.items()
            for branch in rule(x)
            if branch.mass
        ]

    def chance(self, event: Callable[[Tokens, Branch], bool]) -> Fraction:
        """Return the probability of an event of the drafts and the branch taken."""
        return total(branch.mass for x, branch in self.branches if event(x, branch))

    def output(self, n: int) -> Exact:
        """Return the law of the output."""
        return notation.as_row(
            collect((branch.output, branch.mass) for _, branch in self.branches), n
        )

    def coupling(self) -> notation.Coupling:
        """Return the joint law of drafts and output."""
        return collect(((x, branch.output), branch.mass) for x, branch in self.branches)

    def kernel(self) -> Kernel:
        """Return the law of the output given the drafts."""
        found: dict[Tokens, dict[int, Fraction]] = {x: {} for x in self.table}
        for (x, y), mass in self.coupling().items():
            found[x][y] = mass / self.table[x]
        return found

    def accepted(self, i: int | None = None, token: int | None = None) -> Fraction:
        """Return the probability that a draft is accepted: any or the i-th, any token or one."""
        return self.chance(
            lambda _, branch: (
                branch.accepted is not None
                and i in (None, branch.accepted)
                and token in (None, branch.output)
            )
        )

    def among_drafts(self) -> Fraction:
        """Return the probability that the output is one of the drafts, for whatever reason."""
        return self.chance(lambda x, branch: branch.output in x)


Sequential = Callable[[Exact, Exact, Tokens], Run]
"""(target, draft, drafts) to what is done with them."""


def ran_iid(run: Sequential, draft: Exact, target: Exact, k: int) -> Ran:
    """Return what a sequential algorithm does with k independent drafts."""
    return Ran(lambda x: run(target, draft, x).branches(), notation.iid(draft, k))


def ran_distinct(run: Sequential, draft: Exact, target: Exact, k: int) -> Ran:
    """Return what a sequential algorithm does with k drafts without replacement."""
    return Ran(lambda x: run(target, draft, x).branches(), notation.distinct(draft, k))


def residuals(target: Exact, draft: Exact, rounds: int) -> Iterator[Exact]:
    """Yield the target and its residuals after 1, 2, ... rejections, as far as they are defined."""
    law = target
    yield law
    for _ in range(rounds):
        if law == draft:
            return
        law = residual(law, draft)
        yield law
