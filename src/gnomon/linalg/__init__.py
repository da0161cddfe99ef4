"""Ground floor: linear algebra that tells what it did.

Lives here: the examination of a Gram matrix, a Cholesky factorization that reports its jitter, matrices in tiles on
disk, and in ``gnomon.linalg.solve``, which is imported when asked for, the solvers of kernel systems.
Does not live here: anything that knows where a matrix comes from.
May import: core; torch, numpy, the standard library; scipy, zarr and dask inside the functions that need them.
"""

from gnomon.linalg.cholesky import Factor, cholesky
from gnomon.linalg.diagnose import Diagnosis, diagnose

__all__ = ["Diagnosis", "Factor", "cholesky", "diagnose"]
