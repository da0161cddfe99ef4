"""Residual blocks with one hidden ReLU unit each can approximate every continuous function of one variable.

    h <- h + v relu(h - c)                                                                                    (1)
    mean |f - f_N| <= L / (4 N) + d N (2 N + 12) + e (N + 6) / N       with some 3 N blocks                   (2)

h is the state, v and c are the weight and threshold of a block, L is the Lipschitz constant of f, d the width of the
ramps and e the slope of the plateaus. The blocks first build a staircase of N rising plateaus, from right to left,
because a block changes all slopes to its right. Then, from the top down, one block moves each plateau to its value
below all remaining thresholds. Reference: [lin2018resnet].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

RAMP_WIDTH = 1e-6  # d of (2)
PLATEAU_SLOPE = 1e-3  # e of (2)
SHIFT_DOWN = 3.0  # Function values are lowered by this number, below the values of the approximating staircase.


def target(x):
    """Returns a triangle wave with slopes +-8 and values in [-1, 1]."""
    return 2 * np.abs((4 * x) % 2 - 1) - 1


def predicted(plateaus):
    """Returns the bound on the mean error, for each number of plateaus of the staircase that the blocks build."""
    n = np.array(plateaus, dtype=float)
    return 8 / (4 * n) + RAMP_WIDTH * n * (2 * n + 12) + PLATEAU_SLOPE * (n + 6) / n


def apply_blocks(x, blocks, skip=1.0):
    """Returns the output of residual blocks h + v relu(h - c), applied one after the other to h = e x."""
    h = PLATEAU_SLOPE * x
    for v, c in blocks:
        h = skip * h + v * np.maximum(h - c, 0.0)
    return h


def build_blocks(n):
    """Returns weights v and thresholds c of the blocks that build a staircase of n plateaus and set its heights."""
    knots = [k for i in range(1, n) for k in ((i / n - RAMP_WIDTH, 1 / RAMP_WIDTH), (i / n, PLATEAU_SLOPE))]
    slopes = [PLATEAU_SLOPE, *(slope for _, slope in knots)]
    blocks = [(slopes[i + 1] / slopes[i] - 1, PLATEAU_SLOPE * knots[i][0]) for i in reversed(range(len(knots)))]
    middle = (np.arange(n) + 0.5) / n
    level, value = apply_blocks(middle, blocks), target(middle) - SHIFT_DOWN
    for i in reversed(range(n)):
        cut = (level[i] + level[i - 1]) / 2 if i else level[0] - 0.5
        blocks.append(((value[i] - level[i]) / (level[i] - cut), cut))
    return blocks


def errors(skip, plateaus):
    """Returns the mean absolute error over [0, 1] for each number of plateaus of the staircase."""
    x = (np.arange(20000) + 0.5) / 20000
    return np.array([np.abs(apply_blocks(x, build_blocks(n), skip) + SHIFT_DOWN - target(x)).mean() for n in plateaus])


observed = partial(errors, skip=1.0)  # With skip connections.
control = partial(errors, skip=0.0)  # Control: the same units without skip connections cannot approximate the function.

CLAIM = Claim(
    id="resnet-one-neuron-universal",
    question="Can a residual network with one hidden unit per block approximate any function?",
    equation=r"\overline{|f - f_N|} \le L / 4N + O(\delta N^2)",
    axes=("number of plateaus N", "mean absolute error", "plateaus"),
    source=Source("theorem", "lin2018resnet"),
    premises=(Premise("blocks have a skip connection"),),
    parameters={"plateaus": (8, 16, 32, 64)},
    judge=bounded_by(tight=0.9),
    remark="The weights are constructed and there is one input; the theorem covers every number of inputs.",
)
