"""The version of the package, in its one place."""

__version__ = "0.1.0"
