"""What the program of a rule for blocks or trees does with given drafts."""

from otspec.blocks import DraftedTree, TreeRule
from otspec.chance import Drawn


def ways(rule, *drafts):
    """From each text that is kept of given drafts to its outcome."""
    return {outcome.accepted: outcome for outcome in rule.outcomes_of(given(rule, *drafts))}


def verified(rule, drafts, rng):
    """Return what happens to given drafts."""
    return rule.outcome(given(rule, *drafts), Drawn(rng))


def given(rule, *drafts):
    """Return a drafted block, or the drafted tokens of a tree, with what the models say."""
    if not isinstance(rule, TreeRule):
        return rule.drafted(*drafts)
    tree, tokens = drafts
    going, texts = {-1: ()}, []
    for node, parent in enumerate(tree.parents):
        if parent in going:
            text = (*going[parent], tokens[node])
            if rule.merge or text not in texts:  # else only the first of equal ones goes on
                going[node] = text
            texts.append(text)
    return DraftedTree.of_texts(texts, rule.draft, rule.target)


def drawn(rule, rng):
    """Return what a rule drafts."""
    return rule.draw(Drawn(rng))
