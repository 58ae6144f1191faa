"""Engines of NumPy whose noise has a key: right ones, and each with one fault of the key."""

from functools import lru_cache

import numpy as np

from otspec.batch import shared_noise


def raced(row, noise):
    """The first token of the race, in the form that engines have: argmax of log q + Gumbel."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return int(np.argmax(np.log(np.asarray(row, dtype=float)) - np.log(noise)))


@lru_cache(maxsize=1 << 16)
def noise_of(seed, position, size):
    return shared_noise(np.zeros((1, size)), np.array([max(position, 0)]), int(seed))[0]


class Drafter:
    """What is drafted does not matter: the draft's likeliest tokens, siblings the next likely."""

    def siblings(self, row, count):
        return np.argsort(-np.asarray(row, dtype=float), kind="stable")[:count].tolist()


class Keys:
    """The key of the noise after ``depth`` kept drafts; a fault replaces it."""

    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], start + depth

    def recovered(self, token, target, draft, noise):  # noqa: ARG002
        return token


class FirstRow(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[0][0], rows[0][1] + depth


class FirstPosition(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], start


class LastDraft(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], start + depth - (1 if whole and depth else 0)


class ByNode(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], start + node + 1


class WithinStep(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], depth


class ByStep(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], step + depth


class Neighbors(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], (start + depth) // 2


class OneOfAllPositions(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return rows[row][0], 7


class NoSeed(Keys):
    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return 5, start + depth


class Fresh(Keys):
    """The generator is seeded by nobody."""

    calls = 0

    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        Fresh.calls += 1
        return Fresh.calls, start + depth


class Changed(Keys):
    """The seed or the position is changed before the noise is drawn."""

    def __init__(self, of_seed=lambda seed: seed, of_position=lambda position: position):
        self.of_seed, self.of_position = of_seed, of_position

    def key(self, rows, row, start, depth, node, whole, step):  # noqa: ARG002
        return self.of_seed(int(rows[row][0])), self.of_position(int(start + depth))


class Residual(Keys):
    """Rejection as always, with the race over the residual and the noise of the position."""

    def recovered(self, token, target, draft, noise):
        rest = np.maximum(target - draft, 0)
        return raced(rest, noise) if rest.any() else token


def follow(keys, rows, row, parents, there, drafts, target, draft, step=0):
    """The last kept node and the tokens up to the one after it, of one row."""
    node, text = -1, []
    while True:
        below = [c for c, parent in enumerate(parents) if parent == node and there[c]]
        seed, position = keys.key(rows, row, rows[row][1], len(text), node, not below, step)
        noise = noise_of(seed, position, target.shape[-1])
        token = raced(target[node + 1], noise)
        same = [c for c in below if drafts[c] == token]
        if not same:
            if below:
                token = keys.recovered(token, target[node + 1], draft[node + 1], noise)
            return node, [*text, token]
        node, text = same[0], [*text, token]


def verifier(kind, keys, one_seed=False):
    """A verifier of a kind; of one seed for all rows if that is said."""

    def verify(draft, target, drafts, mask, parents, positions, seeds):
        starts = positions if kind == "tokens" else positions[:, 0]
        rows = list(zip(seeds.tolist(), starts.tolist(), strict=True))
        nodes, lengths, tokens = [], [], []
        for row in range(len(drafts)):
            p, q = draft[row].astype(float), target[row].astype(float)
            if kind == "tokens":
                p, q = (np.tile(each, (drafts.shape[1] + 1, 1)) for each in (p, q))
            elif kind == "block":
                p = np.append(p, p[-1:] if len(p) else q[:1], axis=0)
            node, text = follow(keys, rows, row, parents, mask[row], drafts[row].tolist(), q, p)
            if kind == "tokens":
                text, node = text[:1], -1 if len(text) == 1 else node
                node = next(
                    (i for i, x in enumerate(drafts[row]) if mask[row, i] and x == text[0]), -1
                )
            nodes.append(node), lengths.append(len(text) - 1), tokens.append(text[-1])
        first = lengths if kind == "block" else nodes
        return (np.array(tokens), np.array(nodes)) if kind == "tokens" else (
            np.array(first), np.array(tokens)
        )  # fmt: skip

    def with_one(draft, target, drafts, mask, parents, positions, seed):
        return verify(draft, target, drafts, mask, parents, positions, np.full(len(drafts), seed))

    return with_one if one_seed else verify


def decoder(keys, drafter=Drafter):
    """A decoder of one text in each call: ``block`` drafts of one chain."""

    def generate(target, draft, prompt, seed, length, block):
        text, step = list(prompt), 0
        while len(text) - len(prompt) < length:
            drafts, own = [], []
            for _ in range(block):
                own.append(draft(np.array([text + drafts]))[0])
                drafts += drafter().siblings(own[-1], 1)
            rows = target.rows(np.array([text + drafts]))[0, -block - 1 :].astype(float)
            start = len(text) - len(prompt)
            parents, there = tuple(range(-1, block - 1)), [True] * block
            own = np.array([*own, rows[-1]], dtype=float)
            _, new = follow(keys, [(seed, start)], 0, parents, there, drafts, rows, own, step)
            text, step = text + new, step + 1
        return text[len(prompt) :]

    return generate


def tree_decoder(keys):
    """A decoder of a batch, with a seed for each text and a tree in each step."""

    def generate(target, draft, prompts, seeds, length, parents):
        texts = []
        for prompt, seed in zip(prompts.tolist(), seeds.tolist(), strict=True):
            text, step = list(prompt), 0
            while len(text) - 1 < length:
                paths, drafts = [], []
                for node, parent in enumerate(parents):
                    above = paths[parent] if parent >= 0 else []
                    place = sum(other == parent for other in parents[:node])
                    row = draft(np.array([text + above]))[0]
                    ranked = Drafter().siblings(row, place + 1)
                    drafts.append(ranked[min(place, len(ranked) - 1)])
                    paths.append([*above, drafts[-1]])
                every = [text, *(text + path for path in paths)]
                q = np.array([target(np.array([each]))[0] for each in every], dtype=float)
                p = np.array([draft(np.array([each]))[0] for each in every], dtype=float)
                start, there = len(text) - 1, [True] * len(parents)
                # The first row of the batch has the first seed, and is as far.
                rows = [(seeds[0], start), (seed, start)]
                _, new = follow(keys, rows, 1, parents, there, drafts, q, p, step)
                text, step = text + new, step + 1
            texts.append(text[1 : length + 1])
        return np.array(texts)

    return generate


def token_engine(keys):
    """An engine that drafts and verifies one token, with a seed for each row."""

    def generate(draft, target, k, positions, seeds):
        rows = list(zip(seeds.tolist(), positions.tolist(), strict=True))
        tokens = []
        for row in range(len(target)):
            p, q = (np.tile(each[row].astype(float), (k + 1, 1)) for each in (draft, target))
            drafts = Drafter().siblings(p[0], k)
            count = len(drafts)
            text = follow(keys, rows, row, (-1,) * count, [True] * count, drafts, q, p)[1]
            tokens.append(text[0])
        return np.array(tokens)

    return generate
