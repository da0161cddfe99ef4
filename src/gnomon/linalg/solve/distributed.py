"""Solves kernel systems on a Dask cluster: local processes, or any scheduler.

What travels is the kernel as a function of row numbers, with its data, once to every worker; then ranges of rows, and

    Nystrom:               F_t^T F_t and F_t^T y_t of the rows of a range t, m (m + k) numbers, to be added       (1)
    conjugate gradients:   p to the workers, K_t p back, n k numbers both ways; the strips K_t stay in place        (2)

and never a part of an n x n matrix. Ranges do not depend on the cluster and are added in their order: on workers of one
kind, with memory for whole tiles, the answer is the same to the last bit whatever their number, and after the death of
some; it equals the result of one machine up to the rounding of sums in another order.

Hypotheses: the kernel can be pickled (`IndexedKernel(limit(net).ntk, x)` can). Workers have gnomon.
Reference: [rocklin2015dask] for the scheduler; the methods as in their own files.
Cost: (1) 2 n m^2 / workers operations, 8 m^2 bytes sent for each range, 32 m^2 bytes and a tile on each worker;
(2) n^2 / workers kernel entries once and 8 n^2 / workers bytes on each (Dask moves to disk what a worker cannot hold),
16 n k bytes sent an iteration; the columns of the preconditioner are computed by the client.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array, as_array
from gnomon.core.inputs.checks import check_integer
from gnomon.linalg.solve.base import BYTES_PER_FLOAT64, AbstractSolver, Kernel, KernelSystem, Solution, kernel_system
from gnomon.linalg.solve.cluster import Piece, Workers, connect_client, require_dask, row_ranges
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import NystromSolver, RowStream, from_sums
from gnomon.linalg.solve.precondition import LandmarkPreconditioner

# A piece of r rows costs 2 r m^2 operations and sends 8 m^2 bytes. At 1e11 operations and 1e9 bytes per second, sending
# takes 400 / r of the computing time: 5 % for this number of rows.
DEFAULT_ROWS_PER_PIECE = 8192
"""Rows per piece if the caller gives none."""
STRIP_BYTES = 2**28
"""Bytes of a strip of the kernel. Each worker gets many; a lost one is recomputed in seconds."""


@dataclass(frozen=True, slots=True)
class DistributedSolver(AbstractSolver):
    """Solver that runs the Nystrom method or conjugate gradients on a Dask cluster; needs the extra ``dask``.

    ``cluster`` is a ``dask.distributed.Client``, the address of a scheduler, or a number of local processes to start
    for the time of a solve. ``method`` says what is solved, with the options that it has on one machine; its
    ``memory`` is the memory of a worker. ``rows`` is the length of a range, by default 8192 for Nystrom and what
    makes a
    strip of 256 MiB for conjugate gradients: what the death of a worker costs.

    A scheduler that dies and is not back within five seconds is an error that says what was lost: nothing is on disk.

    Processes import the script that starts them: a script calls this below ``if __name__ == "__main__":``.

    >>> from gnomon.linalg.solve import NystromSolver, IndexedKernel
    >>> DistributedSolver("tcp://scheduler:8786", NystromSolver(5000)).method.m
    5000
    """

    cluster: Any
    method: NystromSolver | ConjugateGradient = ConjugateGradient(preconditioner=LandmarkPreconditioner())
    rows: int | None = None

    @add_call_to_errors
    def __post_init__(self) -> None:
        if self.rows is not None:
            check_integer("rows", self.rows)

    @add_call_to_errors("linalg.solve.DistributedSolver(cluster, method).solve(kernel, y)")
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        require_dask()
        if isinstance(kernel, Array):
            what = f"the kernel is a matrix of shape {tuple(as_array(kernel).shape)}"
            fix = "Pass a function of row and column numbers, such as IndexedKernel(limit(net).ntk, x), or DirectSolver"
            raise InputError(what, accepted="a kernel function that workers can call", fix=fix)
        system = kernel_system(kernel, y, ridge)
        with connect_client(self.cluster) as client:
            return (self._nystrom if isinstance(self.method, NystromSolver) else self._gradient)(client, system)

    def _nystrom(self, client: Any, system: KernelSystem) -> Solution:
        assert isinstance(self.method, NystromSolver)
        stream, jitter = self.method.stream(system)
        workers = Workers(client, (stream, self.method.memory))
        name = f"Nystrom {_where(workers)}"
        m, k = len(stream.support), system.y.shape[1]
        gram, target = np.zeros((m, m), order="F"), np.zeros((m, k))
        for part in workers.in_order(
            _sums, row_ranges(len(system.y), DEFAULT_ROWS_PER_PIECE if self.rows is None else self.rows)
        ):
            gram += part[0]  # (1)
            target += part[1]  # (1)
        return from_sums(stream, gram, target, jitter, name)

    def _gradient(self, client: Any, system: KernelSystem) -> Solution:
        assert isinstance(self.method, ConjugateGradient)
        n = len(system.y)
        pieces = row_ranges(
            n, max(1, min(n, STRIP_BYTES // (BYTES_PER_FLOAT64 * n))) if self.rows is None else self.rows
        )
        strips = Strips(Workers(client, system), pieces)
        return self.method.descend(system, strips.product, f"Conjugate gradients {_where(strips.workers)}")


@dataclass(slots=True, eq=False)
class Strips:
    """Strips of a kernel matrix in the memory of Dask workers, and products with them; lost strips are recomputed."""

    workers: Workers
    pieces: list[Piece]
    held: list[Any] = field(default_factory=list)
    products: int = 0

    def product(self, p: Tensor) -> Tensor:
        """Returns the product (K + ridge I) p of the kernel matrix K, computed by the Dask workers."""
        client = self.workers.client
        while True:
            try:
                if self.workers.missing:
                    self.held = []  # All strips were computed from data that is lost now.
                shared = self.workers.send()
                if not self.held:
                    self.held = [client.submit(_strip, shared, piece, pure=False) for piece in self.pieces]
                vector = self.workers.broadcast(p)
                parts = [client.submit(_times, strip, vector, pure=False) for strip in self.held]
                result = torch.cat([self.workers.result(part) for part in parts]) + self.workers.shared.ridge * p  # (2)
                self.products += 1
                self.workers.progress = f"the results of {self.products} products with the kernel"
                return result
            except self.workers.lost_data_error:
                self.held = []
                self.workers.forget()


def _where(workers: Workers) -> str:
    count = len(workers.threads)
    return "on 1 worker" if count == 1 else f"on {count} workers"


def _sums(shared: tuple[RowStream, int | None], piece: Piece) -> tuple[np.ndarray, np.ndarray]:
    stream, memory = shared
    return stream.sums(*piece, memory)


def _strip(system: KernelSystem, piece: Piece) -> Tensor:
    return system.tile(torch.arange(*piece), torch.arange(len(system.y)))


def _times(strip: Tensor, p: Tensor) -> Tensor:
    return strip @ p
