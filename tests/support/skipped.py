"""What a run of the tests left out, with the command that runs it: one line for each reason."""

import re

REASONS = [
    (r"make nightly", "long searches", "make nightly"),
    (r"CUDA|cupy", "a CUDA device is needed", "on a machine with one: make backends test"),
    (r"torch|triton|jax|transformers", "PyTorch, Triton, JAX, transformers", "make backends test"),
    (r"cdd", "pycddlib is not installed", "make cones test"),
    (r"Chromium|browser|Playwright", "there is no browser", "make browser test"),
    (r"does not ship", "traces that do not ship", "pytest with the option that the test names"),
    (r"OTSPEC_SMOLLM2|gguf", "a language model is loaded", "OTSPEC_SMOLLM2=1 make test"),
    (r"Typst|typst", "Typst is not installed", "make note test"),
    (r"cosmic-ray", "cosmic-ray is not installed", "make coverage"),
    (r"extra (\w+)|Numba|pandas|safetensors", "an extra is not installed", "make test"),
]
"""What a reason says, what is left out then, and what runs it; the first that fits."""


def kind_of(reason):
    """What is left out for a reason, and the command; a reason of no kind stands for itself."""
    for pattern, what, command in REASONS:
        if re.search(pattern, reason, re.IGNORECASE):
            return what, command
    return reason, "not on this machine"


def lines(reasons):
    """The lines of a summary, given the reason of every test that was skipped."""
    counts = {}
    for reason in reasons:
        kind = kind_of(reason.removeprefix("Skipped: "))
        counts[kind] = counts.get(kind, 0) + 1
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:>6} {what}: {command}" for (what, command), count in most]
