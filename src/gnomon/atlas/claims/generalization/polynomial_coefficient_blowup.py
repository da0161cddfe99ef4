"""The coefficients of a polynomial through ten points explode with its degree; a small ridge keeps them small.

    max |w| at degree 9: 1,061,800;    with a ridge of e^-18: below a thousandth of it                               (1)

w are the coefficients. Reference: [bishop2006pattern], tables 1.1 and 1.2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

INPUTS = np.arange(10) / 9
LABELS = np.array(
    [0.349486, 0.830839, 1.007332, 0.971507, 0.133066, 0.166823, -0.848307, -0.445686, -0.563567, 0.261502]
)
PRINTED_COEFFICIENTS = [0.19, 0.82, -1.27, 0.31, 7.99, -25.43, 17.37]


def predicted():
    """Returns printed coefficients for degrees 0, 1, 3, then for 9 in millions, then 0: the ridge keeps them small."""
    return [*PRINTED_COEFFICIENTS, -1.0618, 0.0]


def coefficients(y):
    """Returns the refitted polynomials' coefficients; last 1 if the ridge leaves a thousandth of their size or more."""
    out = []
    for degree in (0, 1, 3):
        out += np.linalg.lstsq(np.vander(INPUTS, degree + 1, increasing=True), y, rcond=None)[0].tolist()
    a = np.vander(INPUTS, 10, increasing=True)
    w = np.linalg.solve(a, y)
    ridge = np.linalg.solve(a.T @ a + np.exp(-18) * np.eye(10), a.T @ y)
    return [*out, w[6] / 1e6, float(np.abs(ridge).max() > 1e-3 * np.abs(w).max())]


observed = partial(coefficients, y=LABELS)  # The printed labels.
control = partial(coefficients, y=LABELS + 0.05 * (np.arange(10) == 4))  # Control: one of ten labels changes by 0.05.

CLAIM = Claim(
    id="polynomial-coefficient-blowup",
    question="Why do polynomial fits of high degree go wrong?",
    equation=r"\max_i |w_i| = 1.06 \cdot 10^6 \text{ at degree } 9",
    axes=("coefficient (degrees 0, 1, 3), then largest of degree 9, then ridge check", "coefficient"),
    source=Source("observed", "bishop2006pattern", "Tables 1.1 and 1.2"),
    premises=(Premise("the labels are the printed ones"),),
    judge=equals(within=0.0051, because="the tables have two digits"),
)
