"""The optimum by ways that share no code with the package: all sets, and maximum flow."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise

import otspec
from otspec.drafts import DraftLaw
from validation import notation
from validation.domains import Exact
from validation.notation import ZERO, Law, Tokens, collect, mass_of, subsets, total


def table_of(law: DraftLaw) -> notation.Table:
    """Return the tuples of drafts with their probabilities, as the package states the law."""
    tuples, masses = law.tuples()
    return dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))


def bound(table: Law, target: Exact, tokens: Sequence[int]) -> Fraction:
    """Return q(A) + 1 − P(all drafts inside A), by enumerating the drafts."""
    inside = total(mass for x, mass in table.items() if set(x) <= set(tokens))
    return mass_of(target, tokens) + 1 - inside


def least_bound(table: Law, target: Exact) -> Fraction:
    """Return the least bound over all token sets."""
    return min(bound(table, target, tokens) for tokens in subsets(len(target)))


def largest_flow(supplies: Law, room: Sequence[Fraction]) -> tuple[notation.Coupling, int]:
    """Return how much each supply sends to its tokens in a largest flow, within their room.

    By shortest augmenting paths; also how many arcs were looked at for them."""
    arcs: dict[tuple[object, object], Fraction] = {("source", x): m for x, m in supplies.items()}
    arcs |= {(x, y): mass for x, mass in supplies.items() for y in x}
    arcs |= {(y, "sink"): mass for y, mass in enumerate(room)}
    open_arcs: dict[object, dict[object, Fraction]] = {"source": {}}
    open_arcs |= {node: {} for arc in arcs for node in arc}
    looks = 0
    for (start, end), capacity in arcs.items():
        open_arcs[start][end], open_arcs[end][start] = capacity, ZERO
    while True:
        came, queue = {"source": None}, ["source"]
        for node in queue:
            new = [other for other, left in open_arcs[node].items() if left and other not in came]
            came |= dict.fromkeys(new, node)
            queue += new
            looks += len(open_arcs[node])
        if "sink" not in came:
            return {(x, y): open_arcs[y][x] for x in supplies for y in set(x)}, looks
        path = ["sink"]
        while path[-1] != "source":
            path.append(came[path[-1]])
        fits = min(open_arcs[start][end] for end, start in pairwise(path))
        for end, start in pairwise(path):
            open_arcs[start][end] -= fits
            open_arcs[end][start] += fits


def spread(supplies: Law, room: Sequence[Fraction]) -> notation.Coupling:
    """Send as much as possible of each supply to its tokens, within the room of each token."""
    return largest_flow(supplies, room)[0]


def flow(table: Law, target: Exact) -> Fraction:
    """Return the optimal acceptance as a maximum flow from drafts, as sets, to outputs."""
    sets = collect((tuple(sorted(set(x))), mass) for x, mass in table.items())
    return total(spread(sets, target).values())


def laws(draft: Exact, target: Exact, k: int) -> Iterator[DraftLaw]:
    """Yield a law of every kind that exists for this pair."""
    yield otspec.IID(draft, k)
    yield otspec.Independent([draft, target][:k] if k <= 2 else [draft] * (k - 1) + [target])
    if notation.support(draft) >= k:
        yield otspec.WithoutReplacement(draft, k)
        yield otspec.TopPlusOne(draft, k)
    if notation.support(draft) >= 2 and k == 2:
        yield otspec.Hub(draft)


@lru_cache(maxsize=8192)
def optimum(draft: Exact, target: Exact, k: int = 2) -> Fraction:
    """Return the optimal acceptance of k i.i.d. drafts, as a maximum flow from their sets."""
    law = {some: mass_of(draft, some) ** k for some in subsets(len(draft))}
    for y in range(len(draft)):  # from the chance to be inside a set to that of all of it
        for some in (some for some in law if y in some):
            law[some] -= law[tuple(token for token in some if token != y)]
    return total(spread(law, target).values())


def best_coupling(table: Law, target: Exact) -> notation.Coupling:
    """Return a coupling that accepts as often as any: a maximum flow, the rest in order."""
    sent = spread(table, target)
    rows = [(x, mass - total(sent[x, y] for y in set(x))) for x, mass in table.items()]
    used = [total(sent.get((x, y), ZERO) for x in table) for y in range(len(target))]
    columns = [(y, mass - used[y]) for y, mass in enumerate(target)]
    return collect(chain(sent.items(), notation.corner(rows, columns).items()))


def best_kernel(table: Law, target: Exact) -> dict[Tokens, dict[int, Fraction]]:
    """Return an optimal selection: what a tuple does not accept selects its first token."""
    flows = spread(table, target)
    kernel = {x: {y: flows[x, y] / mass for y in set(x)} for x, mass in table.items()}
    for x, row in kernel.items():
        row[x[0]] += 1 - total(row.values())
    return kernel
