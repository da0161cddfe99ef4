"""Applies one layer instruction to many kernel entries in place, in a loop that the compiler vectorizes.

Each takes half squared distances e and tangents T of a run, the statistics of the first side (a number, if the run
has one first point, or a vector) and the statistics of the second side (a vector). In the notation of formulas.py:

    affine     T' = (ua + ub) - A e + w2 T,   e' = w2 e               ua = (A a + B) / 2                        (1)
    kinked     e' = p e + q e_relu,           T' = T (p + q k0)                                                 (2)
    trained    the same, with T' = (T + B) (p + q k0) + G c' + S c_relu                                         (3)
    erf, sign  e' = o e_g,                    T' = o s (T + B) E[g' g']                                         (4)
    series     p' = p r + ha hb,  d' = d r + p      Horner's scheme of a power series and its derivative             (7)
    normalize  e' = la lb e + (la - lb) (ga - gb),  T' = la lb T      g = a l / 2                               (5)
    dropout    e' = e + (1/keep - 1) (a + b) / 2, and for a point with itself T' = T / keep                     (6)

Reference: rules/, of which these are the same equations.
Cost: a few cycles per entry.
"""

from numba import njit, types
from numba.extending import overload

from gnomon.core.machine.loops import INNER, use_wide_vectors
from gnomon.kernels.fused.formulas import angle_terms, error_function, kink


def at(values, q):
    """Returns entry q if ``values`` is a vector, or ``values`` itself if ``values`` is a number."""
    raise NotImplementedError  # Never runs, because numba compiles the overload below instead.


@overload(at, jit_options={"forceinline": True})
def _at(values, q):
    if isinstance(values, types.Float):
        return lambda values, q: values
    return lambda values, q: values[q]


@njit(**INNER)
def affine(e, t, ua, ub, w2, a):
    """Applies an affine layer to the kernels of many pairs of points: half squared distances e and tangent kernels t.

    See equation (1) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        distance = e[q]
        t[q] = (at(ua, q) + ub[q]) - a * distance + w2 * t[q]
        e[q] = w2 * distance


@njit(**INNER)
def piecewise_linear_step(e, t, sa, ra, sb, rb, p, q2, k):
    """Applies a piecewise linear activation to the kernels of many pairs: half squared distances e, tangent kernels t.

    See equation (2) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        before = e[q]
        distance, slope = kink(before, at(sa, q), at(ra, q), sb[q], rb[q], k)
        t[q] = t[q] * (p + q2 * slope)
        e[q] = p * before + q2 * distance


@njit(**INNER)
def trained_slope_step(e, t, sa, ra, ha, sb, rb, hb, numbers, k):
    """Applies an activation with trained slope (PReLU) to the kernels of pairs: half squared distances e, tangent
    kernels t.

    See equation (3) of the module docstring.
    """
    use_wide_vectors()
    p, q2, bias, gain, prelu = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for q in range(len(e)):
        before, first, second = e[q], at(sa, q), sb[q]
        distance, slope = kink(before, first, at(ra, q), second, rb[q], k)
        after = p * before + q2 * distance
        rectified = k[1] * (first * first + second * second) - distance  # E[relu relu]
        tangent = (t[q] + bias) * (p + q2 * slope)
        t[q] = tangent + gain * ((at(ha, q) + hb[q]) - after) + prelu * rectified
        e[q] = after


@njit(**INNER)
def erf(e, t, sa, ra, ha, sb, rb, hb, numbers, k):
    """Applies the activation erf to the kernels of many pairs: half squared distances e and tangent kernels t.

    See equation (4) of the module docstring.
    """
    use_wide_vectors()
    outer, inside, factor, bias = numbers[0], numbers[1], numbers[2], numbers[3]
    for q in range(len(e)):
        distance, slope = error_function(inside * e[q], at(ha, q), hb[q], at(sa, q), at(ra, q), sb[q], rb[q], k)
        t[q] = factor * (t[q] + bias) * slope
        e[q] = outer * distance


