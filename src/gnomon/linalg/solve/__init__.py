"""Solves kernel regression systems from fifty points to a million, with several solvers behind one interface.

A solver is an object; it takes a kernel as a matrix or as a function of row and column numbers, and knows nothing of
the origin of the kernel.
"""

from gnomon.linalg.solve.base import AbstractSolver, FitScores, IndexedKernel, Kernel, Solution, TileFunction
from gnomon.linalg.solve.choose import SolverChoice, choose_solver
from gnomon.linalg.solve.direct import Direct
from gnomon.linalg.solve.distributed import Distributed
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import Nystrom
from gnomon.linalg.solve.precondition import AbstractPreconditioner, Landmarks, PivotedCholesky
from gnomon.linalg.solve.tiles import Tiles

__all__ = [
    "AbstractPreconditioner",
    "AbstractSolver",
    "SolverChoice",
    "ConjugateGradient",
    "Direct",
    "Distributed",
    "FitScores",
    "Kernel",
    "Landmarks",
    "Nystrom",
    "PivotedCholesky",
    "IndexedKernel",
    "Solution",
    "TileFunction",
    "Tiles",
    "choose_solver",
]
