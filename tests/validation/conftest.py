"""What the searches of all claims share."""

import pytest

from validation import search
from validation.claim import Counterexample


@pytest.fixture
def as_found(monkeypatch):
    """Instances as they are found: how they are made smaller has tests of its own."""
    monkeypatch.setattr(
        search, "_shrunk", lambda found, says, _, checked: Counterexample(found, says, checked)
    )
