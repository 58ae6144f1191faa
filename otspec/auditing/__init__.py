"""Is a rule lossless: exactly, over many instances, or from samples of a black box."""

from otspec.auditing.blocks import BlockAudit, audit_blocks, best_expected
from otspec.auditing.exact import audit
from otspec.auditing.instances import Instance, random_instances
from otspec.auditing.policies import Loss, PolicyAudit, audit_policy, small_pairs
from otspec.auditing.report import Audit, Witness
from otspec.auditing.samples import SampleAudit, audit_samples
from otspec.auditing.search import SearchReport, audit_over

__all__ = [
    "Audit",
    "BlockAudit",
    "Instance",
    "Loss",
    "PolicyAudit",
    "SampleAudit",
    "SearchReport",
    "Witness",
    "audit",
    "audit_blocks",
    "audit_over",
    "audit_policy",
    "audit_samples",
    "best_expected",
    "random_instances",
    "small_pairs",
]
