"""Runs `gnomon watch`: installs hooks, runs the script, and reports what was recorded, even if the script fails.

>>> WatchSession("json.tool", module=True).recorder.steps
0
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from gnomon.examination.script.install import record_training_loop
from gnomon.examination.script.launch import ScriptEnding, check_script, run_script
from gnomon.examination.script.ranks import ProcessRanks, compare_ranks, findings_to_plain_values
from gnomon.examination.script.recorder import LoopRecorder
from gnomon.examination.script.seen import some_weights

if TYPE_CHECKING:
    from gnomon.examination.record import Examination

__all__ = ["ScriptTerminated", "WatchSession", "exit_like_script"]

WAIT_AFTER_TERMINATION = 2.0
"""Seconds that process 0 waits for others after the signal to terminate."""


class ScriptTerminated(BaseException):
    """Exception raised in the script on a termination signal, so that the report is still written."""


@dataclass(slots=True, eq=False)
class WatchSession:
    """Runs `gnomon watch` for one script with its arguments; ``module`` means a module name, like ``python -m``.

    ``overhead`` is the largest share of the running time that observing may take.
    """

    script: str
    arguments: Sequence[str] = ()
    module: bool = False
    overhead: float = 0.03
    recorder: LoopRecorder = field(init=False)
    ranks: ProcessRanks | None = field(init=False)

    def __post_init__(self) -> None:
        check_script(self.script, module=self.module)
        self.recorder = LoopRecorder(self.overhead)
        self.ranks = ProcessRanks.of_environment(os.environ)

    def run(self) -> ScriptEnding:
        """Runs the user's script until it ends, fails or exits."""
        if self.ranks is not None:
            self.ranks.begin()
        with raising_on_termination(), record_training_loop(self.recorder):
            return run_script(self.script, self.arguments, module=self.module)

    def report(self, ending: ScriptEnding, command: str = "") -> "Examination | None":
        """Returns the report on the script's run; None in all processes except the first."""
        from gnomon.examination.script.collect import loop_facts_of_recorder
        from gnomon.examination.script.report import watch_report

        recorder = self.recorder
        if isinstance(ending.exception, Exception):
            recorder.safely("failure", recorder.script_failed)
        share = recorder.total_spent / max(recorder.running_time, 1e-9)
        facts = loop_facts_of_recorder(recorder, finished=ending.is_complete)
        name = self.script if self.module else Path(self.script).name
        failures = [f"{what} ({why})" for what, why in recorder.failures.items()]
        made: dict[str, Any] = {"ending": ending.words, "overhead": share, "command": command, "failures": failures}
        alone = watch_report(name, facts, **made)
        if self.ranks is None:
            return alone
        own = self._record(findings_to_plain_values(alone.findings))
        if self.ranks.local:
            self.ranks.write(own)
            return None
        limit = {"seconds": WAIT_AFTER_TERMINATION} if isinstance(ending.exception, ScriptTerminated) else {}
        others, lost = self.ranks.gather(**limit)
        found = compare_ranks(own, others, lost)
        return watch_report(name, facts, **made, processes=found, ranks=self.ranks.count)

    def _record(self, findings: list[list[Any]]) -> dict[str, Any]:
        """Collects what this process shares with the other processes of a run: first inputs, a hash of weights, steps,
        findings.
        """
        inputs = [list(numbers) for numbers in self.recorder.batches.first_inputs]
        return {
            "inputs": inputs, "weights": self._weights(), "steps": self.recorder.steps, "findings": findings,
        }  # fmt: skip

    def _weights(self) -> str:
        """Returns a hash of some weights, to compare processes; empty if each process holds only a part of the
        model.
        """
        living = [p for one in self.recorder.optimizers.values() for ref in one.parameters if (p := ref()) is not None]
        sharded = any("Sharded" in model.kind for model in self.recorder.models.roots())
        if sharded or not living or any(type(p).__name__ == "DTensor" for p in living):
            return ""
        return sha256(repr([some_weights(p) for p in living]).encode()).hexdigest()


@contextmanager
def raising_on_termination() -> Iterator[None]:
    """Context manager that raises `ScriptTerminated` on a termination signal, unless the script has its own handler."""
    usual = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise ScriptTerminated

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def exit_like_script(ending: ScriptEnding) -> None:
    """Exits with the exit code or signal with which the script ended.

    The traceback has already been shown.

    >>> exit_like_script(ScriptEnding())
    """
    error = ending.exception
    sys.stdout.flush()
    sys.stderr.flush()
    if isinstance(error, ScriptTerminated):
        os.kill(os.getpid(), signal.SIGTERM)
    if error is not None:
        if not isinstance(error, SystemExit):
            sys.excepthook = lambda *shown: None
        raise error
