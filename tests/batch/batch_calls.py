"""A call of every public batch function that is right, by the names of its arguments."""

from __future__ import annotations

import batch_table
import numpy as np

from otspec import batch

ROWS = np.array([[0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25]])
TARGETS = ROWS[:, ::-1].copy()
DRAFTS = np.array([[0, 1, 2], [1, 0, 3]])
UNIFORMS = np.full((2, 4), 0.5)
BLOCK = np.stack([ROWS, ROWS])
BLOCK_CALL = {
    "draft": BLOCK,
    "target": np.stack([TARGETS] * 2)[:, [0, 1, 1]],
    "drafts": DRAFTS[:, :2],
    "uniforms": UNIFORMS[:, :3],
}
BLOCK_RULES = [getattr(batch, name) for name in batch_table.BLOCKS]
PAIR = {"draft": ROWS, "target": TARGETS}
CALLS = {
    batch.maximal_coupling: {**PAIR, "drafts": DRAFTS[:, :1], "uniforms": UNIFORMS[:, :2]},
    batch.recursive_rejection: {**PAIR, "drafts": DRAFTS, "uniforms": UNIFORMS},
    batch.recursive_rejection_without_replacement: {**PAIR, "drafts": DRAFTS, "uniforms": UNIFORMS},
    batch.k_sequential: {**PAIR, "drafts": DRAFTS, "uniforms": UNIFORMS},
    batch.pooled_selection: {**PAIR, "drafts": DRAFTS, "uniforms": UNIFORMS},
    batch.pooled_selection_without_replacement: {**PAIR, "drafts": DRAFTS, "uniforms": UNIFORMS},
    batch.spechub: {**PAIR, "drafts": DRAFTS[:, :2], "uniforms": UNIFORMS[:, :3]},
    **dict.fromkeys(BLOCK_RULES, BLOCK_CALL),
    batch.greedy_multi_path: {
        name: np.stack([value] * 2, axis=1) if name != "uniforms" else value
        for name, value in BLOCK_CALL.items()
    },
    batch.tree_verification: {
        "draft": BLOCK[:, [0, 1, 1]],
        "target": BLOCK_CALL["target"],
        "drafts": DRAFTS[:, :2],
        "uniforms": np.stack([UNIFORMS[:, :3]] * 2, axis=1),
        "tree": (-1, -1),
    },
    batch.traversal_verification: {
        "draft": BLOCK[:, [0, 1, 1]],
        "target": BLOCK_CALL["target"],
        "drafts": DRAFTS[:, :2],
        "uniforms": UNIFORMS[:, :3],
        "tree": (-1, -1),
    },
    batch.gumbel_coupling: {"target": TARGETS, "drafts": DRAFTS, "noise": ROWS + 1},
    batch.sample_from_noise: {"draft": ROWS, "noise": ROWS + 1, "k": 2},
    batch.shared_noise: {"like": BLOCK, "positions": DRAFTS[:, :2], "seed": 1},
    batch.sample_iid: {"draft": ROWS, "uniforms": UNIFORMS},
    batch.sample_without_replacement: {"draft": ROWS, "uniforms": UNIFORMS[:, :3]},
    batch.sample_spechub: {"draft": ROWS, "uniforms": UNIFORMS[:, :2]},
    batch.warp: {"logits": ROWS},
    batch.from_logits: {
        "rule": "maximal_coupling",
        "draft_logits": ROWS,
        "target_logits": TARGETS,
        "drafts": DRAFTS[:, :1],
        "uniforms": UNIFORMS[:, :2],
    },
    batch.draft_from_logits: {"drafter": "sample_iid", "logits": ROWS, "uniforms": UNIFORMS},
    batch.top_tokens: {"values": ROWS, "k": 2},
    batch.optimal_acceptance: {**PAIR, "k": 2},
    batch.acceptance.maximal_coupling: PAIR,
    batch.acceptance.recursive_rejection: {**PAIR, "k": 2},
    batch.acceptance.recursive_rejection_without_replacement: {**PAIR, "drafts": DRAFTS},
    batch.acceptance.k_sequential: {**PAIR, "k": 2},
    batch.acceptance.spechub: PAIR,
    batch.acceptance.pooled_selection: {**PAIR, "k": 2},
    batch.acceptance.pooled_selection_without_replacement: {**PAIR, "k": 2},
    batch.acceptance.from_logits: {
        "rule": "k_sequential",
        "draft_logits": ROWS,
        "target_logits": TARGETS,
        "k": 2,
    },
}
MASKED = [
    *(getattr(batch, name) for name in batch_table.MASKED),
    *BLOCK_RULES,
    batch.tree_verification,
    batch.traversal_verification,
]
