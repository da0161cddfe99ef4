"""Checks kernel matrices for problems, and solves linear systems with them.

Contains: diagnosis of Gram matrices, alignment with labels, Cholesky with reported jitter, tiles on disk, and solvers
of kernel systems (`gnomon.linalg.solve`).
Does not contain: code that depends on the origin of a matrix.
May import: core, findings.
"""

from gnomon.linalg.cholesky import CholeskyFactor, cholesky
from gnomon.linalg.diagnose import MatrixDiagnosis, diagnose_matrix

__all__ = ["MatrixDiagnosis", "CholeskyFactor", "cholesky", "diagnose_matrix"]
