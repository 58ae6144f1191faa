"""Tables of results, with the kinds and examples of arguments."""

from hostile_rows import DRAFT, TARGET, Row

from otspec import frames, traces


def compared():
    return traces.compare(DRAFT, TARGET, [1])


def table_of(items):
    """Return the table of rows: what they must be is looked at as late as that."""
    return frames.Rows(items).to_arrow()


PATH = ("path", None)
FRAMES = {
    "frames.Rows": Row(table_of, {"items": ("objects", compared)}),
    "frames.columns_of": Row(frames.columns_of, {"kind": ("object", lambda: traces.Comparison)}),
    "frames.check_ending": Row(frames.check_ending, {"path": PATH}),
    "frames.write_table": Row(
        frames.write_table, {"table": ("object", lambda: compared().to_arrow()), "path": PATH}
    ),
    "traces.read_run": Row(traces.read_run, {"path": PATH, "unfinished": ("flag", False)}),
}
