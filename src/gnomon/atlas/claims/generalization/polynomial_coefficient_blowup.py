"""Coefficients of a least-squares polynomial through ten points explode with the degree; a small ridge holds them.

    max |w| at degree 9: 1,061,800;    with a ridge of e^-18: below a thousandth of it                               (1)

Reference: [bishop2006pattern], tables 1.1 and 1.2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

X = np.arange(10) / 9
Y = np.array([0.349486, 0.830839, 1.007332, 0.971507, 0.133066, 0.166823, -0.848307, -0.445686, -0.563567, 0.261502])
PRINTED = [0.19, 0.82, -1.27, 0.31, 7.99, -25.43, 17.37]


def predicted():
    """The printed coefficients of degrees 0, 1, 3; of degree 9 the largest over 1e6; equation (1)."""
    return [*PRINTED, -1.0618, 0.0]


def coefficients(y):
    """Refitted, and whether the ridge leaves a thousandth or more."""
    out = []
    for degree in (0, 1, 3):
        out += np.linalg.lstsq(np.vander(X, degree + 1, increasing=True), y, rcond=None)[0].tolist()
    a = np.vander(X, 10, increasing=True)
    w = np.linalg.solve(a, y)
    ridge = np.linalg.solve(a.T @ a + np.exp(-18) * np.eye(10), a.T @ y)
    return [*out, w[6] / 1e6, float(np.abs(ridge).max() > 1e-3 * np.abs(w).max())]


observed = partial(coefficients, y=Y)  # The printed labels.
control = partial(coefficients, y=Y + 0.05 * (np.arange(10) == 4))  # One label changed by a twentieth.

CLAIM = Claim(
    id="polynomial-coefficient-blowup",
    title="Polynomial coefficients explode with the degree, and a small ridge holds them",
    equation=r"\max_i |w_i| = 1.06 \cdot 10^6 \text{ at degree } 9",
    source=Source("observed", "bishop2006pattern", "Tables 1.1 and 1.2"),
    premises=(Premise("the labels are the printed ones"),),
    parameters={},
    judge=equals(within=0.0051, because="the tables have two digits"),
)
