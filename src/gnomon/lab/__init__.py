"""The lab: defines claims (statements of theory that can be tested by running them) and judges whether they hold.

Contains: the record of a claim (prediction, measurement, control), judges that compare them, and the run that gives a
verdict.
Does not contain: claims themselves (`gnomon.atlas`).
May import: core, findings.
"""

from gnomon.lab.claim import Claim, Premise, Source
from gnomon.lab.judges.bound import bounded_by
from gnomon.lab.judges.distribution import distributed_as
from gnomon.lab.judges.equality import equals
from gnomon.lab.judges.expectation import mean_equals
from gnomon.lab.judges.mean_bound import at_most
from gnomon.lab.judges.order import in_order
from gnomon.lab.judges.slope import rate_is
from gnomon.lab.judges.trend import monotone_in
from gnomon.lab.run import ClaimOutcome, run_claim
from gnomon.lab.verdict import Judgment, Verdict

__all__ = [
    "Claim",
    "Judgment",
    "ClaimOutcome",
    "Premise",
    "Source",
    "Verdict",
    "at_most",
    "bounded_by",
    "distributed_as",
    "equals",
    "mean_equals",
    "monotone_in",
    "in_order",
    "rate_is",
    "run_claim",
]
