"""The random calls of PyTorch, as branches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec.conformance.following.order import Chosen, Pending, distinct
from otspec.conformance.following.torch.ledger import Ledger, objects


class Draws:
    """Random calls under the names that PyTorch has for them, without their generator."""

    def __init__(self, ledger: Ledger) -> None:
        import torch

        self._torch, self._ledger = torch, ledger
        self._chance, self._streams = ledger.chance, ledger.streams

    def rand(self, *size: Any, **options: Any) -> Any:
        return self._uniform(self._torch.empty(*size, **options))

    def rand_like(self, input: Any, **options: Any) -> Any:  # noqa: A002 # as callers name it
        return self._uniform(self._torch.empty_like(input, **options))

    def uniform_(self, tensor: Any, a: float = 0, b: float = 1) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "uniform") * (b - a) + a)

    def exponential_(self, tensor: Any, lambd: float = 1) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "exponential") / lambd)

    def bernoulli(self, input: Any, p: Any = None, *, out: Any = None) -> Any:  # noqa: A002
        return self.bernoulli_(input.clone() if out is None else out, input if p is None else p)

    def bernoulli_(self, tensor: Any, p: Any = 0.5) -> Any:
        chances = self._known(p) if hasattr(p, "tolist") else np.array(p)
        if not ((chances >= 0) & (chances <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        rows = np.broadcast_to(chances, tuple(tensor.shape)).ravel().tolist()
        draws: list[Any]
        if self._streams.seeded:
            draws = [int(self._streams.number("uniform") < each) for each in rows]
        else:
            draws = [Chosen(self._chance, (1 - each, each)) for each in rows]
        return self._ledger.put(tensor, objects(draws, tuple(tensor.shape)))

    def multinomial(
        self,
        input: Any,  # noqa: A002
        num_samples: int,
        replacement: bool = False,
        *,
        out: Any = None,
    ) -> Any:
        masses = self._known(input)
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
            draws += self._streams.tokens(row, num_samples, replacement)
        shape = (*masses.shape[:-1], num_samples)
        tokens = input.new_empty(shape).long() if out is None else out
        return self._ledger.put(tokens, objects(draws, shape))

    def randint(self, *bounds_and_size: Any, low: int = 0, **options: Any) -> Any:
        self._refuse_seeded("randint")
        named = [options.pop(name) for name in ("high", "size") if name in options]
        *bounds, size = (*bounds_and_size, *named)
        low, high = bounds if len(bounds) == 2 else (low, bounds[0])
        tokens = self._torch.empty(size, **{"dtype": self._torch.int64, **options})

        def one() -> Pending:
            return Pending(lambda: low + self._chance.choose([1] * (high - low)))

        return self._ledger.put(tokens, _filled(tokens, one))

    def randperm(self, n: int, **options: Any) -> Any:
        self._refuse_seeded("randperm")
        places = objects(distinct(self._chance, [1] * n, n), (n,))
        tokens = self._torch.empty(n, **{"dtype": self._torch.int64, **options})
        return self._ledger.put(tokens, places)

    def _uniform(self, tensor: Any) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "uniform"))

    def _numbers(self, tensor: Any, kind: str) -> Any:
        return _filled(tensor, lambda: self._streams.number(kind))

    def _refuse_seeded(self, name: str) -> None:
        """Refuse draws of which nobody knows what the same seed gives."""
        if self._streams.seeded:
            raise self._chance.refused(f"it draws with torch's {name} after torch.manual_seed")

    def _known(self, tensor: Any) -> Any:
        """Return the chances that a tensor holds, as float64."""
        if not self._ledger.settle(tensor):
            raise self._chance.refused("it draws with chances that are random numbers")
        return tensor.detach().double().cpu().numpy()


def _filled(tensor: Any, make: Callable[[], Any]) -> Any:
    return objects([make() for _ in range(tensor.numel())], tuple(tensor.shape))


DRAWS = frozenset(name for name in vars(Draws) if not name.startswith("_"))  # what can be followed

REFUSED = frozenset(  # what cannot be followed
    {
        "randn", "randn_like", "normal", "normal_", "randint_like", "random_",
        "poisson", "binomial", "cauchy_", "log_normal_", "geometric_", "dropout",
        "gumbel_softmax", "rrelu",
        "alpha_dropout", "feature_dropout", "native_dropout", "_sample_dirichlet",
        "_standard_gamma",
    }
)  # fmt: skip
