"""How far the exact methods reach in n and k, each attempt in a process of its own."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from otspec.cones.cone import Cone, certainty_cone, optimum_cone
from otspec.cones.elimination import Target, eliminate
from otspec.cones.polytope import selection_polytope
from otspec.distributions import as_distribution
from otspec.drafts import IID

Sizes = tuple[tuple[int, int], ...]  # pairs (n, k), the cheapest first


@dataclass(frozen=True)
class Reached:
    """What a method found."""

    size: int  # draft rows of a cone, most inequalities of an elimination, vertices of a polytope
    found: int  # rays, final conditions, or facets
    cuts: int  # how many of them are the condition of a token set
    proved: bool  # they are the cuts and trivial conditions, or both descriptions agree


@dataclass(frozen=True)
class Attempt:
    """One method at one n and k, in a process of its own, which is ended when its time is over."""

    method: str  # one of :data:`METHODS`
    n: int
    k: int
    reached: Reached | None  # None if the time was over before
    seconds: float  # processor time of the computation, or the time limit


def _cone(compute: Callable[..., Cone], rows: str, n: int, k: int) -> Reached:
    cone = compute(n, k, rows=rows)
    return Reached(
        len(cone.coordinates.drafts), len(cone.rays), len(cone.cuts), cone.proves_cut_formula
    )


def _elimination(target: Target, n: int, k: int) -> Reached:
    if k != 2:
        raise ValueError(f"k is {k}: elimination is for two drafts")
    done = eliminate(n, target=target)
    cuts = sum(condition.kind == "cut" for condition in done.conditions)
    return Reached(done.peak, len(done.conditions), cuts, done.proves_cut_formula)


def _polytope(n: int, k: int) -> Reached:
    draft = as_distribution(range(1, n + 1), "draft", normalize=True)
    found = selection_polytope(IID(draft, k))
    return Reached(len(found.vertices), len(found.facets), len(found.facets), found.agree)


METHODS: dict[str, Callable[[int, int], Reached]] = {
    "certainty cone, sets": partial(_cone, certainty_cone, "sets"),
    "certainty cone, tuples": partial(_cone, certainty_cone, "tuples"),
    "optimum cone, sets": partial(_cone, optimum_cone, "sets"),
    "optimum cone, tuples": partial(_cone, optimum_cone, "tuples"),
    "elimination, certainty": partial(_elimination, "certainty"),
    "elimination, optimum": partial(_elimination, "optimum"),
    "selection polytope": _polytope,
}
"""The methods by name; the polytope is that of i.i.d. drafts with weights 1, 2, …, n."""

LADDERS: tuple[tuple[str, Sizes], ...] = (
    ("certainty cone, sets", tuple((n, 2) for n in (3, 4, 6, 8, 10, 11, 12))),
    ("certainty cone, sets", tuple((n, 3) for n in (3, 4, 6, 8, 9))),
    ("certainty cone, sets", tuple((n, n) for n in (4, 5, 6, 7))),
    ("certainty cone, tuples", tuple((n, 2) for n in (3, 4, 6, 8))),
    ("certainty cone, tuples", tuple((n, 3) for n in (3, 4, 5))),
    ("certainty cone, tuples", tuple((3, k) for k in (4, 5))),
    ("certainty cone, tuples", tuple((2, k) for k in (6, 7, 8))),
    ("optimum cone, sets", tuple((n, 2) for n in (3, 4, 6, 8, 10))),
    ("optimum cone, sets", tuple((n, 3) for n in (3, 4, 6, 8))),
    ("optimum cone, sets", tuple((n, n) for n in (4, 5, 6, 7))),
    ("optimum cone, tuples", tuple((n, 2) for n in (3, 4, 6))),
    ("optimum cone, tuples", ((3, 3), (4, 3), (3, 4))),
    ("elimination, certainty", tuple((n, 2) for n in range(3, 8))),
    ("elimination, optimum", tuple((n, 2) for n in range(3, 8))),
    ("selection polytope", tuple((n, 2) for n in (3, 4, 5, 6, 7))),
    ("selection polytope", tuple((n, 6) for n in (3, 4, 5, 6))),
)
"""What is attempted; a ladder ends at the first size that is too much."""


def reach(seconds: float, ladders: Sequence[tuple[str, Sizes]] = LADDERS) -> Iterator[Attempt]:
    """Climb each ladder as far as a time limit per attempt allows, by the clock."""
    if not seconds > 0:
        raise ValueError(f"seconds is {seconds}: it must be positive")
    for method, sizes in ladders:
        for n, k in sizes:
            tried = attempt(method, n, k, seconds)
            yield tried
            if tried.reached is None:
                break


def attempt(method: str, n: int, k: int, seconds: float) -> Attempt:
    """Run one method in a process of its own, and end it when the time is over."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}: it must be one of {', '.join(METHODS)}")
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(method, n, k, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return Attempt(method, n, k, None, seconds)
        reached, taken = receiver.recv()
        return Attempt(method, n, k, reached, taken)
    except EOFError:
        raise RuntimeError(f"{method}, n = {n}, k = {k}: the process failed") from None
    finally:
        process.kill()
        process.join()
        receiver.close()


def _work(method: str, n: int, k: int, sender: Connection) -> None:
    start = time.process_time()
    reached = METHODS[method](n, k)
    sender.send((reached, time.process_time() - start))
