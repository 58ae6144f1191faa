"""Many small cases in one item of pytest: an item costs a millisecond, most cases less."""

from functools import wraps
from inspect import signature

import pytest
from absent_packages import skipped_without_packages

_SKIPPED = pytest.skip.Exception
_FAILED = Exception, BaseExceptionGroup, pytest.fail.Exception


def each(names, cases, ids=None):
    """Try every case in one item, as ``pytest.mark.parametrize`` does in an item for each.

    All cases are tried, and the failure names those that fail. Fixtures are shared by the cases.
    If one was skipped and none fails, the item is.
    """
    names = names.split(",") if isinstance(names, str) else names

    def called(number, values):
        shown = ids[number] if isinstance(ids, (list, tuple)) else [*map(ids or repr, values)]
        return f"{', '.join(names)} = {shown}"

    def decorate(test):
        @wraps(test)
        def tried(**fixtures):
            failed, skipped = [], []
            for number, case in enumerate(cases):
                values = (case,) if len(names) == 1 else case
                try:
                    with skipped_without_packages():
                        test(**fixtures, **dict(zip(names, values, strict=True)))
                except _SKIPPED as reason:
                    skipped.append(reason)
                except _FAILED as error:
                    error.add_note(f"In case {number}, {called(number, values)}")
                    failed.append(error)
            assert cases, "there are no cases"
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)
            if skipped:
                raise skipped[0]

        given = signature(test)
        tried.__signature__ = given.replace(
            parameters=[item for name, item in given.parameters.items() if name not in names]
        )
        return tried

    return decorate
