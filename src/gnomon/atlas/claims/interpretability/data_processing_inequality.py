"""Processing never adds information: along a chain X -> T_1 -> T_2 the information about the label Y never rises.

    I(X; Y) >= I(T_1; Y) >= I(T_2; Y) >= ...,    H(X) >= I(X; T_1) >= I(X; T_2) >= ...                        (1)

I is the mutual information, X the input, T_k its processed versions, Y the label.
"""

from functools import partial

import numpy as np

from gnomon.attribution.information import discrete_information
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(steps):
    """Returns 0 for each step, the largest allowed increase of the information."""
    return [0.0] * (2 * steps)


def measure(states, steps, seed, peek):
    """Returns the rises of the information about Y and about X at each step; ``peek`` shows Y to every second step."""
    draw = np.random.default_rng(seed)
    joint = draw.dirichlet(np.ones(states * 3)).reshape(states, 3)
    rises, own = [], np.diag(joint.sum(1))
    for k in range(steps):
        channel = draw.dirichlet(0.3 * np.ones(states), states)
        after = channel.T @ joint
        if peek and k % 2:
            after = 0.5 * after + 0.5 * np.eye(states, 3) * joint.sum(0)
        rises += [discrete_information(b) - discrete_information(a) for a, b in ((joint, after), (own, own @ channel))]
        joint, own = after, own @ channel
    return rises


observed = partial(measure, peek=False)  # A chain.
control = partial(measure, peek=True)  # Control: every second step also sees the label, which adds information.

CLAIM = Claim(
    id="data-processing-inequality",
    question="Can processing add information about the label?",
    equation=r"I(X;Y) \ge I(\Phi_1 X;Y) \ge \dots",
    axes=("processing step", "increase of the information (nats)"),
    source=Source("theorem", "cover2006elements", "Theorem 2.8.1"),
    premises=(Premise("each step sees only the previous one"),),
    parameters={"states": 6, "steps": 4},
    full={"states": 30, "steps": 8},
    judge=bounded_by("above"),
    loose_because="the bound is zero, so factors do not change it. A step that only renames the states reaches it.",
)
