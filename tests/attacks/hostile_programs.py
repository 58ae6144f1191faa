"""Linear programs and the rule of their plans, with the kinds and examples of arguments."""

from hostile_rows import LAW, SMALL, Row, selection, small

import otspec
from otspec import blocks, programs

PROGRAMS = {
    "programs.formulate": Row(
        programs.formulate, {"program": ("name", "reduced"), **LAW, "sets": ("flag", True)}
    ),
    "programs.TruncatedImportance": Row(
        programs.TruncatedImportance, {**LAW, "free": ("natural", 1)}
    ),
    "programs.BlockProgram": Row(programs.BlockProgram, {**SMALL, "length": ("count", 1)}),
    "programs.OneTokenProgram": Row(programs.OneTokenProgram, {**SMALL, "length": ("small", 1)}),
    "programs.WindowProgram": Row(
        programs.WindowProgram, {**SMALL, "length": ("small", 1), "past": ("natural", 1)}
    ),
    "programs.ResidualsProgram": Row(
        programs.ResidualsProgram,
        {
            **SMALL,
            "length": ("small", 1),
            "residuals": ("objects", lambda: [programs.Residual((), ["1/2", "1/2"])]),
        },
    ),
    "programs.CandidateProgram": Row(
        programs.CandidateProgram,
        {
            "candidates": ("mapping", lambda: selection().candidates()),
            "target": SMALL["target"],
            "length": ("count", 2),
        },
    ),
    "programs.DraftedSets": Row(
        programs.DraftedSets,
        {"candidates": ("mapping", lambda: selection().candidates()), "n": ("count", 3)},
    ),
    "programs.DraftedNodes": Row(
        programs.DraftedNodes,
        {
            "draft": SMALL["draft"],
            "branching": ("branching", (2, 1)),
            "children": ("callable", lambda: otspec.IID),
        },
    ),
    "programs.TextProgram": Row(
        programs.TextProgram,
        {
            "drafted": ("object", lambda: programs.DraftedNodes(small()[0], (2, 1))),
            "target": SMALL["target"],
            "corrects": ("name", "one"),
            "within": ("real", 0.01),
        },
    ),
    "programs.depth_bound": Row(
        programs.depth_bound,
        {
            "drafted": ("object", lambda: programs.DraftedNodes(small()[0], (2, 1))),
            "target": SMALL["target"],
            "corrects": ("name", "one"),
        },
    ),
    "programs.PathProgram": Row(
        programs.PathProgram,
        {
            "drafted": ("object", lambda: programs.DraftedSets(selection().candidates(), 2)),
            "target": SMALL["target"],
            "corrects": ("name", "one"),
        },
    ),
    "blocks.PlannedBlock": Row(
        blocks.PlannedBlock,
        {**SMALL, "drafts": ("object", selection), "corrects": ("name", "one")},
    ),
}
