"""On redundant data SGD needs, on average, at most 8 B / n of the single-example gradients of full-batch descent.

n is the number of examples, B the batch size. Far from the minimum both make about the same progress per step, but a
step costs B gradients instead of n. With a quarter of the learning rate SGD takes four times as many steps:

    4 B / n  <=  gradients of SGD / gradients of descent  <=  8 B / n                                          (1)

The factor up to 2 allows for the noise of batches, and for (1 - a)^k falling faster than (1 - a / 4)^{4 k}.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, at_most


def problem(sets, n, d, seed):
    """Yields two-class data sets with noisy labels."""
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        x, w = rng.normal(size=(n, d)), rng.normal(size=d)
        yield x, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-2 * x @ w)), 1.0, -1.0), rng


def predicted(n, batch):
    """Returns the upper bound 8 B / n of equation (1)."""
    return 8 * batch / n


def cost(x, y, batch, rng, rate, target):
    """Returns the number of single-example gradients until the loss over all data is below the target."""
    w, steps = np.zeros(x.shape[1]), 0
    while steps < 2000 and np.logaddexp(0, -y * (x @ w)).mean() >= target:
        pick = rng.integers(len(x), size=batch) if batch < len(x) else slice(None)
        a, b = x[pick], y[pick]
        w = w + rate * (b / (1 + np.exp(b * (a @ w)))) @ a / len(a)
        steps += 1
    return steps * batch


def ratios(sets, n, d, batch, seed):
    """Returns the cost of SGD divided by the cost of full-batch descent at rate 1 / curvature, for each data set."""
    rows = []
    for x, y, rng in problem(sets, n, d, seed):
        rate = 4 * n / np.linalg.norm(x, 2) ** 2
        best = np.zeros(d)
        for _ in range(100):
            best = best + rate * (y / (1 + np.exp(y * (x @ best)))) @ x / n
        target = 0.15 * np.log(2) + 0.85 * np.logaddexp(0, -y * (x @ best)).mean()
        rows.append(cost(x, y, batch, rng, rate / 4, target) / cost(x, y, n, rng, rate, target))
    return rows


observed = ratios  # Small batches and a quarter of the rate.


def control(sets, n, d, seed):
    """Uses batches as large as the data, with a quarter of the rate."""
    return ratios(sets, n, d, n, seed)


CLAIM = Claim(
    id="sgd-advantages",
    question="How much cheaper is SGD than full-batch descent?",
    equation=r"\mathrm{mean}\, N_{SGD} / N_{GD} \le 8 B / n",
    axes=("data set", "gradients of SGD / gradients of full-batch descent"),
    source=Source("observed"),
    premises=(Premise("a batch is much smaller than the data", lambda n, batch: 20 * batch <= n),),
    parameters={"sets": 24, "n": 1000, "d": 5, "batch": 20},
    full={"sets": 20, "n": 5000},
    judge=at_most(),
)
