"""The exact law of the texts that a verifier gives of small models, and that of the target."""

from functools import partial
from itertools import product

import numpy as np

from otspec.conformance import exact_law

DRAFT = np.array([(0.5, 0.25, 0.25), (0.25, 0.625, 0.125), (0.125, 0.25, 0.625), (0.5, 0.5, 0)])
TARGET = np.array([(0.125, 0.25, 0.625), (0.75, 0.125, 0.125), (0, 0.5, 0.5), (0.25, 0.5, 0.25)])
"""The row after the text before, and after each of three tokens."""
LENGTH = 2
"""Drafts of a block."""


def chance(rows, text):
    """Return the probability of a text, after the text before."""
    return np.prod(
        [rows[before + 1, token] for before, token in zip((-1, *text), text, strict=False)]
    )


def target_law(length):
    return {text: chance(TARGET, text) for text in product(range(3), repeat=length)}


def total_variation(law):
    """Return how far a law of texts is from the target's."""
    wanted = target_law(len(next(iter(law))))
    return sum(abs(law.get(text, 0) - wanted[text]) for text in wanted) / 2


def completed(law, length):
    """Return the law of texts of a length: what is not said is the target's."""
    whole = {}
    for text, mass in law.items():
        for rest in product(range(3), repeat=length - len(text)):
            full = (*text, *rest)
            followed = chance(TARGET, full) / chance(TARGET, text) if chance(TARGET, text) else 1
            whole[full] = whole.get(full, 0) + mass * followed
    return whole


def rows_of_block(drafts, dtype="float64"):
    """Return the arrays of one text, as a batch of 1."""
    after = (0, *(token + 1 for token in drafts))
    return {
        "draft": DRAFT[None, after[:-1]].astype(dtype),
        "target": TARGET[None, after].astype(dtype),
        "drafts": np.array([drafts]),
    }


def block_texts(verify, dtype="float64", least=1e-12, **given):
    """Return the law of texts of LENGTH + 1 tokens, of a verifier that emits tokens."""
    law = {}
    for drafts in product(range(3), repeat=LENGTH):
        mass = chance(DRAFT, drafts)
        call = partial(verify, **rows_of_block(drafts, dtype) | given)
        for (emitted,), part in exact_law(call, least=least).items() if mass else ():
            text = tuple(token for token in emitted if token >= 0)
            law[text] = law.get(text, 0) + mass * part
    return completed(law, LENGTH + 1)


def tree_texts(verify, parents, drafts):
    """Return the law of texts of given drafts, of a verifier that says a node and a token."""
    contexts = (0, *(token + 1 for token in drafts))
    ways = [()]
    for node, parent in enumerate(parents):
        ways.append((*ways[parent + 1], drafts[node]))
    arrays = {"target": TARGET[None, contexts], "drafts": np.array([drafts]), "parents": parents}
    law = {}
    for (nodes, tokens), mass in exact_law(lambda: verify(**arrays)).items():
        text = (*ways[nodes[0] + 1], tokens[0])
        law[text] = law.get(text, 0) + mass
    return completed(law, max(map(len, ways)) + 1)
