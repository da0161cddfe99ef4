"""What is wrong with this network, and what fixes it?

Contains: `examine`, its steps (one file each), `rank`, `watch`, `compare`.
Does not contain: instruments; steps call instruments and put results side by side.
May import: adapter, attribution, checks, core, decisions, dynamics, findings, forecast, graphs, kernels, landscape,
linalg, program, report, sequences, symmetry, tangent, training.
"""

from gnomon.examination.compare import compare
from gnomon.examination.rank import rank
from gnomon.examination.record import Examination
from gnomon.examination.run import examine
from gnomon.examination.step import AbstractStep, Context, Skipped, StepResult
from gnomon.examination.steps import STEPS
from gnomon.examination.watch import watch

__all__ = [
    "AbstractStep",
    "Context",
    "Examination",
    "STEPS",
    "Skipped",
    "StepResult",
    "compare",
    "examine",
    "rank",
    "watch",
]
