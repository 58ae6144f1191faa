"""``_speculative_sampling`` of transformers, as it is installed, audited exactly."""

import numpy as np
import pytest
from tiny_models import transformers

import otspec
from otspec.conformance import exact_kernel

transformers()

import torch  # noqa: E402 # only where it is installed
from transformers.generation.utils import _speculative_sampling  # noqa: E402


def verifier(draft, target):
    """Return the function of transformers as drafts → tokens: logits of one text each."""

    def verify(drafts):
        length = len(drafts)
        tokens, _ = _speculative_sampling(
            torch.tensor([drafts]),
            draft.expand(1, length, -1),
            length,
            target.expand(1, length + 1, -1),
        )
        return tokens[0]

    return verify


def logits(probabilities):
    return torch.tensor(probabilities, dtype=torch.float64).log()


def random_pair(seed, n=4):
    return np.random.default_rng(seed).dirichlet(np.ones(n), 2).tolist()


PAIRS = {
    "thirds": ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]),
    "zeros": ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]),
    "ties": ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4]),
    "disjoint": ([1.0, 0.0, 0.0], [0.0, 0.5, 0.5]),
    "the same": ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
    "one token": ([1.0], [1.0]),
    "nearly certain": ([1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]),
    **{f"random {seed}": random_pair(seed) for seed in range(3)},
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_lossless_for_one_draft(name):
    draft, target = PAIRS[name]
    kernel = exact_kernel(verifier(logits(draft), logits(target)))
    report = otspec.audit(kernel, law=otspec.IID(draft, 1), target=target)
    assert report.lossless
    assert float(report.gap) == pytest.approx(0, abs=1e-15)
    rule = otspec.rules.MaximalCoupling(draft, target)
    drafts = [(token,) for token, mass in enumerate(draft) if mass > 0]
    kernel = exact_kernel(verifier(logits(draft), logits(target)), len(draft))
    np.testing.assert_allclose(
        [kernel(x) for x in drafts], [rule.kernel(x) for x in drafts], rtol=0, atol=4e-16
    )


def test_float32_is_lossless_within_its_rounding():
    torch.manual_seed(0)
    draft, target = torch.randn(2, 5)
    wanted = [row.double().softmax(-1).tolist() for row in (draft, target)]
    kernel = exact_kernel(verifier(draft, target))
    report = otspec.audit(kernel, law=otspec.IID(wanted[0], 1), target=wanted[1], tolerance=1e-6)
    assert report.lossless
    assert 0 < report.largest_error < 1e-7


def equal_but_for_rounding():
    """Return logits of one distribution, of which no softmax is above the other's."""
    generator = torch.Generator().manual_seed(0)
    while True:
        draft = torch.randn(3, generator=generator)
        target = draft + 5 * torch.randn(1, generator=generator)
        gain = target.softmax(-1) - draft.softmax(-1)
        if gain.max() == 0 > gain.min():
            return draft, target


def test_a_draft_that_is_the_target_but_for_rounding_makes_it_fail():
    """The residual is 0, divided by its sum 0: the verdict that the documentation states."""
    draft, target = equal_but_for_rounding()
    masses = draft.double().softmax(-1).tolist()

    def audited(**options):
        kernel = exact_kernel(verifier(draft, target), **options)
        return otspec.audit(kernel, law=otspec.IID(masses, 1), target=masses, tolerance=1e-6)

    report = audited()
    assert not report.lossless
    assert "RuntimeError: probability tensor contains either `inf`, `nan`" in report.witness.reason
    assert "This way through the code has the chance" in report.witness.traceback
    assert audited(least=1e-6).lossless
