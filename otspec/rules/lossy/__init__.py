"""Published lossy rules: each declares the law of its output."""

from otspec.rules.lossy.another_target import (
    CascadeByPosition,
    CascadeByToken,
    FuzzyVerification,
    InterpolatedVerification,
)
from otspec.rules.lossy.attaining import rule_attaining
from otspec.rules.lossy.base import LOSSY_RULES, AcceptOrReplace, AgainstAnother, LossyRule
from otspec.rules.lossy.cactus import Cactus
from otspec.rules.lossy.lenience import EntropyLenience, Lenience, LenientRule, MentoredDecoding
from otspec.rules.lossy.likely_tokens import (
    RelaxedTop,
    RollbackPolicy,
    ThresholdedTargetOnly,
    TypicalAcceptance,
)

for _rule in (
    Lenience,
    EntropyLenience,
    MentoredDecoding,
    InterpolatedVerification,
    Cactus,
    TypicalAcceptance,
    RelaxedTop,
    RollbackPolicy,
    FuzzyVerification,
    CascadeByPosition,
    CascadeByToken,
    ThresholdedTargetOnly,
):
    LOSSY_RULES.register(_rule)

__all__ = [
    "LOSSY_RULES",
    "AcceptOrReplace",
    "AgainstAnother",
    "Cactus",
    "CascadeByPosition",
    "CascadeByToken",
    "EntropyLenience",
    "FuzzyVerification",
    "InterpolatedVerification",
    "Lenience",
    "LenientRule",
    "LossyRule",
    "MentoredDecoding",
    "RelaxedTop",
    "RollbackPolicy",
    "ThresholdedTargetOnly",
    "TypicalAcceptance",
    "rule_attaining",
]
