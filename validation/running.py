"""Checking claims: one after the other or in several processes, each with a budget."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter

from otspec.traces.runs.parallel import end_with_parent
from validation.claim import Claim, Counterexample, Outcome, Severity, Tested, Verdict
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
        found = {"printed": self.outcome.verdict.value}
        if self.corrected is not None:
            found["corrected"] = self.corrected.verdict.value
        return found


def check_claim(identifier: str, search: Search) -> Finding:
    """Check one claim, and its correction if it has one.

    Raises
    ------
    RuntimeError
        A check that looked at no instance: it says nothing.
    """
    claim = CLAIMS[identifier]
    start = perf_counter()
    outcome = _checked(identifier, claim, search)
    corrected = None
    if claim.corrected is not None:
        corrected = _checked(identifier, claim.corrected, search)
    return Finding(identifier, outcome, corrected, perf_counter() - start)


def check_claims(identifiers: Sequence[str], search: Search, *, jobs: int = 1) -> Iterator[Finding]:
    """Check claims and yield what was found as it comes.

    Parameters
    ----------
    identifiers : sequence of str
    search : Search
        Budget, number of instances and seed for each claim.
    jobs : int
        Number of processes.
    """
    if jobs == 1:
        for identifier in identifiers:
            yield check_claim(identifier, search)
        return
    # Not by fork: libraries with threads of their own may be loaded already.
    with ProcessPoolExecutor(jobs, get_context("spawn"), end_with_parent) as pool:
        waiting = [pool.submit(check_claim, identifier, search) for identifier in identifiers]
        for done in as_completed(waiting):
            yield done.result()


def _checked(identifier: str, tested: Tested, search: Search) -> Outcome:
    outcome = tested.check(search)
    if outcome.verdict is Verdict.HOLDS and outcome.instances == 0:
        raise RuntimeError(f"{identifier} was checked on no instance: give it more seconds")
    return outcome
