"""SpecHub's drafts, algorithms 2 and 3, the pairs they are checked on; its programs, exactly.

Algorithm 1 is `rejection_distinct` of the shared ones. The programs are (1), the simplified one of
section 3, and the flow of appendix E.
"""

from fractions import Fraction
from functools import cached_property, partial
from itertools import permutations, product
from math import lcm

import networkx as nx

from validation import algorithms as shared
from validation.algorithms import Branch, Ran
from validation.claim import at_least, equal
from validation.domains import drafts, laws, mixed, pairs
from validation.notation import ONE, ZERO, marginals, same, total
from validation.simplex import Program


def get_residual(target, draft, a):
    """Run algorithm 2, GetResidual, as printed."""
    both = list(enumerate(zip(target, draft, strict=True)))
    wanted = tuple(q if x == a else max(q - p, ZERO) for x, (q, p) in both)
    return wanted, tuple(ZERO if x == a else max(p - q, ZERO) for x, (q, p) in both)


class Hub:
    """The pairs (x, a) and (a, x) of a hub a that is not certain, and what is left of them."""

    def __init__(self, draft, target):
        self.a = a = draft.index(max(draft))
        self.p, self.q, self.odds = draft[a], target[a], draft[a] / (1 - draft[a])
        self.others = [(x, p, target[x]) for x, p in enumerate(draft) if x != a]
        # P(x, a) and P(a, x), 0 at a; what is left of the target and of them: q', q'' and P'.
        self.target, self.last = target, (*draft[:a], ZERO, *draft[a + 1 :])
        self.first = tuple(self.odds * mass for mass in self.last)
        self.once, self.last_left = get_residual(target, self.last, a)
        self.twice, self.first_left = get_residual(self.once, self.first, a)
        self.lasts, self.firsts = total(self.last_left), total(self.first_left)
        self.table = {(x, a): mass for x, mass in enumerate(self.last) if mass}
        self.table |= {(a, x): mass for x, mass in enumerate(self.first) if mass}

    def algorithm_3(self, x, literal=False):
        """Run algorithm 3, its hub's residuals updated before the branches.
        ``literal``: as printed, q'(a) only where a is the first draft and q''(a) only where it is
        the second, so that the other kind of pairs never hears of it."""
        other = int(x[0] == self.a)  # which of the drafts is not the hub: it is verified first
        offered, wanted = ((self.last, self.target), (self.first, self.once))[other]
        for_second = self.q if literal else max(self.q - self.firsts, ZERO)
        hub, left = ((for_second, self.lasts), (self.q, self.firsts))[other]
        keep = min(ONE, wanted[x[other]] / offered[x[other]])
        yield Branch(keep, x[other], other)
        if keep < 1:
            then = min(ONE, hub / left)
            yield Branch((1 - keep) * then, self.a, 1 - other)
            if then < 1:
                of_hub = self.q if literal and other else max(for_second - self.lasts, ZERO)
                rest = (*self.twice[: self.a], of_hub, *self.twice[self.a + 1 :])
                for y, mass in enumerate(shared.normalized(rest)):
                    yield Branch((1 - keep) * (1 - then) * mass, y, None)

    ran = cached_property(lambda self: Ran(self.algorithm_3, self.table))
    """What algorithm 3, with its updates, does."""
    literal = cached_property(lambda self: Ran(partial(self.algorithm_3, literal=True), self.table))
    """What algorithm 3 does as printed."""


def spechub(draft, target):
    """Return what algorithm 3, with its updates, does."""
    return Hub(draft, target).ran


rrs = partial(shared.ran_iid, shared.rejection, k=2)
"""What algorithm 1 does with independent drafts."""
rrsw = partial(shared.ran_distinct, shared.rejection_distinct, k=2)
"""What algorithm 1 does with drafts without replacement."""


UNCERTAIN = drafts(5, random_n=9).where(lambda draft: max(draft) < 1)
HUBS = mixed(
    laws("draft", "target", n=4, least=2).where(lambda draft, target: draft[0] == max(draft) < 1
        and (others := list(zip(draft, target, strict=True))[1:]) == sorted(others, reverse=True)),
    pairs(n=4, least=2, random_n=5).where(lambda draft, **_: max(draft) < 1))  # fmt: skip
