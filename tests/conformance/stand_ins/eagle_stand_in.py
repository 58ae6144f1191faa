"""No code of EAGLE: functions of the signature of its ``evaluate_posterior``, written by us."""

import random

import torch


def evaluate_posterior(logits, candidates, logits_processor):
    """Verify as we understand it: the children of a node one by one, each as a certain draft."""
    return _walk(logits, candidates, logits_processor, renormalizes=True)


def without_renormalization(logits, candidates, logits_processor):
    """A wrong one: what is left after a rejected child does not sum to 1 when it is used."""
    return _walk(logits, candidates, logits_processor, renormalizes=False)


def _walk(logits, candidates, logits_processor, renormalizes):
    path, kept, alive = 0, 0, torch.ones(len(candidates), dtype=torch.bool)
    while True:
        left = logits_processor(None, logits[path, kept][None])[0].softmax(-1)
        below = candidates[:, kept + 1 : kept + 2]
        found = None
        for token in dict.fromkeys(below[alive].flatten().tolist()):
            number = random.random()
            if token >= 0 and number < left[token]:
                found = token
                break
            if token >= 0:
                left[token] = 0
                left /= left.sum() if renormalizes else 1
        if found is None:
            return torch.tensor(path), kept, left
        alive &= below[:, 0] == found
        path, kept = int(torch.nonzero(alive)[0, 0]), kept + 1
