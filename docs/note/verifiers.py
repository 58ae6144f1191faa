"""What audits found in published algorithms and public code, with exact counterexamples."""

from __future__ import annotations

import re
from pathlib import Path

from docs.note.results import Results
from otspec.auditing import audit_blocks
from otspec.blocks import BlockVerification, HierarchicalVerification
from otspec.models import memoryless
from validation.claim import Counterexample
from validation.registry import CLAIMS
from validation.search import Search
from validation.spectr import section_7_d, sequences

DOCS = Path(__file__).parents[1]
CLAIMED = {
    "spectr.alg3": "spectr",
    "spechub.alg3a": "spechub",
    "gbv.code": "gbv",
}
"""Claims that fail, and what the note calls them."""
SHOWN = {"spectr", "spechub"}
"""Those whose instances and claims are printed; the other one is of fair coins."""
COIN = (["1/2", "1/2"], ["1/4", "3/4"])
