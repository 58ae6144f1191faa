"""Two drafts, one of them always the likeliest token (SpecHub, alg. 3)."""

from dataclasses import dataclass

from otspec.batch._array_api import inversion
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._array_api.sums import (
    block_figures,
    block_sums,
    common,
    excess,
    the_draft,
    the_target,
    totals,
)
from otspec.batch._results import Verified


def verify(problem: Problem) -> Verified:
    """Serve a token x off the hub a from the pairs (x, a), then (a, x); a takes what is left."""
    library, xp = problem.library, problem.library.xp
    draft, target = problem.draft, problem.target
    hub = find_hub(library, draft)
    shares = hub_shares(library, draft, target, hub)
    hub_last = problem.drafts[..., 1] == hub.token
    certain = hub_last & (problem.drafts[..., 0] == hub.token)
    at = xp.astype(hub_last, library.index)
    off = library.pick(problem.drafts, 1 - at)[..., None]
    drafted, wanted = library.take(draft, off)[..., 0], library.take(target, off)[..., 0]
    # Of (x, a) the token off the hub may take all, of (a, x) what it still lacks.
    lacking = wanted - xp.minimum(wanted, drafted)
    off_wanted = xp.where(hub_last, wanted, lacking)
    off_wanted = xp.where(certain, xp.zeros_like(lacking), off_wanted)
    off_offered = xp.where(hub_last, drafted, hub.odds * (drafted * library.factor))
    off_took = inversion.accepts(library, problem.uniforms[..., 0], off_wanted, off_offered)
    served = xp.where(hub_last, shares.last_taken, shares.first_taken)
    available = xp.where(hub_last, shares.last, shares.first)
    hub_took = ~off_took & inversion.accepts(library, problem.uniforms[..., 1], served, available)
    is_first = xp.where(hub_last & ~certain, off_took, ~hub_last & hub_took | certain & hub_took)
    is_second = xp.where(hub_last & ~certain, hub_took, ~hub_last & off_took)
    took = xp.stack([is_first, is_second], axis=-1)
    drawn = _draw_rest(problem, hub, shares)
    return inversion.verified(problem, took, drawn)


def acceptance(library: Library, draft, target) -> Array:
    """Return q(a) + Σ_{x ≠ a} min(q, p/(1 − p(a))), at most 1."""
    shares = hub_shares(library, draft, target, find_hub(library, draft))
    return library.xp.clip(shares.served + shares.first_taken + shares.last_taken, max=1.0)


@dataclass(frozen=True)
class Hubs:
    """The likeliest token a of each row; all of shape (...), but the blocks."""

    token: Array
    mass: Array  # p(a)
    others: Array  # the mass of all other tokens, added up without it
    odds: Array  # times the others' mass, scaled, it is p(a); 0 if the hub is certain
    blocks: Array  # (..., ceil(V / 256)): the draft's block sums without the hub
    scale: Array  # times their scaled draft mass is what tokens off the hub are offered


def find_hub(library: Library, draft) -> Hubs:
    """Return the likeliest token of each row, of equally likely ones the first."""
    xp = library.xp
    every, highest = block_figures(library, draft)
    block = library.ids(xp.argmax(highest, axis=-1))
    ids, weights = inversion.block_weights(library, draft, draft, the_draft, block)
    within = library.ids(xp.argmax(weights, axis=-1))
    token, mass = library.pick(ids, within), library.pick(weights, within)
    blocks = inversion.without(library, draft, draft, the_draft, every, token[..., None])
    others = xp.sum(blocks, axis=-1)
    odds = library.quotient(mass, others * library.factor)
    return Hubs(token, mass, others, odds, blocks, 1 / library.factor + odds)


@dataclass(frozen=True)
class HubShares:
    """What the hub takes of the pairs that the other tokens leave, all of shape (...)."""

    first: Array  # what is left of the pairs (a, x)
    last: Array  # and of (x, a)
    first_taken: Array  # what the hub takes of them
    last_taken: Array
    rest: Array  # what the hub still lacks
    served: Array  # what the tokens off the hub take


def hub_shares(library: Library, draft, target, hub: Hubs) -> HubShares:
    """Return what the hub takes of the pairs that are left."""
    xp = library.xp
    wanted, drafted = library.pick(target, hub.token), library.pick(draft, hub.token)
    wanted, drafted = library.widened(wanted), library.widened(drafted)
    factor, zero = library.factor, xp.zeros_like(hub.scale)
    scale = library.rounded(hub.scale)
    pair = totals(library, draft, target, common(library), common(library, scale, factor))
    at_last = xp.clip(pair[0] - xp.minimum(drafted, wanted), min=0.0)
    served = xp.clip(pair[1] - xp.minimum(scale * (drafted * factor), wanted), min=0.0)
    first = xp.clip(hub.mass - (served - at_last), min=0.0)
    # If the hub is certain, the pair (a, a) counts among the last.
    last = xp.where(hub.others > 0, xp.clip(hub.others - at_last, min=0.0), hub.mass)
    first = xp.where(hub.others > 0, first, zero)
    first_taken = xp.minimum(first, wanted)
    last_taken = xp.minimum(last, wanted - first_taken)
    rest = wanted - first_taken - last_taken
    return HubShares(first, last, first_taken, last_taken, rest, served)


def _draw_rest(problem: Problem, hub: Hubs, shares: HubShares) -> Array:
    """Draw from what is left of the target: (q − p/(1 − p(a)))₊ off the hub, the rest at it."""
    library, draft, target = problem.library, problem.draft, problem.target
    xp = library.xp
    at_hub = hub.token[..., None]
    rest = excess(library, hub.scale, library.factor)
    whole, lacking = block_sums(library, draft, target, the_target, rest)
    lacking = inversion.without(library, draft, target, rest, lacking, at_hub)
    weights = xp.stack([shares.rest, xp.sum(lacking, axis=-1)], axis=-1)
    entry, left = inversion.locate(library, weights, problem.uniforms[..., -1])
    drawn = inversion.draw_rest(problem, rest, [whole, lacking], uniforms=left, excluded=at_hub)
    possible = (xp.sum(weights, axis=-1) > 0) | (library.take(target, at_hub)[..., 0] > 0)
    return xp.where((entry == 0) & possible, hub.token, drawn)
