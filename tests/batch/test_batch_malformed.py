"""Malformed calls of every public batch function: a ValueError of one line names the argument."""

import inspect
import time
from fractions import Fraction

import numpy as np
import pytest
from batch_backends import library
from batch_calls import CALLS, MASKED, ROWS, TARGETS
from batch_paths import taking
from each_case import each

from otspec import batch
from otspec.batch._arrays import MOST_DRAFTS, MOST_PASSES

SOON = 5
"""Seconds of CPU time, which do not depend on what else the machine does."""
"""Seconds, on a busy machine; the calls take milliseconds."""


class Subclass(np.ndarray):
    """A subclass whose meaning nobody here knows."""


def big_endian(values):
    return values.astype(values.dtype.newbyteorder(">"))


def misplaced(values):
    return library("torch").asarray(np.ascontiguousarray(values)).to("meta")


NO_ARRAYS = {
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "None": lambda _: None,
    "string": lambda _: "0.5",
    "number": lambda _: 0.5,
    "fraction": lambda _: Fraction(1, 2),
    "0-d": lambda values: values.ravel()[0],
    "0-d array": lambda values: np.array(values.ravel()[0]),
    "masked": np.ma.masked_array,
    "masked with a mask": lambda values: np.ma.masked_array(values, values > 0),
    "matrix": lambda values: values.view(np.matrix) if values.ndim == 2 else [values],
    "subclass": lambda values: values.view(Subclass),
    "object": lambda values: values.astype(object),
    "complex": lambda values: values.astype(complex),
    "bool": lambda values: values.astype(bool),
    "strings": lambda values: values.astype(str),
    "times": lambda values: values.astype("m8[s]"),
    "records": lambda values: values.astype([("a", float)]),
    "big-endian": big_endian,
    "long double": lambda values: values.astype(np.longdouble),
    "another library": lambda values: library("torch").asarray(np.ascontiguousarray(values)),
    "another device": misplaced,
    "no rows but a token axis": lambda values: values[:0],
    "no last axis": lambda values: values[..., :0],
    "one axis more": lambda values: values[None],
    "one axis less": lambda values: values[0, ..., 0],
}
ALONE = {
    "another library",
    "another device",
    "no rows but a token axis",
    "one axis more",
    "one axis less",
}
"""What is right where there is no other array to compare with."""
NO_COUNTS = [
    np.array([[1, 2], [3, 4]]), None, "2", b"2", 2.0, True, np.True_, 0, -1, [2],
    np.array([1, 2]), np.array([2]), Fraction(2), np.nan, 10**400,
]  # fmt: skip
NO_NUMBERS = [
    None,
    "1",
    b"1",
    True,
    np.True_,
    0,
    -1,
    np.nan,
    [1],
    np.array([1.0, 2]),
    1j,
    np.complex64(1),
]


def names(function):
    return f"{function.__module__}.{function.__name__}"


def parts(result):
    """The arrays of a result, of results in it, too."""
    if isinstance(result, tuple):
        return [part for each in result for part in parts(each)]
    return [result]


def is_refused(function, arguments, name, **options):
    start = time.process_time()
    with pytest.raises(ValueError, match=name) as caught:
        function(*arguments.values(), **options)
    assert time.process_time() - start < SOON
    assert "\n" not in str(caught.value)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("kind", NO_ARRAYS)
@each("function", CALLS, ids=names)
def test_what_is_no_fit_array_is_refused(function, kind):
    arguments = CALLS[function]
    arrays = [name for name, value in arguments.items() if isinstance(value, np.ndarray)]
    for name in arrays:
        if kind in ALONE and len(arrays) == 1:
            continue
        changed = {**arguments, name: NO_ARRAYS[kind](arguments[name])}
        # With the first array out of line it is another one that does not fit to it.
        about = "|".join(arrays) if name == arrays[0] else name
        if kind in ("no rows but a token axis", "one axis more", "one axis less", "no last axis"):
            about = "|".join(arrays)
        is_refused(function, changed, rf"\b({about})\b")


def as_tensors(function):
    """The arguments of a call, tensors in place of arrays."""
    torch = library("torch")
    return {
        name: torch.asarray(value) if isinstance(value, np.ndarray) else value
        for name, value in CALLS[function].items()
    }


@each("function", CALLS, ids=names)
def test_tensors_of_two_devices_are_refused(function):
    torch, given = library("torch"), as_tensors(function)
    first, *others = [name for name, value in given.items() if torch.is_tensor(value)]
    for name in others:
        said = f"^{name} is on meta and {first} on cpu: move one of them$"
        is_refused(function, {**given, name: given[name].to("meta")}, said)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@each("function", CALLS, ids=names)
def test_sparse_and_nested_tensors_are_refused(function):
    torch, given = library("torch"), as_tensors(function)
    for name in (name for name, value in given.items() if torch.is_tensor(value)):
        said = f"^{name} is sparse, nested or quantized: pass "
        for other in (given[name].to_sparse(), torch.nested.nested_tensor(list(given[name]))):
            is_refused(function, {**given, name: other}, said)


@pytest.mark.parametrize("kind", NO_ARRAYS)
@each("function", MASKED, ids=names)
def test_what_is_no_fit_mask_is_refused(function, kind):
    if kind in ("None", "bool"):
        return  # these are right
    arguments = CALLS[function]
    mask = np.ones(arguments["drafts"].shape, bool)
    changed = NO_ARRAYS[kind](mask)
    if kind == "big-endian":
        changed = big_endian(mask.astype(int))
    is_refused(function, arguments, r"\bmask\b", mask=changed)


