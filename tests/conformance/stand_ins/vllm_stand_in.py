"""No code of vLLM: functions of the signature of its ``rejection_sample``, written by us.

Its sixth argument is the target's logits, as in later versions of vLLM.
"""

import torch


def rejection_sample(
    draft_token_ids,
    num_draft_tokens,
    max_spec_len,
    cu_num_draft_tokens,
    draft_probs,
    target_logits,
    bonus_token_ids,
    sampling_metadata,
):
    """Verify as we understand it: one race of exponential numbers per request."""
    return of_probabilities(
        draft_token_ids,
        num_draft_tokens,
        max_spec_len,
        cu_num_draft_tokens,
        draft_probs,
        target_logits.softmax(-1),
        bonus_token_ids,
        sampling_metadata,
    )


def of_probabilities(*arguments):
    """As earlier versions: the sixth argument is the target's probabilities."""
    ids, draft, target = arguments[0], *arguments[4:6]
    return _verified(*arguments, _residual(ids, draft, target))


def without_residual(*arguments):
    """A wrong one, of probabilities: a rejected token is replaced by one of the target."""
    return _verified(*arguments, arguments[5])


def _residual(ids, draft, target):
    if draft is None:
        return target.scatter(1, ids.long()[:, None], 0)
    return (target - draft).clamp(min=0)


def _verified(ids, counts, width, ends, draft, target, bonus, metadata, residual):
    assert metadata.all_random
    assert not metadata.all_greedy
    lengths = torch.tensor(counts)
    starts = ends - lengths
    row = torch.repeat_interleave(torch.arange(len(counts)), lengths)
    place = torch.arange(len(ids)) - starts[row]
    uniforms = torch.rand(len(ids), dtype=torch.float64)
    race = torch.empty(len(counts), target.shape[1]).exponential_()
    for request, generator in metadata.generators.items():
        uniforms[starts[request] : ends[request]].uniform_(generator=generator)
        race[request].exponential_(generator=generator)
    drafted = ids.long()[:, None]
    p = 1 if draft is None else draft.gather(1, drafted)[:, 0]
    accepted = uniforms * p < target.gather(1, drafted)[:, 0]
    recovered = (residual / race[row]).argmax(-1)
    kept = lengths.clone().scatter_reduce(0, row[~accepted], place[~accepted], "amin")
    emitted = torch.full((len(counts), width + 1), -1, dtype=torch.int32)
    before, at = place < kept[row], place == kept[row]
    emitted[row[before], place[before]] = ids[before]
    emitted[row[at], place[at]] = recovered[at].int()
    whole = kept == lengths
    emitted[whole, lengths[whole]] = bonus[whole, 0]
    return emitted
