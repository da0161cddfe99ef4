"""Which statements of the theory hold?

Contains: one file per claim under ``claims``, the catalog, the ledger of what covers each statement, runs of many
claims.
Does not contain: the machinery of claims (`gnomon.lab`), instruments.
May import: attribution, bayes, bounds, checks, core, data, decisions, discovery, dynamics, examination, forecast,
generative, graphs, kernels, lab, landscape, models, program, report, robustness, scattering, sequences, symmetry,
tangent, training.
"""

from gnomon.atlas.catalog import Entry, catalog, cite
from gnomon.atlas.coverage import Coverage, coverage
from gnomon.atlas.many import Task, run_many

__all__ = ["Coverage", "Entry", "Task", "catalog", "cite", "coverage", "run_many"]
