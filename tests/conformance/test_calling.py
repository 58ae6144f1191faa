"""Verifiers get what they ask for, in arrays of their own, and what they return is read."""

import inspect

import numpy as np
import pytest

from otspec import batch
from otspec.conformance.cases.arrays import Form, plain
from otspec.conformance.cases.calling import ARRAYS, RANDOMNESS, Verifier, copied, written
from otspec.conformance.cases.cases import embedded, memoryless, remembering
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import TABLES
from otspec.conformance.evidence.batches import probed
from tests.support.batch_table import drafts_number

CASE = memoryless("a", (4, 2, 1, 1), (1, 2, 4, 1))


def calls(function, form=None, kind=None, case=CASE, size=32, seed=0):
    """What a verifier is called with."""
    kind = kind or Tokens(2)
    verifier = Verifier(function, form or Form())
    sample = kind.draw(case, size, np.random.default_rng(seed))
    return verifier.given(kind, case, sample, verifier.randomness(seed)), sample


def asks(*names, answer=None):
    """A verifier that takes parameters of some names, and returns one of them."""

    def verify(**given):
        return None if answer is None else given[answer][:, 0]

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    verify.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return verify


NAMES = (*ARRAYS, *RANDOMNESS)
everything = asks(*NAMES)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numpy_arrays_of_any_type(dtype):
    given, sample = calls(everything, Form("numpy", dtype))
    assert list(given) == list(NAMES)
    assert given["draft"].dtype == given["target"].dtype == dtype
    assert given["draft"].tolist() == [[0.5, 0.25, 0.125, 0.125]] * 32
    assert given["drafts"].dtype == given["lengths"].dtype == np.int64
    assert given["drafts"].tolist() == sample.drafts.tolist()
    assert given["lengths"].tolist() == [2] * 32
    assert given["mask"].all()
    assert given["parents"] == (-1, -1)
    assert isinstance(given["rng"], np.random.Generator)
    assert isinstance(given["seed"], int)
    # Half precision would round uniform numbers to 1.
    assert given["uniforms"].dtype == ("float64" if dtype == "float64" else "float32")
    assert given["uniforms"].shape == (32, 3)
    assert ((given["uniforms"] >= 0) & (given["uniforms"] < 1)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_torch_tensors_of_any_type(dtype):
    torch = pytest.importorskip("torch")
    given, _ = calls(everything, Form("torch", dtype))
    assert given["draft"].dtype == getattr(torch, dtype)
    assert given["draft"].tolist() == [[0.5, 0.25, 0.125, 0.125]] * 32
    assert given["drafts"].dtype == given["lengths"].dtype == torch.int64
    assert given["mask"].dtype == torch.bool
    assert given["uniforms"].dtype == (torch.float64 if dtype == "float64" else torch.float32)
    assert float(given["uniforms"].max()) < 1
    first = torch.rand(3, generator=given["generator"])
    assert first.tolist() == torch.rand(3, generator=torch.Generator().manual_seed(0)).tolist()
    assert plain((given["draft"], given["drafts"]))[0].dtype.kind == "f"


def test_randomness_goes_on_from_call_to_call():
    verifier = Verifier(asks("rng", "seed", "uniforms"), Form())
    source = verifier.randomness(3)
    drawn = [source.of(name, 4, 2) for name in ("uniforms", "uniforms", "seed", "seed")]
    assert not (drawn[0] == drawn[1]).any()
    assert drawn[2] != drawn[3]
    assert source.of("rng", 4, 2) is source.of("rng", 4, 2)


def test_positional_parameters_are_passed_in_their_order():
    def verify(target, drafts, /, draft, *, lengths=None, grades=6):
        assert grades == 6
        assert target.tolist() == [[0.125, 0.25, 0.5, 0.125]] * 4
        assert draft.tolist() == [[0.5, 0.25, 0.125, 0.125]] * 4
        assert lengths.tolist() == [2] * 4
        return drafts[:, 0]

    given, sample = calls(verify, size=4)
    assert Verifier(verify, Form())(given).tolist() == sample.drafts[:, 0].tolist()


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (asks("p", "q"), "verifier takes 'p': name its parameters draft, target"),
        (asks("draft", "logits"), "verifier takes 'logits'"),
        (3, "verifier is 3"),
        (dict, "does not tell its parameters|verifier"),
    ],
)
def test_other_parameters_are_refused(function, why):
    with pytest.raises(ValueError, match=why):
        Verifier(function, Form())


def test_parameters_with_defaults_are_the_verifiers_own():
    def verify(draft, target, threshold=0.5, *rest, **options):
        return draft, target, threshold, rest, options

    verifier = Verifier(verify, Form())
    assert list(verifier.wanted) == ["draft", "target"]
    assert not verifier.uneven
    assert Verifier(batch.recursive_rejection, Form()).uneven


