"""Work on a Dask cluster that goes on when workers die: one shared object, many pieces, results in order.

The shared object, which holds the data, is sent to the workers once; a piece is a pair of row numbers. A worker that
dies loses the pieces that it held, and the scheduler gives them to others. Where all workers that held the shared
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

from gnomon.core.errors import MissingExtraError, WorkersLostError, out_of_range

Piece = tuple[int, int]
Output = TypeVar("Output")

PIECES_PER_THREAD = 2
"""Pieces in flight for each thread of a worker: one that it computes, one that waits."""
RECONNECT_SECONDS = 5.0
"""Seconds in which a lost scheduler may come back."""
MAX_SENDS_WITHOUT_RESULT = 4
"""Times that the shared object is sent without a result before the cluster counts as broken."""


@contextmanager
def connect_client(where: Any) -> Iterator[Any]:
    """A client: the one that was passed, one for a scheduler's address, or one for so many local processes.

    What is started here, a client or a cluster, is closed on leaving, and a client that was passed is left open.
    """
    dask = require_dask()
    if isinstance(where, dask.Client):
        yield where
    elif isinstance(where, str):
        try:
            client = dask.Client(where, set_as_default=False)
        except OSError as error:
            what, cure = f"no scheduler answers at {where}", "Start one there, or pass the address of one that runs"
            raise WorkersLostError(what, accepted="a cluster that can be reached", fix=cure) from error
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
        raise out_of_range("cluster", accepted, where)


def require_dask() -> Any:
    """The module dask.distributed, or the error that names the extra."""
    try:
        from dask import distributed
    except ImportError:
        cure = "Install the extra: pip install 'gnomon[dask]'"
        raise MissingExtraError("dask.distributed is not installed", accepted="the extra 'dask'", fix=cure) from None
    return distributed


@dataclass(slots=True, eq=False)
class Workers:
    """The workers of a client, and the one object that they share; ``held`` is where they have it.

    ``progress`` says in words what has been done, for the case that it is lost.
    """

    client: Any
    shared: Any
    held: Any = None
    sends: int = 0
    progress: str = "the work so far"

    def send(self) -> Any:
        """The shared object on all workers; sent where it is not there, and again where it was lost."""
        self._reach()
        if self.missing:
            self.sends += 1
            if self.sends > MAX_SENDS_WITHOUT_RESULT:
                raise _is_lost(f"the data was lost {MAX_SENDS_WITHOUT_RESULT} times in a row, with its workers")
            self.held = self.broadcast(self.shared)
        return self.held

    def broadcast(self, thing: Any) -> Any:
        """One object on all workers; waits for workers that are coming, as long as the client does."""
        try:
            (held,) = self.client.scatter([thing], broadcast=True, hash=False)
        except TimeoutError as error:
            raise _is_lost("the cluster has no workers") from error
        except OSError as error:  # the scheduler did not answer
            raise self._broken() from error
        return held

    @property
    def missing(self) -> bool:
        """Whether the shared object has to be sent before work can go on."""
        return self.held is None or self.held.status != "finished"

    def forget(self) -> None:
        """Treat the shared object as lost."""
        self.held = None

    @property
    def lost(self) -> type[BaseException]:
        """What a client raises when the data that its pieces need has left the cluster."""
        kind: type[BaseException] = require_dask().CancelledError
        return kind

    @property
    def width(self) -> int:
        """Pieces to have in flight."""
        return PIECES_PER_THREAD * max(1, sum(self.threads.values()))

    @property
    def threads(self) -> dict[str, int]:
        """Threads of each worker."""
        self._reach()
        try:
            threads: dict[str, int] = self.client.nthreads()
        except OSError as error:  # the scheduler did not answer
            raise self._broken() from error
        return threads

    def in_order(self, function: Callable[[Any, Piece], Output], pieces: Sequence[Piece]) -> Iterator[Output]:
        """function(shared, piece) for every piece, in their order, some pieces ahead of the one that is asked for."""
        waiting: deque[Any] = deque()
        taken = 0
        while taken < len(pieces):
            try:
                if self.missing:
                    waiting.clear()  # they wait for what is gone
                held = self.send()
                for piece in pieces[taken + len(waiting) : taken + self.width]:
                    waiting.append(self.client.submit(function, held, piece, pure=False))
                result = self.result(waiting[0])
            except self.lost:
                waiting.clear()
                self.forget()
                continue
            waiting.popleft()
            taken += 1
            self.progress = f"the sums over {taken} of {len(pieces)} ranges of rows"
            yield result

    def result(self, future: Any) -> Any:
        """What a future holds; a piece that killed its worker several times is an error."""
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            value = future.result()
        except CommClosedError as error:
            raise self._broken() from error
        except KilledWorker as error:
            raise _is_lost(f"every worker died that computed one piece: {error}") from error
        self.sends = 1  # there is progress: what was lost before is made up for
        return value

    def _broken(self) -> type[BaseException]:
        """What to raise where a connection broke, as soon as the client knows of it as well: data that is lost."""
        end = monotonic() + RECONNECT_SECONDS
        while self.client.status == "running" and monotonic() < end:
            sleep(0.05)
        return self.lost

    def _reach(self) -> None:
        """Wait for a scheduler that went away; one that stays away is an error that says what went with it."""
        end = monotonic() + RECONNECT_SECONDS
        while self.client.status == "connecting" and monotonic() < end:
            sleep(0.05)
        if self.client.status != "running":
            lost = f"{self.progress} and all that workers held"
            what = f"the scheduler is gone, and with it {lost}; nothing of it is on disk"
            cure = (
                "Start a scheduler with workers and call Distributed(its address, method).solve(kernel, y) again, "
                "which begins anew; Tiles(path).solve(kernel, y), on one machine, keeps its kernel on disk and goes on"
            )
            raise WorkersLostError(what, accepted="a scheduler that runs until the end", fix=cure)


def _is_lost(problem: str) -> WorkersLostError:
    fix = "Give workers more memory, or take fewer rows in a piece; the logs of the workers tell how they died"
    return WorkersLostError(problem, accepted="pieces that fit a worker", fix=fix)


def row_ranges(n: int, rows: int) -> list[Piece]:
    """Ranges of at most so many rows, of nearly equal length, the same whatever the cluster."""
    count = -(-n // rows)
    return [(i * n // count, (i + 1) * n // count) for i in range(count)]
