"""Second floor: the examination of a user's network, and what watches it during training.

Lives here: `examine` (also `gnomon.examine`), its steps (one file each) and what a step is made of; `rank`, `watch`.
Does not live here: any instrument; the rooms below measure, this one asks and puts side by side.
May import: every room of lower floors.
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
