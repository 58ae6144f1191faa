"""Published lossy rules: one file each, and each declares the law of its output."""

from otspec.rules.lossy.attaining import rule_attaining
from otspec.rules.lossy.base import LOSSY_RULES, AcceptOrReplace, AgainstAnother, LossyRule
from otspec.rules.lossy.cactus import Cactus
from otspec.rules.lossy.cascades import CascadeByPosition, CascadeByToken
from otspec.rules.lossy.fuzzy import FuzzyVerification
from otspec.rules.lossy.interpolated import InterpolatedVerification
from otspec.rules.lossy.lenience import EntropyLenience, Lenience, LenientRule
from otspec.rules.lossy.mentored import MentoredDecoding
from otspec.rules.lossy.relaxed_top import RelaxedTop
from otspec.rules.lossy.rollback import RollbackPolicy
from otspec.rules.lossy.thresholded import ThresholdedTargetOnly
from otspec.rules.lossy.typical import TypicalAcceptance

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
