"""Tangents: the finite network's own kernel, and how far training stays on it.

Lives here: the empirical neural tangent kernel.
Does not live here: kernels of infinite width (`gnomon.kernels`), predictions from a kernel (`gnomon.dynamics`).
May import: core, linalg.
"""

from gnomon.tangent.empirical import ntk

__all__ = ["ntk"]
