"""``python -m figures.record_long_trace long.npz``: what rules keep of its blocks, written anew."""

import sys

from figures.long_trace import RECORD, TREES, computed, computed_trees, record
from otspec.traces import load_trace
from otspec.writing import write_text

if __name__ == "__main__":
    blocks = list(load_trace(sys.argv[1]).blocks())
    write_text(RECORD, record(computed(blocks)))
    write_text(TREES, record(computed_trees(blocks)))
