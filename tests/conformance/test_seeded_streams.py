"""Seeds in exact mode: a seed names its numbers, which come again with it."""

import random
from collections import Counter

import numpy as np
import pytest
from small_verifiers import coupled

import otspec
from otspec.chance import CannotFollowError
from otspec.conformance import check, exact_kernel, exact_law, exact_texts
from otspec.conformance.cases.arrays import Form
from otspec.conformance.exact_check import Followed
from otspec.conformance.following.torch.streams import NEW
from otspec.models import memoryless

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

ROUNDING = 1e-15
DRAFT, TARGET = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]


def exact(masses):
    return torch.tensor(masses, dtype=torch.float64)


def seeded(*seeds, draw=lambda: bool(torch.rand(()) < 0.25)):
    """Return what is drawn after each seed; None seeds nothing."""

    def run():
        found = []
        for seed in seeds:
            if seed is not None:
                torch.manual_seed(seed)
            found.append(draw())
        return tuple(found)

    return run


def test_the_same_seed_gives_the_same_number():
    assert exact_law(seeded(1, 1)) == {(True, True): 0.25, (False, False): 0.75}
    assert exact_law(seeded(1, 2))[True, True] == 0.0625
    assert exact_law(seeded(1, None, 1))[True, True, True] == pytest.approx(0.0625)
    assert exact_law(seeded(None, 1, 1))[True, True, True] == 0.0625


def test_tensors_of_other_shapes_begin_with_the_same_numbers():
    def run():
        torch.random.manual_seed(5)
        first = torch.rand(1)
        torch.manual_seed(5)
        return (first < 0.5).tolist(), (torch.rand((2, 2)) < 0.5).flatten().tolist()

    law = exact_law(run)
    assert {many[0] == one[0] for one, many in law} == {True}
    assert len(law) == 16


@pytest.mark.parametrize("again", [False, True])
def test_tokens_after_the_same_seed_are_the_same_race(again):
    def run():
        torch.manual_seed(3)
        first = torch.multinomial(exact(DRAFT), 1).item()
        if again:
            torch.manual_seed(3)
        return first, torch.multinomial(exact(TARGET), 1).item()

    law = exact_law(run)
    # The law of both is known: a race of the same clocks at two rates.
    raced = otspec.rules.GumbelCoupling(DRAFT, TARGET, 1)
    # A token that won at one rate wins again, or loses to one whose rate has grown by more.
    assert len(law) == (6 if again else 9)
    for (first, second), mass in law.items():
        alone = float(raced.kernel([first])[second]) if again else TARGET[second]
        assert mass == pytest.approx(DRAFT[first] * alone, abs=ROUNDING)


def test_distinct_tokens_and_coins_follow_the_seed():
    def run():
        found = []
        for _ in range(2):
            torch.manual_seed(0)
            found.append(torch.multinomial(torch.ones(3).double(), 2).tolist())
        torch.manual_seed(1)
        coin = torch.bernoulli(torch.tensor([0.25]).double()).item()
        torch.manual_seed(1)
        return (*map(tuple, found), coin == (torch.rand(()) < 0.25).item())

    law = exact_law(run)
    assert {(one == two, same) for one, two, same in law} == {(True, True)}
    assert [round(mass, 12) for mass in law.values()] == [round(1 / 6, 12)] * 6


def verify(x, seed=None):
    """Verify one draft; with a seed acceptance and correction begin with the same numbers."""
    p, q = exact(DRAFT), exact(TARGET)
    if seed is not None:
        torch.manual_seed(seed)
    if torch.rand(()) * p[x[0]] < q[x[0]]:
        return x[0]
    if seed is not None:
        torch.manual_seed(seed)
    sums = (q - p).clamp(min=0).cumsum(0)
    return int(torch.searchsorted(sums, torch.rand((), dtype=torch.float64) * sums[-1], right=True))


def test_a_number_that_accepts_and_draws_shows_where_a_seed_is_set_again():
    law = otspec.IID(DRAFT, 1)
    assert otspec.audit(exact_kernel(verify), law=law, target=TARGET).lossless
    again = exact_kernel(lambda x: verify(x, seed=7))
    report = otspec.audit(again, law=law, target=TARGET)
    assert report.lossless is False
    assert report.total_variation > 0.05


@pytest.mark.parametrize("reseeds", [False, True])
def test_a_seed_in_each_step_shows_in_texts(reseeds):
    """As in decoders that take a seed for reproducibility, and set it before each number."""

    def generate(draft, target, length):
        text = ()
        while len(text) < length:
            p, q = (exact([float(each) for each in m(text)]) for m in (draft, target))
            x = int(torch.multinomial(p, 1))
            if reseeds:
                torch.manual_seed(9)
            if torch.rand(1)[0] * p[x] >= q[x]:
                x = int(torch.multinomial((q - p).clamp(min=0), 1))
            text += (x,)
        return text

    models = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    report = exact_texts(generate, *models, 2, tolerance=1e-9)
    if reseeds:
        assert report.lossless is False
        assert report.total_variation > 0.01
    else:
        assert report.lossless


@pytest.mark.parametrize(("kinds", "count", "refused"), [(2, 1, False), (3, 1, True), (2, 2, True)])
def test_tokens_of_one_seed_have_at_most_one_other_law(kinds, count, refused):
    laws = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])

    def run():
        found = []
        for law in laws[:kinds]:
            torch.manual_seed(3)
            found.append(torch.multinomial(law, count)[0].item())
        return tuple(found)

    if refused:
        with pytest.raises(CannotFollowError, match="several other chances after the same seed"):
            exact_law(run)
    else:
        first = Counter()
        for (one, _), mass in exact_law(run).items():
            first[one] += mass
        assert first == pytest.approx({0: 0.5, 1: 0.25, 2: 0.25})


