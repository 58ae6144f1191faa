"""Names of files and arrays in pictures and pages, whatever characters they hold."""


def printable(text: str) -> str:
    r"""Return a text that any file in UTF-8 can hold and any page can show.

    Control characters, and the bytes of a file name that is not UTF-8, are escaped.

    Examples
    --------
    >>> printable("a\x1b[1m\udcff")
    'a\\x1b[1m\\xff'
    """
    return "".join(letter if letter.isprintable() else escaped(letter) for letter in text)


def escaped(letter: str) -> str:
    """Return a letter by its number, or a byte of a name that is not UTF-8 by its own."""
    byte = ord(letter) - 0xDC00  # how Python keeps a byte that is not UTF-8
    if 0x80 <= byte <= 0xFF:
        return f"\\x{byte:02x}"
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