"""Pairs in which the hub, any of the likeliest tokens, is not certain.

Of the small ones those with hub 0 and with the other tokens, interchangeable, sorted."""


def joint_table(joint, n, k):
    """Return the law with these masses in the order of the tuples."""
    return {x: mass for x, mass in zip(product(range(n), repeat=k), joint, strict=True) if mass}


def program_of(table, target, keys, *, equal=False):
    """Return the program in the masses of some drafts and outputs, with both marginals.
    With each come how often it counts in its rows, and in the sum that is maximized. ``equal``:
    whether the marginals are attained."""
    chosen = list(enumerate(keys))
    program = Program(len(chosen))
    program.objective = [Fraction(gain) for _, (*_, gain) in chosen]
    for part, marginal in enumerate((table.items(), enumerate(target))):
        for line, mass in marginal:
            row = [(v, key[2]) for v, key in chosen if key[part] == line]
            program.add(row, mass, equal=equal)
    return program


def transport(table, target):
    """Solve the program (1): couple drafts and output at the least cost."""
    keys = list(product(table, range(len(target))))
    rows = ((x, y, 1, -int(y not in x)) for x, y in keys)
    value, point = program_of(table, target, rows, equal=True).solve()
    return -value, dict(zip(keys, point, strict=True))


def simplified(table, target, *, once=False):
    """Solve the simplified program, as printed or with each distinct token counted once."""
    keys = [(x, y) for x in table for y in sorted(set(x))]
    times = [1 if once else x.count(y) for x, y in keys]
    rows = ((*key, count, count) for key, count in zip(keys, times, strict=True))
    value, point = program_of(table, target, rows).solve()
    return 1 - value, dict(zip(keys, point, strict=True))


def unallocated(plan, table, target, once):
    """Return what the sums over i leave of each tuple and of each token."""
    of_drafts, of_tokens = dict(table), list(target)
    for (x, y), mass in plan.items():
        times = 1 if once else x.count(y)
        of_drafts[x] -= times * mass
        of_tokens[y] -= times * mass
    return of_drafts, tuple(of_tokens)


def completed(plan, table, target, *, once=True, everywhere=False):
    """Complete a solution by the product of what is left, for the tokens off the drafts.
    ``everywhere``: also for those among the drafts. Where nothing is left it adds nothing."""
    of_drafts, of_tokens = unallocated(plan, table, target, once=once)
    coupling, scale = dict(plan), total(of_tokens)
    for (x, left), (y, wanted) in product(of_drafts.items(), enumerate(of_tokens)):
        if scale and (everywhere or y not in x):
            coupling[x, y] = coupling.get((x, y), ZERO) + wanted / scale * left
    return coupling


def couples(coupling, table, target):
    """Fail unless no mass is negative and both marginals are right."""
    at_least(min(coupling.values()), ZERO, "least mass")
    drafts, output = marginals(coupling, len(target))
    for x, mass in table.items():
        equal(drafts.get(x, ZERO), mass, f"sum over y at the drafts {x}")
    return same(output, target, "sum over drafts")


def maximum_flow(table, target):
    """Return the maximum flow of appendix E's network as printed, and its nodes and arcs."""
    n, network = len(target), nx.DiGraph()
    arcs = {("source", v): total(table.get((v, w), ZERO) for w in range(n)) for v in range(n)}
    arcs |= {(v, "sink"): mass for v, mass in enumerate(target)}
    arcs |= {(u, v): table.get((u, v), ZERO) for u, v in permutations(range(n), 2)}
    unit = lcm(*(capacity.denominator for capacity in arcs.values()))
    for (tail, head), capacity in arcs.items():
        at_least(ONE, capacity, "capacity 1")
        network.add_edge(tail, head, capacity=int(capacity * unit))
    value = Fraction(int(nx.maximum_flow_value(network, "source", "sink")), unit)
    return value, network.number_of_nodes(), network.number_of_edges()