def test_other_kinds_of_numbers_after_the_same_seed_are_refused():
    def run():
        torch.manual_seed(0)
        torch.rand(1)
        torch.manual_seed(0)
        return torch.multinomial(torch.ones(2), 1).item()

    with pytest.raises(CannotFollowError, match="it draws by race for 1 of 2 after"):
        exact_law(run)
    with pytest.raises(CannotFollowError, match="randint after"):
        exact_law(seeded(0, draw=lambda: torch.randint(3, (1,)).item()))


def test_other_generators_are_no_matter_and_seeds_are_put_back():
    before = torch.get_rng_state()
    generator = torch.Generator()
    law = exact_law(seeded(0, 0, draw=lambda: bool(torch.rand((), generator=generator) < 0.5)))
    assert len(law) == 4
    assert (torch.get_rng_state() == before).all()
    torch.manual_seed(1)
    drawn = torch.rand(1)
    assert torch.manual_seed(1) is torch.default_generator
    assert torch.equal(torch.rand(1), drawn)


HALF = {(True, True): 0.5, (False, False): 0.5}
"""The law of two coins that are one."""


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (lambda: np.random.default_rng(3), lambda: np.random.default_rng(3), True),
        (lambda: np.random.default_rng(3), lambda: np.random.default_rng(4), False),
        (np.random.default_rng, np.random.default_rng, False),
        (lambda: np.random.default_rng(3), lambda: np.random.Generator(np.random.PCG64(3)), True),
        (lambda: np.random.default_rng(3), lambda: np.random.Generator(np.random.MT19937(3)),
         False),
        (lambda: np.random.default_rng([1, 2]), lambda: np.random.default_rng([1, 2]), True),
        (lambda: np.random.RandomState(3), lambda: np.random.RandomState(3), True),
        (lambda: np.random.RandomState(3), lambda: np.random.default_rng(3), False),
    ],
)  # fmt: skip
def test_generators_of_numpy_with_the_same_seed_have_the_same_numbers(one, two, same):
    law = exact_law(lambda: (bool(one().random() < 0.5), bool(two().random() < 0.5)))
    assert (law == HALF) == same
    assert sum(law.values()) == 1


def test_a_token_after_the_same_seed_is_the_same_number_by_inversion():
    def run():
        first = np.random.default_rng(1).choice(2, p=[0.5, 0.5])
        return first, np.random.default_rng(1).choice(3, p=[0.25, 0.5, 0.25])

    assert exact_law(run) == {(0, 0): 0.25, (0, 1): 0.25, (1, 1): 0.25, (1, 2): 0.25}


def test_other_kinds_of_numpy_numbers_after_the_same_seed_are_refused():
    def run():
        np.random.default_rng(5).random()
        return int(np.random.default_rng(5).integers(3))

    with pytest.raises(CannotFollowError, match="integers below 3 after the NumPy generator of s"):
        exact_law(run)
    with pytest.raises(CannotFollowError, match=r"a random\.Random of a seed"):
        exact_law(lambda: random.Random(5).random())


def test_generators_of_torch_have_the_numbers_of_their_seeds():
    def coin(generator):
        return bool(torch.rand((), generator=generator) < 0.5)

    def seeds(*each):
        return [torch.Generator().manual_seed(seed) for seed in each]

    assert exact_law(lambda: tuple(map(coin, seeds(1, 1)))) == HALF
    assert len(exact_law(lambda: tuple(map(coin, seeds(1, 2))))) == 4

    def again(generator):
        first = coin(generator)
        generator.manual_seed(1)
        return first, coin(generator)

    assert exact_law(lambda: again(*seeds(1))) == HALF
    assert len(exact_law(lambda: again(*seeds(2)))) == 4
    assert len(exact_law(lambda: [coin(each) for each in seeds(3) * 2])) == 4
    outside = torch.Generator().manual_seed(1)
    before = outside.get_state()
    assert exact_law(lambda: again(outside)) == HALF
    assert torch.equal(outside.get_state(), before)


def test_a_seed_in_the_verifier_shows_in_two_calls():
    def seeded_each_time(draft, target, drafts):
        return coupled(draft, target, drafts, np.random.default_rng(0))

    report = check(seeded_each_time, mode="exact", shape=1)
    assert {finding.looks_like for finding in report.findings} == {
        ("random numbers of one call used again in the next",)
    }


def test_a_generator_of_torch_that_a_check_hands_over_has_new_numbers():
    def torch_coupled(draft, target, drafts, generator):
        tokens = []
        for p, q, (x, *_) in zip(draft, target, drafts, strict=True):
            rest = (q - p).clamp(min=0)
            accepted = bool(torch.rand((), generator=generator) * p[x] < q[x])
            rest = rest if rest.sum() > 0 else q
            drawn = torch.multinomial(rest, 1, generator=generator)
            tokens.append(int(x) if accepted else int(drawn))
        return torch.tensor(tokens)

    report = check(torch_coupled, mode="exact", shape=1, arrays="torch")
    assert report.passed, report
    for call in range(2):
        handed = Followed(Form("torch"), None, call).of("generator", 1, 1)
        assert handed.initial_seed() == NEW + call  # from NEW on no numbers come again
