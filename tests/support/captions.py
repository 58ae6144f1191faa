"""What the gallery says of a figure or a table."""

from pathlib import Path

GALLERY = Path(__file__).parents[2] / "docs" / "gallery.md"


def caption(name):
    """Return the section of an item, its lines joined."""
    _, _, rest = GALLERY.read_text(encoding="utf-8").partition(f"(figure-{name})=")
    assert rest, name
    return " ".join(rest.partition("(figure-")[0].split())
