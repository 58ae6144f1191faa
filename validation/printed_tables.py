"""Tables of the papers as printed: lines of text files, in sections."""

from pathlib import Path


def read_tables(paper: str) -> dict[str, tuple[str, ...]]:
    """Return the lines of each section of a paper's ``tables.txt``.

    Parameters
    ----------
    paper : str
        The name of its folder.

    Returns
    -------
    dict of str to tuple of str
        Section → its lines, without comments."""
    sections: dict[str, list[str]] = {}
    path = Path(__file__).parent / paper / "tables.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            list(sections.values())[-1].append(line)
    return {name: tuple(lines) for name, lines in sections.items()}
