"""A network of m step units, chosen greedily, approximates a function with squared error at most V^2 / (m + 1).

The target f = sum_i c_i u_i is a sine along one direction, written as a sum of step units u_i with coefficients c_i.
The approximation f_m adds one unit at a time and refits all coefficients:

    mean (f - f_m)^2 <= V^2 / (m + 1),    V = sum_i |c_i| |u_i|                                               (1)

V is the variation of f. It is at most 2 r C_f with Barron's constant C_f, the integral of |w| |f^(w)| over the Fourier
transform f^, and r the radius of the ball of inputs. Checked with 5, 10 and 20 inputs. Units fixed in advance are
slower, and more so with more inputs. Reference: [barron1993universal].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

WAVE_UNITS = 60
RANDOM_UNITS = 200
MAX_UNITS = 48


def problem(d, points, seed):
    """Returns the outputs of all step units at random points of the unit ball, and the target's coefficients."""
    rng = np.random.default_rng([seed, d])
    x = rng.normal(size=(points, d))
    x *= (rng.uniform(size=(points, 1)) ** (1 / d)) / np.linalg.norm(x, axis=1, keepdims=True)
    directions = rng.normal(size=(1 + RANDOM_UNITS, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.repeat(directions, [WAVE_UNITS] + [1] * RANDOM_UNITS, 0)
    thresholds = (np.arange(WAVE_UNITS) + 0.5) * 2 / WAVE_UNITS - 1
    units = (x @ directions.T > np.concatenate([thresholds, rng.uniform(-0.5, 0.5, size=RANDOM_UNITS)])).astype(float)
    slopes = 2 * np.cos(2 * thresholds) * 2 / WAVE_UNITS  # sin(2 t) is a sum of step functions with these coefficients
    return units - units.mean(0), np.concatenate([slopes, np.zeros(RANDOM_UNITS)])


def predicted(dimensions, points, seed):
    """Returns the bound V^2 / (m + 1) for m = 1 to 48 units and variation V of the target, per number of inputs."""
    rows = []
    for d in dimensions:
        units, c = problem(d, points, seed)
        rows.append((np.abs(c) * np.sqrt((units**2).mean(0))).sum() ** 2 / np.arange(2, MAX_UNITS + 2))
    return np.stack(rows)


def errors(chosen, d, points, seed):
    """Returns the mean squared error after each added unit: the best unit if ``chosen``, else the next random one."""
    units, c = problem(d, points, seed)
    residual, candidates = units @ c, units[:, 0 if chosen else WAVE_UNITS :]
    squared_errors = []
    for _ in range(MAX_UNITS):
        sizes = np.linalg.norm(candidates, axis=0)
        gains = np.where(sizes > 1e-6, np.abs(residual @ candidates) / np.maximum(sizes, 1e-6), -1.0)
        best = int(gains.argmax() if chosen else (gains >= 0).argmax())
        new = candidates[:, best] / sizes[best]
        residual, candidates = residual - new * (new @ residual), candidates - np.outer(new, new @ candidates)
        squared_errors.append(float((residual**2).mean()))
    return squared_errors


def observed(dimensions, points, seed):
    """Returns the errors after each added unit if the unit that reduces the error most is added each time."""
    return np.array([errors(True, d, points, seed) for d in dimensions])


def control(dimensions, points, seed):
    """Returns the errors after each added unit if units of random direction are added in a fixed order."""
    return np.array([errors(False, d, points, seed) for d in dimensions])


CLAIM = Claim(
    id="barron-theorem-l2",
    question="Does approximation by a neural network suffer from the number of inputs?",
    equation=r"\|f - f_m\|^2 \le V^2 / (m + 1) \le (2 r C_f)^2 / m",
    axes=("number of units, for each number of inputs", "mean squared error"),
    source=Source("theorem", "barron1993universal"),
    premises=(Premise("units are chosen for the function"),),
    parameters={"dimensions": (5, 10, 20), "points": 300},
    full={"dimensions": (5, 10, 20, 40), "points": 2000},
    judge=bounded_by(),
    loose_because="it holds for all functions of this variation; one wave is easier: about 0.3 of it is reached.",
)
