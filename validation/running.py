"""Checking claims: one after the other or in several processes, each with a budget."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter

from otspec.traces.runs.parallel import end_with_parent
from validation.claim import Claim, Counterexample, Outcome, Severity, Verdict
from validation.registry import CLAIMS
from validation.search import Search


@dataclass(frozen=True)
class Finding:
    """What checking one claim gave."""

    id: str
    """The claim."""
    outcome: Outcome
    """For the claim as printed."""
    corrected: Outcome | None
    """For its corrected statement, if it has one."""
    seconds: float
    """Wall-clock time of both."""

    @property
    def claim(self) -> Claim:
        """The claim."""
        return CLAIMS[self.id]

    @property
    def severity(self) -> Severity | None:
        """How the claim fails, if it does."""
        correction = self.claim.corrected
        failed = isinstance(self.outcome, Counterexample)
        return correction.severity if failed and correction is not None else None

    def verdicts(self) -> dict[str, str]:
        """Return the verdict as printed and, if there is one, that of the correction."""
        outcomes = {"printed": self.outcome, "corrected": self.corrected}
        return {name: each.verdict.value for name, each in outcomes.items() if each}


def check_claim(identifier: str, search: Search) -> Finding:
    """Check one claim, and its correction if it has one.

    Raises
    ------
    RuntimeError
        A check that looked at no instance: it says nothing."""
    claim, start = CLAIMS[identifier], perf_counter()
    outcome, corrected = (each and each.check(search) for each in (claim, claim.corrected))
    for each in (outcome, corrected):
        if each and each.verdict is Verdict.HOLDS and each.instances == 0:
            raise RuntimeError(f"{identifier} was checked on no instance: give it more seconds")
    return Finding(identifier, outcome, corrected, perf_counter() - start)


def check_claims(identifiers: Sequence[str], search: Search, *, jobs: int = 1) -> Iterator[Finding]:
    """Check claims, each with this search, in so many processes; yield findings as they come."""
    if jobs == 1:
        for identifier in identifiers:
            yield check_claim(identifier, search)
        return
    # Not by fork: libraries with threads of their own may be loaded already.
    with ProcessPoolExecutor(jobs, get_context("spawn"), end_with_parent) as pool:
        waiting = [pool.submit(check_claim, identifier, search) for identifier in identifiers]
        for done in as_completed(waiting):
            yield done.result()
