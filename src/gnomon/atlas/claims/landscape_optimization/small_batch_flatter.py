"""On a two-layer diagonal model, SGD with one example per batch finds flatter solutions than full batches do.

f(x) = <u^2 - v^2, x> from u = v = a. A step of size r along the slope s multiplies u v by 1 - r^2 s^2, and slopes of
single samples are larger than their mean. So with the trace of the Hessian at solutions that fit all n points,

    tr H = (8 / n) sum_ij x_ij^2 (u_j^2 + v_j^2),    tr H (one sample) < 0.98 tr H (all samples)         (1)
Reference: [pesme2021implicit]; [keskar2017large] for the saying about networks.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the runs, from the flattest solution to the sharpest."""
    return ("small batch", "0.98 x whole set", "whole set")


def hessian_trace(batch, rate, sets, n, d, steps, seed):
    """Returns the trace of the Hessian after training on several data sets."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(sets, n, d))
    y = x[:, :, :2].sum(2)
    u = v = np.full((sets, d), 0.5)
    for _ in range(round(steps * 0.01 / rate)):
        chosen = rng.integers(n, size=batch) if batch < n else slice(None)
        part, goal = x[:, chosen], y[:, chosen]
        residual = np.einsum("sbd,sd->sb", part, u**2 - v**2) - goal
        slope = np.einsum("sb,sbd->sd", residual, part) / part.shape[1]
        u, v = u - rate * slope * u, v + rate * slope * v
    return 8 / n * np.einsum("snd,sd->s", x**2, u**2 + v**2)


def traces(small, whole, sets, n, d, steps, seed):
    """Returns the Hessian traces after SGD with single examples and after full-batch descent."""
    first, second = hessian_trace(1, small, sets, n, d, steps, seed), hessian_trace(n, whole, sets, n, d, steps, seed)
    return {"small batch": first, "0.98 x whole set": 0.98 * second, "whole set": second}


observed = partial(traces, small=0.03, whole=0.03)  # Batches of one and full batches have equal learning rates.
control = partial(traces, small=0.002, whole=0.1)  # Control: small steps for batches of one, large ones otherwise.

CLAIM = Claim(
    id="small-batch-flatter",
    question="Do small batches find flatter minima?",
    equation=r"\mathrm{tr} H_{B = 1} < 0.98\, \mathrm{tr} H_{B = n}",
    axes=("batch", "trace of the Hessian"),
    source=Source("observed", "pesme2021implicit"),
    premises=(
        Premise("both runs have the same learning rate"),
        Premise("one of the two runs has batches of one sample"),
    ),
    parameters={"sets": 20, "n": 20, "d": 40, "steps": 9000},
    full={"sets": 30, "n": 30, "d": 60, "steps": 4000},
    judge=in_order(),
)
