"""A decoder under a triangular mask sees the past and the encoder alone: tokens one by one give what all at once give.

    dy_t / dx_s = 0   for s > t,    decoder(x_1..x_t)_t = decoder(x_1..x_T)_t                                 (1)

so that the loss of all known tokens at once (teacher forcing) is the sum of the losses of the steps of generation.

Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times):
    """One where an output may depend on an input; zero for differences of outputs and of losses."""
    return np.r_[np.tril(np.ones((times, times))).ravel(), 0.0, 0.0]


def depends(masked, times, size, seed):
    """Which outputs depend on which inputs, then how far tokens one by one differ from all at once, also in loss."""
    torch.manual_seed(seed)
    layer = torch.nn.TransformerDecoderLayer(size, 2, 2 * size, 0.0, batch_first=True).double()
    x, memory = (torch.randn(1, n, size).double().requires_grad_() for n in (times, times + 2))
    tokens = torch.randint(size, (times,))

    def decode(z):
        n = z.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool).triu(1) if masked else None
        return layer(z, memory, tgt_mask=mask)[0]

    whole = decode(x)
    weights = torch.randn(size).double()
    rows = [torch.autograd.grad(whole[t] @ weights, x, retain_graph=True)[0][0].abs().sum(1) > 0 for t in range(times)]
    steps = torch.stack([decode(x[:, : t + 1])[-1] for t in range(times)])
    losses = [torch.nn.functional.cross_entropy(out, tokens, reduction="sum") for out in (whole, steps)]
    gaps = torch.stack([(whole - steps).abs().max(), (losses[0] - losses[1]).abs()]).detach()
    return torch.cat([torch.stack(rows).double().flatten(), gaps]).numpy()


observed = partial(depends, masked=True)  # With the mask.
control = partial(depends, masked=False)  # Without it.

CLAIM = Claim(
    id="transformer-decoder-autoregressive",
    title="A masked decoder depends on the past alone: token by token it gives what it gives at once",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("logits of later positions are minus infinity"),),
    parameters={"times": 6, "size": 8},
    judge=equals(within=1e-10, because="sums in another order"),
)
