"""What fits into this machine."""

import os


def refuse_too_large(size: int) -> None:
    """Refuse to read more bytes than half of this machine's memory."""
    if size > memory() / 2:
        raise ValueError(
            f"it unpacks to {size / 2**30:.3g} GiB, more than half of this machine's memory"
        )


def memory() -> int:
    """Return the physical memory of this machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
