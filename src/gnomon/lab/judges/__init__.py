"""Functions that judge a theory claim: they compare its prediction with the measurement under a stated tolerance.

A tolerance comes from the floating-point type (``rounding``), from a stated confidence over samples (``confidence``),
or from the theorem itself (``within``, with the reason in ``because``). A judge says "inconclusive" if agreement
would prove nothing because the measurement is too coarse.
"""

from gnomon.lab.judges.bound import bounded_by
from gnomon.lab.judges.distribution import distributed_as
from gnomon.lab.judges.equality import equals
from gnomon.lab.judges.expectation import mean_equals
from gnomon.lab.judges.mean_bound import at_most
from gnomon.lab.judges.order import in_order
from gnomon.lab.judges.slope import rate_is
from gnomon.lab.judges.trend import monotone_in

__all__ = ["at_most", "bounded_by", "distributed_as", "equals", "mean_equals", "monotone_in", "in_order", "rate_is"]
