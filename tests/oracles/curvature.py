"""Gauss-Newton and Fisher matrices of a module from the Jacobian of every example, one example at a time."""

import torch


def jacobians(module, x):
    """df_i / dw for every example as (n, k, p), one backward pass for every output."""
    rows = []
    weights = list(module.parameters())
    for one in x:
        outputs = module(one[None])[0].reshape(-1)
        rows.append(torch.stack([torch.cat([g.flatten() for g in torch.autograd.grad(o, weights, retain_graph=True)])
                                 for o in outputs]))  # fmt: skip
    return torch.stack(rows), torch.stack([module(one[None])[0].reshape(-1).detach() for one in x])


def assembled(jacobian, middles):
    """(1 / n) sum_i J_i^T M_i J_i."""
    return sum(j.T @ m @ j for j, m in zip(jacobian, middles, strict=True)) / len(jacobian)


def softmax_curvature(f):
    """d^2 / df^2 of -log softmax(f)_y, from its second derivatives entry by entry: p_a (delta_ab - p_b)."""
    p = torch.exp(f) / torch.exp(f).sum()
    return torch.tensor(
        [[float(p[a] * (float(a == b) - p[b])) for b in range(len(f))] for a in range(len(f))], dtype=f.dtype
    )
