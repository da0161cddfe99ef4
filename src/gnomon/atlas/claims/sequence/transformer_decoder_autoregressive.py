"""Attention under a triangular mask gives outputs that depend on the past alone, exactly.

    dy_t / dx_s = 0   for s > t                                                                               (1)

Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times):
    """One where an output may depend on an input."""
    return np.tril(np.ones((times, times)))


def depends(masked, times, size, seed):
    """Which outputs have a gradient at which inputs."""
    torch.manual_seed(seed)
    layer = torch.nn.TransformerEncoderLayer(size, 2, 2 * size, 0.0, batch_first=True).double()
    mask = torch.ones(times, times, dtype=torch.bool).triu(1) if masked else None
    x = torch.randn(1, times, size).double().requires_grad_()
    weights = torch.randn(size).double()
    out = layer(x, src_mask=mask) @ weights
    rows = [torch.autograd.grad(out[0, t], x, retain_graph=True)[0][0].abs().sum(1) > 0 for t in range(times)]
    return torch.stack(rows).double().numpy()


observed = partial(depends, masked=True)  # With the mask.
control = partial(depends, masked=False)  # Without it.

CLAIM = Claim(
    id="transformer-decoder-autoregressive",
    title="Under a triangular mask outputs depend on the past alone",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("logits of later positions are minus infinity"),),
    parameters={"times": 6, "size": 8},
    judge=equals(rounding=0),
)
