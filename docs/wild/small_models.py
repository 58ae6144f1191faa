"""Small pairs of models, drafted from and verified: what every verdict is repeated on."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

Row = Sequence[Fraction]
Model = Callable[[Sequence[int]], Row]


def rows(*texts: str) -> tuple[tuple[Fraction, ...], ...]:
    """Return distributions from texts such as "1/2 1/4 1/4"."""
    return tuple(tuple(map(Fraction, text.split())) for text in texts)


class Instance(NamedTuple):
    """Two models whose rows follow the last token; a text begins as if after token 0."""

    draft_rows: tuple[tuple[Fraction, ...], ...]
    target_rows: tuple[tuple[Fraction, ...], ...]
    cells: int  # all ratios below 1 are multiples of 1/cells

    def draft(self, text: Sequence[int]) -> Row:
        """Return the draft's row after a text."""
        return self.draft_rows[text[-1] if len(text) else 0]

    def target(self, text: Sequence[int]) -> Row:
        """Return the target's row after a text."""
        return self.target_rows[text[-1] if len(text) else 0]

    def texts(self, length: int) -> dict[tuple[int, ...], Fraction]:
        """Return the target's law of texts."""
        found = {}
        for text in product(range(len(self.target_rows)), repeat=length):
            mass = Fraction(1)
            for place, token in enumerate(text):
                mass *= self.target(text[:place])[token]
            found[text] = mass
        return found


TWO = Instance(rows("1/2 1/2", "1/4 3/4"), rows("1/4 3/4", "5/8 3/8"), 2)
"""Two tokens."""
RACE = TWO._replace(cells=8)
"""The same, where races of exponential numbers are cut finely enough."""
THREE = Instance(
    rows("1/2 1/4 1/4", "1/4 1/2 1/4", "1/4 1/4 1/2"),
    rows("1/8 3/8 1/2", "1/2 1/8 3/8", "1/4 5/8 1/8"),
    4,
)
"""Three tokens, so that a correction can be one of two."""
WARPED = Instance(rows("1/2 1/2", "1/2 1/2"), rows("1/5 4/5", "4/5 1/5"), 5)
"""Two tokens, whose logits are warped by temperature 1/2: that of (1/3, 2/3) is (1/5, 4/5)."""
DISTINCT = THREE._replace(cells=12)
"""The same, for drafts without replacement."""


def tensor(model: Model, texts: Sequence[Sequence[int]]) -> Any:
    """Return the rows after some texts, shape (texts, V)."""
    return torch.tensor([[float(mass) for mass in model(text)] for text in texts])


def draw(row: Row) -> int:
    """Draw a token."""
    return random.choices(range(len(row)), weights=row)[0]


def completed(text: Sequence[int], target: Model, length: int) -> tuple[int, ...]:
    """Return a text of some length: what is missing is drawn from the target."""
    whole = list(map(int, text))[:length]
    while len(whole) < length:
        whole.append(draw(target(tuple(whole))))
    return tuple(whole)


def of_block(verify: Callable[..., Any], size: int = 2, *, likeliest: bool = False) -> Any:
    """Return a decoder of one step from a verifier of blocks: draft, target, drafts → tokens."""

    def generate(draft: Model, target: Model, length: int) -> tuple[int, ...]:
        text: tuple[int, ...] = ()
        for _ in range(size):
            row = list(draft(text))
            text += (row.index(max(row)) if likeliest else draw(row),)
        befores = [text[:place] for place in range(size + 1)]
        given = tensor(draft, befores[:-1])[None], tensor(target, befores)[None]
        tokens = verify(*given, torch.tensor([text]))[0]
        return completed([token for token in tokens if token >= 0], target, length)

    return generate


def of_tokens(verify: Callable[..., Any], size: int = 2, *, distinct: bool = False) -> Any:
    """Return a decoder of one step from a verifier of several drafts of one token."""

    def generate(draft: Model, target: Model, length: int) -> tuple[int, ...]:
        left, drafts = list(draft(())), []
        for _ in range(size):
            drafts.append(draw(left))
            left[drafts[-1]] *= not distinct
        token = verify(tensor(draft, [()]), tensor(target, [()]), torch.tensor([drafts]))
        return completed([token[0]], target, length)

    return generate


def of_paths(verify: Callable[..., Any], paths: int = 2, size: int = 1) -> Any:
    """Return a decoder of one step from a verifier of paths that are drawn one by one.

    It takes draft, target and drafts, shapes (1, K, L, V), (1, K, L + 1, V) and (1, K, L), and
    returns a path, how many of its tokens are kept, and the token after them.
    """

    def generate(draft: Model, target: Model, length: int) -> tuple[int, ...]:
        texts: list[tuple[int, ...]] = [()] * paths
        for path in range(paths):
            for _ in range(size):
                texts[path] += (draw(draft(texts[path])),)
        befores = [[text[:place] for place in range(size + 1)] for text in texts]
        drafts = torch.stack([tensor(draft, before[:-1]) for before in befores])[None]
        targets = torch.stack([tensor(target, before) for before in befores])[None]
        path, kept, token = map(int, verify(drafts, targets, torch.tensor([texts])))
        return completed((*texts[path][:kept], token), target, length)

    return generate


class TableModel:
    """A model of the form of transformers, with the rows of an instance.

    What it caches is how many tokens it has seen. The tokens before ``first`` have probability 0.
    """

    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, model: Model, first: int = 0) -> None:
        self.model, self.first = model, first
        tokens = len(model(())) + first
        self.config = SimpleNamespace(vocab_size=tokens, max_position_embeddings=99)

    def __call__(self, input_ids: Any, *_: Any, past_key_values: Any = None, **__: Any) -> Any:
        """Return an object with logits, shape (1, t, V), and past_key_values."""
        seen = past_key_values[0][0].shape[2] if past_key_values else 0
        said = [self.model((int(token) - self.first,)) for token in input_ids[0].tolist()]
        rows = [[0.0] * self.first + [float(mass) for mass in row] for row in said]
        logits = torch.tensor([rows]).log()
        whole = torch.zeros(1, 1, seen + len(rows), 1)
        return Output(logits=logits, past_key_values=[(whole, whole)])


class Output(dict[str, Any]):
    """A dict whose values are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        """Return a value."""
        return self[name]


def padded(tokens: Any, width: int) -> Any:
    """Return emitted tokens as one row with −1 behind, shape (1, width)."""
    row = torch.as_tensor(tokens).reshape(-1)
    return torch.nn.functional.pad(row, (0, width - len(row)), value=-1)[None]


class Silent:
    """A progress bar that shows nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.update, self.n = (lambda *_: None), 0

    def __enter__(self) -> Silent:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
