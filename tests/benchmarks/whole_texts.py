"""A run over whole texts: what block verification keeps of 8 drafts at a time, at temperature 0.7.

``python whole_texts.py DRAFT.npy+TARGET.npy+TOKENS.npy OUT WORKERS`` begins it, or goes on with it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from otspec.blocks import BlockVerificationPreprint
from otspec.logged import LoggedBlock
from otspec.traces import Warping
from otspec.traces.readers import find_source
from otspec.traces.runs import Work, open_run

LENGTH = 8


@dataclass(frozen=True)
class Kept(Work):
    """E[τ] of each whole block of a text, weighted by the law that its tokens were drawn from."""

    temperature: float = 0.7

    def unit(self, source):
        return source.cluster_length

    def table_of(self, chunk):
        import pyarrow as pa

        found = {"text": [], "start": [], "kept": []}
        for text in chunk.source.texts(chunk.start, chunk.stop, Warping(self.temperature)):
            for start in range(0, len(text.tokens) - LENGTH + 1, LENGTH):
                part = slice(start, start + LENGTH)
                sampling = None if text.sampling is None else text.sampling[part]
                block = LoggedBlock(
                    text.draft[part], text.target[part], text.tokens[part], sampling=sampling
                )
                found["text"].append(text.text)
                found["start"].append(start)
                found["kept"].append(float(block.expected(BlockVerificationPreprint, LENGTH)))
        return pa.table(found)


def main(name, out, workers):
    # By the name that workers import it by.
    from whole_texts import Kept

    source = find_source(name, tokens=True)
    with open_run(Path(out), [source], Kept(), resume=True) as run:
        run.compute(workers=int(workers))
        sys.exit(len(run.failures()))


if __name__ == "__main__":
    main(*sys.argv[1:])
