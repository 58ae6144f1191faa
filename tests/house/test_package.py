"""The package as it is installed: version, typing, public names, commands."""

import configparser
import importlib.metadata
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import otspec

ROOT = Path(__file__).parents[2]


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == otspec.__version__
    assert importlib.metadata.version("otspec") == otspec.__version__


def test_every_public_name_is_there():
    for name in [*otspec.__all__, "batch", "blocks", "closed_forms", "datasets", "rules", "traces"]:
        assert getattr(otspec, name) is not None
        assert name in dir(otspec)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'optimal'"):
        _ = otspec.optimal


def test_the_package_is_typed_and_ships_its_data():
    assert (files("otspec") / "py.typed").is_file()
    for name in ("smollm2_trace.npz", "prompts.txt", "english.txt", "README.md", "LICENSE"):
        assert (files("otspec.datasets") / name).is_file()


def test_the_bundled_trace_is_small():
    assert len((files("otspec.datasets") / "smollm2_trace.npz").read_bytes()) <= 6_200_000


def test_dependencies_have_lower_bounds():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"].values()
    lines = [config["options"]["install_requires"], *extras]
    lines = [line for text in lines for line in text.splitlines() if line]
    requirements = [line for line in lines if not line.startswith("otspec[")]
    assert len(requirements) > 10
    assert [line for line in requirements if ">=" not in line] == []


def test_python_dash_m_runs_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "otspec", "--version"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"otspec, version {otspec.__version__}\n")
