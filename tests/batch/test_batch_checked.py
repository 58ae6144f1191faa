"""The flag that leaves out the checks: the same results, and only the memory of the arguments."""

import contextlib
import inspect

import numpy as np
import pytest
from batch_backends import library
from batch_calls import CALLS, MASKED

from otspec import batch

RULES = [function for function in CALLS if "checked" in inspect.signature(function).parameters]
FAR = 10**12
"""A token id that is no place in any memory."""


def names(function):
    return function.__name__


def tensors(arguments):
    torch = library("torch")
    return [torch.asarray(v) if isinstance(v, np.ndarray) else v for v in arguments]


def test_every_rule_has_the_flag():
    results = (batch.Verified, batch.VerifiedBlock, batch.CorrectedBlock, batch.VerifiedPath)
    for function, arguments in CALLS.items():
        verifies = isinstance(function(*arguments.values()), (*results, batch.VerifiedTree))
        assert verifies == (function in RULES or function is batch.from_logits)


@pytest.mark.parametrize("function", RULES, ids=names)
def test_results_are_the_same(function):
    arguments = list(CALLS[function].values())
    for given in (arguments, tensors(arguments)):
        wanted, found = function(*given), function(*given, checked=True)
        np.testing.assert_equal([np.asarray(part) for part in flat(found)], list(flat(wanted)))
        if function in MASKED:
            mask = given[2] < given[2].max()
            wanted, found = function(*given, mask=mask), function(*given, mask=mask, checked=True)
            np.testing.assert_equal([np.asarray(part) for part in flat(found)], list(flat(wanted)))


def flat(result):
    for part in result:
        if isinstance(part, tuple):
            yield from flat(part)
        else:
            yield np.asarray(part)


@pytest.mark.parametrize("flag", [None, "yes", 1, 0.0, [True]])
def test_what_is_no_flag_is_refused(flag):
    for function in RULES:
        with pytest.raises(ValueError, match="checked"):
            function(*CALLS[function].values(), checked=flag)


@pytest.mark.parametrize("function", RULES, ids=names)
def test_what_does_not_fit_ends_in_an_error_or_a_result(function):
    """No place outside of the arguments is read or written, which would end the process."""
    arguments = CALLS[function]
    for name in [name for name, value in arguments.items() if isinstance(value, np.ndarray)]:
        value = arguments[name]
        for other in (value[..., :0], value[:0], value[..., :1], value[:1], value + FAR):
            given = list({**arguments, name: other}.values())
            for changed in (given, tensors(given)):
                with contextlib.suppress(Exception):  # any will do
                    function(*changed, checked=True)
