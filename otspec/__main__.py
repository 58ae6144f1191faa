"""``python -m otspec``: the command line."""

import sys

from otspec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
