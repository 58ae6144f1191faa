"""Imported by each process of a run that is to be caught in the middle: parts take longer."""

import os
import time
from pathlib import Path

replace = os.replace


def slowly(source, target, **options):
    """Put a file in its place; wait before the tenth and later parts of a run."""
    name = Path(target).name
    if name.startswith("part-") and name >= "part-000010":
        time.sleep(0.1)
    replace(source, target, **options)


os.replace = slowly
