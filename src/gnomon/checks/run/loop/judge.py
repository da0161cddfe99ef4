"""Runs all checks on the record of a training loop and collects the problems that they find."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gnomon.checks.run.loop.batches import batch_findings_of_loop
from gnomon.checks.run.loop.facts import LoopFacts
from gnomon.checks.run.loop.gradients import gradient_findings_of_loop
from gnomon.checks.run.loop.modes import train_eval_mode_findings
from gnomon.checks.run.loop.parameters import parameter_findings_of_loop
from gnomon.checks.run.loop.schedules import schedule_findings_of_loop
from gnomon.checks.run.loop.values import loss_value_findings
from gnomon.core.results import Finding

__all__ = ["JUDGMENTS"]

JUDGMENTS: Mapping[str, Callable[[LoopFacts], list[Finding]]] = MappingProxyType({
    "gradients": gradient_findings_of_loop,
    "parameters": parameter_findings_of_loop,
    "modes": train_eval_mode_findings,
    "schedule": schedule_findings_of_loop,
    "batches": batch_findings_of_loop,
    "values": loss_value_findings,
})  # fmt: skip
"""Functions of the recorded facts by the key of their section."""
