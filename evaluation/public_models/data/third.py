"""Data of the third collection: replaced tokens, choices, videos, depths, recordings, captions, series."""

import math

import torch
from torch import Tensor

from evaluation.public_models.case import Data
from evaluation.public_models.data.images import digits
from evaluation.public_models.data.second import captions, tones
from evaluation.public_models.data.text import VOCABULARY, lines, tags, windows


def _split(whole: dict[str, Tensor], test: int) -> Data:
    return Data({k: v[test:] for k, v in whole.items()}, {k: v[:test] for k, v in whole.items()})


def replaced(seed: int) -> Data:
    """Characters of which 15 % are replaced at random, and 1 for each replaced character, else 0; dicts for ELECTRA."""
    generator = torch.Generator().manual_seed(seed + 1)
    parts = []
    for ids in windows(seed, 32, 2000, 300):
        chosen = torch.rand(ids.shape, generator=generator) < 0.15
        other = torch.randint(VOCABULARY, ids.shape, generator=generator)
        shown = torch.where(chosen, other, ids)
        parts.append({"input_ids": shown, "attention_mask": torch.ones_like(ids), "labels": (shown != ids).long()})
    return Data(*parts)


def choices(seed: int, count: int = 3) -> Data:
    """Three lines of code, one of which defines a class or function, and its place; dicts (n, 3, length)."""
    plain = lines(train=2400, test=600)(seed)
    parts = []
    for part, n in ((plain.train, 1500), (plain.test, 300)):
        generator = torch.Generator().manual_seed(seed)
        wanted, others = (part["labels"] == 1).nonzero().flatten(), (part["labels"] != 1).nonzero().flatten()
        right = torch.randint(count, (n,), generator=generator)
        rows = others[torch.randint(len(others), (n, count), generator=generator)]
        rows[torch.arange(n), right] = wanted[torch.randint(len(wanted), (n,), generator=generator)]
        parts.append(
            {"input_ids": part["input_ids"][rows], "attention_mask": part["attention_mask"][rows], "labels": right}
        )
    return Data(*parts)


def videos(seed: int, frames: int = 4, size: int = 16) -> Data:
    """A bright spot that moves in one of four directions, (n, frames, 1, size, size); dicts."""
    generator = torch.Generator().manual_seed(seed)
    count = 1500
    kinds = torch.randint(4, (count,), generator=generator)
    start = 5 + 6 * torch.rand(count, 2, generator=generator)
    step = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1]])[kinds]
    line = torch.arange(float(size))
    shown = []
    for t in range(frames):
        row, column = (start + t * step).unbind(1)
        spot = (line - row[:, None]).square()[:, :, None] + (line - column[:, None]).square()[:, None]
        shown.append(torch.exp(-spot / 4))
    film = torch.stack(shown, 1)[:, :, None] + 0.3 * torch.randn(count, frames, 1, size, size, generator=generator)
    return _split({"pixel_values": film, "labels": kinds}, 300)


def depths(seed: int, size: int = 32) -> Data:
    """Images of digits whose brightness is the depth of a bump, with noise, and the depth (n, size, size), above 0."""
    parts = []
    generator = torch.Generator().manual_seed(seed)
    x, _, xt, _ = digits(seed, 700, 200, size, 3)
    for images in (x, xt):
        near = torch.nn.functional.avg_pool2d(images[:, :1], 5, 1, 2)[:, 0]
        noisy = images + 0.1 * torch.randn(images.shape, generator=generator)
        parts.append({"pixel_values": noisy, "labels": 1 + 4 * near})
    return Data(*parts)


def recordings(seed: int, length: int = 800) -> Data:
    """Sound waves (n, length) whose pitch falls, stays or rises, and which of the three; dicts."""
    generator = torch.Generator().manual_seed(seed)
    count = 1200
    kinds = torch.randint(3, (count,), generator=generator)
    times = torch.linspace(0, 1, length)
    pitch = 30 + 20 * torch.rand(count, 1, generator=generator)
    phase = 2 * math.pi * (pitch * times + 12 * (kinds[:, None] - 1) * times.square())
    sound = torch.sin(phase) + 0.2 * torch.randn(count, length, generator=generator)
    return _split({"input_values": sound, "labels": kinds}, 200)


def written(seed: int) -> Data:
    """Images of two digits, and the two digits and an end as labels; dicts for an encoder with decoder."""
    plain = captions(seed)
    return Data(
        *({"pixel_values": part["pixel_values"], "labels": part["input_ids"][:, 1:].contiguous()} for part in (plain.train, plain.test))
    )  # fmt: skip


def named_series(seed: int) -> Data:
    """Two channels (n, 48, 2) with a tone that rises, falls or stays, and which; dicts for PatchTSMixer."""
    plain = tones(seed, bins=8)
    parts = []
    for part in (plain.train, plain.test):
        sound = part["input_values"]
        parts.append(
            {
                "past_values": torch.stack((sound.mean(2), sound.argmax(2).float() / 4 - 1), 2),
                "target_values": part["labels"],
            }
        )
    return Data(*parts)


def tag_pairs(seed: int) -> Data:
    """Lines of code (n, 48) and a class from 0 to 5 for each character, as a pair; padding has a class of its own."""
    plain = tags()(seed)
    return Data(
        *((part["input_ids"], part["labels"].masked_fill(part["labels"] < 0, 5)) for part in (plain.train, plain.test))
    )


def images_of_themselves(seed: int) -> Data:
    """Images from -1 to 1, and the same images as targets."""
    x, _, xt, _ = digits(seed, 2000, 500)
    return Data((2 * x - 1, 2 * x - 1), (2 * xt - 1, 2 * xt - 1))


def ordered(seed: int) -> Data:
    """Ten numbers, and in which fifth of its values a smooth function of them lies."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2500, 10, generator=generator)
    value = x[:, 0] + torch.sin(2 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + 0.2 * torch.randn(2500, generator=generator)
    y = torch.bucketize(value, value.quantile(torch.tensor([0.2, 0.4, 0.6, 0.8])))
    return Data((x[500:], y[500:]), (x[:500], y[:500]))


def _noise(clean: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    times = torch.randint(0, 1000, (len(clean),), generator=generator)
    kept = torch.cos(times / 1000 * torch.pi / 2).reshape(-1, *[1] * (clean.dim() - 1))
    noise = torch.randn(clean.shape, generator=generator)
    return clean * kept + noise * (1 - kept**2).sqrt(), times, noise


def noised_series(seed: int) -> Data:
    """Noisy sines (n, 1, 32) with a time, and the noise."""
    generator = torch.Generator().manual_seed(seed)
    phase, speed = (torch.rand(2300, 1, 1, generator=generator) for _ in range(2))
    series = torch.sin(6.3 * phase + (0.2 + 0.6 * speed) * torch.arange(32.0))
    noisy, times, noise = _noise(series, generator)
    return Data(((noisy[300:], times[300:]), noise[300:]), ((noisy[:300], times[:300]), noise[:300]))


def noised_with_condition(seed: int) -> Data:
    """Noisy images with a time and their class as one condition (n, 1, 10), and the noise."""
    x, y, xt, yt = digits(seed, 1500, 300, 16)
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for images, classes in ((x, y), (xt, yt)):
        noisy, times, noise = _noise(2 * images - 1, generator)
        condition = torch.nn.functional.one_hot(classes, 10).float()[:, None]
        parts.append(((noisy, times, condition), noise))
    return Data(*parts)
