"""No code of FlashInfer: functions of the signature of its chain sampling, written by us."""

import torch


def chain_speculative_sampling(
    draft_probs,
    draft_token_ids,
    target_probs,
    maybe_output_accepted_token_num=None,
    maybe_output_emitted_draft_token_num=None,
    deterministic=True,
    generator=None,
    seed=None,
    offset=None,
):
    """Verify as we understand it: a number for each token, and one for the draw."""
    numbers = torch.rand(draft_token_ids.shape, generator=generator)
    return _verified(draft_probs, draft_token_ids, target_probs, numbers, generator)


def with_one_number(draft_probs, draft_token_ids, target_probs):
    """A wrong one: all tokens of a row are held against the same number."""
    numbers = torch.rand((len(draft_token_ids), 1))
    return _verified(draft_probs, draft_token_ids, target_probs, numbers, None)


def _verified(draft, ids, target, numbers, generator):
    drafted = ids.long()[..., None]
    p, q = draft.gather(2, drafted)[..., 0], target[:, :-1].gather(2, drafted)[..., 0]
    passed = (numbers * p < q).int()
    kept = passed.cumprod(1).sum(1)
    rows = torch.arange(len(ids))
    nothing = torch.zeros_like(target[:, :1])
    residual = (target - torch.cat([draft, nothing], 1)).clamp(min=0)[rows, kept]
    last = torch.multinomial(residual, 1, generator=generator)
    places = torch.arange(ids.shape[1] + 1)
    emitted = torch.nn.functional.pad(ids, (0, 1), value=-1)
    emitted = torch.where(places < kept[:, None], emitted, -1)
    emitted = torch.where(places == kept[:, None], last.int(), emitted)
    return emitted, passed.sum(1).int(), kept.int()