@each("function", [f for f in CALLS if "k" in CALLS[f]], ids=names)
def test_what_is_no_number_of_drafts_is_refused(function):
    limit = MOST_PASSES if function is batch.acceptance.recursive_rejection else MOST_DRAFTS
    for k in (*NO_COUNTS, limit + 1, 2**70):
        is_refused(function, {**CALLS[function], "k": k}, r"\bk\b")


@pytest.mark.parametrize(
    "function", [batch.pooled_selection, batch.acceptance.pooled_selection], ids=names
)
def test_what_is_no_number_of_grades_is_refused(function):
    for grades in (*NO_COUNTS, 1, 257, 10**9):
        is_refused(function, CALLS[function], r"\bgrades\b", grades=grades)
    assert function(*CALLS[function].values(), grades=np.int64(256)) is not None


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_what_is_no_option_of_warping_is_refused(dtype):
    arguments = {"logits": ROWS[[0, 1, 0]].astype(dtype)}  # for settings of two rows are none
    for value in (*NO_NUMBERS, np.inf, 1e-310, 10**400, Fraction(1, 10**400)):
        if repr(value) != "0":  # which is greedy
            is_refused(batch.warp, arguments, "temperature", temperature=value)
    for value in (*NO_NUMBERS[1:], 1.5, np.inf):
        is_refused(batch.warp, arguments, "top_p", top_p=value)
        if repr(value) != "0":  # which is a min-p that keeps all
            is_refused(batch.warp, arguments, "min_p", min_p=value)
    for value in [bad for bad in NO_COUNTS[:-1] if bad is not None]:
        is_refused(batch.warp, arguments, "top_k", top_k=value)


def test_options_of_warping_do_not_change_the_dtype():
    logits = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)
    wanted = batch.warp(logits, temperature=0.5, top_k=10, top_p=0.75)
    for kind in (np.float64, np.float32, Fraction, np.longdouble):
        found = batch.warp(logits, temperature=kind(0.5), top_k=np.int8(10), top_p=kind(0.75))
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(batch.warp(logits, top_k=10**99), batch.warp(logits))


@each("function", [f for f in CALLS if "drafts" in CALLS[f]], ids=names)
def test_tokens_out_of_range_are_refused_by_numpy(function):
    for wrong in (-1, 4, 2**62):
        drafts = CALLS[function]["drafts"].copy()
        drafts[1, 0] = wrong
        is_refused(
            function, {**CALLS[function], "drafts": drafts}, rf"drafts has the token {wrong}\b"
        )


@each("function", CALLS, ids=names)
def test_any_layout_of_memory_gives_the_same(function):
    arguments = CALLS[function]
    wanted = function(*arguments.values())

    def again(change):
        changed = [
            change(value) if isinstance(value, np.ndarray) else value
            for value in arguments.values()
        ]
        found = function(*changed)
        for one, other in zip(parts(found), parts(wanted), strict=True):
            np.testing.assert_array_equal(one, other)

    def read_only(values):
        values = values.copy()
        values.flags.writeable = False
        return values

    again(read_only)
    again(np.asfortranarray)
    again(lambda values: values[::-1, ..., ::-1].copy()[::-1, ..., ::-1])  # negative strides
    again(lambda values: np.repeat(values, 2, axis=-1)[..., ::2])
    again(
        lambda values: (
            np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:]
            .view(values.dtype)
            .reshape(values.shape)
        )
    )


def test_several_axes_of_rows_are_rows():
    """Of three calls, the second with its rows in reverse, one has two axes of rows."""
    for function, call in CALLS.items():
        arrays = [isinstance(value, np.ndarray) for value in call.values()]
        calls = [
            [
                value[::step] if own else value
                for own, value in zip(arrays, call.values(), strict=True)
            ]
            for step in (1, -1, 1)
        ]
        whole = [
            np.stack(values) if own else values[0]
            for own, *values in zip(arrays, *calls, strict=True)
        ]
        with taking("arrays"):
            each_call = [parts(function(*arguments)) for arguments in calls]
            found = parts(function(*whole))
        for one, wanted in zip(found, map(np.stack, zip(*each_call, strict=True)), strict=True):
            assert one.dtype == wanted.dtype, function
            np.testing.assert_array_equal(one, wanted, str(function))


@each("function", CALLS, ids=names)
def test_no_rows_give_no_results(function):
    arguments = [
        value[:0] if isinstance(value, np.ndarray) else value for value in CALLS[function].values()
    ]
    found = function(*arguments)
    for part in parts(found):
        assert part.shape[0] == 0


@each("function", CALLS, ids=names)
def test_the_caller_s_error_handling_changes_nothing(function):
    arguments = dict(CALLS[function])
    for name in ("draft", "target"):
        if name in arguments:
            rows = np.zeros_like(arguments[name])
            rows[..., :2] = [1, 5e-324]
            arguments[name] = rows
    wanted = function(*arguments.values())
    with np.errstate(all="raise"):
        found = function(*arguments.values())
    for one, other in zip(parts(found), parts(wanted), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [10**4, 10**9, MOST_DRAFTS])
def test_very_many_drafts_are_no_matter_of_time(k):
    start = time.process_time()
    best = batch.optimal_acceptance(ROWS, TARGETS, k)
    for function in (batch.acceptance.k_sequential, batch.acceptance.pooled_selection):
        found = function(ROWS, TARGETS, k)
        assert (found >= 0.5 * best - 1e-12).all()
        assert (found <= best + 1e-12).all()
    assert time.process_time() - start < SOON


def test_every_public_function_is_here():
    for module in (batch, batch.acceptance):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and not name.startswith("_"):
                own = module is batch or function.__module__ == module.__name__
                assert not own or function in CALLS, name
