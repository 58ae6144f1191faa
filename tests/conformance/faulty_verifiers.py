"""Every known fault in every rule as a function of arrays: of given drafts, or an engine."""

import numpy as np

from otspec.chance import Chance
from otspec.conformance.cases.kinds import Tokens
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.randomness import WithNumbers
from otspec.conformance.faults.setting import TEXT, Setting


class OfGenerator(Chance):
    """Choices of a generator, by calls that exact mode follows."""

    def __init__(self, rng):
        self.rng = rng

    def choose(self, masses):
        masses = np.asarray(masses, dtype=float)
        return int(self.rng.choice(len(masses), p=masses / masses.sum()))

    def _accepts(self, wanted, offered):
        return bool(self.rng.random() * offered < wanted)


class Number:
    """A uniform number of a generator."""

    def __init__(self, rng):
        self.value = rng.random()

    def below(self, threshold):
        return bool(self.value < threshold)


def real(machine):
    """Return a machine of real numbers, whose other row is the next one of the batch."""

    class Real(machine):
        rows = None
        """The drafts of all rows, if they are given."""

        def number(self, name):
            if name not in self._numbers:
                self._numbers[name] = Number(self.chance.rng)
            return self._numbers[name]

        @property
        def other(self):
            row = (self.variant + 1) % len(self.setting.target)
            drafts = () if self.rows is None else self.rows[row]
            return Machine(self.setting, row, self.chance, drafts)

    if not issubclass(machine, WithNumbers):
        del Real.number
    return Real


def tables(kind, draft, target, drafts):
    """Return the setting of a batch: each of its rows is a pair of models, as far as it is known.

    Rows that nobody handed over are NaN: no verifier can look at them.
    """
    size, count, n = len(drafts), len(kind.parents), draft.shape[-1]
    known = np.full((2, size, n + 2, n), np.nan)
    models = [np.reshape(rows, (size, -1, n)).astype(float) for rows in (draft, target)]
    for row in range(size):
        for table, rows in zip(known, models, strict=True):
            for node in range(TEXT, rows.shape[1] - 1):
                after = 0 if node == TEXT else drafts[row, node] + 1
                table[row, after] = rows[row, node + 1]
    return Setting(kind, known[0].tolist(), known[1].tolist(), [(True,) * count])


def said(kind, answers):
    """Return what a verifier returns, from marked texts."""
    tokens = np.array([answer.text[-1] for answer in answers])
    marks = np.array([answer.mark for answer in answers])
    if isinstance(kind, Tokens):
        return tokens
    return (marks if kind.name == "block" else marks - 1), tokens


def verifier_of(fault, rule, kind):
    """Return a verifier of given drafts that has a fault."""

    def verify(draft, target, drafts, rng):
        machine = real(fault.machine)
        machine.rows = drafts.tolist()
        setting, chance = tables(kind, draft, target, drafts), OfGenerator(rng)
        return said(
            kind,
            [
                machine(setting, row, chance, drafts).says(rule.run)
                for row, drafts in enumerate(machine.rows)
            ],
        )

    return verify


def engine_of(fault, rule, kind):
    """Return an engine of texts that drafts and verifies, and has a fault."""

    def engine(draft, target, prompts, length, rng):
        symbols = np.arange(np.shape(draft(prompts))[-1])
        n, chance, machine = len(symbols), OfGenerator(rng), real(fault.machine)
        models = [np.asarray(model(symbols[:, None]), dtype=float) for model in (draft, target)]
        last = np.full((n, 1, n), 1 / n)
        # A pair of models for each symbol that a step begins after.
        each = [
            np.concatenate([rows[:, None], np.repeat(rows[None], n, axis=0), last], axis=1).tolist()
            for rows in models
        ]
        setting, texts = Setting(kind, *each, [(True,) * len(kind.parents)]), []
        for prompt in prompts[:, 0].tolist():
            text, after, step = [prompt], prompt, None
            while len(text) <= length:
                before, step = step, machine(setting, after, chance)
                step.needed = length + 1 - len(text)
                if before is not None:
                    step.goes_on(before.handed())
                text += step.says(rule.run).text
                after = text[-1] if step.last is None else step.last
            texts.append(text[1 : length + 1])
        return np.array(texts)

    return engine


def token_engine_of(fault, rule, kind):
    """Return an engine of one token that drafts and verifies, and has a fault."""

    def engine(draft, target, rng):
        setting = tables(kind, draft, target, np.zeros((len(draft), 0), int))
        return np.array(
            [
                real(fault.machine)(setting, row, OfGenerator(rng)).says(rule.run).text[-1]
                for row in range(len(draft))
            ]
        )

    return engine
