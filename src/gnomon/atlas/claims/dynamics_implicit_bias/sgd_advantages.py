"""Far from the minimum, SGD needs as many steps as full-batch descent, so B / n of its gradients (batch size B of n).

n is the number of examples, B the batch size. Both follow the same path on average, but a step costs B gradients of
single examples instead of n. The loss has to fall by 85 % of the possible decrease:

    gradients of SGD / gradients of descent  =  B / n                                                          (1)

At large rates or near the minimum the noise of the batches costs more steps.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(sets, n, d, seed):
    """Yields two-class data sets with noisy labels."""
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        x, w = rng.normal(size=(n, d)), rng.normal(size=d)
        yield x, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-2 * x @ w)), 1.0, -1.0), rng


def predicted(n, batch):
    """Returns B / n, the number of gradients that SGD needs relative to full-batch descent."""
    return batch / n


def cost(x, y, batch, rng, rate, target):
    """Returns the number of single-example gradients until the loss over all data is below the target."""
    w, steps = np.zeros(x.shape[1]), 0
    while steps < 2000 and np.logaddexp(0, -y * (x @ w)).mean() >= target:
        pick = rng.integers(len(x), size=batch) if batch < len(x) else slice(None)
        a, b = x[pick], y[pick]
        w = w + rate * (b / (1 + np.exp(b * (a @ w)))) @ a / len(a)
        steps += 1
    return steps * batch


def ratios(slower, sets, n, d, batch, seed):
    """Returns the gradients of SGD divided by the gradients of full-batch descent, for each data set."""
    rows = []
    for x, y, rng in problem(sets, n, d, seed):
        rate = 4 * n / np.linalg.norm(x, 2) ** 2
        best = np.zeros(d)
        for _ in range(100):
            best = best + rate * (y / (1 + np.exp(y * (x @ best)))) @ x / n
        target = 0.15 * np.log(2) + 0.85 * np.logaddexp(0, -y * (x @ best)).mean()
        rows.append(np.divide(*(cost(x, y, size, rng, rate / slower, target) for size in (batch, n))))
    return rows


observed = partial(ratios, slower=8)  # The test's learning rate is an eighth of the largest stable one.
control = partial(ratios, slower=0.6)  # Control: at nearly the largest stable rate, batch noise costs additional steps.

CLAIM = Claim(
    id="sgd-advantages",
    question="How much cheaper is SGD than full-batch descent?",
    equation=r"N_{SGD} / N_{GD} = B / n",
    axes=("data set", "gradients of SGD / gradients of full-batch descent"),
    source=Source("derived"),
    premises=(Premise("the learning rate is small"), Premise("the target is far from the minimum")),
    parameters={"sets": 40, "n": 2000, "d": 5, "batch": 50},
    full={"sets": 80, "n": 5000},
    judge=mean_equals(within=0.05, because="the steps are whole numbers, of about 30, and batches have noise"),
)
