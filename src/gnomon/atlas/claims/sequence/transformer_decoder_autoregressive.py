"""A causal mask lets a decoder depend only on the past, so decoding token by token equals decoding all at once.

    dy_t / dx_s = 0   for s > t,    decoder(x_1..x_t)_t = decoder(x_1..x_T)_t                                 (1)

x_s are inputs and y_t outputs. So the loss of all known tokens at once (teacher forcing) is the sum of the losses of
the generation steps. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times):
    """Returns 1 if an output may depend on an input, else 0; then 0, the differences of outputs and of losses."""
    return np.r_[np.tril(np.ones((times, times))).ravel(), 0.0, 0.0]


def dependence_and_gaps(masked, times, size, seed):
    """Returns which outputs depend on which inputs, then the differences between stepwise and parallel decoding."""
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


observed = partial(dependence_and_gaps, masked=True)  # A mask hides later positions from attention.
control = partial(dependence_and_gaps, masked=False)  # Without it.

CLAIM = Claim(
    id="transformer-decoder-autoregressive",
    question="Why can a decoder be trained on all tokens at once?",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    axes=("dependence of outputs on inputs, then differences", "1 if dependent; difference"),
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("logits of later positions are minus infinity"),),
    parameters={"times": 6, "size": 8},
    judge=equals(within=1e-10, because="the sums are in another order, so rounding differs"),
)
