"""Running commands in tests."""

import numpy as np

from otspec.cli.main import main


def run(capsys, *arguments):
    """Run a command that must succeed and return what it printed."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def complaint(capsys, *arguments):
    """Run a command that must fail and return its one line."""
    assert main([str(argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("otspec: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err


def write_trace(path, **changes):
    rng = np.random.default_rng(5)
    logits = {
        name: rng.normal(size=(2, 3, 20)).astype(np.float16)
        for name in ("draft_logits", "target_logits")
    }
    np.savez(path, **(logits | changes))
    return path
