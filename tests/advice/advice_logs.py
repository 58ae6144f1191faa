"""Logs of letters for tests of advice: drafted blocks, and texts of the target."""

import numpy as np

from otspec.datasets import letters
from otspec.logged import LoggedBlock

PAIR = letters(exact=False)
COSTS = {"draft_cost": 0.05, "target_cost": "1,1,1.05,1.1,1.15"}


def drawn(row, rng):
    return int(rng.choice(len(row), p=row / row.sum()))


def text_of_target(length, rng):
    text = ()
    for _ in range(length):
        text += (drawn(PAIR.target(text), rng),)
    return text


def block(length, rng, prompt=3):
    """Return a drafted block after a prompt of the target."""
    text = text_of_target(prompt, rng)
    rows = []
    for _ in range(length):
        rows.append((PAIR.draft(text), PAIR.target(text)))
        text += (drawn(rows[-1][0], rng),)
    draft, target = zip(*rows, strict=True)
    return LoggedBlock(draft, target, text[prompt:])


def written(length, rng):
    """Return a text of the target."""
    text = text_of_target(length, rng)
    draft, target = (
        [model(text[:place]) for place in range(length)] for model in (PAIR.draft, PAIR.target)
    )
    return LoggedBlock(draft, target, text, sampling=target)


def blocks(count, length, seed=0):
    rng = np.random.default_rng(seed)
    return [block(length, rng) for _ in range(count)]


def written_texts(count, length, seed=0):
    rng = np.random.default_rng(seed)
    return [written(length, rng) for _ in range(count)]


def arrays_of(logged, tokens="draft_tokens"):
    """Return logged blocks of one length as the arrays of a trace, in float64."""
    with np.errstate(divide="ignore"):
        sides = {
            f"{side}_logits": np.log(np.array([getattr(one, side) for one in logged]))
            for side in ("draft", "target")
        }
    return sides | {tokens: np.array([one.tokens for one in logged])}
