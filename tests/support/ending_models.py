"""Models whose texts end, and what is known of them without a class that knows of ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from block_models import model_pairs
from each_case import each

from otspec.models import EndingModel, TableModel, markov, memoryless


def ending_pairs(seed, n, length, count):
    """Pairs of models, the target's texts over with the last token or one more."""
    for index, case in enumerate(model_pairs(seed, n, length, count)):
        draft, target = case.exact
        end = {n - 1} if index % 3 else {0, n - 1} if n > 2 else {0}
        yield draft, target, end


def law_up_to_end(model, end, length):
    """The law of texts that stop with an end token, from a model that knows none."""
    law = {}
    for text in product(range(model.n), repeat=length):
        stop = next((i + 1 for i, token in enumerate(text) if token in end), length)
        mass = model.mass(text)
        if mass:
            law[text[:stop]] = law.get(text[:stop], 0) + mass
    return law


def kept_up_to_end(rule, end):
    """E[kept] of a rule whose target does not end, counted up to and with the end token."""
    total = 0
    for outcome in rule.outcomes():
        found = [i + 1 for i, token in enumerate(outcome.accepted) if token in end]
        total += outcome.mass * min([len(outcome.accepted), *found])
    return total


def certain(model, end):
    """The same model, but that it repeats an end token for certain: as a table, not as a class."""

    def row(prefix):
        last = next((token for token in prefix if token in end), None)
        return model(prefix) if last is None else [Fraction(i == last) for i in range(model.n)]

    return row


COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
CHAINS = markov([["1/3", "2/3"], ["3/4", "1/4"]]), markov([["1/5", "4/5"], ["1/2", "1/2"]])
ROWS = TableModel({(): ["1/2", "1/4", "1/4"], (1,): ["1/3", "1/3", "1/3"], (1, 1): ["0", "1", "0"]})
SHORT = TableModel({
    (): ["1/4", "3/4", "0"], (0,): ["1/3", "1/3", "1/3"], (1,): ["1/2", "1/4", "1/4"],
    **{text: ["0", "0", "1"] for text in product((0, 1), repeat=2)},
})  # fmt: skip

ENDINGS = {
    "a fair coin": (COIN, COIN, {0}),
    "a biased coin": (COIN, BIASED, {1}),
    "the text ends at once": (COIN, memoryless(["0", "1"]), {1}),
    "every token ends": (COIN, BIASED, {0, 1}),
    "the end is never reached": (COIN, memoryless(["1", "0"]), {1}),
    "the end is never drafted": (memoryless(["1", "0"]), BIASED, {1}),
    "disjoint models": (memoryless(["1", "0"]), memoryless(["0", "1"]), {1}),
    "no end": (COIN, BIASED, set()),
    "the draft ends too": (EndingModel(COIN, [0]), BIASED, {0}),
    "the draft ends elsewhere": (EndingModel(COIN, [1]), BIASED, {0}),
    "chains": (*CHAINS, {1}),
    "two ends of three tokens": (ROWS, TableModel({(): ["1/5", "2/5", "2/5"]}), {0, 2}),
    "at most three tokens": (ROWS, SHORT, {2}),
}
"""Drafts, targets that do not end, and the tokens that are to end them."""


def each_ending():
    """Try a test with each draft, target and end tokens of the table, in one item."""
    return each(("draft", "target", "end"), list(ENDINGS.values()), ids=list(ENDINGS))


def most_kept(candidates, target, end):
    """The most that any rule keeps of drafted sets: the least bound of whole prices (Theory, 18).

    No price is above the number of tokens, and none below that of a beginning.
    """
    length = max(len(text) for texts in candidates for text in texts)
    drafted = {frozenset(x[:i] for x in each for i in range(len(x) + 1)): mass
               for each, mass in candidates.items()}  # fmt: skip
    outputs = law_up_to_end(target, end, length)
    priced = sorted({text for texts in drafted for text in texts if text})

    def bound(prices):
        """E[the highest price of what is drafted] + E[the most of length − price of the output]."""
        return sum(
            mass * max([0, *(prices[text] for text in texts if text)])
            for texts, mass in drafted.items()
        ) + sum(
            mass * max([0, *(i - prices[text[:i]] for i in range(1, len(text) + 1)
                             if text[:i] in prices)])
            for text, mass in outputs.items()
        )  # fmt: skip

    found = []
    for values in product(*(range(len(text) + 1) for text in priced)):
        prices = dict(zip(priced, values, strict=True))
        if all(prices[text] >= prices.get(text[:-1], 0) for text in priced):
            found.append(bound(prices))
    return min(found)


def calls_of_texts(rule):
    """Expected tokens and calls of a whole text, block after block until it ends."""
    tokens, calls, left = Fraction(0), Fraction(0), [(rule, Fraction(1))]
    while left:
        block, mass = left.pop()
        if block.target.ended(()):
            continue
        calls += mass
        for outcome in block.outcomes():
            tokens += mass * outcome.mass * len(outcome.accepted)
            if block.target.ended(outcome.accepted):
                continue
            for token, chance in enumerate(outcome.following(())):
                if chance > 0:
                    tokens += mass * outcome.mass * chance
                    draft = block.draft.after((*outcome.accepted, token))
                    rest = block.restarted(draft, outcome.following.after((token,)))
                    left.append((rest, mass * outcome.mass * chance))
    return tokens, calls
