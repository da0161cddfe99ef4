"""Ridge regression on features and kernel regression with the features' inner product give the same predictions.

Ridge regression on features F = (f(x_i)) with ridge r has the weights w = (F^T F + r I)^{-1} F^T y, which is F^T c with
c = (F F^T + r I)^{-1} y, so for K(x, x') = <f(x), f(x')>

    <w, f(x)> = sum_i K(x, x_i) c_i                                                                      (1)
Reference: [saunders1998ridge].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns Gaussian training inputs, targets and test inputs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(20, d))


def predicted(n, d, ridge, seed):
    """Returns the predictions of kernel regression with the kernel (1 + <x, x'>)^2."""
    x, y, test = problem(n, d, seed)
    kernel = (1 + x @ x.T) ** 2
    return (1 + test @ x.T) ** 2 @ np.linalg.solve(kernel + ridge * np.eye(n), y)


def fit(n, d, ridge, seed, weight):
    """Returns the predictions of ridge regression on features; ``weight`` multiplies the products of two inputs."""
    x, y, test = problem(n, d, seed)
    i, j = np.triu_indices(d, 1)

    def features(z):
        return np.hstack([np.ones((len(z), 1)), 2**0.5 * z, z**2, weight * z[:, i] * z[:, j]])

    f = features(x)
    return features(test) @ np.linalg.solve(f.T @ f + ridge * np.eye(f.shape[1]), f.T @ y)


observed = partial(fit, weight=2**0.5)  # Feature weights make the inner product of features equal to the kernel.
control = partial(fit, weight=1.0)  # Control: features with weight 1 span the same functions but have another kernel.

CLAIM = Claim(
    id="model-ladder-linear-feature-kernel",
    question="How are linear models on features and kernel machines related?",
    equation=r"w^T \phi(x) = \sum_i K(x, x_i) c_i",
    axes=("test input", "prediction"),
    source=Source("theorem", "saunders1998ridge"),
    premises=(Premise("the kernel is the inner product of the features"),),
    parameters={"n": 40, "d": 5, "ridge": 1.0},
    full={"n": 400, "d": 10, "ridge": 1.0},
    judge=equals(within=1e-8, because="rounding times the condition of K + ridge, at most about 1e5 here, times n"),
)
