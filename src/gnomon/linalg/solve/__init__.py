"""Solves kernel regression systems from fifty points to a million, with several solvers behind one interface.

A solver is an object; it takes a kernel as a matrix or as a function of row and column numbers, and knows nothing of
the origin of the kernel.
"""

from gnomon.linalg.solve.base import AbstractSolver, FitScores, IndexedKernel, Kernel, Solution, TileFunction
from gnomon.linalg.solve.choose import SolverChoice, choose_solver
from gnomon.linalg.solve.direct import DirectSolver
from gnomon.linalg.solve.distributed import DistributedSolver
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import NystromSolver
from gnomon.linalg.solve.precondition import (
    AbstractPreconditioner,
    LandmarkPreconditioner,
    PivotedCholeskyPreconditioner,
)
from gnomon.linalg.solve.tiles import KernelTiles

__all__ = [
    "AbstractPreconditioner",
    "AbstractSolver",
    "SolverChoice",
    "ConjugateGradient",
    "DirectSolver",
    "DistributedSolver",
    "FitScores",
    "Kernel",
    "LandmarkPreconditioner",
    "NystromSolver",
    "PivotedCholeskyPreconditioner",
    "IndexedKernel",
    "Solution",
    "TileFunction",
    "KernelTiles",
    "choose_solver",
]
