"""Skip what needs a package that is not here and that no set-up can promise; it says which.

A plugin, so that it also serves the examples in docstrings.
"""

from contextlib import contextmanager
from importlib.util import find_spec

import pytest

ABSENT = [
    text
    for package, text in (
        ("cdd", "needs the package cdd: pip install 'otspec[cones]'"),
        ("torch", "needs the package torch: pip install 'otspec["),
    )
    if find_spec(package) is None
]
"""How the package says that it needs what is not here: `make` installs them where it can."""


@contextmanager
def skipped_without_packages():
    """Skip what needs a package that is not here and no set-up can promise: say which."""
    try:
        yield
    except Exception as error:
        for cause in _causes(error):
            if any(name in str(cause) for name in ABSENT):
                pytest.skip(str(cause))
        raise


def _causes(error):
    """Return an error, or what the examples of a docstring raised."""
    examples = getattr(error, "failures", [error])
    return [getattr(each, "exc_info", (None, each))[1] for each in examples]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    with skipped_without_packages():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    with skipped_without_packages():
        return (yield)
