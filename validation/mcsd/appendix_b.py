"""The claims of section 3.2 and appendix B; what they check is in ``without_replacement``."""

from __future__ import annotations

from validation.claim import Claim, Corrected
from validation.mcsd import without_replacement as checks
from validation.mcsd.without_replacement import over_cases, states

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.eq1",
        "eq. (1), section 3.2",
        r"For any $p$ and $k$: $p_i$, which is p renormalised off the drafts $x_1, \dots, x_i$, "
        r"is a distribution for all $i < k$, so that k drafts $x_{i+1} \sim p_i$ can be drawn.",
        over_cases(checks.sequential),
        printed="Appendix B: given any distributions p(x) and q(x).",
        corrected=Corrected(
            r"That is so for k up to the support of p; the k drafts then have the law without "
            r"replacement. Beyond the support, and so for $k \ge 2$ at temperature 0, the "
            r"denominator of $p_i$ is 0.",
            over_cases(checks.drawn_law, most_tokens=4),
        ),
    ),
    Claim(
        "mcsd.alg2a",
        "Algorithm 2, section 3.2",
        r"For any $p$, $q$ and k up to the support of p, the token that Algorithm 2 returns has "
        r"the law $q$, with $p$ and $q$ updated in place in the order printed: the residual of q, "
        r"then the rejected token leaves p, then p is normalised.",
        over_cases(checks.lossless),
    ),
    Claim(
        "mcsd.alg2b",
        "Algorithm 2, line 5",
        r"Every step of Algorithm 2 is defined for k up to the support of p: p always has mass "
        r"left when it is normalised.",
        over_cases(checks.steps_defined),
        printed="The line is printed without a condition.",
        corrected=Corrected(
            r"p has mass left except when k equals the support of p and all k drafts were "
            r"rejected; that is after the last round, and p is not read any more.",
            over_cases(checks.undefined_only_at_the_end),
        ),
    ),
    Claim(
        "mcsd.sec3.2c",
        "sections 1 and 3.2: a more efficient version",
        r"For k up to the support of p, Algorithm 2 with drafts without replacement accepts at "
        r"least as often as Algorithm 1 with k independent drafts.",
        over_cases(checks.collides_no_more, ks=(2, 3), most_tokens=4),
        printed="we also introduce a more efficient version for candidates sampled without "
        "replacement; an intuitive way to prevent token collisions",
    ),
    Claim(
        "mcsd.eq11",
        "eq. (11), appendix B",
        r"$P(\text{accept } x_{n+1} \mid R_n, x_1, \dots, x_{n+1}) = "
        r"\min(1, q_n(x_{n+1}) / p_n(x_{n+1}))$ in Algorithm 2, with "
        r"$q_n \propto (q_{n-1} - p_{n-1})_+$.",
        over_cases(states(checks.eq11)),
    ),
    Claim(
        "mcsd.eq12",
        "eq. (12), appendix B",
        r"$P(x, \text{accept } x_{n+1} \mid R_n, x_1, \dots, x_n) = \min(p_n(x), q_n(x))$.",
        over_cases(states(checks.eq12)),
        printed=r"On the way, the chance of a drafted token is kept as a factor while $R_n$ is "
        r"given; that is right, since the drafts given their predecessors do not depend on $R_n$.",
    ),
    Claim(
        "mcsd.eq13",
        "eq. (13), appendix B",
        r"$P(x, \text{reject } x_{n+1} \mid R_n, x_1, \dots, x_n) = \sum_{x_{n+1}} "
        r"[p_n(x_{n+1}) - \min(p_n(x_{n+1}), q_n(x_{n+1}))] P(x \mid R_{n+1}, x_1, \dots, "
        r"x_{n+1})$.",
        over_cases(states(checks.eq13)),
    ),
    Claim(
        "mcsd.eq14",
        "eq. (14), appendix B",
        r"$A_n = P(x \mid R_n, x_1, \dots, x_n)$ satisfies $A_n = \min(p_n(x), q_n(x)) + "
        r"\sum_{x_{n+1}} [p_n(x_{n+1}) - \min(p_n(x_{n+1}), q_n(x_{n+1}))] A_{n+1}$.",
        over_cases(states(checks.eq14)),
    ),
    Claim(
        "mcsd.appBa",
        "appendix B, between eqs. (14) and (15)",
        r"$q_n$ does not depend on $x_n$, for $n = 1, \dots, k$: the residual after n rejections "
        r"is the same whichever token the nth draft was.",
        over_cases(checks.last_does_not_matter),
    ),
    Claim(
        "mcsd.eq15",
        "eq. (15), appendix B",
        r"$A_k = q_k(x)$.",
        over_cases(states(checks.eq15)),
    ),
    Claim(
        "mcsd.eq16",
        "eq. (16), appendix B",
        r"$A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for all $n < k$ and rejected drafts.",
        over_cases(states(checks.eq16)),
    ),
    Claim(
        "mcsd.eq17",
        "eq. (17), the conclusion of appendix B",
        r"$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 2.",
        over_cases(checks.eq17),
    ),
)
