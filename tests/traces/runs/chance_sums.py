"""A work of the tests' own, in a module that workers can import."""

from dataclasses import dataclass

from otspec.traces import Warping
from otspec.traces.runs import Work

ROWS = ("draft", "target", "sampling")


@dataclass(frozen=True)
class ChanceSums(Work):
    """The chances of the tokens of each text, added up, by both models and as they were drawn."""

    temperature: float = 1.0

    def unit(self, source):
        return source.cluster_length

    def table_of(self, chunk):
        import pyarrow as pa

        columns = {name: [] for name in ("cluster", "text", *ROWS)}
        for text in chunk.source.texts(chunk.start, chunk.stop, Warping(self.temperature)):
            columns["cluster"].append(chunk.source.cluster_of(text.text * chunk.source.text_length))
            columns["text"].append(text.text)
            for name in ROWS:
                rows = getattr(text, name) or text.draft
                chances = [rows[i][token] for i, token in enumerate(text.tokens)]
                columns[name].append(float(sum(chances)))
        return pa.table(columns)


class OtherSums(ChanceSums):
    """The same of another name."""
