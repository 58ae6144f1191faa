"""Appendices B and D, elimination carried out: what each step leaves, for small vocabularies."""

from __future__ import annotations

from time import monotonic

from validation.claim import Check, Claim, Counterexample, Evidence, Method, Outcome, Search


def eliminated(target: str, most_tokens: int) -> Check:
    """Return a check that elimination leaves what the lemmas say, after each step: a proof.

    Raises
    ------
    ImportError
        When it is run without pycddlib.
    """

    def check(search: Search) -> Outcome:
        from otspec.cones.elimination import eliminate

        began, done, covered = monotonic(), 0, 0
        for n in range(1, most_tokens + 1):
            if done and monotonic() - began > search.seconds:
                break
            found = eliminate(n, target=target)  # type: ignore[arg-type]
            for step in found.steps:
                if step.unlisted:
                    what = f"{step.unlisted} conditions that the lemma does not list"
                    return Counterexample({"n": n, "eliminated last": step.unknown}, what, done)
                done += 1
            if not found.proves_cut_formula:
                what = f"other conditions: {found.others}, missing sets: {found.missing}"
                return Counterexample({"n": n}, what, done)
            covered = n
        return Evidence(done, None, f"n <= {covered}, k = 2, all p and q, each step", proved=True)

    return check


def _in_steps(name: str, where: str, statement: str, target: str, most_tokens: int) -> Claim:
    return Claim(
        name,
        f"{where}, in steps",
        statement,
        eliminated(target, most_tokens),
        method=Method.CONES,
        printed="Proved there for all n; here n is small, and each step is a computation.",
    )


APPENDIX_D = (
    _in_steps(
        "canonical.secD",
        "Appendix D",
        r"Fourier-Motzkin elimination of the pairs and then of $w_1, …, w_n$ leaves after each "
        r"step no condition besides (148), then (116) to (118), and in the end Theorem 3.",
        "optimum",
        3,
    ),
)

APPENDIX_B = (
    _in_steps(
        "canonical.secB",
        "Example 2 and appendix B",
        r"Fourier-Motzkin elimination of the pairs one by one from (42) and (43), for more tokens "
        r"from (55), leaves after each step no condition besides (64): it drops variables.",
        "certainty",
        4,
    ),
)