@pytest.mark.parametrize("name", ["uniforms", "lengths"])
def test_what_a_tree_does_not_have_is_refused(name):
    verifier = Verifier(asks(name), Form())
    verifier.check_kind(Tokens(2))
    with pytest.raises(ValueError, match=f"verifier takes {name}"):
        verifier.check_kind(Tree((-1, 0)))


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (("numpy", "bfloat16"), "NumPy does not have"),
        (("numpy", "float32", "cuda"), "arrays='torch'"),
    ],
)
def test_arrays_that_do_not_exist_are_refused(form, why):
    with pytest.raises(ValueError, match=why):
        Form(*form)


def test_a_device_that_torch_refuses():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device is 'cuda', which torch refuses"):
            Form("torch", "float32", "cuda")
    with pytest.raises(ValueError, match="device is 'nowhere', which torch refuses"):
        Form("torch", "float32", "nowhere")


@pytest.mark.parametrize("behind", ["same", "garbage", "nan"])
def test_what_stands_behind_a_block(behind):
    draft, target = TABLES["rows that depend on the text"]
    kind = Block.of_length(3)
    plainly = remembering("a", draft, target, uneven=True)
    case = remembering("a", draft, target, uneven=True, behind=behind)
    given, sample = calls(
        asks("draft", "target", "drafts", "lengths"), Form("numpy", "float64"), kind, case, 200
    )
    same, again = calls(
        asks("draft", "target", "drafts", "lengths"), Form("numpy", "float64"), kind, plainly, 200
    )
    assert sample.drafts.tolist() == again.drafts.tolist()
    assert set(given["lengths"].tolist()) == {0, 1, 2, 3}
    for row, length in enumerate(given["lengths"].tolist()):
        for name, count in (("draft", length), ("target", length + 1), ("drafts", length)):
            assert given[name][row, :count].tolist() == same[name][row, :count].tolist()
            hidden = given[name][row, count:]
            if name != "drafts" and behind == "nan":
                assert np.isnan(hidden).all()
            elif name != "drafts" and behind == "garbage":
                assert hidden.tolist() == [[1, 0, 0]] * len(hidden)
            else:
                assert not np.isnan(hidden).any()
    assert ((given["drafts"] >= 0) & (given["drafts"] < 3)).all()
    if behind != "same":
        assert (given["drafts"] != same["drafts"]).any()


def test_what_stands_behind_the_nodes_of_a_tree():
    case = remembering("a", *TABLES["rows that depend on the text"], uneven=True, behind="nan")
    given, sample = calls(
        asks("draft", "target", "drafts", "mask"), None, Tree((-1, -1, 0)), case, 100
    )
    for name in ("draft", "target"):
        assert np.isnan(given[name][:, 1:]).all(axis=2).tolist() == (~sample.there).tolist()
        assert not np.isnan(given[name][:, 0]).any()
    assert given["mask"].tolist() == sample.there.tolist()


def test_rows_of_a_large_vocabulary():
    case = embedded(CASE, 100, [99, 0, 31, 32])
    given, _ = calls(asks("draft", "drafts"), None, Tokens(2), case, 8)
    assert given["draft"].shape == (8, 100)
    assert given["draft"][0, [99, 0, 31, 32]].tolist() == [0.5, 0.25, 0.125, 0.125]
    assert set(given["drafts"].ravel().tolist()) <= {99, 0, 31, 32}


def test_arrays_are_written_to_by_the_verifier_alone():
    def verify(draft, target, drafts, seed):
        target -= draft
        drafts[:] = 0
        return drafts[:, 0]

    for form in (Form(), Form("torch", "float64"), Form("torch", "bfloat16")):
        verifier = Verifier(verify, form)
        probe = probed(verifier, Tokens(2), CASE, 0)
        assert sorted(probe.written) == ["drafts", "target"]
        given, sample = calls(verify, form)
        kept = sample.tokens.tolist()
        verifier(given)
        assert sample.tokens.tolist() == kept
    assert (
        probed(
            Verifier(asks("draft", "drafts", answer="drafts"), Form()), Tokens(2), CASE, 0
        ).written
        == []
    )


def test_nothing_is_said_of_a_verifier_that_fails_or_says_the_impossible():
    def fails(draft):
        draft[:] = 0
        raise RuntimeError

    assert probed(Verifier(fails, Form()), Tokens(2), CASE, 0) == (False, [])
    nobody = Verifier(lambda drafts: (np.full(len(drafts), 7), np.zeros(len(drafts), int)), Form())
    assert probed(nobody, Tokens(2), CASE, 0) == (False, [])
    assert probed(Verifier(batch.recursive_rejection, Form()), Tokens(2), CASE, 0).marked


def test_nan_counts_as_unchanged():
    values = {"draft": np.array([np.nan, 1.0]), "parents": (-1,)}
    before = copied(values)
    assert written(before, values) == []
    values["draft"][1] = 2
    assert written(before, values) == ["draft"]


@pytest.mark.parametrize("name", ["recursive_rejection", "spechub"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_batch_functions_are_called_as_they_are(name, library):
    pytest.importorskip(library)
    kind = Tokens(drafts_number(name, 3), "hub" if name == "spechub" else "iid")
    verifier = Verifier(getattr(batch, name), Form(library))
    given, sample = calls(verifier.function, verifier.form, kind)
    read = kind.read(verifier(given), CASE, sample)
    assert read.texts.shape == (32, 1)
    assert read.marks is not None
