"""No code of vLLM: functions of the signature of its runner's ``rejection_sample``, by us."""

import torch


def rejection_sample(
    target_logits,
    draft_logits,
    draft_sampled,
    cu_num_logits,
    pos,
    idx_mapping,
    expanded_idx_mapping,
    expanded_local_pos,
    temperature,
    seed,
    num_speculative_steps,
):
    """Verify as we understand it: one number for acceptance, others for a race of all tokens."""
    return _verified(**locals(), draw=_race)


def with_shared_numbers(*arguments):
    """A wrong one: the token is drawn with the number of the acceptance at that place."""
    return _verified(*arguments, draw=_inverted)


def _uniform(seed, place, number):
    """Return a uniform number that follows from three integers."""
    generator = torch.Generator().manual_seed(hash((seed, place, number)) % 2**31)
    return torch.rand((), generator=generator)


def _race(weights, seed, place):
    clocks = [-_uniform(seed, place, 1 + token).log() for token in range(len(weights))]
    return int((weights / torch.stack(clocks)).argmax())


def _inverted(weights, seed, place):
    sums = weights.cumsum(0)
    return int((sums <= _uniform(seed, place, 0) * sums[-1]).sum())


def _verified(
    target_logits,
    draft_logits,
    draft_sampled,
    cu_num_logits,
    pos,
    idx_mapping,
    expanded_idx_mapping,
    expanded_local_pos,
    temperature,
    seed,
    num_speculative_steps,
    draw,
):
    sampled = torch.full((len(idx_mapping), num_speculative_steps + 1), 7)  # undefined behind
    counts = torch.zeros(len(idx_mapping), dtype=torch.int32)
    for request, state in enumerate(idx_mapping.tolist()):
        assert temperature[state] == 1
        own = int(seed[state])
        rows = range(*cu_num_logits[request : request + 2].tolist())
        for row in rows:
            local, place = int(expanded_local_pos[row]), int(pos[row])
            assert expanded_idx_mapping[row] == state
            target = target_logits[row].softmax(-1)
            counts[request] += 1
            if row + 1 not in rows:
                sampled[request, local] = draw(target, own, place)
                break
            token = int(draft_sampled[row + 1])
            draft = torch.zeros_like(target).index_fill_(0, torch.tensor([token]), 1)
            if draft_logits is not None:
                draft = draft_logits[state, local].softmax(-1)
            sampled[request, local] = token
            if _uniform(own, place, 0) * draft[token] >= target[token]:
                residual = (target - draft).clamp(min=0)
                sampled[request, local] = draw(residual, own, place)
                break
    return sampled, counts
