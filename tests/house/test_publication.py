"""What a release, a forge, conda, Docker and a citation are told is what the project says."""

from __future__ import annotations

import configparser
import datetime
import re
from pathlib import Path

import pytest
import yaml
from docs_scripts import script

import otspec

ROOT = Path(__file__).parents[2]
CONDA = {"dask": "dask-core", "matplotlib": "matplotlib-base", "cvxpy": "cvxpy-base"}
"""Packages that conda-forge calls otherwise."""


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def setup():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


def lines(text):
    return [line.replace(" ", "") for line in text.splitlines() if line]


def python_versions():
    """Return the versions of Python that the classifiers name."""
    return re.findall(r":: Python :: (3\.\d+)", setup()["metadata"]["classifiers"])


def targets():
    named = re.findall(r"^([\w -]+):", text_of("Makefile"), re.MULTILINE)
    return {target for names in named for target in names.split()}


def made(texts):
    """Return the targets that commands make."""
    return {target for text in texts for target in re.findall(r"\bmake ([a-z-]+)", text)}


def github():
    return yaml.safe_load(text_of(".github/workflows/tests.yml"))["jobs"]


def gitlab():
    return yaml.safe_load(text_of(".gitlab-ci.yml"))


def test_the_forges_test_every_version_of_python_that_is_named():
    versions = python_versions()
    assert versions[0] == setup()["options"]["python_requires"].removeprefix(">=")
    matrix = github()["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert gitlab()["test"]["parallel"]["matrix"] == [{"PYTHON_VERSION": versions}]


@pytest.mark.parametrize("jobs", [github(), gitlab()], ids=["GitHub", "GitLab"])
def test_the_forges_call_targets_that_there_are_and_little_else(jobs):
    jobs = {name: job for name, job in jobs.items() if name not in ("default", "versions")}
    commands = [
        command
        for job in jobs.values()
        for command in job.get("script") or [each["run"] for each in job["steps"] if "run" in each]
    ]
    others = [command for command in commands if not re.search(r"^(\w+=[\w,]+ )?make ", command)]
    assert others in ([], ["choco install make --no-progress"])
    called = made(command for command in commands if command not in others)
    assert called == {"lint", "demo", "test", "backends", "dist", "docs", "note", "mutants"}
    assert called <= targets()


@pytest.mark.parametrize(
    ("job", "scheduled"),
    [
        (github()["versions"], {"if": "github.event_name == 'schedule'"}),
        (gitlab()["versions"], {"rules": [{"if": '$CI_PIPELINE_SOURCE == "schedule"'}]}),
    ],
    ids=["GitHub", "GitLab"],
)
def test_other_versions_are_tried_on_a_schedule(job, scheduled):
    assert scheduled.items() <= job.items()
    matrix = job["strategy"]["matrix"]["which"] if "strategy" in job else None
    assert (matrix or job["parallel"]["matrix"][0]["WHICH"]) == ["latest", "lowest"]
    assert {"latest", "lowest"} <= targets()


def test_fresh_mutants_are_drawn_on_a_schedule_only():
    assert github()["mutants"]["if"] == github()["versions"]["if"]
    assert gitlab()["mutants"]["rules"] == gitlab()["versions"]["rules"]


def test_what_backends_are_required_is_what_the_gate_requires():
    required = re.search(r"OTSPEC_REQUIRE_BACKENDS=\S+", text_of(".ci/run"))[0]
    assert required in text_of(".github/workflows/tests.yml")
    assert required in text_of(".gitlab-ci.yml")


def test_pre_commit_lints():
    (repository,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == ["make lint"]


def test_the_container_makes_the_demo():
    steps = [
        re.match(r"([A-Z]+) (.*)", line).groups()
        for line in text_of("packaging/Dockerfile").splitlines()
        if not line.startswith("#")
    ]
    assert steps[0][0] == "FROM"
    assert re.fullmatch(r"python:(3\.\d+)-slim", steps[0][1])[1] in python_versions()
    assert {word for word, _ in steps} <= {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "CMD"}
    assert [step for step in steps if "demo" in step[1]][:1] == [("RUN", "make demo")]
    assert steps[-1] == ("CMD", '["make", "demo"]')
    assert {".git", ".venv", "build"} <= set(text_of(".dockerignore").splitlines())


def test_the_recipe_for_conda_has_the_numbers_of_the_project():
    recipe = yaml.safe_load(text_of("packaging/conda/recipe.yaml"))
    metadata, options, of_extras = (
        setup()[name] for name in ("metadata", "options", "options.extras_require")
    )
    assert recipe["context"]["version"] == otspec.__version__
    assert recipe["about"]["summary"] == metadata["description"]
    assert recipe["about"]["license"] == metadata["license"]
    assert recipe["build"]["python"]["entry_points"] == [
        setup()["options.entry_points"]["console_scripts"].strip()
    ]
    wanted = recipe["requirements"]
    python = f"python{options['python_requires']}"
    assert [each.replace(" ", "") for each in wanted["run"]] == [
        python, *lines(options["install_requires"]),
    ]  # fmt: skip
    assert [each.replace(" ", "") for each in wanted["host"]] == [python, "pip", "setuptools>=77"]
    assert "setuptools>=77" in text_of("pyproject.toml")
    optional = [
        line for extra in ("plots", "runs", "cvxpy", "symbolic") for line in lines(of_extras[extra])
    ]
    assert [each.replace(" ", "") for each in wanted["run_constraints"]] == [
        re.sub(r"^[\w-]+", lambda name: CONDA.get(name[0], name[0]), line) for line in optional
    ]


def test_the_page_on_installing_has_every_extra():
    named = re.findall(r"^\| `(\w+)` \|", text_of("docs/install.md"), re.MULTILINE)
    assert sorted(named) == sorted(setup()["options.extras_require"])


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load(text_of("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["version"] == otspec.__version__
    assert cited["license"] == setup()["metadata"]["license"]
    assert isinstance(cited["date-released"], datetime.date)
    page = text_of("docs/install.md")
    assert script("citation").written_anew(page) == page, "run: python docs/citation.py"
    assert f"version = {{{otspec.__version__}}}" in page


def test_archives_lack_nothing_and_hold_nothing_else():
    archives = script("archives", "packaging")
    package, others = {"otspec/a.py", "otspec/data.npz"}, {"tests/test_a.py", "Makefile"}
    whole = package | others
    assert archives.complaints(whole, package, whole) == []
    assert archives.complaints(package | {"notes"}, {"otspec/a.py", "tests/test_a.py"}, whole) == [
        "the source archive lacks Makefile: see MANIFEST.in",
        "the source archive lacks tests/test_a.py: see MANIFEST.in",
        "the source archive holds notes, which is not tracked",
        "the wheel lacks otspec/data.npz: see package_data in setup.cfg",
        "the wheel holds tests/test_a.py",
    ]
