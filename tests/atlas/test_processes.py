"""Claims run in several processes if there are several of them and several processes are wanted."""

from concurrent.futures import Future

import pytest

from gnomon.atlas import many
from gnomon.atlas.grids import records
from gnomon.atlas.many import ClaimTask


class Pool:
    """Takes the place of a pool of processes: computes at once, and notes what was asked of it."""

    asked: list = []

    def __init__(self, processes, context, initializer):
        self.asked.append(processes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, function, argument):
        done = Future()
        done.set_result(function(argument))
        return done


@pytest.mark.parametrize(
    ("jobs", "count", "asked"), [(1, 3, []), (2, 3, [2]), (3, 2, [3]), (2, 2, [2]), (2, 1, []), (0, 2, [])]
)
def test_two_processes_for_two_claims(jobs, count, asked, monkeypatch):
    names = [f"claim-{i}" for i in range(count)]
    for compute in (
        lambda: records._compute_each(names, jobs),
        lambda: many._compute_tasks([ClaimTask(name) for name in names], jobs, None),
    ):
        monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Pool)
        monkeypatch.setattr(Pool, "asked", [])
        for module in (records, many):
            monkeypatch.setattr(module, "_one", lambda one: {"result": getattr(one, "id", one)})
        found = {getattr(one, "id", one): result for one, result in compute()}
        assert Pool.asked == asked and found == {name: {"result": name} for name in names}
