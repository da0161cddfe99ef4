"""Applying a matrix A to a function's argument moves its spectrum to A^-T w and divides it by |det A|.

    F[L o A](w) = |det A|^-1 F[L](A^-T w)                                                                          (1)

F is the Fourier transform, L a function, w a frequency. Reference: [mallat2009wavelet].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

MATRIX = np.array([[1.2, 0.3], [-0.2, 0.9]])
CENTERS = np.array([[0.4, -0.3], [-0.5, 0.2]])
POINTS = np.array([[0.3, 0.5], [1.0, -0.7], [0.0, 1.2], [-0.8, -0.4]])


def transform(w, n):
    """Returns the Fourier integral at w of the sum of two Gaussians at A t, by numerical integration."""
    t = np.linspace(-9, 9, n)
    grid = np.stack(np.meshgrid(t, t, indexing="ij"), -1)
    values = sum(np.exp(-(((grid @ MATRIX.T) - c) ** 2).sum(-1) / 2) for c in CENTERS)
    step = t[1] - t[0]
    return np.array([(values * np.exp(-1j * (grid @ v))).sum() * step**2 for v in w])


def closed_form(w):
    """Returns the Fourier transform of the two Gaussians at w, in closed form."""
    return sum(2 * np.pi * np.exp(-(w**2).sum(-1) / 2 - 1j * (w @ c)) for c in CENTERS)


def predicted():
    """Returns the spectrum predicted by the formula: real parts, then imaginary parts."""
    z = closed_form(POINTS @ np.linalg.inv(MATRIX)) / abs(np.linalg.det(MATRIX))
    return np.concatenate([z.real, z.imag])


def observed(n):
    """Returns the spectrum by numerical integration: real parts, then imaginary parts."""
    z = transform(POINTS, n)
    return np.concatenate([z.real, z.imag])


def control(n):
    """Returns the spectrum evaluated at A^-1 w instead of A^-T w, without the transpose."""
    z = transform(POINTS @ np.linalg.inv(MATRIX).T @ MATRIX, n)
    return np.concatenate([z.real, z.imag])


CLAIM = Claim(
    id="loss-fourier-transform-property",
    question="What does a linear change of variables do to a spectrum?",
    equation=r"F[L\circ A](\omega) = |\det A|^{-1} F[L](A^{-T}\omega)",
    axes=("frequency (real, then imaginary part)", "Fourier transform"),
    source=Source("theorem", "mallat2009wavelet"),
    premises=(Premise("the spectrum is evaluated at the inverse transpose"),),
    parameters={"n": 120},
    judge=equals(within=1e-8, because="the trapezoid rule on Gaussians, cut at nine deviations"),
)
