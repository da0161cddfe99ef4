"""Computes two functions of an angle that kernels of piecewise linear activations need, by polynomials that vectorize.

For m = sin^2(t / 2) in [0, 1/2], that is t in [0, pi / 2], and x = sqrt(m):

    t / 2 pi                = x P(m),     pi P(m) = asin(x) / x                                     (1)
    (sin t - t cos t) / 2 pi = x m R(m),  pi R(m) = (sqrt(1 - m) - (1 - 2 m) asin(x) / x) / m       (2)

Angles beyond pi / 2 are reflected by the caller. Starting from 1 - cos t = 2 m instead of cos t, neither (1) nor (2)
cancels: the error of t is a rounding error of t, however close the two points are.
Hypotheses: relative error of the interpolants 2e-8 (float32: degrees 7 and 6), 2e-17 (float64: degrees 18 and 17).
Cost: one square root and two polynomials.
"""

from math import sqrt

import numpy as np
from numba import types
from numba.extending import overload

from gnomon.core.machine.loops import FAST_MATH_FLAGS

# Coefficients of the polynomials P and R, lowest degree first: interpolation at the Chebyshev points of [0, 1/2],
# computed with 60 digits.
P32 = (0.31830988259045284, 0.053052564445503686, 0.02383540855707664, 0.014795313902273344, 0.0053257665125200065,
       0.024045050441502305, -0.02867533338793479, 0.034910313122062574)  # fmt: skip
R32 = (0.42441318645480164, 0.0424403661853203, 0.013671694465764437, 0.005971923108923182, 0.005346164537455179,
       -0.0025381768726634576, 0.006755148702960573)  # fmt: skip
# Shorter polynomials, which have the same accuracy on the shorter intervals [0, 1/4] and [0, 1/8].
P32_QUARTER = (0.31830988490537476, 0.053052014833083985, 0.023856360495559576, 0.014489668346944871,
               0.007637527298846477, 0.013501869413697198)  # fmt: skip
R32_QUARTER = (0.42441318818394724, 0.0424400016032471, 0.013683219681699409, 0.005870694526572502,
               0.005375170662046423)  # fmt: skip
P32_EIGHTH = (0.3183098867306374, 0.05305142938679914, 0.02388706980373545, 0.013907502608239392,
              0.012301143426567062)  # fmt: skip
R32_EIGHTH = (0.4244131736912182, 0.04244333229533061, 0.013562358601683616, 0.007299348965032275)
P64 = (0.3183098861837907, 0.0530516476972931, 0.02387324146506332, 0.01421026265502725, 0.00967087931086017,
       0.007121096604856486, 0.005527222448544353, 0.004393773292065488, 0.0041988265272650755, -0.0008280952163950973,
       0.02505611715130381, -0.09449682877560792, 0.32092055725346197, -0.7928719879632915, 1.477616426395862,
       -1.9828477343426343, 1.8328094906687828, -1.0437168399261072, 0.2830699377106406)  # fmt: skip
R64 = (0.42441318157838753, 0.0424413181578411, 0.013641852264516096, 0.0063156723876073755, 0.0035166792891146046,
       0.002191214329823703, 0.0014720317120508653, 0.0010572811700541385, 0.00067262746036401, 0.0012597601736624414,
       -0.0028177961739383976, 0.012477810365699164, -0.033095068162475004, 0.0682929842498141, -0.0994064160671677,
       0.09978982784741616, -0.061257494711443455, 0.018089761859256856)  # fmt: skip


def angles(m):
    """Returns t / (2 pi) and (sin t - t cos t) / (2 pi) for the angle t that is given by m = sin^2(t / 2) <= 1/2.

    See equations (1) and (2) of the module docstring.
    """
    raise NotImplementedError  # Never runs, because numba compiles the overload below instead.


@overload(angles, jit_options={"fastmath": set(FAST_MATH_FLAGS), "forceinline": True})
def _angles(m):
    """Returns the compiled code of ``angles``: one polynomial per precision, so that float32 needs no float64
    arithmetic.
    """
    if m == types.float32:
        p0, p1, p2, p3, p4, p5, p6, p7 = (np.float32(v) for v in P32)
        r0, r1, r2, r3, r4, r5, r6 = (np.float32(v) for v in R32)

        def single(m):
            x = sqrt(m)
            p = p0 + m * (p1 + m * (p2 + m * (p3 + m * (p4 + m * (p5 + m * (p6 + m * p7))))))
            r = r0 + m * (r1 + m * (r2 + m * (r3 + m * (r4 + m * (r5 + m * r6)))))
            return x * p, x * m * r

        return single

    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18 = P64
    b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17 = R64

    def double(m):
        x = sqrt(m)
        p = a12 + m * (a13 + m * (a14 + m * (a15 + m * (a16 + m * (a17 + m * a18)))))
        p = a6 + m * (a7 + m * (a8 + m * (a9 + m * (a10 + m * (a11 + m * p)))))
        p = a0 + m * (a1 + m * (a2 + m * (a3 + m * (a4 + m * (a5 + m * p)))))
        r = b12 + m * (b13 + m * (b14 + m * (b15 + m * (b16 + m * b17))))
        r = b6 + m * (b7 + m * (b8 + m * (b9 + m * (b10 + m * (b11 + m * r)))))
        r = b0 + m * (b1 + m * (b2 + m * (b3 + m * (b4 + m * (b5 + m * r)))))
        return x * p, x * m * r

    return double


def quarter_angles(m):
    """Computes the two functions of ``angles`` in float32 for m = sin^2(t / 2) <= 1/4, with a shorter polynomial."""
    raise NotImplementedError  # Never runs, because numba compiles the overload below instead.


def eighth_angles(m):
    """Computes the two functions of ``angles`` in float32 for m = sin^2(t / 2) <= 1/8, with the shortest polynomial."""
    raise NotImplementedError  # Never runs, because numba compiles the overload below instead.


@overload(quarter_angles, jit_options={"fastmath": set(FAST_MATH_FLAGS), "forceinline": True})
def _quarter_angles(m):
    p0, p1, p2, p3, p4, p5 = (np.float32(v) for v in P32_QUARTER)
    r0, r1, r2, r3, r4 = (np.float32(v) for v in R32_QUARTER)

    def single(m):
        x = sqrt(m)
        p = p0 + m * (p1 + m * (p2 + m * (p3 + m * (p4 + m * p5))))
        r = r0 + m * (r1 + m * (r2 + m * (r3 + m * r4)))
        return x * p, x * m * r

    return single


@overload(eighth_angles, jit_options={"fastmath": set(FAST_MATH_FLAGS), "forceinline": True})
def _eighth_angles(m):
    p0, p1, p2, p3, p4 = (np.float32(v) for v in P32_EIGHTH)
    r0, r1, r2, r3 = (np.float32(v) for v in R32_EIGHTH)

    def single(m):
        x = sqrt(m)
        p = p0 + m * (p1 + m * (p2 + m * (p3 + m * p4)))
        r = r0 + m * (r1 + m * (r2 + m * r3))
        return x * p, x * m * r

    return single
