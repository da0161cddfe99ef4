"""The empirical kernel, slow and obvious: one example, one output at a time, the whole Jacobian in memory.

Theta(x, x')_{ab} = sum over parameters of d f_a(x) / d w * d f_b(x') / d w.
"""

import torch


def jacobian(module, x, names=None):
    """(n, k, p), from n k separate calls of autograd on batches of one example."""
    chosen = [p for name, p in module.named_parameters() if names is None or name in names]
    rows = []
    for i in range(size(x)):
        y = call(module, pick(x, i)).reshape(-1)
        outputs = []
        for o in range(len(y)):
            grads = torch.autograd.grad(y[o], chosen, retain_graph=True, allow_unused=True)
            pieces = [torch.zeros_like(p) if g is None else g for g, p in zip(grads, chosen, strict=True)]
            outputs.append(torch.cat([g.reshape(-1) for g in pieces]))
        rows.append(torch.stack(outputs))
    return torch.stack(rows)


def kernel(module, x1, x2=None, outputs="trace", names=None):
    """All four forms, each from its definition."""
    j1 = jacobian(module, x1, names)
    j2 = j1 if x2 is None else jacobian(module, x2, names)
    full = torch.einsum("iap,jbp->ijab", j1, j2)
    if outputs == "full":
        return full
    if outputs == "diagonal":
        return torch.einsum("ijaa->ija", full)
    if outputs == "trace":
        return torch.einsum("ijaa->ij", full) / full.shape[-1]
    return torch.einsum("ip,jp->ij", j1.sum(1), j2.sum(1))


def size(x):
    """How many examples."""
    if isinstance(x, dict):
        return len(next(iter(x.values())))
    return len(x[0]) if isinstance(x, tuple) else len(x)


def pick(x, i):
    """Example i as a batch of one."""
    if isinstance(x, dict):
        return {key: value[i : i + 1] for key, value in x.items()}
    return tuple(value[i : i + 1] for value in x) if isinstance(x, tuple) else x[i : i + 1]


def call(module, x):
    """As the module wants to be called."""
    if isinstance(x, dict):
        return module(**x)
    return module(*x) if isinstance(x, tuple) else module(x)
