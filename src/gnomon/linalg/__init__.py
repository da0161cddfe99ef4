"""What is this matrix, and how is its system solved?

Contains: diagnosis of Gram matrices, alignment with labels, Cholesky with reported jitter, tiles on disk, and solvers
of kernel systems (`gnomon.linalg.solve`).
Does not contain: anything that knows where a matrix comes from.
May import: core, findings.
"""

from gnomon.linalg.cholesky import CholeskyFactor, cholesky
from gnomon.linalg.diagnose import Diagnosis, diagnose

__all__ = ["Diagnosis", "CholeskyFactor", "cholesky", "diagnose"]
