"""A Gaussian average over 2^J points changes at most by order 2^-J if the signal is displaced.

    |L A_J - A_J| <= 2^{-J} max|tau| |phi'|_1 / (1 - max|tau'|)^{1/2},    L x(u) = x(u - tau(u))               (1)

A_J is the average with window phi, L moves the signal x by the displacement tau(u). The bound follows from Schur's
test: rows of the difference sum to at most 2^{-J} max|tau| |phi'|_1, columns to this over 1 - max|tau'|. The lemma has
2^d instead of the root, in d dimensions for max|tau'| <= 1/2. Reference: [mallat2012group], Lemma 2.11.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(scales, size):
    """Returns the bound on the change of the average at each scale J, for a Gaussian window."""
    return [2.0**-J * size * (2 / np.pi) ** 0.5 / (1 - size * 2 * np.pi / 32) ** 0.5 for J in scales]


def norms(widths, size):
    """Returns the largest change of the average by a displacement (its operator norm), for each window width."""
    u = np.arange(256.0)
    moved = u - size * np.sin(2 * np.pi * u / 32)

    def window(d, width):
        return np.exp(-((d / width) ** 2) / 2) / (width * (2 * np.pi) ** 0.5)

    return [np.linalg.norm(window(moved[:, None] - u, width) - window(u[:, None] - u, width), 2) for width in widths]


def observed(scales, size):
    """Returns the largest changes for windows of width 2^J, which shrink as the scale J grows."""
    return norms([2.0**J for J in scales], size)


def control(scales, size):
    """Returns the largest changes for windows of width 2 at every scale, which do not shrink."""
    return norms([2.0 for _ in scales], size)


CLAIM = Claim(
    id="averaging-operator-bound",
    question="How little does a wide average notice small displacements?",
    equation=r"\|L_\tau A_J - A_J\| \le 2^{-J} \|\tau\|_\infty \|\phi'\|_1 (1 - \|\tau'\|_\infty)^{-1/2}",
    axes=("scale J", "operator norm of the change", "scales"),
    source=Source("theorem", "mallat2012group", "Lemma 2.11"),
    premises=(Premise("the average covers 2^J points"),),
    parameters={"scales": (1, 2, 3, 4, 5, 6), "size": 0.5},
    judge=bounded_by(tight=0.5),
)
