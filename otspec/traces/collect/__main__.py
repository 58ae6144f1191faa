"""``python -m otspec.traces.collect``."""

from otspec._base.tables import forgive_encodings
from otspec.traces.collect.command import main

if __name__ == "__main__":
    forgive_encodings()
    main(prog_name="python -m otspec.traces.collect")
