"""Assisted generation of transformers, and its candidate generators, on models that are tables."""

import copy

import torch
from transformers.generation.candidate_generator import (
    AssistedCandidateGenerator,
    PromptLookupCandidateGenerator,
)

OPTIONS = {"do_sample": True, "top_k": 0, "pad_token_id": 0}


def drafting(draft):
    """Let a draft propose two tokens in each step."""
    for name, value in {
        "num_assistant_tokens": 2,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }.items():
        setattr(draft.generation_config, name, value)
    return draft


def generated(target, ids, length, **drafts):
    mask = torch.ones_like(ids)
    return target.generate(ids, attention_mask=mask, max_new_tokens=length, **drafts, **OPTIONS)


def assisted(draft, target, ids, length):
    """Generate by an assistant."""
    return generated(target, ids, length, assistant_model=drafting(draft))


def looked_up(draft, target, ids, length):  # they are given by name
    """Generate by what followed the same tokens before."""
    return generated(target, ids, length, prompt_lookup_num_tokens=2)


def lookup(_draft, _target, _ids, block):
    return PromptLookupCandidateGenerator(
        eos_token_id=None, num_output_tokens=block, max_matching_ngram_size=1, max_length=99
    )


def assistant(draft, target, ids, _block):
    options = copy.deepcopy(target.generation_config)
    options.update(**OPTIONS, min_length=0, max_length=99)
    mask = {"attention_mask": torch.ones_like(ids)}
    return AssistedCandidateGenerator(ids, drafting(draft), options, mask)


class Misdeclared:
    """An assistant whose logits are not those that its drafts were sampled from."""

    def __init__(self, *given):
        self.right = assistant(*given)

    def get_candidates(self, ids):
        drafts, logits = self.right.get_candidates(ids)
        return drafts, logits / 2
