"""Published lossy rules: one file each, and each declares the law of its output."""

from otspec.lossy.rules.accept_or_replace import AcceptOrReplace
from otspec.lossy.rules.against_another import AgainstAnother
from otspec.lossy.rules.cactus import Cactus
from otspec.lossy.rules.cascade_by_position import CascadeByPosition
from otspec.lossy.rules.cascade_by_token import CascadeByToken
from otspec.lossy.rules.contract import RULES, LossyRule
from otspec.lossy.rules.entropy_lenience import EntropyLenience
from otspec.lossy.rules.fuzzy import FuzzyVerification
from otspec.lossy.rules.interpolated import InterpolatedVerification
from otspec.lossy.rules.lenience import Lenience, LenientRule
from otspec.lossy.rules.mentored import MentoredDecoding
from otspec.lossy.rules.relaxed_top import RelaxedTop
from otspec.lossy.rules.rollback import RollbackPolicy
from otspec.lossy.rules.thresholded import ThresholdedTargetOnly
from otspec.lossy.rules.typical import TypicalAcceptance

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
    RULES.register(_rule)

__all__ = [
    "RULES",
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
]
