"""Stand-ins for the verifiers of public engines, written for these tests in their call shapes.

None is the engine's code: each draws its random numbers as the engine named does, from the same
library, and takes and returns what it does; probabilities are float64. Where an engine draws on a
GPU, the stand-in is the same in PyTorch or NumPy on the CPU.
"""

import random

import numpy as np
import torch


def tensor(probabilities):
    return torch.tensor(probabilities, dtype=torch.float64)


def vllm(draft_ids, draft_probs, target_probs, bonus_ids, *, recovered_from="residual"):
    """Shaped like vLLM's rejection sampler: one exponential race per request for recovered tokens.

    Shapes: (batch, length), (batch, length, vocabulary) twice, (batch, 1) → (batch, length + 1),
    with -1 behind the last token.
    """
    batch, length, vocabulary = draft_probs.shape
    uniform = torch.rand(batch, length, dtype=torch.float64)
    clocks = torch.empty((batch, vocabulary), dtype=torch.float64)
    clocks.exponential_()
    residual = (target_probs - draft_probs).clamp(min=0)
    shown = residual if recovered_from == "residual" else target_probs
    recovered = (shown / clocks[:, None, :]).argmax(dim=-1)
    p, q = (m.gather(-1, draft_ids[..., None]).squeeze(-1) for m in (draft_probs, target_probs))
    accepted = (q / p >= uniform).cumprod(dim=-1).bool()
    output = torch.full((batch, length + 1), -1)
    output[:, :length] = torch.where(accepted, draft_ids, output[:, :length])
    kept = accepted.sum(dim=-1)
    for row in range(batch):
        place = int(kept[row])
        output[row, place] = bonus_ids[row, 0] if place == length else recovered[row, place]
    return output


def sglang(candidates, target_probs, *, threshold_single=1.0, threshold_acc=1.0):
    """Shaped like SGLang's target-only verification of a tree: one coin for all siblings."""
    coins = np.random.default_rng().random(2)
    seen, left = 0.0, target_probs.copy()
    for child in candidates:
        seen += target_probs[child]
        if coins[0] <= seen / threshold_acc or target_probs[child] >= threshold_single:
            return child
        left[child] = 0
    return np.searchsorted(np.cumsum(left), coins[1] * left.sum())


def eagle(logits, candidates, draft_probs, *, again=True):
    """Shaped like EAGLE's evaluate_posterior: ``random`` for siblings, multinomial for the rest."""
    left, drawn_from = torch.softmax(logits, dim=0), draft_probs.clone()
    for candidate in candidates:
        x = candidate.item()
        if random.random() <= left[x] / drawn_from[x]:
            return candidate
        left = torch.relu(left - drawn_from)
        left = left / left.sum()
        if again:  # the siblings are distinct
            drawn_from[x] = 0
            drawn_from = drawn_from / drawn_from.sum()
    return torch.multinomial(left, 1)[0]


def medusa(logits, candidate, *, threshold, alpha, temperature=1.0):
    """Shaped like Medusa's typical acceptance: no random number for drafts, so that it is lossy."""
    probs = torch.softmax(logits / temperature, dim=-1)
    entropy = -torch.sum(probs * torch.log(probs + 1e-5), dim=-1)
    bar = torch.minimum(torch.tensor(threshold).double(), torch.exp(-entropy) * alpha)
    if probs[candidate] > bar:
        return torch.tensor(candidate)
    return torch.distributions.Categorical(probs=probs).sample()


def mcsd(ground_probs, draft_probs, candidates):
    """Shaped like MCSD's recursive loop, which writes to the target that it is given."""
    for place, candidate in enumerate(candidates):
        if torch.rand(1) <= ground_probs[candidate] / draft_probs[candidate]:
            return candidates[place]
        ground_probs -= draft_probs
        ground_probs = torch.nn.functional.relu(ground_probs, inplace=True)
        ground_probs /= ground_probs.sum()
    return torch.multinomial(ground_probs, num_samples=1).squeeze(0)


def specinfer(candidates, draft_probs, target_probs, rng):
    """Shaped like SpecInfer's multi-step sampling: siblings in random order, with NumPy."""
    left, waiting = target_probs.copy(), list(candidates)
    while waiting:
        x = waiting.pop(rng.integers(len(waiting)))
        if rng.uniform() * draft_probs[x] <= left[x]:
            return x
        left = np.maximum(left - draft_probs, 0)
        left /= left.sum()
    return rng.choice(len(left), p=left)


def one_by_race(probs):
    clocks = torch.empty_like(probs).exponential_(1)
    return torch.argmax(probs / clocks, dim=-1, keepdim=True)


def gpt_fast(draft, target, text, length, numbers=None):
    """Shaped like gpt-fast's speculative step, which drafts and verifies itself.

    ``numbers`` are the uniform numbers, where an engine keeps them instead of drawing them anew.
    """
    drafted, rows = list(text), []
    for _ in range(length):
        rows.append(tensor(draft(tuple(drafted))))
        drafted.append(one_by_race(rows[-1]).item())
    tokens = torch.tensor(drafted[len(text) :])
    p = torch.stack(rows)
    q = torch.stack([tensor(target(tuple(drafted[: len(text) + i]))) for i in range(length + 1)])
    places = torch.arange(length)
    accept = torch.minimum(torch.ones(()), q[places, tokens] / p[places, tokens])
    numbers = torch.rand_like(accept) if numbers is None else numbers
    rejected = (numbers > accept).nonzero()
    if rejected.shape[0] == 0:
        return torch.cat([tokens, one_by_race(q[-1])])
    kept = rejected[0].item()
    residual = torch.where(q[kept] > p[kept], q[kept] - p[kept], 0.0)
    return torch.cat([tokens[:kept], one_by_race(residual / residual.sum())])


def block_of_products(draft_ids, draft_probs, target_probs):
    """Shaped like a public block verifier of NPUs: a product of numbers where one belongs.

    Shapes: (length,), (length, vocabulary) twice → how many drafts are kept.
    """
    places = torch.arange(len(draft_ids))
    ratios = target_probs[places, draft_ids] / draft_probs[places, draft_ids]
    numbers = torch.rand(len(draft_ids), dtype=torch.float64)
    legal = ratios.clamp(max=1.0).cumprod(dim=-1) >= torch.cumprod(numbers, dim=-1)
    last = len(draft_ids) - legal.flip(dims=[-1]).float().argmax(dim=-1)
    return torch.where(legal.any(), last, 0)
