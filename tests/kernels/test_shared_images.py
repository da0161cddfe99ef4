import torch
from torch import nn

import gnomon


def test_an_image_on_both_sides_stays_in_its_column():
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1)
    )
    x = torch.randn(3, 1, 4, 4, dtype=torch.float64)
    y = torch.stack([torch.randn_like(x[0]), torch.randn_like(x[0]), x[1]])
    for kernel in (gnomon.limit(net.double()).nngp, gnomon.limit(net).ntk):
        assert torch.allclose(kernel(x, y), kernel(torch.cat([x, y]))[:3, 3:])
