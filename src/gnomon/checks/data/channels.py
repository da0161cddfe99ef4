"""Finds channels of images or time series that are constant, for example because of a broken sensor.

Series are (n, channels, times) or (n, times, channels), images (n, channels, height, width). A channel with one and the
same number in all examples and at all positions is constant, which is not a matter of chance. Of the two axes of series
the one with at most `MAX_CHANNELS` entries and less than half of the other is the axis of channels; otherwise
nothing is said,
for rows of a picture may well be empty.

Hypotheses: inputs are one tensor of real numbers.
Reference: [lecun1998efficient], section 4.3.

>>> import torch
>>> x = torch.randn(50, 3, 40)
>>> x[:, 1] = 0
>>> channel_findings(x)[0].message
'Constant channels (1 of 3) carry no information: 1.'
"""

from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding
from gnomon.findings import data as kinds

__all__ = ["channel_findings"]

MAX_CHANNELS = 16
"""Channels of a series, at most."""


def channel_findings(x: Inputs) -> tuple[Finding, ...]:
    """Reports channels of images or time series that are constant over all examples; ignores tables and single
    channels.

    Hypotheses: as above.
    Reference: [lecun1998efficient].
    Cost: a pass over the inputs.

    >>> import torch
    >>> channel_findings(torch.randn(50, 3, 40)), channel_findings(torch.zeros(50, 1, 8, 8))
    ((), ())
    """
    parts = list(input_tensors(x))
    axis = _axis(parts[0]) if len(parts) == 1 else None
    if axis is None or len(parts[0]) < 2:
        return ()
    rows = parts[0].detach().movedim(axis, 0).flatten(1)
    constant = (rows.amax(1) == rows.amin(1)).nonzero()[:, 0].tolist()
    if not constant or len(constant) == len(rows):
        return ()
    values = {"constant": len(constant), "total": len(rows), "names": ", ".join(map(str, constant[:5]))}
    return (Finding(kinds.CONSTANT_CHANNELS, "inputs", values, (), 0.0),)


def _axis(x: Tensor) -> int | None:
    if not x.is_floating_point() or x.dim() not in (3, 4):
        return None
    if x.dim() == 4:
        return 1 if x.shape[1] > 1 else None
    few, axis = min((x.shape[2], 2), (x.shape[1], 1))
    return axis if 1 < few <= MAX_CHANNELS and 2 * few < x.shape[3 - axis] else None
