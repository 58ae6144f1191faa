"""What is said of errors that Click finds: the name that was meant, or what to write instead."""

from __future__ import annotations

import re

import click

from otspec._base.registry import meant

_EXAMPLE = re.compile(r"^ *Example: (.+?)(?:\n *\n|\Z)", re.MULTILINE | re.DOTALL)


def said_of(error: click.ClickException) -> str:
    """Return what is said of an error of Click's, which asks for the closest name alone."""
    known = getattr(error, "possibilities", None) or ()
    misspelt = getattr(error, "command_name", None) or getattr(error, "option_name", None)
    closest = meant(misspelt or "", known)
    if closest:
        return f"{error.message.removesuffix('.')}{closest}"
    # Click's own suggestions are close by their dashes.
    words, fix = error.message if known else error.format_message(), _fix(error)
    return f"{words.removesuffix('.')}; {fix}" if fix else words


def _fix(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if isinstance(error, click.MissingParameter):
        found = _EXAMPLE.search(context.command.help or "")
        return f"write for instance {' '.join(found[1].split())}" if found else ""
    if getattr(error, "command_name", None) or isinstance(error, click.NoSuchOption):
        return f"{context.command_path} --help lists them"
    if error.message.startswith("Got unexpected extra"):
        pieces = " ".join(context.command.collect_usage_pieces(context))
        numbers = ", numbers separated by commas" if "DRAFT" in pieces else ""
        return f"write {context.command_path} {pieces}{numbers}"
    return ""
