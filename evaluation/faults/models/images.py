"""Convolutional networks for images, from two layers to a ResNet-18 of 11 million parameters."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.parametrizations import spectral_norm


def cnn(norm=True, act=nn.ReLU, end=None, dropout=0.0):
    """Two convolutions and two dense layers for images of 28 x 28 in gray."""

    def block(a, b):
        middle = [nn.BatchNorm2d(b)] if norm else []
        return [nn.Conv2d(a, b, 3, padding=1), *middle, act(), nn.MaxPool2d(2)]

    layers = [*block(1, 16), *block(16, 32), nn.Flatten(), nn.Linear(32 * 49, 64), act(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(64, 10), *([] if end is None else [end]))


def small_cnn(classes=10, side=8, end=None):
    """Two convolutions and one dense layer for gray images."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(),
        nn.Linear(32 * (side // 2) ** 2, classes), *([] if end is None else [end]),
    )  # fmt: skip


def vgg(width=16, classes=5, norm=True, end=None, dropout=0.3):
    """Six convolutions in three stages and two dense layers, for 32 x 32 in color."""
    layers, a = [], 3
    for b in (width, 2 * width, 4 * width):
        for _ in range(2):
            layers += [nn.Conv2d(a, b, 3, padding=1), *([nn.BatchNorm2d(b)] if norm else []), nn.ReLU(inplace=True)]
            a = b
        layers.append(nn.MaxPool2d(2))
    head = [nn.Flatten(), nn.Linear(a * 16, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, classes)]
    return nn.Sequential(*layers, *head, *([] if end is None else [end]))


def group_norm_cnn(outputs=1, end=None, act=nn.SiLU):
    """Convolutions with group norm that predict one or two numbers from a gray image of 32 x 32."""
    layers, a = [], 1
    for b in (16, 32, 32):
        layers += [nn.Conv2d(a, b, 3, 2, 1), nn.GroupNorm(4, b), act()]
        a = b
    head = [nn.Flatten(), nn.Linear(a * 16, 64), act(), nn.Linear(64, outputs)]
    return nn.Sequential(*layers, *head, *([] if end is None else [end]))


def depthwise_cnn(classes=6, width=24, dropout=0.0):
    """Depthwise separable convolutions with batch norm, for 32 x 32 in color."""
    layers = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.Hardswish()]
    for _ in range(3):
        layers += [nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False), nn.BatchNorm2d(width), nn.Hardswish(),
                   nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width), nn.Hardswish()]  # fmt: skip
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(width, classes))


def spectral_norm_cnn(classes=10):
    """Two convolutions and a dense layer with spectral normalization."""
    return nn.Sequential(
        spectral_norm(nn.Conv2d(1, 16, 4, 2, 1)), nn.LeakyReLU(0.2), spectral_norm(nn.Conv2d(16, 32, 4, 2, 1)),
        nn.LeakyReLU(0.2), nn.Flatten(), spectral_norm(nn.Linear(32 * 49, classes)),
    )  # fmt: skip


class ScalesItsInput(nn.Module):
    """A network that standardizes bytes of MNIST itself."""

    def __init__(self, build):
        super().__init__()
        self.net = build()

    def forward(self, x):
        return self.net((x.float() / 255 - 0.1307) / 0.3081)


class ResidualBlock(nn.Module):
    """Two convolutions and a shortcut; ``zero`` starts the branch at zero."""

    def __init__(self, a, b, stride, norm, shortcut_norm, zero):
        super().__init__()
        self.one, self.two = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.n1, self.n2 = norm(b), norm(b)
        if stride == 1 and a == b:
            self.shortcut = nn.Identity()
        else:
            self.shortcut = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), *([norm(b)] if shortcut_norm else []))
        if zero:
            nn.init.zeros_(self.n2.weight)

    def forward(self, x):
        return F.relu(self.n2(self.two(F.relu(self.n1(self.one(x))))) + self.shortcut(x))


