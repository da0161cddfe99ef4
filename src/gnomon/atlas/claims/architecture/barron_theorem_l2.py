"""Units that may be chosen approximate a function of finite Barron norm at a rate that does not know the dimension.

    min over m units of mean (f - f_m)^2 <= (2 r C_f)^2 / m,    C_f = integral of |w| |f^(w)|                 (1)

so that its slope in logarithms is at most -1 in 2, 5 and 10 dimensions. Units that are fixed in advance have m^(-2/d).
Reference: [barron1993universal].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

CHOSEN = "units are chosen for the function"


def predicted(dimensions):
    """The slope that (1) allows."""
    return np.full(len(dimensions), -1.0)


def problem(d, points, seed):
    """Points of the unit ball, a sum of six waves, and step units: along the waves, and along random directions."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(points, d))
    x *= (rng.uniform(size=(points, 1)) ** (1 / d)) / np.linalg.norm(x, axis=1, keepdims=True)
    waves = rng.normal(size=(6, d))
    waves *= 6 / np.linalg.norm(waves, axis=1, keepdims=True)
    y = np.cos(x @ waves.T + rng.uniform(0, 6, size=6)).sum(1)
    directions = np.concatenate([np.repeat(waves / 6, 60, 0), rng.normal(size=(200, d)) / d**0.5])
    return x, y - y.mean(), (x @ directions.T > rng.uniform(-0.9, 0.9, size=len(directions))).astype(float)


def slope(chosen, d, points, seed):
    """Of the error over the number of units, 4 to 48; the best unit is added, or the next one."""
    _, y, units = problem(d, points, seed)
    units = units - units.mean(0)
    units = units[:, np.linalg.norm(units, axis=0) > 0.2 * points**0.5]
    order = np.random.default_rng(seed).permutation(units.shape[1])
    basis, residual, errors = np.zeros((points, 0)), y.copy(), []
    for m in range(48):
        free = units - basis @ (basis.T @ units)
        sizes = np.linalg.norm(free, axis=0)
        gains = np.where(sizes > 1e-6, np.abs(residual @ free) / np.maximum(sizes, 1e-6), 0.0)
        best = int(gains.argmax()) if chosen else order[m]
        new = free[:, best] / max(sizes[best], 1e-6)
        basis, residual = np.column_stack([basis, new]), residual - new * (new @ residual)
        errors.append(float(residual @ residual))
    count = np.arange(4, 49)
    return np.polyfit(np.log(count), np.log(np.array(errors)[3:]), 1)[0]


def observed(dimensions, points, seed):
    """Chosen one after the other."""
    return np.array([slope(True, d, points, seed) for d in dimensions])


def control(dimensions, points, seed):
    """Fixed in advance."""
    return np.array([slope(False, d, points, seed) for d in dimensions])


CLAIM = Claim(
    id="barron-theorem-l2",
    title="Chosen units approximate at rate 1 / m in every dimension",
    equation=r"\|f - f_m\|^2 \le (2 r C_f)^2 / m",
    source=Source("theorem", "barron1993universal"),
    premises=(Premise(CHOSEN),),
    breaks=CHOSEN,
    parameters={"dimensions": (2, 5, 10), "points": 600},
    full={"dimensions": (2, 5, 10), "points": 2000},
    judge=bounded_by(),
    predicted=predicted,
    observed=observed,
    control=control,
)
