"""Data of the second collection: points, scenes, ratings, drawn words, pairs of images and captions, objects."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from evaluation.public_models.case import Data
from evaluation.public_models.data.images import digits, pairs
from evaluation.public_models.data.text import reversals


def color_images(size: int, train: int = 1000, test: int = 300):
    """A function of a seed: images with three channels and their classes."""
    return pairs(size, 3, train, test)


def point_clouds(seed: int, points: int = 64) -> Data:
    """Inked places of digits as points (n, 3, points), whose third number is the gray value, and the digits."""
    x, y, xt, yt = digits(seed, 1000, 300, 16)
    generator = torch.Generator().manual_seed(seed)

    def cloud(images: Tensor) -> Tensor:
        gray = images.flatten(1)
        chosen = torch.multinomial(gray + 1e-6, points, replacement=True, generator=generator)
        row, column = chosen // 16, chosen % 16
        return torch.stack((column / 8 - 1, row / 8 - 1, gray.gather(1, chosen)), 1)

    return Data((cloud(x), y), (cloud(xt), yt))


def scene(seed: int, frequencies: int = 10, directions: int = 4) -> Data:
    """Points and directions, encoded by sines, (n, 63 + 27), and color and density of a scene of three balls (n, 4)."""
    generator = torch.Generator().manual_seed(seed)
    points = 2 * torch.rand(4000, 3, generator=generator) - 1
    view = F.normalize(torch.randn(4000, 3, generator=generator), dim=1)
    centers, colors = torch.rand(3, 3, generator=generator) - 0.5, torch.rand(3, 3, generator=generator)
    weights = torch.exp(-8 * torch.cdist(points, centers).square())
    color = (weights @ colors) / (weights.sum(1, keepdim=True) + 0.1) + 0.1 * view[:, :1]
    y = torch.cat((color, weights.sum(1, keepdim=True)), 1)
    x = torch.cat((_waves(points, frequencies), _waves(view, directions)), 1)
    return Data((x[1000:], y[1000:]), (x[:1000], y[:1000]))


def _waves(x: Tensor, count: int) -> Tensor:
    return torch.cat([x, *(wave(2.0**i * x) for i in range(count) for wave in (torch.sin, torch.cos))], 1)


def ratings(seed: int, users: int = 80, items: int = 120) -> Data:
    """Users, items and whether the user likes the item (0.0 or 1.0)."""
    generator = torch.Generator().manual_seed(seed)
    tastes, kinds = torch.randn(users, 3, generator=generator), torch.randn(items, 3, generator=generator)
    user, item = (torch.randint(0, n, (8000,), generator=generator) for n in (users, items))
    y = ((tastes[user] * kinds[item]).sum(1) + 0.5 * torch.randn(8000, generator=generator) > 0).float()
    return Data(((user[1500:], item[1500:]), y[1500:]), ((user[:1500], item[:1500]), y[:1500]))


def drawn_words(seed: int, most: int = 4) -> Data:
    """Images (n, 1, 32, 100) with four digits side by side, and the digits, counted from 1."""
    x, y, xt, yt = digits(seed, 2400, 600, 24)

    def joined(images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        images, labels = (part[: len(part) // most * most] for part in (images, labels))
        rows = images.reshape(-1, most, 24, 24).permute(0, 2, 1, 3).reshape(-1, 1, 24, 24 * most)
        return F.pad(rows, (2, 2, 4, 4)) - 0.5, labels.reshape(-1, most) + 1

    return Data(joined(x, y), joined(xt, yt))


def captions(seed: int) -> Data:
    """Images of two digits side by side, and their captions: a start, the two digits, an end. Dicts for CLIP."""
    x, y, xt, yt = digits(seed, 2400, 600, 16)

    def part(images: Tensor, labels: Tensor) -> dict[str, Tensor]:
        images, labels = (part[: len(part) // 2 * 2] for part in (images, labels))
        both = images.reshape(-1, 2, 16, 16).permute(0, 2, 1, 3).reshape(-1, 1, 16, 32)
        words = F.pad(F.pad(labels.reshape(-1, 2) + 2, (1, 0), value=1), (0, 1), value=12)
        return {"input_ids": words, "pixel_values": F.pad(both, (0, 0, 8, 8)) - 0.5, "return_loss": True}

    return Data(part(x, y), part(xt, yt))


def objects(seed: int, batch: int = 16) -> Data:
    """Batches as DETR's collator makes them: images with one digit somewhere, and a list of dicts with its class and box."""
    generator = torch.Generator().manual_seed(seed)

    def batches(images: Tensor, labels: Tensor) -> list[dict]:
        canvas, boxes = torch.zeros(len(images), 3, 64, 64), []
        for i, image in enumerate(images):
            row, column = torch.randint(0, 40, (2,), generator=generator).tolist()
            canvas[i, :, row : row + 24, column : column + 24] = image
            boxes.append([(column + 12) / 64, (row + 12) / 64, 24 / 64, 24 / 64])
        marked = [
            {"class_labels": labels[i : i + 1], "boxes": torch.tensor(boxes[i : i + 1])} for i in range(len(images))
        ]
        starts = range(0, len(images), batch)
        return [{"pixel_values": canvas[i : i + batch], "labels": marked[i : i + batch]} for i in starts]

    x, y, xt, yt = digits(seed, 640, 160, 24)
    return Data(batches(x, y), batches(xt, yt))


def waves_to_come(seed: int, past: int = 36, future: int = 8) -> Data:
    """Dicts for the time series transformer: noisy sums of two sines, and the time as the one known feature."""
    generator = torch.Generator().manual_seed(seed)
    times = torch.arange(float(past + future))
    phase, speed = torch.rand(1200, 2, 1, generator=generator) * 6.3, torch.rand(1200, 2, 1, generator=generator) + 0.3
    series = torch.sin(speed * times / 2 + phase).sum(1) + 0.1 * torch.randn(1200, past + future, generator=generator)
    clock = (times / (past + future)).expand(1200, -1)[..., None]
    whole = {
        "past_values": series[:, :past], "past_time_features": clock[:, :past].contiguous(),
        "past_observed_mask": torch.ones(1200, past), "future_values": series[:, past:],
        "future_time_features": clock[:, past:].contiguous(),
    }  # fmt: skip
    return Data({k: v[200:] for k, v in whole.items()}, {k: v[:200] for k, v in whole.items()})


def backwards(seed: int) -> Data:
    """Words and the same words backwards: source, target so far, and the next token of the target, padded with 0."""
    plain = reversals()(seed)
    parts = []
    for part in (plain.train, plain.test):
        gold = part["labels"].masked_fill(part["labels"] < 0, 0)
        parts.append(((part["input_ids"], F.pad(gold, (1, -1), value=28)), gold))
    return Data(*parts)


def tones(seed: int, frames: int = 48, bins: int = 16) -> Data:
    """Spectra (n, frames, bins) of one rising, falling or constant tone in noise, and which of the three; dicts."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 3, (1300,), generator=generator)
    start = torch.rand(1300, generator=generator) * 6 + 5
    places = start[:, None] + (kinds[:, None] - 1) * torch.linspace(-4, 4, frames)
    sound = torch.exp(-(places[..., None] - torch.arange(float(bins))).square() / math.sqrt(2))
    sound = sound + 0.4 * torch.randn(sound.shape, generator=generator)
    return Data(
        {"input_values": sound[300:], "labels": kinds[300:]}, {"input_values": sound[:300], "labels": kinds[:300]}
    )
