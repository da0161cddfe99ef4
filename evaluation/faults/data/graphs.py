"""Graphs, and sets of points in space."""

import torch
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.data.split import split_at, standardize


def random_graphs(n=2000, m=600, nodes=16, seed=0):
    """Graphs of three edge densities; node features are the degree and noise."""
    g = torch.Generator().manual_seed(seed)

    def draw(k):
        y = torch.randint(0, 3, (k,), generator=g)
        p = torch.tensor([0.15, 0.3, 0.5])[y][:, None, None]
        a = (torch.rand(k, nodes, nodes, generator=g) < p).float().triu(1)
        a = a + a.mT
        x = torch.cat([a.sum(2, keepdim=True) / 5 - 1, torch.randn(k, nodes, 7, generator=g)], 2)
        d = (a.sum(2) + 1).rsqrt()
        return (x, (a + torch.eye(nodes)) * d[:, :, None] * d[:, None, :]), y

    return draw(n), draw(m)


def molecules(n=1800, m=500, seed=0, nodes=14):
    """Graphs with four kinds of nodes, and a number that counts triangles and equal neighbors; standardized."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    a = (torch.rand(k, nodes, nodes, generator=g) < 0.25).float().triu(1)
    a = a + a.mT
    kind = F.one_hot(torch.randint(0, 4, (k, nodes), generator=g), 4).float()
    triangles = torch.einsum("nij,njk,nki->n", a, a, a) / 6
    equal_neighbors = torch.einsum("nij,nic,njc->n", a, kind, kind) / 2
    return split_at({"nodes": kind, "adjacency": a}, standardize(triangles + 2 * equal_neighbors), n)


def communities(n=1600, m=500, seed=0, nodes=20):
    """Graphs of one, two or four groups of friends; node features are noise and the degree."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    groups = torch.tensor([1, 2, 4])[y][:, None]
    member = torch.arange(nodes)[None] % groups
    same = member[:, :, None] == member[:, None, :]
    p = torch.where(same, torch.tensor([0.35, 0.62, 0.95])[y][:, None, None], torch.tensor(0.06))
    a = (torch.rand(k, nodes, nodes, generator=g) < p).float().triu(1)
    a = a + a.mT + torch.eye(nodes)
    feature = F.one_hot(torch.randint(0, 5, (k, nodes), generator=g), 5).float()
    feature = feature + 0.1 * torch.randn(k, nodes, 5, generator=g)
    feature = torch.cat([feature, (a.sum(2, keepdim=True) - 8) / 3], 2)
    return split_at((feature, a / a.sum(2, keepdim=True)), y, n)


def point_clouds(n=2000, m=500, seed=0, points=40):
    """Points on spheres, cubes, cylinders and saddles, rotated around one axis, with noise."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 4, (k,), generator=g)
    z = torch.randn(k, points, 3, generator=g)
    u = 2 * torch.rand(k, points, 3, generator=g) - 1
    sphere = z / z.norm(dim=2, keepdim=True)
    cube = u / u.abs().amax(2, keepdim=True)
    ring = z[..., :2] / z[..., :2].norm(dim=2, keepdim=True)
    saddle = torch.stack([u[..., 0], u[..., 1], u[..., 0].square() - u[..., 1].square()], 2)
    every = torch.stack([sphere, cube, torch.cat([ring, u[..., 2:]], 2), saddle], 1)
    x = every[torch.arange(k), y]
    turn = 6.28 * torch.rand(k, generator=g)
    c, s = turn.cos()[:, None], turn.sin()[:, None]
    x = torch.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]], 2)
    return split_at(1.4 * x + 0.08 * torch.randn(x.shape, generator=g), y, n)
