"""A second seed for the claims, which changes with every commit, and a check that chance alone rarely fails."""

import os
import subprocess
from zlib import crc32

from gnomon import __version__
from gnomon.lab import run_claim
from tests.house.tree import ROOT

VARIABLE = "GNOMON_ATLAS_SEED"
"""Environment variable that sets the second seed, to repeat a failure."""
MORE_SEEDS = 3
"""Seeds at which a claim runs again if it is not as stated at the second seed."""


def second_seed():
    """The seed of the environment variable; otherwise it follows from the commit, or from the version without git."""
    if os.environ.get(VARIABLE):
        return int(os.environ[VARIABLE])
    command = ["git", "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        commit = __version__
    return crc32(commit.strip().encode()) % 10**6


def rotating(names, seed, count):
    """A subset of the names that changes with the seed."""
    return frozenset(sorted(names, key=lambda name: crc32(f"{seed}/{name}".encode()))[:count])


def seeds_not_as_stated(claim, seed):
    """Seeds with another verdict than the stated one, and the verdicts; three more seeds run only if the first fails.

    Judges have a stated confidence, most of them 99 or 99.9 %, so a true claim sometimes fails at a new seed. One that
    fails at two seeds of four is broken: at 99 % this happens by chance in 3 of 10,000 claims.
    """
    first = run_claim(claim, seed=seed)
    if first.as_stated:
        return {}
    more = (crc32(f"{seed}/{k}".encode()) for k in range(MORE_SEEDS))
    outcomes = {seed: first} | {other: run_claim(claim, seed=other) for other in more}
    return {
        at: f"{outcome.verdict} Control: {outcome.control.reason}"
        for at, outcome in outcomes.items()
        if not outcome.as_stated
    }
