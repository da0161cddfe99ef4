"""Compares a forecast with a trivial one: repeating one of the inputs, such as the last value of the time window.

    e_j = mean (y - x_j)^2 / var(y),    e = mean (y - f)^2 / var(y)    on test examples                       (1)

For a random walk the last value is the best forecast: e is small, and the network has learned nothing beyond it.

Hypotheses: one number is predicted; inputs are rows or windows of real numbers.
Reference: [hyndman2021forecasting], section 5.2, on naive forecasts.

>>> walk = torch.randn(300, 9, generator=torch.Generator().manual_seed(0)).cumsum(1)
>>> x, y = walk[:, :-1], walk[:, -1:]
>>> errors = (y - 0.99 * x[:, -1:]).square().mean(1) / y.var()
>>> repeated_value_findings(x, y, errors)[0].values["place"]
'7'
>>> repeated_value_findings(x, y, 0.2 * errors)
()
"""

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds

__all__ = ["repeated_value_findings"]

MAX_COPY_ERROR = 0.5
"""Largest error (1) of repeating an input that counts as a forecast."""
MIN_ERROR_RATIO = 0.9
"""Error of the network over the error of repeating from which the network does not beat it; chance moves it by 0.05."""
MIN_EXAMPLES = 100
"""Fewest test examples."""
MAX_INPUTS = 2000
"""Numbers of an example, at most."""
MIN_NOISE = 1e-4
"""A target that equals an input up to this error (1) is an exact copy, which another check reports."""


def repeated_value_findings(x: Inputs, y: Tensor, errors: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if a network does not forecast better than repeating one of its inputs.

    ``errors`` are the squared errors of the network over the variance of the targets, one for each test example.
    Cost: a pass over the inputs.

    >>> repeated_value_findings(torch.zeros(9, 2), torch.zeros(9, 1), torch.zeros(9))                # too few examples
    ()
    """
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.dim() not in (2, 3) or len(y) < MIN_EXAMPLES:
        return ()
    if y.numel() != len(y) or x[0].numel() > MAX_INPUTS:
        return ()
    table, target = x.detach().cpu().double().reshape(len(x), -1), y.detach().cpu().double().reshape(-1, 1)
    spread = float(target.var(correction=0))
    if not spread > 0:
        return ()
    copies = (table - target).square().mean(0) / spread
    place, own = int(copies.argmin()), float(errors.double().mean())
    least = float(copies[place])
    if not MIN_NOISE < least < MAX_COPY_ERROR or own < MIN_ERROR_RATIO * least:  # (1)
        return ()
    named = (
        str(place)
        if x.dim() == 2
        else ", ".join(str(int(i)) for i in torch.unravel_index(torch.tensor(place), x[0].shape))
    )
    values = {"place": named, "copy": 1 - least, "explained": 1 - own, "examples": len(y)}
    return (Finding(kinds.REPEATS_INPUT, "", values, (Value("error over error of repeating", own / least),)),)
