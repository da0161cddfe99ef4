"""Finds out what is wrong with a network and its data, and how to fix it (`gnomon.examine`).

Contains: `examine`, its steps (one file each), `rank`, `watch`, `compare`; ``script`` observes a user's script.
Does not contain: instruments; steps call instruments and put results side by side.
May import: adapter, attribution, checks, core, decisions, dynamics, findings, graphs, kernels, landscape,
linalg, program, report, sequences, symmetry, tangent, training.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.examination.compare import compare
    from gnomon.examination.rank import rank
    from gnomon.examination.record import Examination
    from gnomon.examination.run import examine
    from gnomon.examination.step import AbstractStep, StepContext, StepResult, StepSkipped
    from gnomon.examination.steps import STEPS
    from gnomon.examination.watch import watch

__all__ = [
    "AbstractStep",
    "StepContext",
    "Examination",
    "STEPS",
    "StepSkipped",
    "StepResult",
    "compare",
    "examine",
    "rank",
    "watch",
]

_HOMES = {
    **dict.fromkeys(("AbstractStep", "StepContext", "StepSkipped", "StepResult"), "step"),
    "Examination": "record",
    "STEPS": "steps",
    "compare": "compare",
    "examine": "run",
    "rank": "rank",
    "watch": "watch",
}
"""The modules that define these names."""


def __getattr__(name: str) -> Any:
    """Imports a submodule when one of its names is first used, so that `gnomon watch` starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gnomon.examination' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gnomon.examination.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Type of this package: keeps ``watch``, ``rank`` and ``compare`` functions although submodules have the same
    names.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        own = name in _HOMES and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if own else value)


sys.modules[__name__].__class__ = _Package
