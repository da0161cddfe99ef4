"""Runs all checks on the record of a training loop and collects the problems that they find."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gnomon.checks.run.loop.batches import judge_batches
from gnomon.checks.run.loop.facts import LoopFacts
from gnomon.checks.run.loop.gradients import judge_gradients
from gnomon.checks.run.loop.modes import judge_modes
from gnomon.checks.run.loop.parameters import judge_parameters
from gnomon.checks.run.loop.schedules import judge_schedules
from gnomon.checks.run.loop.values import judge_values
from gnomon.core.results import Finding

__all__ = ["JUDGMENTS"]

JUDGMENTS: Mapping[str, Callable[[LoopFacts], list[Finding]]] = MappingProxyType({
    "gradients": judge_gradients,
    "parameters": judge_parameters,
    "modes": judge_modes,
    "schedule": judge_schedules,
    "batches": judge_batches,
    "values": judge_values,
})  # fmt: skip
"""Functions of the recorded facts by the key of their section."""
