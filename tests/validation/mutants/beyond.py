"""A wrong version of every fact beyond the papers."""

MUTANTS = {
    "beyond.cut": ("oracles.bound", "+ 1 - inside", "+ 1 - inside / 2"),
    "beyond.lemma3": ("(1 - draft[y]) ** k", "draft[y] ** k"),
    "beyond.prefix_iid": ("ascending(draft, target)", "range(len(draft))"),
    "beyond.prefix_distinct": ("ascending(draft, target)", "range(len(draft))"),
    "beyond.prefix_hub": ("[law.hub, *(y for y in ascending(draft, target) if y != law.hub)]",
                          "ascending(draft, target)"),
    "beyond.prefix_independent": ("u * first[y] + v * second[y]", "(first[y] + second[y]) / 2"),
    "beyond.pooled": ("target, k, pools", "target, k, 1"),
    "beyond.pooled_any": ("rule.loss_bound()", "0"),
    "beyond.lifetimes": ("above(ONE", "above(ONE / 2"),
    "beyond.distinct": ("otspec.WithoutReplacement(draft, 2)", "otspec.IID(draft, 2)"),
    "beyond.priorities": ("at_least(rule.bound, best)", "at_least(rule.mixture.accepted, best)"),
}  # fmt: skip
