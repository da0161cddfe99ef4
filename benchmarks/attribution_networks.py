"""The networks whose attributions are compared, from fixed seeds, and the time of functions that compete."""

import time

import torch
from torch import nn

STEPS, SAMPLES = 50, 25


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.skip = nn.Sequential() if inputs == outputs and stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class Reader(nn.Module):
    """A small transformer on tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(200, 32)
        self.place = nn.Parameter(0.1 * torch.randn(24, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 5)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens) + self.place).mean(1))


def problems():
    """Module, inputs, targets and the layer of Grad-CAM, by name."""
    torch.manual_seed(0)
    cnn = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    widths = ((64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2))
    resnet = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        *(Block(a, b, s) for a, b, s in widths), Block(512, 512, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(512, 10),
    )  # fmt: skip
    found = {
        "CNN 28x28": (cnn, torch.rand(32, 1, 28, 28), torch.arange(32) % 10, 4),
        "ResNet-18 32x32": (resnet, torch.rand(2, 3, 32, 32), torch.arange(2), 10),
        "transformer, 24 tokens": (Reader(), torch.randint(1, 200, (16, 24)), torch.arange(16) % 5, None),
    }
    torch.backends.mha.set_fastpath_enabled(False)  # both sides on the same arithmetic
    return {name: (net.eval(), *rest) for name, (net, *rest) in found.items()}


def in_turns(*functions):
    """The values of some functions and the smallest time of each: in turns, for about two seconds, at least four times."""
    times, values = [[] for _ in functions], [function() for function in functions]
    while len(times[0]) < 4 or (sum(map(sum, times)) < 2.0 and len(times[0]) < 40):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return values, [min(taken) for taken in times]
