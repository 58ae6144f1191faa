"""``python -m figures.record_long_trace long.npz``: what rules keep of its blocks, written anew."""

import sys

from figures import long_trees
from figures.long_trace import RECORD, TREES, computed, computed_trees, record
from otspec.traces import load_trace
from otspec.writing import write_text

if __name__ == "__main__":
    blocks = list(load_trace(sys.argv[1]).blocks())
    write_text(RECORD, record(computed(blocks)))
    write_text(TREES, record(computed_trees(blocks)))
    for each in (long_trees.BINARY, long_trees.BEST):
        write_text(each.path, record(long_trees.computed(blocks, each)))
