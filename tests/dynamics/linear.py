"""A linear model: features, targets and parameters that theory and trained models share."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Linear:
    phi: np.ndarray
    phi_test: np.ndarray
    y: np.ndarray
    theta0: np.ndarray

    @property
    def ntk(self):
        return self.phi @ self.phi.T

    @property
    def test(self):
        return self.phi_test @ self.phi.T

    @property
    def f0(self):
        return self.phi @ self.theta0

    @property
    def starts(self):
        return {"f0": self.f0, "f0_test": self.phi_test @ self.theta0}


def model(n=5, m=3, p=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    phi, phi_test = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    return Linear(phi, phi_test, rng.normal(size=(n, k)), rng.normal(size=(p, k)))
