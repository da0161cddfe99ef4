"""Time limits of processes that judge errors: a busy machine must not make an error look caught."""

import time

import pytest

from tools.mutate import server
from tools.mutate.server import Job, Server


class Computing(Server):
    """Computes forever, as an error in the end of a loop does."""

    def _first_failure(self, tests):
        while True:
            pass


class Waiting(Server):
    """Takes longer than allowed without computing, as a process on a busy machine does."""

    def _first_failure(self, tests):
        time.sleep(1.5)


@pytest.mark.parametrize(("kind", "status"), [(Computing, "timeout"), (Waiting, "passed")])
def test_only_processor_time_counts(monkeypatch, tmp_path, kind, status):
    monkeypatch.setattr(server, "START_SECONDS", 1.0)
    (_, verdict), *others = kind(tmp_path, print, 1).judge([Job((), 0.0)])
    assert verdict.status == status and not others


def test_a_process_that_waits_for_ever_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(server, "START_SECONDS", 1.0)
    monkeypatch.setattr(server, "WAITING_FACTOR", 0.2)
    ((_, verdict),) = Waiting(tmp_path, print, 1).judge([Job((), 0.0)])
    assert verdict.status == "timeout"
