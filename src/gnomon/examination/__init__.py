"""What is wrong with this network, and what fixes it?

Contains: `examine`, its steps (one file each), `rank`, `watch`, `compare`.
Does not contain: instruments; steps call instruments and put results side by side.
May import: attribution, checks, core, decisions, dynamics, findings, forecast, graphs, kernels, landscape, linalg,
program, report, sequences, symmetry, tangent, training.
"""

from gnomon.examination.compare import Comparison, compare
from gnomon.examination.rank import Candidate, Ranking, rank
from gnomon.examination.record import Examination
from gnomon.examination.run import examine
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.steps import STEPS
from gnomon.examination.subject import Examples, Subject, Task
from gnomon.examination.watch import Watch, watch

__all__ = [
    "STEPS",
    "AbstractStep",
    "Candidate",
    "Comparison",
    "Context",
    "Examination",
    "Examples",
    "Products",
    "Ranking",
    "Skipped",
    "StepResult",
    "Subject",
    "Task",
    "Watch",
    "compare",
    "examine",
    "rank",
    "watch",
]
