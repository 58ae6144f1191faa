"""The random calls of PyTorch, as branches: name of the function -> what stands for it."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from otspec.chance import Branch
from otspec.conformance.following.order import Pending, chosen, distinct
from otspec.conformance.following.torch.ledger import Ledger, objects

Draw = Callable[..., Any]
"""(chance, ledger, arguments of the function but for its generator) -> its result."""


def _rand(chance: Branch, ledger: Ledger, *size: Any, **options: Any) -> Any:
    import torch

    return _uniforms(chance, ledger, torch.empty(*size, **options))


def _rand_like(
    chance: Branch,
    ledger: Ledger,
    input: Any,  # noqa: A002 # the name that callers may use
    **options: Any,
) -> Any:
    import torch

    return _uniforms(chance, ledger, torch.empty_like(input, **options))


def _uniforms(chance: Branch, ledger: Ledger, tensor: Any) -> Any:
    return ledger.put(tensor, _numbers(chance, ledger, tensor, "uniform"))


def _uniform_(
    chance: Branch,
    ledger: Ledger,
    tensor: Any,
    a: float = 0,
    b: float = 1,
) -> Any:
    return ledger.put(tensor, _numbers(chance, ledger, tensor, "uniform") * (b - a) + a)


def _exponential_(chance: Branch, ledger: Ledger, tensor: Any, lambd: float = 1) -> Any:
    return ledger.put(tensor, _numbers(chance, ledger, tensor, "exponential") / lambd)


def _numbers(chance: Branch, ledger: Ledger, tensor: Any, kind: str) -> Any:
    return _filled(tensor, lambda: ledger.streams.number(chance, kind))


def _filled(tensor: Any, make: Callable[[], Any]) -> Any:
    return objects([make() for _ in range(tensor.numel())], tuple(tensor.shape))


def _bernoulli(
    chance: Branch,
    ledger: Ledger,
    input: Any,  # noqa: A002
    p: Any = None,
    *,
    out: Any = None,
) -> Any:
    like = input.clone() if out is None else out
    return _bernoulli_(chance, ledger, like, input if p is None else p)


def _bernoulli_(chance: Branch, ledger: Ledger, tensor: Any, p: Any = 0.5) -> Any:
    chances = _known(chance, ledger, p) if hasattr(p, "tolist") else np.array(p)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    rows = np.broadcast_to(chances, tuple(tensor.shape)).ravel().tolist()
    draws: list[Any]
    if ledger.streams.seeded:
        draws = [int(ledger.streams.number(chance, "uniform") < each) for each in rows]
    else:
        draws = [chosen(chance, (1 - each, each)) for each in rows]
    return ledger.put(tensor, objects(draws, tuple(tensor.shape)))


def _multinomial(
    chance: Branch,
    ledger: Ledger,
    input: Any,  # noqa: A002
    num_samples: int,
    replacement: bool = False,
    *,
    out: Any = None,
) -> Any:
    masses = _known(chance, ledger, input)
    if not ((masses >= 0) & (masses < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (masses.sum(axis=-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > masses.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    draws: list[Any] = []
    for row in masses.reshape(-1, masses.shape[-1]).tolist():
        draws += ledger.streams.tokens(chance, row, num_samples, replacement)
    shape = (*masses.shape[:-1], num_samples)
    tokens = input.new_empty(shape).long() if out is None else out
    return ledger.put(tokens, objects(draws, shape))


def _refuse_seeded(chance: Branch, ledger: Ledger, name: str) -> None:
    """Refuse draws of which nobody knows what the same seed gives."""
    if ledger.streams.seeded:
        raise chance.refused(f"it draws with torch's {name} after torch.manual_seed")


def _randint(
    chance: Branch,
    ledger: Ledger,
    *bounds_and_size: Any,
    low: int = 0,
    **options: Any,
) -> Any:
    import torch

    _refuse_seeded(chance, ledger, "randint")
    named = [options.pop(name) for name in ("high", "size") if name in options]
    *bounds, size = (*bounds_and_size, *named)
    low, high = bounds if len(bounds) == 2 else (low, bounds[0])
    tokens = torch.empty(size, **{"dtype": torch.int64, **options})

    def one() -> Pending:
        return Pending(lambda: low + chance.choose([1] * (high - low)))

    return ledger.put(tokens, _filled(tokens, one))


def _randperm(chance: Branch, ledger: Ledger, n: int, **options: Any) -> Any:
    import torch

    _refuse_seeded(chance, ledger, "randperm")
    places = objects(distinct(chance, [1] * n, n), (n,))
    return ledger.put(torch.empty(n, **{"dtype": torch.int64, **options}), places)


def _known(chance: Branch, ledger: Ledger, tensor: Any) -> Any:
    """Return the chances that a tensor holds, as float64."""
    if not ledger.settle(tensor):
        raise chance.refused("it draws with chances that are random numbers")
    return tensor.detach().double().cpu().numpy()


DRAWS: MappingProxyType[str, Draw] = MappingProxyType(
    {
        "rand": _rand,
        "rand_like": _rand_like,
        "uniform_": _uniform_,
        "exponential_": _exponential_,
        "bernoulli": _bernoulli,
        "bernoulli_": _bernoulli_,
        "multinomial": _multinomial,
        "randint": _randint,
        "randperm": _randperm,
    }
)
"""What can be followed."""

REFUSED = frozenset(
    {
        "randn", "randn_like", "normal", "normal_", "randint_like", "random_",
        "poisson", "binomial", "cauchy_", "log_normal_", "geometric_", "dropout",
        "gumbel_softmax", "rrelu",
        "alpha_dropout", "feature_dropout", "native_dropout", "_sample_dirichlet",
        "_standard_gamma",
    }
)  # fmt: skip
"""What cannot."""
