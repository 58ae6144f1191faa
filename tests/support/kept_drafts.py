"""How often a rule itself keeps each draft: what it draws instead is nobody's."""


def kept_by_position(rule):
    """The probability that draft i is the one that the rule keeps, by its kernel, shape (k,)."""
    tuples, masses = rule.law.tuples()
    return sum(
        mass * rule.joint_kernel(x)[:-1].sum(axis=1)
        for x, mass in zip(tuples.tolist(), masses, strict=True)
    )
