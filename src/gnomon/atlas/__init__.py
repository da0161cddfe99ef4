"""Third floor: the atlas, statements of the theory as claims that run.

Lives here: one file for each claim under ``claims``, by kind; the catalog of them; the ledger of what covers each
statement of the scope, and runs of many claims.
Does not live here: the apparatus, which is the lab; instruments, which live in their rooms and are used here.
May import: every floor below.
"""

from gnomon.atlas.catalog import Entry, catalog, cite
from gnomon.atlas.coverage import Coverage, coverage
from gnomon.atlas.many import Task, run_many

__all__ = ["Coverage", "Entry", "Task", "catalog", "cite", "coverage", "run_many"]
