"""A wide network's initial tangent kernel is nearly the same for all random weights, up to order width^-1/2.

For f = sum_i v_i relu(w_i x) / sqrt(m) the kernel is a mean over m independent units,

    K(x, x') = (1/m) sum_i [relu(w_i x) relu(w_i x') + v_i^2 x.x' 1(w_i x > 0) 1(w_i x' > 0)]                (1)

so by the central limit theorem its standard deviation falls as m^-1/2. Reference: [jacot2018neural], Theorem 1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1/2, the exponent of the width in the kernel's standard deviation over initializations."""
    return -0.5


def kernel_deviation(groups, nets, widths, seed, weights):
    """Returns the standard deviation of one kernel entry over the networks of each group, at each width."""
    rng = np.random.default_rng(seed)
    x, other = rng.normal(size=(2, 3))
    rows = []
    for width in widths:
        w, v = rng.normal(size=(groups, nets, width, 3)), weights(rng, (groups, nets, width))
        a, b = w @ x, w @ other
        units = np.maximum(a, 0) * np.maximum(b, 0) + v**2 * (x @ other) * (a > 0) * (b > 0)
        rows.append(units.mean(-1).std(1, ddof=1))  # (1)
    return widths, np.stack(rows, 1)


observed = partial(kernel_deviation, weights=lambda rng, shape: rng.normal(size=shape))  # Gaussian weights.
# Control: Cauchy output weights have infinite variance, so single units dominate the kernel at every width.
control = partial(kernel_deviation, weights=lambda rng, shape: rng.standard_cauchy(shape))

CLAIM = Claim(
    id="ntk-infinite-width-determinism",
    question="Do all wide networks start with the same tangent kernel?",
    equation=r"std\, K_m(x, x') \propto m^{-1/2}",
    axes=("width m", "standard deviation of the tangent kernel"),
    source=Source("theorem", "jacot2018neural", "Theorem 1"),
    premises=(Premise("the weights have a finite fourth moment"), Premise("the output is divided by sqrt(width)")),
    parameters={"groups": 12, "nets": 16, "widths": (32, 128, 512, 2048)},
    full={"groups": 20, "nets": 50, "widths": (64, 256, 1024, 4096)},
    judge=rate_is(confidence=0.9995, label="width"),
    remark="Weights have variance s^2 / fan_in; lecture notes sometimes print the standard deviation instead.",
)
