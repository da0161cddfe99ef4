"""Runs `gnomon watch`: installs hooks, runs the script, and reports what was recorded, even if the script fails.

>>> WatchSession("json.tool", module=True).recorder.steps
0
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.examination.script.install import record_training_loop
from gnomon.examination.script.launch import ScriptEnding, check_script_exists, run_script
from gnomon.examination.script.ranks import ProcessRanks, compare_ranks, findings_to_plain_values
from gnomon.examination.script.recorder import LoopRecorder
from gnomon.examination.script.seen import some_weights
from gnomon.examination.script.termination import ScriptTerminated, TerminationWatch

if TYPE_CHECKING:
    from gnomon.examination.record import Examination

__all__ = ["WatchSession", "exit_like_script"]


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
        check_script_exists(self.script, module=self.module)
        self.recorder = LoopRecorder(self.overhead)
        self.ranks = ProcessRanks.of_environment(os.environ)

    def run(self, when_blocked: Callable[[ScriptEnding], object] = lambda ending: None) -> ScriptEnding:
        """Runs the user's script until it ends, fails or exits.

        ``when_blocked`` is called from another thread if a signal terminates the process while the script is blocked.
        """
        if self.ranks is not None:
            self.ranks.begin()
        termination = TerminationWatch(lambda: when_blocked(ScriptEnding(ScriptTerminated())))
        with termination.active(), record_training_loop(self.recorder):
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
        own = self._record(findings_to_plain_values(alone.findings), ending)
        if self.ranks.local:
            self.ranks.write(own)
            return None
        others, lost = self.ranks.gather(failed=not ending.is_complete)
        found = compare_ranks(own, others, lost)
        made["ending"] = "; ".join([ending.words, *(one["ending"] for one in others if one["ending"])])
        return watch_report(name, facts, **made, processes=found, ranks=self.ranks.count)

    def _record(self, findings: list[list[Any]], ending: ScriptEnding) -> dict[str, Any]:
        """Collects what this process shares with the other processes of a run: first inputs, a hash of weights, steps,
        findings, and how the script failed.
        """
        failure = "" if ending.is_complete or self.ranks is None else f"in process {self.ranks.rank} {ending.words}"
        inputs = [list(numbers) for numbers in self.recorder.batches.first_inputs]
        return {
            "inputs": inputs, "weights": self._weights(), "steps": self.recorder.steps, "findings": findings,
            "ending": failure,
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
