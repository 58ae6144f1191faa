"""Is a rule lossless: exactly, over many instances, or from samples of a black box."""

from otspec.auditing.blocks import BlockAudit, audit_blocks, best_expected
from otspec.auditing.exact import Audit, Witness, audit
from otspec.auditing.samples import SampleAudit, audit_samples
from otspec.auditing.search import Instance, SearchReport, audit_over, random_instances

__all__ = [
    "Audit",
    "BlockAudit",
    "Instance",
    "SampleAudit",
    "SearchReport",
    "Witness",
    "audit",
    "audit_blocks",
    "audit_over",
    "audit_samples",
    "best_expected",
    "random_instances",
]