class ResNet18(nn.Module):
    """ResNet-18 for 32 x 32 in color: 11 million parameters at width 64."""

    def __init__(self, width=64, classes=10, norm=nn.BatchNorm2d, shortcut_norm=True, zero=False, wrong=""):
        super().__init__()
        w = width
        sizes = [(w, w, 1), (w, w, 1), (w, 2 * w, 2), (2 * w, 2 * w, 1), (2 * w, 4 * w, 2), (4 * w, 4 * w, 1),
                 (4 * w, 8 * w, 2), (8 * w, 8 * w, 1)]  # fmt: skip
        self.stem, self.norm = nn.Conv2d(3, w, 3, 1, 1, bias=False), norm(w)
        self.blocks = nn.Sequential(*(ResidualBlock(*size, norm, shortcut_norm, zero) for size in sizes))
        self.head, self.wrong = nn.Linear(8 * w, classes), wrong

    def forward(self, x):
        h = F.relu(self.norm(self.stem(x[:, :1].expand_as(x) if self.wrong == "reads one channel" else x)))
        for i, block in enumerate(self.blocks):
            h = block(h).data if self.wrong == "data" and i == 4 else block(h)
        h = h.mean((2, 3))
        if self.wrong == "detach":
            h = h.detach()
        if self.wrong == "normalizes over batch":
            h = (h - h.mean(0)) / (h.std(0) + 1e-3)
        f = self.head(h)
        return f.softmax(1) if self.wrong == "softmax" else f


class MobileNet(nn.Module):
    """Inverted bottlenecks: depthwise and pointwise convolutions with shortcuts."""

    def __init__(self, classes=5, wrong=""):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        blocks = [self._block(16, 1), self._block(16, 1), self._block(16, 2), self._block(32, 1)]
        self.blocks = blocks if wrong == "plain list" else nn.ModuleList(blocks)
        self.head, self.wrong = nn.Linear(32, classes), wrong
        if wrong == "frozen":
            for part in self.modules():
                if isinstance(part, nn.Conv2d):
                    nn.init.kaiming_normal_(part.weight)
                    part.requires_grad_(False)

    @staticmethod
    def _block(a, stride):
        b, wide = a * stride, 4 * a
        return nn.Sequential(
            nn.Conv2d(a, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, b, 1, bias=False), nn.BatchNorm2d(b),
        )  # fmt: skip

    def forward(self, x):
        h = self.stem(x)
        if self.wrong == "no_grad":
            with torch.no_grad():
                h = self.stem(x)
        for block in self.blocks:
            out = block(h)
            h = h + out if out.shape == h.shape else out
        return self.head(h.mean((2, 3)))


class DenseNet(nn.Module):
    """Each block reads the outputs of all blocks before it."""

    def __init__(self, growth=12, layers=4, classes=10, norm=nn.BatchNorm2d, end=None):
        super().__init__()
        sizes = [16 + growth * i for i in range(layers + 1)]
        self.stem = nn.Conv2d(1, 16, 3, 2, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(norm(c), nn.ReLU(), nn.Conv2d(c, growth, 3, padding=1)) for c in sizes[:-1]
        )
        self.norm, self.head = norm(sizes[-1]), nn.Linear(sizes[-1], classes)
        self.end = end or nn.Identity()

    def forward(self, x):
        h = self.stem(x)
        for block in self.blocks:
            h = torch.cat([h, block(h)], 1)
        return self.end(self.head(F.relu(self.norm(h)).mean((2, 3))))


class ConvNextBlock(nn.Module):
    """Depthwise 7 x 7, layer norm, two pointwise layers, a learned scale that starts small, stochastic depth."""

    def __init__(self, width, scale=1e-6, drop=0.1):
        super().__init__()
        self.depth, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale, self.drop = nn.Parameter(torch.full((width,), scale)), drop

    def forward(self, x):
        h = self.down(F.gelu(self.up(self.norm(self.depth(x).movedim(1, -1))))) * self.scale
        if self.training:
            h = h * (torch.rand(len(h), 1, 1, 1, device=h.device) > self.drop) / (1 - self.drop)
        return x + h.movedim(-1, 1)


class ConvNext(nn.Module):
    """Three blocks of ConvNeXt."""

    def __init__(self, classes=6, width=32, wrong=""):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, 4)
        self.blocks = nn.Sequential(*(ConvNextBlock(width) for _ in range(3)))
        self.norm, self.head, self.wrong = nn.LayerNorm(width), nn.Linear(width, classes), wrong

    def forward(self, x):
        h = self.stem(x)
        if self.wrong == "through numpy":
            h = torch.from_numpy(h.detach().numpy())
        return self.head(self.norm(self.blocks(h).mean((2, 3))))
