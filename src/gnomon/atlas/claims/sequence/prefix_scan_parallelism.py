"""Any two steps of a linear recurrence combine into one step, so T steps take ceil(log2 T) parallel rounds.

    (a, b) then (a', b') = (a a', a' b + b'),    ceil(log2 T) rounds                                          (1)

(a, b) stands for the step h -> a h + b. The grouping does not matter (associativity), so neighbors combine in parallel.
Reference: [blelloch1990prefix].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(times, seed):
    """Returns random steps h -> a h + b."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.0, times), rng.normal(size=times)


def predicted(times, seed):
    """Returns the final state computed step by step, then the number of rounds."""
    h = 0.0
    for a, b in zip(*problem(times, seed), strict=True):
        h = a * h + b
    return [h, float(np.ceil(np.log2(times)))]


def combine_steps(bend, times, seed):
    """Returns the final state by combining neighboring steps, and the rounds; ``bend`` makes steps nonlinear."""
    steps, rounds = list(zip(*problem(times, seed), strict=True)), 0
    while len(steps) > 1:
        pairs = [(p[0] * q[0], q[0] * p[1] + q[1]) for p, q in zip(steps[::2], steps[1::2], strict=False)]
        pairs = [(a, b - bend * b**3) for a, b in pairs]
        steps, rounds = pairs + ([steps[-1]] if len(steps) % 2 else []), rounds + 1
    return [steps[0][1], float(rounds)]


observed = partial(combine_steps, bend=0.0)  # Linear steps.
control = partial(combine_steps, bend=0.1)  # Nonlinear steps.

CLAIM = Claim(
    id="prefix-scan-parallelism",
    question="Why can a linear recurrence be computed in logarithmic time?",
    equation=r"(a_1, b_1) \circ (a_2, b_2) = (a_1 a_2,\; a_2 b_1 + b_2)",
    axes=("final state, then number of rounds", "state; count"),
    source=Source("theorem", "blelloch1990prefix"),
    premises=(Premise("steps are linear in the state"),),
    parameters={"times": 33},
    judge=equals(rounding=1e3),
)
