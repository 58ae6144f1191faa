"""What the program of a rule for blocks or trees does with given drafts."""

from otspec.chance import Drawn


def ways(rule, *drafts):
    """From each text that is kept of given drafts to its outcome."""
    return {outcome.accepted: outcome for outcome in rule.outcomes_of(rule.drafted(*drafts))}


def verified(rule, drafts, rng):
    """Return what happens to given drafts."""
    return rule.outcome(rule.drafted(*drafts), Drawn(rng))


def drawn(rule, rng):
    """Return what a rule drafts."""
    return rule.draw(Drawn(rng))
