"""Nothing but answers reaches the standard output of a command, whatever libraries print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_terminal import COMMANDS

from otspec.cli.main import otspec

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
RUN_EACH = """
import gc, json, os, sys
# Once for all commands: what they are made of.
import numba, pyarrow.parquet, scipy.optimize, scipy.special, scipy.sparse
import otspec.advice, otspec.auditing, otspec.conformance, otspec.plots, otspec.traces
from otspec.cli.main import main
gc.freeze()  # a child would copy what its collector looks at
for line in sys.stdin:
    out, err, *sys.argv[1:] = json.loads(line)
    child = os.fork()
    if not child:
        for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
        status = main()
        sys.stdout.flush()
        os._exit(status)  # tidying up takes longer than most commands
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """Run a command in a process of its own, in which libraries print from C.

    The process is a fork of one that has imported what commands are made of, and no command.
    """
    folder = tmp_path_factory.mktemp("noisy")
    Path(folder, "sitecustomize.py").write_text(f"{CHATTER}COMMANDS = {RUNS}\n", encoding="utf-8")
    printed = Path(folder, "out"), Path(folder, "err")
    with subprocess.Popen(
        [sys.executable, "-c", RUN_EACH],
        env=os.environ | {"PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:

        def run(arguments):
            for path in printed:
                path.unlink(missing_ok=True)
            print(json.dumps([*map(str, printed), *arguments]), file=process.stdin, flush=True)
            assert process.stdout.readline() == "0\n"
            return [path.read_text(encoding="utf-8") for path in printed]

        yield run


def asked(name):
    """The arguments for a table and for a document, made by one process."""
    options = [option for each in otspec.commands[name].params for option in each.opts]
    table = [*COMMANDS[name], *(("--workers", "1") if "--workers" in options else ())]
    return [table, [*table, "--json"]] if "--json" in options else [table]


@pytest.mark.skipif(sys.platform == "win32", reason="C's own output goes another way on Windows")
@pytest.mark.parametrize("name", RUNS)
def test_what_libraries_print_goes_to_standard_error(name, noisy):
    for arguments in asked(name):
        out, err = noisy(arguments)
        assert out
        assert "chatter" not in out
        for moment in ("import", "construction", "a thread"):
            assert f"chatter on {moment}" in err
    assert json.loads(out)


def test_a_solver_says_nothing_in_a_process_of_the_caller():
    program = (
        "import otspec; print('first', flush=True)\n"
        "otspec.optimal_plan(otspec.IID([0.5, 0.5], 2), [0.25, 0.75], solver='highs')\n"
        "print('last')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout.split(), done.stderr) == ([b"first", b"last"], b"")
