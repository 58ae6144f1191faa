"""Run all tests with the newest or the lowest versions of all packages; say which broke what.

``make latest`` and ``make lowest`` call it, on a schedule: a release elsewhere is a notice.
"""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "all.txt"
MOST_SUSPECTS = 40
"""Most packages that are tried one by one."""


class Environment:
    """A virtual environment of its own, in which the tests run."""

    def __init__(self, name: str) -> None:
        self.folder = ROOT / f".venv-{name}"
        venv.create(self.folder, clear=True, with_pip=True)
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        self.python = str(self.folder / scripts / "python")

    def install(self, *arguments: str) -> bool:
        """Install with pip; return whether that went well."""
        command = [self.python, "-m", "pip", "install", "--quiet", *arguments]
        return subprocess.run(command, check=False, cwd=ROOT).returncode == 0

    def versions(self) -> dict[str, str]:
        """Return the version of each package that is installed."""
        command = [self.python, "-m", "pip", "list", "--format=freeze"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        pairs = (line.split("==") for line in listed.splitlines() if "==" in line)
        return {canonical(name): version for name, version in pairs}

    def failures(self, tests: Sequence[str] = ()) -> list[str]:
        """Run tests, by default all; return those that fail, by their names.

        Raises
        ------
        ValueError
            No test ran.
        """
        cache = self.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        command = [self.python, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-q"]
        command += ["--tb=line", "-o", f"cache_dir={cache}", *tests]
        done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise ValueError(f"the tests did not run: {(done.stdout + done.stderr)[-2_000:]}")
        # In what is printed a name may end at a space of its own, or be cut.
        failed = cache / "v/cache/lastfailed"
        return list(json.loads(failed.read_text(encoding="utf-8"))) if failed.exists() else []


def canonical(name: str) -> str:
    """Return a package's name as all its spellings have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """Return the versions that the lock has for this Python and platform."""
    from packaging.markers import Marker  # comes with build

    versions = {}
    for name, version, marker in re.findall(
        r"^([\w.-]+)==([^ ;]+)(?: ; (.+?))? \\$", LOCK.read_text(encoding="utf-8"), re.MULTILINE
    ):
        if not marker or Marker(marker).evaluate():
            versions[canonical(name)] = version
    return versions


def direct() -> set[str]:
    """Return the packages that setup.cfg names itself: they are suspected first."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    return {canonical(name) for text in listed for name in re.findall(r"^[\w.-]+", text, re.M)}


def blame(environment: Environment, failing: list[str]) -> list[str]:
    """Return one line for each package with whose locked version some failing tests pass.

    The failing tests run again unchanged first. Then the packages that differ from the lock are put
    back one by one, and the tests that failed twice run again each time.
    """
    lock, lines = locked(), []
    twice = environment.failures(failing)
    if passing := [test for test in failing if test not in twice]:
        lines.append(
            f"{len(passing)} of the tests passed when run again unchanged, first: {passing[0]}"
        )
    failing = twice
    changed = {
        name: version
        for name, version in environment.versions().items()
        if version != lock.get(name, version)
    }
    named = direct()
    for name in sorted(changed, key=lambda name: (name not in named, name))[:MOST_SUSPECTS]:
        if not failing or not environment.install("--no-deps", f"{name}=={lock[name]}"):
            continue
        left = environment.failures(failing)
        environment.install("--no-deps", f"{name}=={changed[name]}")
        mended = [test for test in failing if test not in left]
        if mended:
            lines.append(
                f"{name} {changed[name]} (lock: {lock[name]}) breaks {len(mended)} of the "
                f"tests, first: {mended[0]}"
            )
            failing = left
    if failing:
        others = ", ".join(f"{name} {lock[name]} -> {changed[name]}" for name in sorted(changed))
        lines.append(
            f"no single package explains {len(failing)} of the failures, first: {failing[0]}; "
            f"changed: {others or 'nothing'}"
        )
    return lines


@click.command()
@click.argument("which", type=click.Choice(["latest", "lowest"]))
@click.option("--torch", required=True, help="PyTorch's CPU build, such as torch==2.13.0+cpu.")
def main(which: str, torch: str) -> None:
    """Run all tests with the latest or the lowest versions, and say which package broke what."""
    environment = Environment(which)
    if which == "latest":
        # PyTorch first: without its CPU build, the newest would bring gigabytes of GPU libraries.
        installed = environment.install(torch) and environment.install(
            "--upgrade", "--editable", ".[test,backends,hf,triton]"
        )
    else:
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet"]
        lowest = ["--resolution", "lowest-direct", "--python", environment.python]
        found = subprocess.run([*uv, *lowest, "--editable", ".[test]"], check=False, cwd=ROOT)
        installed = found.returncode == 0
    if not installed:
        raise click.ClickException(f"the {which} versions cannot be installed together: see above")
    failing = environment.failures()
    if not failing:
        click.echo(f"All tests pass with the {which} versions.")
        return
    click.echo("\n".join([f"{len(failing)} tests fail:", *failing]))
    for line in blame(environment, failing):
        click.echo(line)
    sys.exit(1)


if __name__ == "__main__":
    main()
