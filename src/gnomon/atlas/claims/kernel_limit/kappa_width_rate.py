"""If the output is divided by sqrt(width), the laziness number kappa falls as width^-1/2.

For f = a(m) sum_i b_i tanh(w_i x) at one input of norm 1, |D f|^2 = a^2 sum_i (s_i^2 + b_i^2 s'_i^2) grows as a^2 m.
D^2 f has one block for each unit, so |D^2 f| = a max_i (|q_i| + sqrt(q_i^2 + 4 p_i^2)) / 2 with p_i = s'_i and q_i =
b_i s''_i. For signs b_i = +-1 the largest block is bounded (Gaussian b_i would add a factor sqrt(log m)). Hence

    E kappa = E |f - y| |D^2 f| / |D f|^2 = O(m^-1/2 + 1 / (m a(m)))                                         (1)

Divided by the width, a(m) = 1/m, it does not fall. Reference: [chizat2019lazy], Section 1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1/2, the exponent of the width in kappa if the output is divided by sqrt(width)."""
    return -0.5


def numbers(groups, nets, widths, power, seed):
    """Returns the mean kappa of each group of networks per width, with outputs divided by width^power."""
    rng = np.random.default_rng(seed)
    rows = []
    for m in widths:
        u, b = rng.normal(size=(groups, nets, m)), rng.choice([-1.0, 1.0], size=(groups, nets, m))
        s = np.tanh(u)
        p = 1 - s**2
        q = np.abs(-2 * s * p * b)
        a = m**-power
        second = a * ((q + np.sqrt(q**2 + 4 * p**2)) / 2).max(-1)
        first = a**2 * (s**2 + b**2 * p**2).sum(-1)
        rows.append((np.abs(a * (b * s).sum(-1) - 1) * second / first).mean(1))
    return widths, np.stack(rows, 1)


observed = partial(numbers, power=0.5)  # The output is the sum over units divided by sqrt(width).
control = partial(numbers, power=1.0)  # Control: the output is the sum over units divided by the width.

CLAIM = Claim(
    id="kappa-width-rate",
    question="How does laziness depend on the width?",
    equation=r"E \kappa = O(m^{-1/2} + (m \, a(m))^{-1})",
    axes=("width m", "laziness number kappa"),
    source=Source("theorem", "chizat2019lazy", "Section 1"),
    premises=(
        Premise("the output is a sum over units divided by sqrt(width)"),
        Premise("the output weights are bounded"),
    ),
    parameters={"groups": 10, "nets": 20, "widths": (64, 256, 1024, 4096)},
    full={"groups": 20, "nets": 50},
    judge=rate_is(confidence=0.9995, label="width"),
)
