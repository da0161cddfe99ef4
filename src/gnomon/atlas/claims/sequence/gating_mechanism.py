"""A state under a constant gate g keeps g^t of what it was.

    z_t = g z_{t-1}  =>  z_t = g^t z_0                                                                        (1)

Reference: [pascanu2013difficulty].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

CONSTANT = "the gate does not depend on the state"


def predicted(times, gate):
    """Equation (1)."""
    return gate ** np.arange(1, times + 1)


def kept(feedback, times, gate):
    """A loop with the gate sigmoid(logit(gate) + feedback z)."""
    z, found = 1.0, []
    for _ in range(times):
        z *= 1 / (1 + np.exp(-(np.log(gate / (1 - gate)) + feedback * z)))
        found.append(z)
    return np.array(found)


def observed(times, gate):
    """A constant gate."""
    return kept(0.0, times, gate)


def control(times, gate):
    """A gate that sees the state."""
    return kept(1.0, times, gate)


CLAIM = Claim(
    id="gating-mechanism",
    title="A constant gate g keeps a memory as g to the number of steps",
    equation=r"z_t = g^t z_0",
    source=Source("derived"),
    premises=(Premise(CONSTANT),),
    breaks=CONSTANT,
    parameters={"times": 30, "gate": 0.9},
    judge=equals(rounding=1e3),
    predicted=predicted,
    observed=observed,
    control=control,
)
