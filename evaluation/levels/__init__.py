"""Do p-values, intervals and bounds keep the level they state? Each is simulated many times where the truth is known.

Run ``python -m evaluation.levels`` for the table, ``--write docs/levels.md`` to renew the page. The tests run the same
rows with fewer repetitions.
"""

from evaluation.levels.bounds import BOUNDS
from evaluation.levels.findings import FINDINGS
from evaluation.levels.intervals import INTERVALS
from evaluation.levels.models import MODELS
from evaluation.levels.p_values import P_VALUES
from evaluation.levels.scores import SCORES
from evaluation.levels.tables import TABLES

__all__ = ["STATEMENTS"]

STATEMENTS = (*P_VALUES, *INTERVALS, *BOUNDS, *MODELS, *FINDINGS, *TABLES, *SCORES)
