"""``python -m figures.record_training letters|trace``: trains the drafts, writes what came out."""

import sys

from figures import training_letters, training_trace
from figures.train_for_k import LETTERS, TRACE, as_csv
from otspec._base.writing import write_text

if __name__ == "__main__":
    if sys.argv[1] == "letters":
        rows = []
        for seed in range(3):
            for name in ("tied", "low rank", "feed-forward"):
                rows += training_letters.runs(name, seed)
                write_text(LETTERS, as_csv(training_letters.COLUMNS, rows))
    else:
        write_text(TRACE, as_csv(training_trace.COLUMNS, training_trace.runs()))
