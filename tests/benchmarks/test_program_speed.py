"""Building programs against solving them, and the memory that building takes."""

import subprocess
import sys

import numpy as np
import pytest

import otspec
from otspec.distributions import as_distribution
from otspec.programs import Reduced
from otspec.solvers import highs

BUILD_AND_MEASURE = """
import resource
import numpy as np
import otspec
from otspec.distributions import as_distribution
from otspec.programs import Reduced
draft, target = np.random.default_rng(3).dirichlet(np.ones(50), size=2)
Reduced(otspec.IID(draft, 3), as_distribution(target), sets=False).build()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_building_the_reduced_program_against_solving_it(report_ratio):
    n, k = 50, 3
    draft, target = np.random.default_rng(3).dirichlet(np.ones(n), size=2)
    law, target = otspec.IID(draft, k), as_distribution(target)
    program = Reduced(law, target).build()
    # The solver's own tolerance is ten times finer.
    assert highs.solve(program).value == pytest.approx(
        otspec.optimal_acceptance(law, target).acceptance, abs=1e-9
    )
    report_ratio(
        f"the reduced program with symmetry, n = {n}, k = {k}: build",
        lambda: Reduced(law, target).build(),
        "its HiGHS solve",
        lambda: highs.solve(program),
        "at most 0.2x",
        rounds=5,
    )


def test_peak_memory_of_building(record_property):
    done = subprocess.run(
        [sys.executable, "-c", BUILD_AND_MEASURE], check=True, capture_output=True, encoding="utf-8"
    )
    gigabytes = int(done.stdout) / 2**20  # ru_maxrss is in KiB on Linux
    record_property("peak GB of building n = 50, k = 3, a row per tuple", gigabytes)
    assert gigabytes < 2
