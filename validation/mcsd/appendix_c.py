"""The claims of section 4.5 and appendix C on naive sampling; the checks are in ``naive``."""

from __future__ import annotations

from validation.claim import Claim, Corrected
from validation.mcsd import naive as checks
from validation.mcsd.naive import over_cases, temperature_zero

SECTION_4_5: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec4.5a",
        "footnote 5, section 4.5",
        r"Naive sampling with k independent drafts, which draws $y \sim q$ and accepts if y is a "
        r"draft, returns the law $q$ and accepts with probability $\sum_x q(x) (1 - (1-p(x))^k)$.",
        over_cases(checks.naive_formula),
        printed="The acceptance is stated through eq. (19) only.",
    ),
    Claim(
        "mcsd.sec4.5b",
        "section 4.5, argmax sampling",
        r"With $p$ on one token (temperature 0), Algorithm 1 with k drafts returns and accepts "
        r"exactly as with one.",
        temperature_zero(checks.one_hot_draft),
    ),
    Claim(
        "mcsd.sec4.5c",
        "section 4.5, argmax sampling",
        r"With $q$ on one token, Algorithm 2 and naive sampling accept alike and return the same "
        r"token, for any distinct drafts, for k up to the support of p.",
        temperature_zero(checks.one_hot_target),
        printed="equivalent when using argmax sampling. A draft at temperature 0 has one token, "
        "so that no second one can be drawn without replacement (see eq. (1)); what can hold is "
        "about the target.",
    ),
    Claim(
        "mcsd.sec4.5d",
        "section 4.5, last paragraph",
        r"Algorithm 2 accepts at least as often as naive sampling with k drafts, be they "
        r"independent or without replacement.",
        over_cases(checks.distinct_beats_naive, most_tokens=4),
        printed="MCSS offers the most significant improvement when compared to MCNS.",
    ),
)

APPENDIX_C: tuple[Claim, ...] = (
    Claim(
        "mcsd.appCa",
        "appendix C, first statement",
        r"For every $k \ge 1$, Algorithm 1 accepts at least as often as naive sampling with k "
        r"independent drafts.",
        over_cases(checks.beats_naive, most_tokens=4),
        printed="the acceptance rate of multi-candidate speculative sampling has an upper bound "
        "for multi-candidate naive sampling",
    ),
    Claim(
        "mcsd.appCb",
        "appendix C, second paragraph",
        r"The acceptance rate is $1 - \sum_x P(x, R_k)$, for Algorithm 1 and for naive sampling.",
        over_cases(checks.complement),
    ),
    Claim(
        "mcsd.appCc",
        "appendix C, second paragraph",
        r"$P_S(x, R_k) \le P_N(x, R_k)$ for every token x: with all drafts rejected, Algorithm 1 "
        r"returns x at most as often as naive sampling does.",
        over_cases(checks.fewer_refusals),
    ),
    Claim(
        "mcsd.eq18",
        "eq. (18), appendix C",
        r"$P_S(x, R_k) = q_k(x) \prod_{i=1}^k P(\text{reject } x_i \mid R_{i-1})$.",
        over_cases(checks.eq18),
    ),
    Claim(
        "mcsd.eq19",
        "eq. (19), appendix C",
        r"$P_N(x, R_k) = q(x) (1 - p(x))^k$.",
        over_cases(checks.eq19),
    ),
    Claim(
        "mcsd.appCd",
        "appendix C, before eq. (20)",
        r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i$.",
        over_cases(checks.vanishes(0)),
        corrected=Corrected(
            r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i + 1$, as far as $q_j$ is "
            r"defined. The proof uses it for $i < k$ and $j = k$ only.",
            over_cases(checks.vanishes(1)),
        ),
    ),
    Claim(
        "mcsd.eq20",
        "eq. (20), appendix C",
        r"If $q_i(x) > p(x)$ for $i = 0, \dots, k-1$, then $q_i(x) = (q_{i-1}(x) - p(x)) / "
        r"\sum_x (q_{i-1}(x) - p(x))_+$ for $i = 1, \dots, k$.",
        over_cases(checks.eq20),
    ),
    Claim(
        "mcsd.eq21",
        "eq. (21), appendix C",
        r"For such x and $k = 1$: $P_S(x, R_1) = q(x) - p(x) \le q(x)(1 - p(x)) = P_N(x, R_1)$.",
        over_cases(checks.eq21),
    ),
    Claim(
        "mcsd.eq22",
        "eq. (22), appendix C",
        r"For such x: $P_S(x, R_n) = [q_{n-1}(x) - p(x)] P(R_{n-1}) \le "
        r"[1 - p(x)] q_{n-1}(x) P(R_{n-1}) \le q(x) (1 - p(x))^n = P_N(x, R_n)$.",
        over_cases(checks.eq22),
    ),
)
