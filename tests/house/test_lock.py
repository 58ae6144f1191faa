"""The lock: every package of every extra, at a version that setup.cfg takes, with hashes."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from docs_scripts import script
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_publication import lines, python_versions, setup, text_of

FILES = sorted(path.stem for path in Path(__file__).parents[2].glob("requirements/*.txt"))
PLATFORMS = [("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt")]
ENVIRONMENTS = [
    {
        "python_version": version, "python_full_version": f"{version}.1", "os_name": os_name,
        "sys_platform": platform, "platform_system": system, "platform_machine": "x86_64",
        "implementation_name": "cpython", "platform_python_implementation": "CPython",
    }
    for version, (platform, system, os_name) in product(python_versions(), PLATFORMS)
]  # fmt: skip
EXTRAS = {
    "runtime": ["plots", "runs"], "test": ["test"], "docs": ["docs"], "note": ["note"],
    "cones": ["cones"], "tools": ["tools"], "backends": ["test", "backends", "hf", "triton"],
    "all": list(setup()["options.extras_require"]),
}  # fmt: skip


@cache
def entries(name):
    """The requirements of a file, with the number of hashes of each."""
    text = text_of(f"requirements/{name}.txt")
    statements = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    split = [statement.split(" --hash=sha256:") for statement in statements]
    assert all(re.fullmatch(r"[0-9a-f]{64}", part.strip()) for _, *parts in split for part in parts)
    return [(Requirement(first), len(rest)) for first, *rest in split]


def versions(name, environment):
    """The version of each package that a file has for a Python on a platform."""
    return {
        canonicalize_name(each.name): str(each.specifier).removeprefix("==")
        for each, _ in entries(name)
        if each.marker is None or each.marker.evaluate(environment)
    }


def wanted(extras):
    """What setup.cfg asks for, and what builds the project."""
    of_extras, open_ = setup()["options.extras_require"], list(extras)
    listed = [*lines(setup()["options"]["install_requires"])]
    listed += re.findall(r'^requires = \["(.*)"\]$', text_of("pyproject.toml"), re.MULTILINE)
    while open_:
        for line in of_extras[open_.pop()].splitlines():
            inner = re.fullmatch(r"otspec\[(.*)\]", line)
            open_ += inner[1].split(",") if inner else []
            listed += [line] if line and not inner else []
    return [Requirement(line) for line in listed]


def test_each_file_is_known():
    assert sorted(EXTRAS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_names_exact_versions_and_hashes_only(name):
    for requirement, hashes in entries(name):
        assert re.fullmatch(r"==[\w.+!]+", str(requirement.specifier))
        assert requirement.url is None
        assert hashes
    assert "://" not in text_of(f"requirements/{name}.txt")


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_what_its_extras_ask_for_on_every_python_and_platform(name):
    for environment in ENVIRONMENTS:
        found, whole = versions(name, environment), versions("all", environment)
        assert found.items() <= whole.items()
        for requirement in wanted(EXTRAS[name]):
            if requirement.marker and not requirement.marker.evaluate(environment):
                continue
            if name == "backends" and requirement.name == "torch":
                continue  # the Makefile has its CPU build
            assert requirement.specifier.contains(found[canonicalize_name(requirement.name)])


def test_pytorch_is_the_version_of_the_makefile():
    version = re.search(r"^TORCH \?= torch==([\d.]+)\+cpu$", text_of("Makefile"), re.MULTILINE)[1]
    assert all(versions("all", each)["torch"] == version for each in ENVIRONMENTS)
    assert not [name for name in versions("backends", ENVIRONMENTS[0]) if "nvidia" in name]


def test_every_target_that_installs_uses_the_lock():
    installs = re.findall(r"^\t.*\$\(PIP\) install.*", text_of("Makefile"), re.MULTILINE)
    free = [each for each in installs if "--require-hashes" not in each]
    # PyTorch's CPU build, whose version is above, and the project itself.
    assert all("--no-deps" in each for each in free)
    called = re.findall(r"\$\(call locked,(\w+)\)", text_of("Makefile"))
    assert sorted({*called, "all", "cones"}) == FILES


class Fake:
    """An environment in which some tests fail with some versions."""

    def __init__(self, newer, broken):
        self.now, self.broken = dict(newer), broken

    def versions(self):
        return dict(self.now)

    def install(self, _, pinned):
        name, self.now[name] = (pinned.split("==")[0], pinned.split("==")[1])
        return True

    def failures(self, tests):
        return [test for test in tests if any(
            self.now[name] == version and test in which
            for (name, version), which in self.broken.items()
        )]  # fmt: skip


def test_a_package_is_blamed_for_the_tests_that_its_locked_version_mends(monkeypatch):
    module = script("versions", "packaging")
    monkeypatch.setattr(module, "locked", lambda: {"highspy": "1.15", "numpy": "2.1", "rich": "13"})
    newer = {"highspy": "1.16", "numpy": "2.2", "rich": "13", "pip": "25"}
    broken = {
        ("highspy", "1.16"): ["a::1", "a::2"], ("numpy", "2.2"): ["b::1"],
        ("pip", "25"): ["c::1"],  # which the lock does not have
    }  # fmt: skip
    environment = Fake(newer, broken)
    changed = "highspy 1.15 -> 1.16, numpy 2.1 -> 2.2"
    assert module.blame(environment, ["a::1", "b::1", "a::2", "c::1"]) == [
        "highspy 1.16 (lock: 1.15) breaks 2 of the tests, first: a::1",
        "numpy 2.2 (lock: 2.1) breaks 1 of the tests, first: b::1",
        f"no single package explains 1 of the failures, first: c::1; changed: {changed}",
    ]
    assert environment.now == newer


def test_no_package_is_blamed_for_tests_that_pass_when_they_run_again(monkeypatch):
    module = script("versions", "packaging")
    monkeypatch.setattr(module, "locked", lambda: {"numpy": "2.1"})
    broken = {("numpy", "2.2"): ["b::1"]}
    assert module.blame(Fake({"numpy": "2.2"}, broken), ["a::1", "b::1"]) == [
        "1 of the tests passed when run again unchanged, first: a::1",
        "numpy 2.2 (lock: 2.1) breaks 1 of the tests, first: b::1",
    ]
    assert module.blame(Fake({"numpy": "2.2"}, {}), ["a::1"]) == [
        "1 of the tests passed when run again unchanged, first: a::1"
    ]


def test_the_lock_of_this_python_is_read():
    found = script("versions", "packaging").locked()
    here = {
        canonicalize_name(each.name): str(each.specifier)[2:]
        for each, _ in entries("all")
        if each.marker is None or Marker(str(each.marker)).evaluate()
    }
    assert found == here
