"""``python -m figures.record_long_trace long.npz``: what rules keep of its blocks, written anew."""

import sys

from figures import long_positions, long_trees
from figures.long_trace import RECORD, TREES, computed, computed_trees, record
from otspec._base.writing import write_text
from otspec.traces import load_trace

if __name__ == "__main__":
    trace = load_trace(sys.argv[1])
    blocks = list(trace.blocks())
    write_text(RECORD, record(computed(blocks)))
    write_text(TREES, record(computed_trees(blocks)))
    for each in (long_trees.BINARY, long_trees.BEST, long_trees.TWO_LEVELS):
        write_text(each.path, record(long_trees.computed(blocks, each)))
    positions = long_positions.of_each_text(trace)
    write_text(long_positions.RECORD, record(long_positions.computed(positions)))
