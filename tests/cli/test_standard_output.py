"""Nothing but answers reaches the standard output of a command, whatever libraries print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_terminal import COMMANDS

from otspec.cli.main import main, otspec

CHATTER = r'''
"""Loaded by every Python with this folder on its path: makes the modules of commands noisy."""

import ctypes
import importlib.abc
import importlib.util
import sys
import threading

libc = ctypes.CDLL(None)


def chatter(moment):
    libc.printf(b"chatter on %s\\n", moment.encode())
    libc.fflush(None)


class Noisy(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        package, _, command = name.rpartition(".")
        if package != "otspec.cli.commands" or command not in COMMANDS:
            return None
        COMMANDS.remove(command)
        found = importlib.util.find_spec(name)
        load = found.loader.exec_module

        def noisy(module):
            chatter("import")
            load(module)
            called = getattr(module, command).callback

            def constructing(*arguments, **options):
                chatter("construction")
                thread = threading.Thread(target=chatter, args=["a thread"])
                thread.start()
                thread.join()
                return called(*arguments, **options)

            getattr(module, command).callback = constructing

        found.loader.exec_module = noisy
        return found


sys.meta_path.insert(0, Noisy())
'''
RUNS = [name for name in COMMANDS if name != "a complaint"]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """The environment of processes in which libraries print from C."""
    folder = tmp_path_factory.mktemp("noisy")
    Path(folder, "sitecustomize.py").write_text(f"{CHATTER}COMMANDS = {RUNS}\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


def run(arguments, environment):
    """Run a command in a process of its own, since descriptors are looked at."""
    return subprocess.run(
        [sys.executable, "-m", "otspec", *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def with_json(name):
    """The arguments for a document, made by one process; some commands write nothing else."""
    options = [option for each in otspec.commands[name].params for option in each.opts]
    alone = ("--workers", "1") if "--workers" in options else ()
    return (*COMMANDS[name], *alone, *(("--json",) if "--json" in options else ()))


@pytest.mark.skipif(sys.platform == "win32", reason="C's own output goes another way on Windows")
@pytest.mark.parametrize("name", RUNS)
def test_what_libraries_print_goes_to_standard_error(name, noisy, capfd):
    document = with_json(name)
    for arguments in dict.fromkeys([COMMANDS[name], document]):  # the document last
        loud = run(arguments, noisy)
        assert loud.returncode == 0
        assert "chatter" not in loud.stdout
        for moment in ("import", "construction", "a thread"):
            assert f"chatter on {moment}" in loud.stderr
    assert main(document) == 0
    assert len(json.loads(loud.stdout)) == len(json.loads(capfd.readouterr().out))


def test_a_solver_says_nothing_in_a_process_of_the_caller():
    program = (
        "import otspec; print('first', flush=True)\n"
        "otspec.optimal_plan(otspec.IID([0.5, 0.5], 2), [0.25, 0.75], solver='highs')\n"
        "print('last')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout.split(), done.stderr) == ([b"first", b"last"], b"")
