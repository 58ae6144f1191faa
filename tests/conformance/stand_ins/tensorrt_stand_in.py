"""No code of TensorRT-LLM: functions of the signatures of its chain and its tree, by us."""

import torch
from stand_ins import flashinfer_stand_in


def rejection_sampling_one_model(
    draft_probs, draft_token_ids, target_probs, deterministic=True, seed=None, offset=None
):
    """Verify as we understand it: FlashInfer's chain, and the last token counts."""
    emitted, _, kept = flashinfer_stand_in.chain_speculative_sampling(
        draft_probs, draft_token_ids, target_probs
    )
    return emitted.clamp(min=0), kept + 1


def verify_dynamic_tree_rejection_from_logits_out(
    candidates,
    draft_logits_tree,
    target_logits_tree,
    draft_prob_indices,
    retrieve_next_token,
    retrieve_next_sibling,
    tree_valid,
    temperatures,
    top_k,
    top_p,
    skip_temperature,
    num_gens,
    num_spec_step,
    seed=0,
    offset=0,
    d2t=None,
):
    """Verify as we understand it: siblings without replacement, by recursive rejection."""
    assert top_k is top_p is d2t is None
    assert tree_valid.all()
    rows = torch.arange(num_gens)
    target = (target_logits_tree / temperatures[0]).softmax(-1).unflatten(0, (num_gens, -1))
    draft = (draft_logits_tree / temperatures[0]).softmax(-1).unflatten(0, (num_gens, -1))
    index = torch.zeros(num_gens, num_spec_step, dtype=torch.int64)
    tokens, count = torch.zeros_like(index), torch.zeros(num_gens, dtype=torch.int64)
    for row in rows.tolist():
        slot, kept = 0, 0
        while True:
            wanted, child = target[row, slot], int(retrieve_next_token[row, slot])
            offered = None
            while child >= 0:
                own = draft[row, draft_prob_indices[row, child]]
                offered = own if offered is None else offered
                token = int(candidates[row, child])
                if torch.rand((), dtype=wanted.dtype) * offered[token] < wanted[token]:
                    break
                wanted = (wanted - offered).clamp(min=0)
                wanted = wanted / wanted.sum()
                offered = offered.index_fill(0, torch.tensor([token]), 0)
                offered = offered / offered.sum()
                child = int(retrieve_next_sibling[row, child])
            if child < 0:
                break
            tokens[row, kept], slot, kept = token, child, kept + 1
            index[row, kept] = slot
        tokens[row, kept] = torch.multinomial(wanted, 1)[0]
        count[row] = kept
    return None, index, count, tokens


def verify_dynamic_tree_rejection_out(
    draft_tokens,
    target_logits_tree,
    retrieve_next_token,
    retrieve_next_sibling,
    tree_valid,
    temperatures,
    top_k,
    top_p,
    num_gens,
    num_spec_step,
    seed=0,
    offset=0,
):
    """Verify as we understand the later one: a draw from the target, as far as it was drafted."""
    assert top_k is top_p is None
    assert draft_tokens.dtype == torch.int64
    assert tree_valid.all()
    target = (target_logits_tree / temperatures[0]).softmax(-1).unflatten(0, (num_gens, -1))
    index = torch.zeros(num_gens, num_spec_step, dtype=torch.int64)
    tokens, count = torch.zeros_like(index), torch.zeros(num_gens, dtype=torch.int64)
    for row in range(num_gens):
        slot, kept = 0, 0
        while True:
            token = int(torch.multinomial(target[row, slot], 1)[0])
            tokens[row, kept], child = token, int(retrieve_next_token[row, slot])
            while child >= 0 and int(draft_tokens[row, child - 1]) != token:
                child = int(retrieve_next_sibling[row, child])
            if child < 0:
                break
            slot, kept = child, kept + 1
            index[row, kept] = slot
        count[row] = kept
    return index, count, tokens


class DynamicTreeOpsConverter:
    """A converter of trees of K children, so deep, of so many nodes, for so many rows."""

    def __init__(self, children, depth, nodes, rows, device):
        assert min(children, depth, nodes, rows) > 0
        assert device

    verify_dynamic_tree_rejection_from_logits_out = staticmethod(
        verify_dynamic_tree_rejection_from_logits_out
    )
