"""Autoencoders, U-Nets and networks that compare two images."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Autoencoder(nn.Module):
    """Dense layers down to 32 numbers and up again."""

    def __init__(self, end=None, wrong=""):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32))
        self.up = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 784), *([] if end is None else [end]))
        self.wrong = wrong

    def forward(self, x):
        code = self.down(x)
        return self.up(code.detach() if self.wrong == "detach" else code)


def conv_autoencoder(code=24, end=None):
    """A convolutional autoencoder with batch norm for images (1, 28, 28)."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.LeakyReLU(0.2), nn.Conv2d(12, 24, 4, 2, 1), nn.BatchNorm2d(24),
        nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(24 * 49, code), nn.Linear(code, 24 * 49), nn.Unflatten(1, (24, 7, 7)),
        nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.ReLU(), nn.ConvTranspose2d(12, 1, 4, 2, 1),
        *([] if end is None else [end]),
    )  # fmt: skip


class VariationalAutoencoder(nn.Module):
    """Returns the image, the means and the logarithms of the variances side by side."""

    def __init__(self, code=12, hidden=200, act=nn.SiLU, wrong=""):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(784, hidden), act(), nn.Linear(hidden, 2 * code))
        self.up = nn.Sequential(nn.Linear(code, hidden), act(), nn.Linear(hidden, 784))
        self.wrong = wrong

    def forward(self, x):
        mean, log = self.down(x).chunk(2, 1)
        sample = self.training or self.wrong == "samples in eval"
        f = self.up(mean + torch.randn_like(mean) * (log / 2).exp() if sample else mean)
        return torch.cat([f.sigmoid() if self.wrong == "sigmoid" else f, mean, log], 1)


class FillInUNet(nn.Module):
    """A U-Net of one level that completes an image."""

    def __init__(self, width=8, end=None, wrong=""):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, width, 3, padding=1), nn.Conv2d(width, 2 * width, 3, padding=1)
        self.up, self.c = nn.ConvTranspose2d(2 * width, width, 2, 2), nn.Conv2d(2 * width, 1, 3, padding=1)
        self.end, self.wrong = end or nn.Identity(), wrong

    def forward(self, x):
        h = F.relu(self.a(x))
        d = F.relu(self.b(F.max_pool2d(h, 2)))
        u = F.relu(self.up(d))
        h = torch.cat([torch.zeros_like(h), 0 * u] if self.wrong == "ignores input" else [h, u], 1)
        return self.end(self.c(h)).flatten(1)


class SegmentationUNet(nn.Module):
    """A U-Net of two levels: one score for each pixel and class."""

    def __init__(self, classes=1, width=12, wrong=""):
        super().__init__()

        def double(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(),
                                 nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())  # fmt: skip

        self.a, self.b, self.c = double(1, width), double(width, 2 * width), double(2 * width, 4 * width)
        self.up1, self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.d, self.e = double(4 * width, 2 * width), double(2 * width, width)
        self.end, self.wrong = nn.Conv2d(width, classes, 1), wrong

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        h = self.d(torch.cat([b, self.up1(c)], 1))
        f = self.end(self.e(torch.cat([a, self.up2(h)], 1)))
        return f.sigmoid() if self.wrong == "sigmoid" else f


class DenoisingUNet(nn.Module):
    """A U-Net that predicts the noise and subtracts it."""

    def __init__(self, width=12, wrong=""):
        super().__init__()
        w = width
        self.a, self.b = nn.Conv2d(1, w, 3, padding=1), nn.Conv2d(w, 2 * w, 3, 2, 1)
        self.c, self.d = nn.Conv2d(2 * w, 2 * w, 3, padding=1), nn.Conv2d(3 * w, w, 3, padding=1)
        self.n1, self.n2, self.end = nn.GroupNorm(4, 2 * w), nn.GroupNorm(4, w), nn.Conv2d(w, 1, 3, padding=1)
        self.wrong = wrong

    def forward(self, x):
        a = F.silu(self.a(x))
        b = F.silu(self.b(a))
        c = F.silu(self.n1(self.c(b.detach() if self.wrong == "detach" else b)))
        a = a.detach() if self.wrong == "detach" else a
        h = F.silu(self.n2(self.d(torch.cat([a, F.interpolate(c, scale_factor=2)], 1))))
        return x - self.end(h)


class SameDigitClassifier(nn.Module):
    """One tower for two images, passed by name, and two scores: different or the same."""

    def __init__(self, wrong=""):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 12, 5, 2, 2), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(), nn.Flatten(),
            nn.Linear(24 * 49, 48),
        )  # fmt: skip
        self.head, self.wrong = nn.Sequential(nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 2)), wrong

    def forward(self, left, right):
        a, b = self.tower(left), self.tower(left if self.wrong == "reads left twice" else right)
        return self.head(torch.cat([(a - b).abs(), a * b], 1))


class DistanceNetwork(nn.Module):
    """The distance between the codes of two images, for a contrastive loss."""

    def __init__(self, wrong=""):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2, 2), nn.GroupNorm(4, 16), nn.GELU(), nn.Conv2d(16, 32, 3, 2, 1), nn.GELU(),
            nn.Flatten(), nn.Linear(32 * 49, 32),
        )  # fmt: skip
        self.wrong = wrong

    def forward(self, a, b):
        return F.pairwise_distance(self.tower(a), self.tower(a if self.wrong == "reads one image twice" else b))
