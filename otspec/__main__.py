"""``python -m otspec``: the command line."""

import sys

if __name__ == "__main__":  # workers of a run import this module too, and no command
    from otspec.cli.main import main

    sys.exit(main())
