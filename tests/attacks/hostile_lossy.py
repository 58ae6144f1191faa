"""Published lossy rules, and what they are asked, with the kinds and examples of arguments."""

from hostile_methods import asked
from hostile_rows import DRAFT, NORMALIZE, PAIR, TARGET, Row

from otspec.rules.lossy import LOSSY_RULES, MentoredDecoding

PARAMETERS = {
    "lenience": {"lenience": ("real", 0.5)},
    "entropy-lenience": {"alpha": ("real", 0.4), "most": ("real", 0.95)},
    "mentored-decoding": {"alpha": ("real", 0.5)},
    "interpolated": {"weight": ("real", 0.5)},
    "cactus": {"delta": ("real", 0.25)},
    "typical-acceptance": {
        "epsilon": ("real", 0.09),
        "delta": ("real", 0.3),
        "otherwise": ("name", "target"),
    },
    "relaxed-top": {"count": ("count", 2), "delta": ("real", 0.6)},
    "rollback": {"rollback": ("real", 2.0), "otherwise": ("name", "greedy")},
    "fuzzy": {"threshold": ("real", 0.3)},
    "cascade-by-position": {"alpha": ("signed", 0.05)},
    "cascade-by-token": {"alpha": ("real", 0.3)},
    "thresholded-target-only": {"single": ("real", 0.5), "accumulated": ("real", 0.5)},
}


def lossy_rule_rows():
    for rule, parameters in PARAMETERS.items():
        kind, k = LOSSY_RULES[rule], LOSSY_RULES[rule].only_k or 2
        name = f"lossy.rules.{kind.__name__}"
        yield name, Row(kind, {**PAIR, "k": ("count", k), **NORMALIZE, **parameters})
        yield from asked(name, lambda kind=kind, k=k: kind(DRAFT, TARGET, k), k)
    within = {**PAIR, "budget": ("real", 0.1)}
    yield "lossy.rules.MentoredDecoding.within", Row(MentoredDecoding.within, within)
