"""Runs work on a Dask cluster and continues if workers die: one shared object, many pieces, results in order.

The shared object, which holds the data, is sent to the workers once; a piece is a pair of row numbers. A worker that
dies loses the pieces that it held, and the scheduler gives them to others. If all workers that held the shared
object are gone, the client sends it again. Results are taken in the order of the pieces, so that a sum of them is
the same to the last bit, whoever computed them and whoever died. A scheduler that dies takes everything with it: where
it is not back within some seconds, an error says what was lost.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, TypeVar

from gnomon.core.errors import MissingExtraError, WorkersLostError, out_of_range_error

Piece = tuple[int, int]
Output = TypeVar("Output")

PIECES_PER_THREAD = 2
"""Pieces in flight per worker thread: one in computation, one waiting."""
RECONNECT_SECONDS = 5.0
"""Seconds to wait for a lost scheduler to return."""
MAX_SENDS_WITHOUT_RESULT = 4
"""Number of times the shared object is sent without a result before the cluster counts as broken."""


@contextmanager
def connect_client(where: Any) -> Iterator[Any]:
    """Opens a client for a cluster: the given client, a scheduler's address, or a number of local processes.

    What is started here, a client or a cluster, is closed on leaving, and a client that was passed is left open.
    """
    dask = require_dask()
    if isinstance(where, dask.Client):
        yield where
    elif isinstance(where, str):
        try:
            client = dask.Client(where, set_as_default=False)
        except OSError as error:
            what, fix = f"no scheduler answers at {where}", "Start a scheduler there, or pass another address"
            raise WorkersLostError(what, accepted="a reachable cluster", fix=fix) from error
        with client:
            yield client
    elif isinstance(where, int) and where >= 1:
        with (
            dask.LocalCluster(n_workers=where, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
            dask.Client(cluster, set_as_default=False) as client,
        ):
            yield client
    else:
        accepted = 'a dask.distributed.Client, an address like "tcp://host:8786", or a number of local processes'
        raise out_of_range_error("cluster", accepted, where)


def require_dask() -> Any:
    """Returns the module dask.distributed, or raises an error that says which extra to install."""
    try:
        from dask import distributed
    except ImportError:
        fix = "Install the extra: pip install 'gnomon[dask]'"
        raise MissingExtraError("dask.distributed is not installed", accepted="the extra 'dask'", fix=fix) from None
    return distributed


@dataclass(slots=True, eq=False)
class Workers:
    """The workers of a Dask cluster, and one object of which every worker holds a copy.

    ``progress`` says in words what has been done, for the case that it is lost.
    """

    client: Any
    shared: Any
    held: Any = None
    sends: int = 0
    progress: str = "the work so far"

    def send(self) -> Any:
        """Returns a handle to the shared object on all workers; sends the object first if it is missing or was lost."""
        self._reach()
        if self.missing:
            self.sends += 1
            if self.sends > MAX_SENDS_WITHOUT_RESULT:
                raise _is_lost(f"the data was lost {MAX_SENDS_WITHOUT_RESULT} times in a row because its workers died")
            self.held = self.broadcast(self.shared)
        return self.held

    def broadcast(self, thing: Any) -> Any:
        """Sends one object to all workers; waits for starting workers as long as the client's timeout allows."""
        try:
            (held,) = self.client.scatter([thing], broadcast=True, hash=False)
        except TimeoutError as error:
            raise _is_lost("the cluster has no workers") from error
        except OSError as error:  # Raised by Dask if the scheduler does not answer.
            raise self._connection_error() from error
        return held

    @property
    def missing(self) -> bool:
        """Whether the shared object has to be sent to the workers before work can continue."""
        return self.held is None or self.held.status != "finished"

    def forget(self) -> None:
        """Marks the object shared with the workers as lost, so that it is sent again."""
        self.held = None

    @property
    def lost_data_error(self) -> type[BaseException]:
        """Returns the exception class that a Dask client raises if data on the cluster are lost."""
        kind: type[BaseException] = require_dask().CancelledError
        return kind

    @property
    def width(self) -> int:
        """The number of pieces of work that are given to the workers at a time."""
        return PIECES_PER_THREAD * max(1, sum(self.threads.values()))

    @property
    def threads(self) -> dict[str, int]:
        """The number of threads of each Dask worker."""
        self._reach()
        try:
            threads: dict[str, int] = self.client.nthreads()
        except OSError as error:  # Raised by Dask if the scheduler does not answer.
            raise self._connection_error() from error
        return threads

    def in_order(self, function: Callable[[Any, Piece], Output], pieces: Sequence[Piece]) -> Iterator[Output]:
        """Yields the result of a function for every piece of work in order; workers compute some pieces ahead."""
        waiting: deque[Any] = deque()
        taken = 0
        while taken < len(pieces):
            try:
                if self.missing:
                    waiting.clear()  # The data of these pieces was lost with the workers that held it.
                held = self.send()
                for piece in pieces[taken + len(waiting) : taken + self.width]:
                    waiting.append(self.client.submit(function, held, piece, pure=False))
                result = self.result(waiting[0])
            except self.lost_data_error:
                waiting.clear()
                self.forget()
                continue
            waiting.popleft()
            taken += 1
            self.progress = f"the sums over {taken} of {len(pieces)} ranges of rows"
            yield result

    def result(self, future: Any) -> Any:
        """Returns the result of a Dask future; raises an error for a piece that killed its worker several times."""
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            value = future.result()
        except CommClosedError as error:
            raise self._connection_error() from error
        except KilledWorker as error:
            raise _is_lost(f"every worker that computed one of the pieces died: {error}") from error
        self.sends = 1  # A result has arrived, so losses of workers before it no longer count.
        return value

    def _connection_error(self) -> type[BaseException]:
        """Waits until the Dask client notices a broken connection; returns the exception class for lost data."""
        end = monotonic() + RECONNECT_SECONDS
        while self.client.status == "running" and monotonic() < end:
            sleep(0.05)
        return self.lost_data_error

    def _reach(self) -> None:
        """Waits for a lost Dask scheduler to return; raises an error that says what was lost if it does not return."""
        end = monotonic() + RECONNECT_SECONDS
        while self.client.status == "connecting" and monotonic() < end:
            sleep(0.05)
        if self.client.status != "running":
            lost = f"{self.progress} and all data on the workers"
            what = f"the scheduler is gone; lost are {lost}, because nothing is saved on disk"
            fix = (
                "Start a scheduler with workers and call DistributedSolver(its address, method).solve(kernel, y) "
                "again, which starts over; KernelTiles(path).solve(kernel, y), on one machine, stores its kernel and "
                "can resume"
            )
            raise WorkersLostError(what, accepted="a scheduler that runs until the end", fix=fix)


def _is_lost(problem: str) -> WorkersLostError:
    fix = "Give workers more memory, or use fewer rows per piece; the workers' logs say why they died"
    return WorkersLostError(problem, accepted="pieces that fit a worker", fix=fix)


def row_ranges(n: int, rows: int) -> list[Piece]:
    """Returns ranges of at most ``rows`` rows and nearly equal length, independent of the cluster's size."""
    count = -(-n // rows)
    return [(i * n // count, (i + 1) * n // count) for i in range(count)]
