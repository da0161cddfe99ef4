"""The atlas: statements of deep learning theory ("claims"), each with code that tests it, and web pages with the
results.

Contains: one file per claim under ``claims`` with its explanation, the catalog, chapters and reading paths, stored
results (``records``), the pages, the ledger of what covers each statement, runs of many claims.
Does not contain: the machinery of claims (`gnomon.lab`), instruments.
May import: attribution, bayes, bounds, checks, core, data, decisions, discovery, dynamics, examination, forecast,
generative, graphs, kernels, lab, landscape, models, program, report, robustness, scattering, sequences, symmetry,
tangent, training.
"""

from gnomon.atlas.catalog import bibtex_of_claim, catalog
from gnomon.atlas.coverage import scope_coverage
from gnomon.atlas.many import run_claims

__all__ = [
    "catalog",
    "bibtex_of_claim",
    "scope_coverage",
    "run_claims",
]
