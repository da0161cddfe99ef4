"""A network learns features at any width if its output is divided by the width, not by the width's square root.

f = a(m) sum_i v_i tanh(w_i x) is trained for a time 1 / (m a(m)^2), so outputs move by O(1). Units move by

    |dw_i| = O(a / (m a^2)) = O(1 / (m a)),      so O(m^-1/2) for a = m^-1/2,   O(1) for a = 1/m             (1)

For a = 1/m the relative change of the tangent kernel does not fall with the width m.
Reference: [chizat2019lazy]; [mei2018mean] for a = 1/m.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 0, the exponent of the width in the tangent kernel's relative change."""
    return 0.0


def gram(parameters, x):
    """Returns the tangent kernels of many networks by autograd, without the factor of the output scale."""
    rows = []
    for point in x:
        out = (torch.tanh(parameters[0] @ point) * parameters[1]).sum()
        rows.append(torch.cat([g.flatten(1) for g in torch.autograd.grad(out, parameters)], 1))
    rows = torch.stack(rows, 1)
    return rows @ rows.mT


def drift(nets, widths, exponent, time=2.0, step=0.1):
    """Returns the relative change of the tangent kernel after training, for each network and width."""
    x, y = torch.randn(4, 3).double(), torch.randn(4).double()
    rows = []
    for m in widths:
        a = m**-exponent
        w = [torch.randn(nets, m, 3).double().requires_grad_(), torch.randn(nets, m).double().requires_grad_()]
        before = gram(w, x)
        for _ in range(round(time / step)):
            out = a * (torch.tanh(x @ w[0].mT) @ w[1][..., None])[..., 0]
            slopes = torch.autograd.grad(((out - y) ** 2).sum() / 2, w)
            w = [(p - step / (m * a**2) * g).detach().requires_grad_() for p, g in zip(w, slopes, strict=True)]
        rows.append((gram(w, x) - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1))
    return widths, torch.stack(rows, 1)


observed = partial(drift, exponent=1.0, time=2.0, step=0.1)  # The output is the sum over units divided by the width.
control = partial(drift, exponent=0.5, time=2.0, step=0.1)  # Control: the output is divided by the root of the width.

CLAIM = Claim(
    id="ntk-vs-mean-field-scaling",
    question="Which output scaling lets wide networks learn features?",
    equation=r"\|K_T - K_0\| / \|K_0\| = O(m^0) \text{ for } a = 1/m",
    axes=("width m", "relative change of the tangent kernel"),
    source=Source("theorem", "chizat2019lazy", "Section 1"),
    premises=(Premise("the output is a sum over units divided by the width"),),
    parameters={"nets": 40, "widths": (64, 128, 256, 512)},
    full={"nets": 60, "widths": (128, 256, 512, 1024, 2048)},
    judge=rate_is(
        confidence=0.999, within=0.12, because="the next order is 64^-1/2 = 0.12 at the smallest width", label="width"
    ),
)
