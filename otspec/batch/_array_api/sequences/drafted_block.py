"""Verification of one drafted block: token by token, and jointly (Theory, 7–9).

After i tokens the draw is from (target − c·draft)₊: c is 1 token by token, M_s/M_b of these tokens
in block verification, 0 after the whole block. So the rules differ only in which lengths are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otspec.batch._array_api.inversion import accepts, draw_rest
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._array_api.sums import block_sums, excess, the_target, totals
from otspec.batch._results import CorrectedBlock, Corrections, VerifiedBlock


@dataclass(frozen=True)
class Residuals:
    """What the target of each place is: (target − share·draft)₊ / mass."""

    share: Array  # (..., L), wide
    mass: Array  # (..., L), wide
    left: Array  # (..., L − 1): places that each earlier block still corrects, oldest first
    ratios: Array  # (..., L, L − 1): M_s/M_b of each earlier block, 0 from its end on
    shares: Array  # (..., L, L − 1): share of each block's target without its own correction
    masses: Array  # (..., L, L − 1): mass of it

    @classmethod
    def of(cls, problem: Problem, owed: Corrections | None, drafted, wanted) -> "Residuals":
        """Follow what earlier blocks still correct along each block."""
        library, xp, length = problem.library, problem.library.xp, problem.k
        if owed is None or length == 1:
            none = xp.zeros_like(drafted)
            before = xp.zeros_like(drafted[..., None, 1:] + none[..., None])
            left = library.ids(none[..., 1:])
            return cls(none, none + 1, left, before, before, before + 1)
        ratios, left = library.widened(owed.ratio), library.ids(owed.left)
        places = []
        for place in range(length):
            here = _at_place(problem, place, xp.where(left > place, ratios, 0 * ratios))
            places.append(here)
            ratios = longer(library, here[2:], drafted[..., place], wanted[..., place])
        share, mass, *before = (list(column) for column in zip(*places, strict=True))
        each = (xp.stack(column, axis=-2) for column in before)
        return cls(xp.stack(share, axis=-1), xp.stack(mass, axis=-1), left, *each)

    def after(self, problem: Problem, tau, token, scaled, reach) -> Corrections:
        """Return what is still corrected after ``tau`` tokens of each block and a drawn one."""
        library, xp = problem.library, problem.library.xp
        place = xp.clip(tau, max=problem.k - 1)
        drafted = _probability(library, problem.draft, place, token)
        wanted = _probability(library, problem.target, tau, token)
        here = [library.at(each, place) for each in (self.ratios, self.shares, self.masses)]
        earlier = longer(library, here, drafted, wanted)
        rest = xp.clip(wanted - library.pick(self.share, place) * drafted, min=0.0)
        its_own = xp.clip(library.quotient(scaled * drafted, rest), max=1.0)
        ratio = xp.concat([earlier, its_own[..., None]], axis=-1)[..., 1:]
        left = xp.concat([self.left, reach[..., None]], axis=-1)[..., 1:] - tau[..., None] - 1
        return Corrections(xp.where(left > 0, ratio, 0 * ratio), xp.clip(left, min=0))


def _at_place(problem: Problem, place: int, ratios) -> tuple[Array, ...]:
    """Return share, mass, and of each earlier block ratio, share and mass before it."""
    library, xp = problem.library, problem.library.xp
    draft, target = problem.draft[..., place, :], problem.target[..., place, :]
    share = xp.zeros_like(ratios[..., 0])
    mass = share + 1
    shares, masses = [], []
    for block in range(ratios.shape[-1]):
        ratio = ratios[..., block]
        shares.append(share)
        masses.append(mass)
        if block < place:  # the oldest ones have ended: each block has passed a place at least
            continue
        share = share + ratio * mass
        (left,) = totals(library, draft, target, excess(library, share))
        mass = xp.where(ratio > 0, left, mass)
    return share, mass, ratios, xp.stack(shares, axis=-1), xp.stack(masses, axis=-1)


def longer(library: Library, before: Sequence[Array], drafted, wanted) -> Array:
    """Return M_s/M_b of texts that are longer by a token of the given probabilities."""
    ratios, shares, masses = before
    left = library.xp.clip(wanted[..., None] - shares * drafted[..., None], min=0.0)
    # What a residual may draw is likelier for the target than for the draft.
    ratio = library.quotient(ratios * drafted[..., None] * masses, left)
    return library.xp.clip(ratio, max=1.0)


def _probability(library: Library, values, place, token) -> Array:
    """Return the probability of a token at a place, wide: (..., L, V), (...), (...) -> (...)."""
    ids = library.xp.clip(token, min=0)[..., None]
    return library.take(library.at(values, place), ids)[..., 0]


def token(problem: Problem) -> VerifiedBlock:
    """Keep tokens until one is rejected, and correct that one (Block, alg. 2; Theory, 7)."""
    library, xp = problem.library, problem.library.xp
    drafted, wanted = along(problem)
    passed = accepts(library, problem.uniforms[..., :-1], wanted, drafted) & problem.which()
    tau = library.first(xp.concat([~passed, xp.ones_like(passed[..., :1])], axis=-1))
    share = library.widened(tau < _ends(problem))
    return VerifiedBlock(tau, _following(problem, tau, share))


def published(problem: Problem) -> VerifiedBlock:
    """Decide jointly, and correct one token (Block, published version, alg. 2; Theory, 9)."""
    drafted, wanted = along(problem)
    inverse = _inverse(problem, drafted, wanted, least=1.0)
    plain = inverse[..., :-1]
    tau = _last_kept(problem, inverse, plain, plain - 1)
    share = problem.library.pick(_until_end(problem, inverse), tau)
    return VerifiedBlock(tau, _following(problem, tau, share))


def preprint(problem: Problem, owed: Corrections | None, reach: Array | None) -> CorrectedBlock:
    """Decide jointly, and correct the rest of the block (Block, alg. 3; Theory, 8)."""
    library, xp = problem.library, problem.library.xp
    drafted, wanted = along(problem)
    residuals = Residuals.of(problem, owed, drafted, wanted)
    left = xp.clip(wanted - residuals.share * drafted, min=0.0)
    inverse = _inverse(problem, drafted * residuals.mass, left, least=0.0)
    scaled = residuals.mass * inverse[..., :-1]
    more = xp.clip(scaled - residuals.mass, min=0.0)
    tau = _last_kept(problem, inverse, residuals.share + scaled, more)
    none = xp.zeros_like(inverse[..., :1])
    scaled = library.pick(_until_end(problem, xp.concat([scaled, none], axis=-1)), tau)
    share = scaled + library.pick(xp.concat([residuals.share, none], axis=-1), tau)
    drawn = _following(problem, tau, share)
    reach = _ends(problem) if reach is None else library.ids(reach)
    return CorrectedBlock(tau, drawn, residuals.after(problem, tau, drawn, scaled, reach))


def along(problem: Problem) -> tuple[Array, Array]:
    """Return the probabilities of the tokens of each block, wide, (..., L) each."""
    library, ids = problem.library, problem.drafts[..., None]
    drafted = library.take(problem.draft, ids)[..., 0]
    return drafted, library.take(problem.target[..., :-1, :], ids)[..., 0]


def _ends(problem: Problem) -> Array:
    """Return the length of each block, (...)."""
    return problem.library.xp.sum(problem.library.ids(problem.which()), axis=-1)


def _until_end(problem: Problem, values) -> Array:
    """Return (..., L + 1) numbers with 0 from the end of each block on."""
    xp = problem.library.xp
    place = problem.library.arange(problem.k + 1)
    return xp.where(place < _ends(problem)[..., None], values, xp.zeros_like(values))


def _inverse(problem: Problem, drafted, wanted, least: float) -> Array:
    """Return M_s/M_b of the first 0 to L tokens, at least so much after each: (..., L + 1)."""
    # It is the largest number where the target never says them.
    library, xp = problem.library, problem.library.xp
    inverse, valid = [xp.ones_like(drafted[..., 0])], problem.valid
    for i in range(problem.k):
        before = inverse[-1]
        longer = library.quotient(
            before * drafted[..., i], wanted[..., i], otherwise=library.highest
        )
        longer = xp.clip(longer, min=least, max=library.highest)
        longer = xp.where(before < library.highest, longer, before)
        inverse.append(longer if valid is None else xp.where(valid[..., i], longer, before))
    return xp.stack(inverse, axis=-1)


def _last_kept(problem: Problem, inverse, share, missing) -> Array:
    """Return the last length whose uniform number allows it, (...)."""
    # Length i < L is allowed with probability Z/(Z + missing), Z = Σ (target − share·draft)₊, and
    # the whole block with 1/inverse at most.
    library, xp = problem.library, problem.library.xp
    (z,) = totals(library, problem.draft, problem.target[..., :-1, :], excess(library, share))
    ends, number = _ends(problem)[..., None], library.arange(problem.k) + 1
    at_end, whole = number == ends, inverse[..., 1:]
    z, missing = _shifted(library, z), _shifted(library, missing)
    wanted = xp.where(at_end, xp.ones_like(z), z)
    offered = xp.where(at_end, whole, z + missing)
    # 0/0 counts as 1: a prefix that is surely kept.
    passed = accepts(library, problem.uniforms[..., :-1], wanted, offered) | (whole <= 1)
    stays = problem.counted(passed & (whole < library.highest))
    return xp.max(xp.where(stays, number, xp.zeros_like(number)), axis=-1)


def _shifted(library: Library, values) -> Array:
    """Return what is said of lengths 0 to L − 1 as of lengths 1 to L, of which the last is open."""
    xp = library.xp
    return xp.concat([values[..., 1:], xp.zeros_like(values[..., :1])], axis=-1)


def _following(problem: Problem, tau, share) -> Array:
    """Draw the token after ``tau`` tokens from (target − share·draft)₊ there."""
    library = problem.library
    draft = library.at(problem.draft, problem.library.xp.clip(tau, max=problem.k - 1))
    # Behind the end there is no draft, and whatever its row holds does not count.
    draft = library.xp.where((share > 0)[..., None], draft, library.xp.zeros_like(draft))
    target = library.at(problem.target, tau)
    rest = excess(library, share)
    blocks = block_sums(library, draft, target, the_target, rest)
    return draw_rest(replace(problem, draft=draft, target=target), rest, blocks)
