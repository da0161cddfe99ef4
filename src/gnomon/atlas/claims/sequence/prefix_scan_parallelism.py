"""Two steps of a linear recurrence combine to one step, and the grouping does not matter.

    (a, b) then (a', b') = (a a', a' b + b'),    associative                                                  (1)

(a, b) stands for the step h -> a h + b. Reference: [blelloch1990prefix].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(times, seed):
    """Steps h -> a h + b."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.0, times), rng.normal(size=times)


def predicted(times, seed):
    """One step after the other, from zero."""
    h = 0.0
    for a, b in zip(*problem(times, seed), strict=True):
        h = a * h + b
    return h


def combine_steps(bend, times, seed):
    """Combines neighbors by (1) in ceil(log2 T) rounds; ``bend`` makes every combined step nonlinear."""
    steps = list(zip(*problem(times, seed), strict=True))
    while len(steps) > 1:
        pairs = [(p[0] * q[0], q[0] * p[1] + q[1]) for p, q in zip(steps[::2], steps[1::2], strict=False)]
        pairs = [(a, b - bend * b**3) for a, b in pairs]
        steps = pairs + ([steps[-1]] if len(steps) % 2 else [])
    return steps[0][1]


observed = partial(combine_steps, bend=0.0)  # Linear steps.
control = partial(combine_steps, bend=0.1)  # Nonlinear steps.

CLAIM = Claim(
    id="prefix-scan-parallelism",
    question="Why can a linear recurrence be computed in logarithmic time?",
    equation=r"(a_1, b_1) \circ (a_2, b_2) = (a_1 a_2,\; a_2 b_1 + b_2)",
    axes=("one sequence", "final state"),
    source=Source("theorem", "blelloch1990prefix"),
    premises=(Premise("steps are linear in the state"),),
    parameters={"times": 33},
    judge=equals(rounding=1e3),
)
