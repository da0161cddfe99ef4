"""The leapfrog integrator keeps the energy of a moving particle (Hamiltonian) up to an error of order step size^2.

    max_t |H(t) - H(0)| = O(step^2)     (1)

H is the energy and t the time.
"""

import torch

from gnomon.bayes import LogDensityWithGradient
from gnomon.bayes.samplers.hmc import leapfrog
from gnomon.lab import Claim, Premise, Source, rate_is

STEP_SIZES = (0.2, 0.1414, 0.1, 0.0707, 0.05, 0.0354, 0.025)


def energy(x, v):
    """Returns the energy of a particle with velocity v in the potential x^4 / 4 + x^2 / 2."""
    return v**2 / 2 + x**4 / 4 + x**2 / 2


def log_density(x):
    """Returns the log density that belongs to the potential x^4 / 4 + x^2 / 2."""
    return -(x**4 / 4 + x**2 / 2).sum()


def predicted():
    """Returns 2, the exponent of the step size in the energy error."""
    return 2.0


def error(paths, time, seed, advance):
    """Returns the largest energy error along each path for each step size, with steps made by ``advance``."""
    start = 1 + 0.3 * torch.rand(2, paths, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    worst = []
    for step in STEP_SIZES:
        x, v = start
        largest = torch.zeros(paths, 1, dtype=torch.float64)
        for _ in range(int(time / step)):
            x, v = advance(x, v, step)
            largest = torch.maximum(largest, (energy(x, v) - energy(*start)).abs())
        worst.append(largest[:, 0])
    return list(STEP_SIZES), torch.stack(worst, 1)


def observed(paths, time, seed):
    """Returns the energy errors of the leapfrog integrator, for each step size."""
    p, one = LogDensityWithGradient(log_density, True), torch.ones(1, dtype=torch.float64)
    return error(paths, time, seed, lambda x, v, step: leapfrog(p, x, v, p(x)[1], step, one, 1)[:2])


def control(paths, time, seed):
    """Returns the energy errors of explicit Euler steps, as some texts print, which make the energy grow."""
    p = LogDensityWithGradient(log_density, True)
    return error(paths, time, seed, lambda x, v, step: ((x + step * v).clamp(-50, 50), v + step * p(x)[1]))


CLAIM = Claim(
    id="hamiltonian-monte-carlo",
    question="Why does Hamiltonian Monte Carlo use the leapfrog integrator?",
    equation=r"\max_t |H(t) - H(0)| = O(\eta^2)",
    axes=("step size", "largest energy error along the path"),
    source=Source("theorem", "neal2011mcmc"),
    premises=(Premise("position and momentum are updated in turn (leapfrog)"),),
    parameters={"paths": 8, "time": 10.0},
    full={"time": 100.0},
    judge=rate_is(next_order=2.0, label="step"),
    remark="Explicit Euler, as often printed, multiplies the energy of a harmonic well by 1 + step^2 at every step.",
)
