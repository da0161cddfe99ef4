"""Products on a cluster whose client is an object in this process: the sums, not the network."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import WorkersLostError
from gnomon.linalg.solve import ConjugateGradient, DistributedSolver, NystromSolver
from gnomon.linalg.solve.base import kernel_system
from gnomon.linalg.solve.cluster import MAX_SENDS_WITHOUT_RESULT, PIECES_PER_THREAD, Workers, row_ranges
from gnomon.linalg.solve.distributed import Strips
from tests.linalg.solve.points import Counted

distributed = pytest.importorskip("dask.distributed")


class Future:
    """A value that is known at once, or one that the cluster has lost."""

    def __init__(self, value, status="finished"):
        self.value, self.status = value, status

    def result(self):
        if self.status == "lost":
            raise distributed.CancelledError
        return self.value


class Client:
    """Runs each piece where it is submitted, and counts; the first ``losses`` pieces are lost."""

    def __init__(self, threads=2, losses=0):
        self.status, self.threads, self.losses = "running", threads, losses
        self.sent = 0

    def scatter(self, things, **options):
        self.sent += 1
        return [Future(thing) for thing in things]

    def nthreads(self):
        return {f"worker {i}": 1 for i in range(self.threads)}

    def submit(self, function, *parts, pure):
        if self.losses or any(isinstance(part, Future) and part.status == "lost" for part in parts):
            self.losses = max(0, self.losses - 1)
            return Future(None, "lost")
        return Future(function(*(part.value if isinstance(part, Future) else part for part in parts)))


@pytest.mark.parametrize("rows", [None, 7])
def test_conjugate_gradients_on_pieces_solve_the_system_with_its_ridge(rows):
    kernel = Counted(n=30)
    y = kernel.targets(2)
    solver = DistributedSolver(None, ConjugateGradient(tolerance=1e-11), rows=rows)
    system = kernel_system(kernel, y, 0.2)
    found = solver._gradient(Client(), system)
    assert_allclose(found.coefficients, np.linalg.solve(kernel.matrix + 0.2 * np.eye(30), y), atol=1e-8)
    assert found.solver == "Conjugate gradients on 2 workers"
    assert solver._gradient(Client(threads=1), system).solver == "Conjugate gradients on 1 worker"


def test_nystrom_on_pieces_sums_all_ranges_of_rows():
    kernel = Counted(n=30)
    y = kernel.targets(2)
    method = NystromSolver(8, seed=1)
    found = DistributedSolver(None, method, rows=7)._nystrom(Client(), kernel_system(kernel, y, 0.2))
    here = method.solve(kernel, y, ridge=0.2)
    assert_allclose(found.coefficients, here.coefficients, rtol=1e-9)


def test_a_product_that_was_lost_is_computed_again():
    kernel = Counted(n=12)
    client = Client(losses=1)
    strips = Strips(Workers(client, kernel_system(kernel, kernel.targets(1), 0.5)), row_ranges(12, 5))
    p = torch.linspace(-1, 2, 12).double()[:, None]
    assert_allclose(strips.product(p), kernel.matrix @ p.numpy() + 0.5 * p.numpy(), atol=1e-13)
    assert strips.products == 1 and strips.workers.progress == "the results of 1 products with the kernel"


def test_data_that_is_lost_again_and_again_is_an_error_and_progress_resets_the_count():
    workers = Workers(Client(losses=10**6), "data")
    with pytest.raises(WorkersLostError, match=f"lost {MAX_SENDS_WITHOUT_RESULT} times in a row"):
        list(workers.in_order(lambda held, piece: piece, [1, 2]))
    assert workers.client.sent == MAX_SENDS_WITHOUT_RESULT
    again = Workers(Client(losses=MAX_SENDS_WITHOUT_RESULT - 1), "data")
    again.client.threads = 1
    assert list(again.in_order(lambda held, piece: (held, piece), [1, 2, 3])) == [("data", 1), ("data", 2), ("data", 3)]
    assert again.sends == 1 and again.progress == "the sums over 3 of 3 ranges of rows"


def test_pieces_in_flight_are_a_multiple_of_threads_and_never_none():
    assert Workers(Client(threads=3), None).width == 3 * PIECES_PER_THREAD
    assert Workers(Client(threads=0), None).width == PIECES_PER_THREAD
    assert (
        Workers(SimpleNamespace(status="running", nthreads=lambda: {"a": 4, "b": 1}), None).width
        == 5 * PIECES_PER_THREAD
    )


def test_ranges_of_rows_are_nearly_equal_and_cover_everything():
    assert row_ranges(10, 4) == [(0, 3), (3, 6), (6, 10)]
    assert row_ranges(8, 4) == [(0, 4), (4, 8)] and row_ranges(3, 5) == [(0, 3)]
