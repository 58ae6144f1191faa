"""Any law of a selected draft by random groups of one order of the tokens (Different, prop. 7).

Groups of tokens are put in order; one of the drafts in the first group that holds a draft is
selected uniformly at random. From the law of these groups go through the wanted law until a set of
tokens inside a group is selected as rarely as it can be: it becomes a group of its own, behind the
rest of its group. What is wanted is a mixture of the law of the groups and the law at the end of
the way, which the finer groups go on with.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from otspec._base.arithmetic import Array, Number, zeros
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw

Groups = tuple[tuple[int, ...], ...]
"""Groups of tokens, the first to be looked at first."""
Grouping = tuple[Number, Groups]
"""How likely some groups are, and the groups."""


def groupings(law: DraftLaw, selection: Distribution) -> list[Grouping]:
    """Return random groups of one order that select with a wanted law.

    ``selection``, shape (n,): exact, and nowhere below P(all drafts inside A). Each grouping
    divides the groups of the one before, so that all join neighbors of one order. At most n of
    them; all 2^n sets of tokens are looked at.
    """
    groups: Groups = (tuple(range(len(selection))),)
    wanted, left = selection, selection.sum()
    found: list[Grouping] = []
    while True:
        given = law_of_groups(law, groups)
        if (given == wanted).all():
            return [*found, (left, groups)]
        length, groups_after = min(_ways_out(law, groups, given, wanted))
        found.append((left * (1 - 1 / length), groups))
        wanted, left, groups = given + length * (wanted - given), left / length, groups_after


def law_of_groups(law: DraftLaw, groups: Groups) -> Distribution:
    """Return the law of the token that is selected, shape (n,)."""
    tuples, masses = law.tuples()
    selected = zeros(law.n, like=masses)
    for drafts, mass in zip(tuples.tolist(), masses, strict=True):
        first = in_first_group(drafts, groups)
        np.add.at(selected, [drafts[i] for i in first], mass / len(first))
    return selected


def in_first_group(drafts: Sequence[int], groups: Groups) -> list[int]:
    """Return the positions of the drafts in the first group that holds one."""
    held = ([i for i, token in enumerate(drafts) if token in group] for group in groups)
    return next(each for each in held if each)


def _ways_out(
    law: DraftLaw, groups: Groups, given: Array, wanted: Array
) -> Iterator[tuple[Number, Groups]]:
    """Yield how far the way goes for each set that is selected less and less along it."""
    # In steps from `given` to `wanted`, with the groups there.
    for place, group in enumerate(groups):
        behind = [token for other in groups[place + 1 :] for token in other]
        for chosen in (each for size in range(1, len(group)) for each in combinations(group, size)):
            members = list(chosen)
            falls = (given - wanted)[members].sum()
            if falls > 0:
                least = law.inside([*chosen, *behind]) - law.inside(behind)
                rest = tuple(token for token in group if token not in chosen)
                after = (*groups[:place], rest, chosen, *groups[place + 1 :])
                yield (given[members].sum() - least) / falls, after