@njit(**INNER)
def sign(e, t, sa, ra, ha, sb, rb, hb, numbers, k):
    """Applies the sign function to the kernels of many pairs: half squared distances e and tangent kernels t.

    See equation (4) of the module docstring.
    """
    use_wide_vectors()
    outer, inside = numbers[0], numbers[1]
    for q in range(len(e)):
        d, rr, both = at(sa, q) - sb[q], at(ra, q) * rb[q], at(ha, q) + hb[q]
        turn, h = angle_terms(inside * e[q], d * d, rr, k)
        t[q] = k[0]
        e[q] = outer * (both - k[3] + (turn + turn + turn + turn) if rr > k[0] else both)


@njit(**INNER)
def correlation(e, ra, ha, rb, hb, rho, value, slope):
    """Computes the correlations of pairs of points, clipped to [-1, 1], for the power series of an activation's kernel.

    See equation (7) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        c = ((at(ha, q) + hb[q]) - e[q]) * (at(ra, q) * rb[q])
        rho[q] = min(max(c, -1.0), 1.0)
        value[q] = 0.0
        slope[q] = 0.0


@njit(**INNER)
def horner(rho, value, slope, first, second):
    """Adds one term to the power series of an activation's kernel and to the derivative of the series, by Horner's
    rule.

    See equation (7) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(rho)):
        slope[q] = slope[q] * rho[q] + value[q]
        value[q] = value[q] * rho[q] + at(first, q) * second[q]


@njit(**INNER)
def add_bias_and_gain(e, t, value, slope, ra, ha, rb, hb, bias):
    """Converts the summed power series of an activation's kernel to half squared distances e and tangent kernels t.

    See equation (7) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        t[q] = (t[q] + bias) * slope[q] * (at(ra, q) * rb[q])
        e[q] = (at(ha, q) + hb[q]) - value[q] if e[q] > 0.0 else 0.0


@njit(**INNER)
def normalize(e, t, la, ga, lb, gb):
    """Applies a normalization layer to the kernels of many pairs: half squared distances e and tangent kernels t.

    See equation (5) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        scale = at(la, q) * lb[q]
        t[q] = scale * t[q]
        e[q] = scale * e[q] + (at(la, q) - lb[q]) * (at(ga, q) - gb[q])


@njit(**INNER)
def dropout(e, t, ha, hb, excess, own, k):
    """Applies dropout to the kernels of many pairs: half squared distances e, tangent kernels t; ``own`` marks equal
    points.

    See equation (6) of the module docstring.
    """
    use_wide_vectors()
    for q in range(len(e)):
        same = q == own or own == -2
        t[q] = t[q] * (k[3] + excess if same else k[3])
        e[q] = e[q] + (k[0] if same else excess * (at(ha, q) + hb[q]))


@njit(**INNER)
def scale(e, t, weight):
    """Multiplies the kernels of many pairs by a weight: half squared distances e and tangent kernels t."""
    use_wide_vectors()
    for q in range(len(e)):
        e[q] = weight * e[q]
        t[q] = weight * t[q]


@njit(**INNER)
def add(e, t, e2, t2, weight):
    """Adds a multiple of another branch's kernels (e2, t2) to half squared distances e and tangent kernels t."""
    use_wide_vectors()
    for q in range(len(e)):
        e[q] += weight * e2[q]
        t[q] += weight * t2[q]


@njit(**INNER)
def copy(values, out):
    """Copies kernel entries into ``out`` and returns the number of entries that are not finite."""
    use_wide_vectors()
    bad = 0
    for q in range(len(values)):
        out[q] = values[q]
        bad += 0 if out[q] - out[q] == 0 else 1  # Checked after rounding to the result's precision, which may overflow.
    return bad


@njit(**INNER)
def covariance(e, ha, hb, out):
    """Writes covariances into ``out``, computed from half squared distances e; returns the number of non-finite
    entries.
    """
    use_wide_vectors()
    bad = 0
    for q in range(len(e)):
        out[q] = (at(ha, q) + hb[q]) - e[q]
        bad += 0 if out[q] - out[q] == 0 else 1
    return bad
