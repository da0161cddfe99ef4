"""If features are learned, the time to learn grows as alpha sqrt(width), for a network with output scale alpha.

With F = alpha (f - f_0), the loss |F - y|^2 / (2 n alpha^2), width m and u = alpha sqrt(m), weights satisfy w' = O(1/u)
w^(L-1) for a homogeneous network with L layers of weights. They diverge within a time of order u, at which F = u w^L
passes any value, so the time until the loss has fallen by 10 % is

    t = u (c + O(u^((L-2)/L)))       for u << 1,           t = O(1)       for u >> 1                           (1)

The first growth fits at least 10 %. Later phases, in which outputs wait at saddle points, add times of second order
with constants of about a hundred. Here L = 4: three hidden ReLU layers.
Reference: [geiger2020disentangling], Section 3.
"""

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 1, the exponent of alpha sqrt(width) in the learning time, if features are learned."""
    return 1.0


def learning_time(nets, width, scale, n=6, most=1000):
    """Returns the time after which each network's loss is 10 % lower; steps change the loss by at most 5 %."""
    torch.manual_seed(torch.initial_seed())  # Every output scale gets the same random networks and data.
    x, y = torch.randn(n, 3).double(), torch.randn(n).double().sign()
    x = x / x.norm(dim=1, keepdim=True) * 3**0.5
    shapes = ((3, width), (width, width), (width, width), (width, 1))
    p = [torch.randn(nets, *shape).double().requires_grad_() for shape in shapes]
    alpha, time, start = scale / width**0.5, torch.zeros(nets).double(), None
    done = torch.zeros(nets, dtype=torch.bool)
    for _ in range(most):
        h = x
        for k, q in enumerate(p):
            h = (torch.relu(h) * 2**0.5 if k else h) @ q / q.shape[1] ** 0.5
        start = h.detach() if start is None else start
        loss = ((alpha * (h - start)[..., 0] - y) ** 2).mean(1) / (2 * alpha**2)
        done = done | (loss.detach() < 0.9 / (2 * alpha**2))  # the initial loss is 1 / (2 alpha^2)
        if done.all():
            break
        slopes = torch.autograd.grad(loss.sum(), p)
        force = sum((g**2).flatten(1).sum(1) for g in slopes)
        size = sum((q.detach() ** 2).flatten(1).sum(1) for q in p)
        step = torch.minimum(0.05 * (size / force) ** 0.5, 0.05 * loss.detach() / force) * ~done
        time = time + step
        p = [(q - step[:, None, None] * g).detach().requires_grad_() for q, g in zip(p, slopes, strict=True)]
    return time


def observed(nets, width, scales):
    """Returns learning times at alpha sqrt(width) far below one, at which networks learn features."""
    return scales, torch.stack([learning_time(nets, width, s) for s in scales], 1)


def control(nets, width, scales):
    """Returns learning times at alpha sqrt(width) far above one, at which training is lazy."""
    return scales, torch.stack([learning_time(nets, width, s * 1e11) for s in scales], 1)


CLAIM = Claim(
    id="characteristic-time-tc",
    question="How long does feature learning take?",
    equation=r"t_{9/10} \propto \alpha \sqrt{m} \text{ for } \alpha \sqrt{m} \ll 1",
    axes=("alpha sqrt(width)", "time until the loss has fallen by 10 %"),
    source=Source("observed", "geiger2020disentangling", "Section 3"),
    premises=(Premise("alpha sqrt(width) is far below one"), Premise("there are three or more layers of weights")),
    parameters={"nets": 10, "width": 32, "scales": (1e-9, 1e-8, 1e-7)},
    full={"nets": 20, "width": 64, "scales": (1e-10, 1e-9, 1e-8, 1e-7)},
    judge=rate_is(
        confidence=0.999, within=0.001, because="the correction u^1/2 is 3e-4 at most", label="alpha sqrt(width)"
    ),
    remark="With one hidden layer growth is exponential and the time has a factor log(1 / (alpha sqrt(width))).",
)
