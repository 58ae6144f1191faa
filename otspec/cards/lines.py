"""Aligned columns as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def aligned(names: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> Iterator[str]:
    r"""Yield a line of names and one for each row; the first ``words`` columns to the left.

    Examples
    --------
    >>> print(*aligned(["rule", "gap"], [["optimum", "0"], ["naive", "0.25"]], words=1), sep="\n")
    rule      gap
    optimum     0
    naive    0.25
    """
    lines = [names, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            text.ljust(width) if index < words else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
