"""A wrong version of every claim of the works that came since."""

MUTANTS = {
    "since.entropy": (" + second / mean**2", ""),
    "since.greedy": ("least_missing(target, 1)", "least_missing(target, 1) / 2"),
    "since.cover": ("least_missing(target, m)", "2 * least_missing(target, m)"),
    "since.relaxed": ("least_refused(target, level)", "2 * least_refused(target, level)"),
    "since.strings": ("same(output", "same(drawn"),
    "since.intersection": ("told = drawn", "told = draft"),
    "since.resolution": ("** k", "** (k - 1)"),
}
