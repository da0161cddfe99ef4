"""Once all examples are fitted, the smoothed margin of a homogeneous (bias-free ReLU) network only grows.

Let the output satisfy f(x; c w) = c^2 f(x; w), and q = -ln L(w) > 0 for the loss L. Euler's identity gives <w, grad q>
>= 2 q, so along w' = grad q

    d/dt ln q = |grad q|^2 / q >= 2 <w, grad q> / |w|^2 = d/dt ln |w|^2,   that is   g~ = q / |w|^2 grows       (1)

by Cauchy-Schwarz. g~ is the smoothed margin. Reference: [lyu2020gradient], Theorem 4.1.
"""

from functools import partial

import numpy as np

from gnomon.atlas.check.descent import check_margin_growth
from gnomon.lab import Claim, Premise, Source, monotone_in


def problem(n, width, seed):
    """Returns points on a circle whose classes alternate between quadrants, and initial weights."""
    rng = np.random.default_rng(seed)
    quadrant = np.arange(n) % 4
    angle = quadrant * np.pi / 2 + rng.uniform(0.3, 1.27, n)
    points = np.stack([np.cos(angle), np.sin(angle)], 1)
    return points, (-1.0) ** quadrant, *(rng.normal(size=shape) for shape in ((width, 2), width))


def predicted():
    """Returns the direction in which the smoothed margin changes: it increases."""
    return "increasing"


def path(n, width, steps, seed, both):
    """Returns the smoothed margin -ln(loss) / |w|^2 during training; ``both`` trains both layers."""
    x, y, w, v = problem(n, width, seed)
    seen = []
    for _ in range(10 * steps):
        hidden = np.maximum(x @ w.T, 0)
        m = y * (hidden @ v)
        q = -np.logaddexp.reduce(-m)
        pull = np.exp(q - m) * y
        gw, gv = ((pull[:, None] * (hidden > 0)) * v).T @ x, pull @ hidden
        norm = (w**2).sum() + ((v**2).sum() if both else 0)
        rate = 0.5 / norm if both else 50 / (v**2).sum()
        if q > 0:
            seen.append(q / norm)
        if len(seen) == steps:
            break
        w, v = w + rate * gw, v + both * rate * gv
    return seen[:: steps // 50]


observed = partial(path, both=True)  # The test trains both layers.
control = partial(path, both=False)  # Control: only the first layer is trained; the output has degree 1 in it, not 2.

CLAIM = Claim(
    id="max-margin-homogeneous",
    question="Does the margin of a trained network keep growing?",
    equation=r"\frac{d}{dt} \frac{-\ln L(w)}{\|w\|^2} \ge 0 \quad \text{where } L(w) < 1",
    axes=("training time (recorded steps)", "smoothed margin"),
    source=Source("theorem", "lyu2020gradient", "Theorem 4.1"),
    premises=(
        Premise("the output is homogeneous of degree 2 in the trained weights"),
        Premise("the steps are small: gradient flow"),
    ),
    parameters={"n": 12, "width": 30, "steps": 2000},
    full={"n": 30, "width": 100, "steps": 20_000},
    judge=monotone_in("time"),
    check=check_margin_growth,
    remark="Homogeneity in the weights is meant; some notes print it in the input.",
)
