"""For a function with jumps, fitted jump positions give a better error rate than any linear method.

    mean square error ~ n^(-1) with jumps that are searched for,   ~ n^(-1/2) for kernel ridge regression     (1)

n is the number of examples. In a log-log plot the two slopes differ by 1/2. A jump is a pair of steep ReLU units.
Kernel ridge regression, the linear method, gets its best ridge at every n.
Reference: [suzuki2019adaptivity], [donoho1998minimax].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

NOISE_STD = 0.5


def predicted():
    """At least half of the asymptotic difference of 1/2, because n is finite."""
    return 0.25


def kernel_error(f):
    """Expected error of ridge regression on a circle (shrinkage 1 / (1 + ridge k^2)) at its best ridge."""
    power = np.abs(np.fft.fft(f) / len(f)) ** 2
    k = np.abs(np.fft.fftfreq(len(f)) * len(f))
    keep = 1 / (1 + np.logspace(-6, 2, 161)[:, None] * k**2)
    return float(((1 - keep) ** 2 @ power + NOISE_STD**2 / len(f) * (keep**2).sum(1)).min())


def network_error(f, rng):
    """Squared error of the best function with two levels; both jumps are searched over all pairs."""
    y, n = f + NOISE_STD * rng.normal(size=len(f)), len(f)
    total = np.concatenate([[0.0], y.cumsum()])
    i, j = np.triu_indices(n, 1)
    inside, count = total[j] - total[i], (j - i).astype(float)
    gain = inside**2 / count + (total[-1] - inside) ** 2 / (n - count)
    best = int(gain.argmax())
    fit = np.full(n, (total[-1] - inside[best]) / (n - count[best]))
    fit[i[best] : j[best]] = inside[best] / count[best]
    return float(((fit - f) ** 2).mean())


def difference(target, sizes, repeats, seed):
    """Slope of the kernel's error minus slope of the network's error, over the number of examples."""
    rng, rows = np.random.default_rng(seed), []
    for n in sizes:
        f = target((np.arange(n) + 0.5) / n)
        rows.append((kernel_error(f), np.mean([network_error(f, rng) for _ in range(repeats)])))
    kernel, network = (np.polyfit(np.log(sizes), np.log(c), 1)[0] for c in np.array(rows).T)
    return kernel - network


observed = partial(difference, target=lambda x: ((x > 0.31) & (x < 0.74)) * 2.0)  # A target with two jumps.
control = partial(difference, target=lambda x: np.cos(2 * np.pi * x))  # A smooth target.

CLAIM = Claim(
    id="deep-besov-adaptivity",
    question="When does a network learn faster than every kernel method?",
    equation=r"\text{slope}_{\text{linear}} - \text{slope}_{\text{adaptive}} \to 1/2",
    axes=("one comparison", "difference of the error exponents (kernel - network)"),
    source=Source("theorem", "suzuki2019adaptivity"),
    premises=(Premise("the target has jumps"),),
    parameters={"sizes": (64, 128, 256, 512), "repeats": 40},
    full={"sizes": (64, 128, 256, 512, 1024), "repeats": 200},
    judge=bounded_by("below"),
    remark="Least squares over jump positions stands in for a trained network, which also has optimization error.",
)
