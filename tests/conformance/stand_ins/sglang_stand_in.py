"""No code of SGLang: functions of the signature of its sampling of trees, written by us."""

import torch


def tree_speculative_sampling_target_only(
    predicts,
    accept_index,
    accept_token_num,
    candidates,
    retrive_index,
    retrive_next_token,
    retrive_next_sibling,
    uniform_samples,
    uniform_samples_for_final_sampling,
    target_probs,
    draft_probs,
    threshold_single=1.0,
    threshold_acc=1.0,
    deterministic=True,
):
    """Verify as we understand it: one coin against the children's probabilities, summed up."""
    _walk(
        predicts,
        accept_index,
        accept_token_num,
        candidates,
        retrive_index,
        retrive_next_token,
        retrive_next_sibling,
        uniform_samples,
        uniform_samples_for_final_sampling,
        target_probs,
        draft_probs,
        threshold_single,
        threshold_acc,
    )


def with_a_coin_for_each_child(*arguments):
    """A wrong one: each child has a coin of its own, against the sum with those before it."""
    _walk(*arguments[:-1], coin_of_child=True)


def chain_speculative_sampling_triton(
    predicts,
    accept_index,
    accept_token_num,
    candidates,
    retrive_index,
    retrive_next_token,
    retrive_next_sibling,
    uniform_samples,
    uniform_samples_for_final_sampling,
    target_probs,
    draft_probs,
    threshold_single,
    threshold_acc,
    deterministic,
):
    """Verify a chain as we understand it: a coin for each draft, and one for the last token."""
    for row, tokens in enumerate(candidates.tolist()):
        slots, kept = retrive_index[row].tolist(), 0
        accept_index[row, 0] = slots[0]
        while kept + 1 < len(tokens):
            token = tokens[kept + 1]
            number = uniform_samples[row, kept] * draft_probs[row, kept, token]
            if not number < target_probs[row, kept, token]:
                break
            predicts[slots[kept]] = token
            kept += 1
            accept_index[row, kept] = slots[kept]
        accept_token_num[row] = kept
        rest = target_probs[row, kept]
        if kept + 1 < len(tokens):
            rest = (rest - draft_probs[row, kept]).clamp(min=0)
        coin = uniform_samples_for_final_sampling[row]
        sums = rest.double().cumsum(0)
        wanted = (coin if coin.ndim == 0 else coin[kept]).double() * sums[-1]
        predicts[slots[kept]] = torch.searchsorted(sums, wanted[None], right=True)[0].int()


def _walk(
    predicts,
    accept_index,
    accept_token_num,
    candidates,
    places,
    next_token,
    next_sibling,
    coins,
    last_coins,
    target,
    draft,
    threshold_single,
    threshold_acc,
    coin_of_child=False,
):
    """Walk down all trees at once: each row is at a slot, and looks at one child at a time."""
    rows = torch.arange(len(candidates))
    slot = torch.zeros(len(rows), dtype=torch.int64)
    kept = torch.zeros(len(rows), dtype=torch.int64)
    accept_index[:, 0] = places[:, 0]
    child = next_token[rows, slot]
    summed = torch.zeros(len(rows))
    while (child >= 0).any():
        looks = torch.flatten(torch.nonzero(child >= 0))
        at, below = slot[looks], child[looks]
        token = candidates[looks, below]
        chance = target[looks, at, token]
        summed[looks] += chance
        coin = coins[looks, below if coin_of_child else at]
        passed = (coin < summed[looks] / max(threshold_acc, 1e-9)) | (chance >= threshold_single)
        rejected = looks[~passed]
        draft[rejected, at[~passed], token[~passed]] = chance[~passed]
        child[rejected] = next_sibling[rejected, below[~passed]]
        accepted, below = looks[passed], below[passed]
        predicts[places[accepted, at[passed]]] = token[passed].int()
        kept[accepted] += 1
        accept_index[accepted, kept[accepted]] = places[accepted, below].int()
        slot[accepted], summed[accepted] = below, 0
        child[accepted] = next_token[accepted, below]
    accept_token_num[:] = kept.int()
    rest = (target - draft).clamp(min=0)[rows, slot].double().cumsum(-1)
    wanted = last_coins.double()[:, None] * rest[:, -1:]
    last = torch.searchsorted(rest, wanted, right=True)[:, 0].clamp(max=rest.shape[1] - 1)
    predicts[places[rows, slot]] = last.int()
