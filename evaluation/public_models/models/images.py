"""ResNet-18 and MobileNetV2 for CIFAR images, and the U-Net with bilinear or transposed upsampling, written again."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    """Two convolutions with batch norm, and a shortcut."""

    def __init__(self, before: int, planes: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or before != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x: Tensor) -> Tensor:
        """The block's output."""
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + self.shortcut(x))


class ResNet18(nn.Module):
    """The ResNet-18 for images of 32 x 32: a 3 x 3 first convolution and no max pooling."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        widths, strides, before, layers = (64, 128, 256, 512), (1, 2, 2, 2), 64, []
        for planes, stride in zip(widths, strides, strict=True):
            layers.append(nn.Sequential(BasicBlock(before, planes, stride), BasicBlock(planes, planes, 1)))
            before = planes
        self.layer1, self.layer2, self.layer3, self.layer4 = layers
        self.linear = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (n, 3, 32, 32)."""
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer4(self.layer3(self.layer2(self.layer1(out))))
        return self.linear(F.avg_pool2d(out, 4).flatten(1))


class InvertedBlock(nn.Module):
    """Expand, convolve each channel, project; a shortcut if the size stays."""

    def __init__(self, before: int, after: int, expansion: int, stride: int) -> None:
        super().__init__()
        self.stride, planes = stride, expansion * before
        self.conv1, self.bn1 = nn.Conv2d(before, planes, 1, bias=False), nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=stride, padding=1, groups=planes, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3, self.bn3 = nn.Conv2d(planes, after, 1, bias=False), nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential()
        if stride == 1 and before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output."""
        out = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        out = self.bn3(self.conv3(out))
        return out + self.shortcut(x) if self.stride == 1 else out


class MobileNetV2(nn.Module):
    """MobileNetV2 for images of 32 x 32."""

    PLAN = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    """Expansion, channels, blocks and stride of each stage."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        blocks, before = [], 32
        for expansion, after, count, stride in self.PLAN:
            for i in range(count):
                blocks.append(InvertedBlock(before, after, expansion, stride if i == 0 else 1))
                before = after
        self.layers = nn.Sequential(*blocks)
        self.conv2, self.bn2 = nn.Conv2d(320, 1280, 1, bias=False), nn.BatchNorm2d(1280)
        self.linear = nn.Linear(1280, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (n, 3, 32, 32)."""
        out = self.layers(F.relu(self.bn1(self.conv1(x))))
        out = F.relu(self.bn2(self.conv2(out)))
        return self.linear(F.avg_pool2d(out, 4).flatten(1))


def double_convolution(before: int, after: int) -> nn.Sequential:
    """Two convolutions, each with batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
        nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
    )  # fmt: skip


class UpBlock(nn.Module):
    """A transposed convolution to twice the size, and two convolutions over it and the features kept from the way down."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(before, before // 2, 2, stride=2)
        self.conv = double_convolution(before, before // 2)

    def forward(self, x: Tensor, kept: Tensor) -> Tensor:
        """Features of twice the size."""
        return self.conv(torch.cat((kept, self.up(x)), dim=1))


class UNet(nn.Module):
    """The U-Net: four times down, four times up with transposed convolutions, and a 1 x 1 convolution to classes."""

    def __init__(self, n_channels: int = 3, n_classes: int = 3, width: int = 64) -> None:
        super().__init__()
        sizes = [width * 2**i for i in range(5)]
        self.inc = double_convolution(n_channels, width)
        self.down = nn.ModuleList([double_convolution(a, b) for a, b in zip(sizes, sizes[1:], strict=False)])
        self.up = nn.ModuleList([UpBlock(size) for size in sizes[:0:-1]])
        self.outc = nn.Conv2d(width, n_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes, height, width) of images (n, channels, height, width)."""
        kept = [self.inc(x)]
        for down in self.down:
            kept.append(down(F.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for up in self.up:
            x = up(x, kept.pop())
        return self.outc(x)
