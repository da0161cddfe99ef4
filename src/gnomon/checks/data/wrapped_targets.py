"""Finds targets that go around in a circle, such as angles: the smallest and the largest values have the same inputs.

For numbers as targets, look at the 3 % of the examples with the largest targets. Let

    a = share whose nearest input outside of the largest 8 % belongs to the smallest 8 %,                        (1)

and b the same at the other end. Targets that are a continuous function of the inputs give 0, because the nearest inputs
have targets just below the largest 8 %; unrelated targets give 0.09. The middle must be smooth:

    m = mean |rank(y_i) - rank(y_nearest)| / n over examples with targets between the quantiles 0.3 and 0.7     (2)

is 1/3 for unrelated targets.

Hypotheses: independent examples; one number as target.

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> angle = torch.rand(400, generator=g)
>>> x = torch.stack(((6.2832 * angle).cos(), (6.2832 * angle).sin()), 1) + 0.02 * torch.randn(400, 2, generator=g)
>>> wrapped_target_findings(x, angle)[0].kind, wrapped_target_findings(x, x[:, 0])
('circular-targets', ())
"""

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["wrapped_target_findings"]

MIN_EXAMPLES = 200
"""Fewest examples for this check."""
MAX_EXAMPLES = 2000
"""Examples used, at most."""
MIN_SHARE = 0.5
"""Smallest of the two shares (1) of an alarm."""
MAX_STEP = 0.1
"""Largest (2) of targets that are smooth in the middle."""
MIN_TIP = 8
"""Fewest examples whose neighbors are looked for."""
SHARE_AT_TIP = 0.03
"""Share of the examples at each end of the targets whose neighbors are looked for."""
SHARE_LEFT_OUT = 0.08
"""Share of the examples at each end of the targets that the fit of the middle leaves out."""


def wrapped_target_findings(x: Inputs, y: Tensor) -> tuple[Finding, ...]:
    """Returns a finding if the smallest and the largest targets belong to neighboring inputs.

    See equations (1) and (2) of the module docstring.
    False alarms: none of 500 smooth functions of four columns with noise (`tests/checks/data/test_wrapped_targets.py`).
    Cost: the distances of at most 2000 examples.

    >>> wrapped_target_findings(torch.zeros(5, 1), torch.zeros(5))  # too few examples
    ()
    """
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    y = y.detach().cpu().double().reshape(len(y), -1)
    if len(parts) != 1 or y.shape[1] != 1 or len(y) < MIN_EXAMPLES:
        return ()
    rows = parts[0].detach().cpu().double().reshape(len(y), -1)[:MAX_EXAMPLES]
    order = y[: len(rows), 0].argsort()
    rows = (rows - rows.mean(0)) / rows.std(0).clamp(min=1e-12)
    rows, n = rows[order], len(order)
    if float(y.unique().numel()) < n / 2:
        return ()
    tip, end = max(MIN_TIP, int(SHARE_AT_TIP * n)), max(2 * MIN_TIP, int(SHARE_LEFT_OUT * n))
    a = float((_nearest(rows[n - tip :], rows[: n - end]) < end).double().mean())  # (1)
    b = float((_nearest(rows[:tip], rows[end:]) >= n - 2 * end).double().mean())
    if min(a, b) < MIN_SHARE:
        return ()
    middle = torch.arange(int(0.3 * n), int(0.7 * n))
    step = float((_nearest(rows[middle], rows, own=middle) - middle).abs().double().mean()) / n
    if step > MAX_STEP:
        return ()
    evidence = (Value("share of neighbors at the other end", min(a, b)), Value("step between neighbors", step))
    values = {"low": float(y.min()), "high": float(y.max()), "share": min(a, b)}
    return (Finding(kinds.CIRCULAR_TARGETS, "labels", values, evidence, 1e-3),)


def _nearest(rows: Tensor, others: Tensor, own: Tensor | None = None) -> Tensor:
    """Returns for each row the number of the nearest other row."""
    apart = torch.cdist(rows, others)
    place = torch.arange(len(rows)) if own is None else own
    apart[torch.arange(len(rows)), place] = torch.inf
    return apart.argmin(1)
