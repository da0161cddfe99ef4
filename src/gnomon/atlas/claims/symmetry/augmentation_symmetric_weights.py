"""Mirror-symmetric weights stay symmetric in training if each example comes with its mirror image.

    g w_0 = w_0   =>   g w_T = w_T                                                                                 (1)

w_T are the weights after T steps and g is the symmetry. A symmetric w has a symmetric gradient: grad L(w) = grad L(g w)
= g grad L(w). Reference: [chen2020group].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def asymmetry(start, n, d, steps, seed):
    """Returns the asymmetry |flip(w) - w| / |w| of trained weights; ``start`` says if they start symmetric."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = np.sign(x.sum(1))
    x, y = np.concatenate([x, x[:, ::-1]]), np.tile(y, 2)
    w = rng.normal(size=d)
    w = w + w[::-1] if start else w
    for _ in range(steps):
        w = w + 0.5 * (y / (1 + np.exp(y * (x @ w)))) @ x / len(x)
    return float(np.linalg.norm(w[::-1] - w) / np.linalg.norm(w))


def predicted():
    """Returns 0, the asymmetry of the trained weights."""
    return 0.0


observed = partial(asymmetry, start=True)  # A symmetric start.
control = partial(asymmetry, start=False)  # Control: training starts from random weights, whose asymmetry remains.

CLAIM = Claim(
    id="augmentation-symmetric-weights",
    question="Do symmetric weights stay symmetric during training?",
    equation=r"gW_0 = W_0 \Rightarrow gW_T = W_T",
    axes=("one training run", "relative asymmetry of the weights"),
    source=Source("theorem", "chen2020group"),
    premises=(Premise("the weights start symmetric"), Premise("each example comes with its mirror image")),
    parameters={"n": 20, "d": 10, "steps": 200},
    judge=equals(within=1e-12, because="rounding over 200 steps"),
    remark="Some proofs would give a symmetric gradient at every w, which is false.",
)
