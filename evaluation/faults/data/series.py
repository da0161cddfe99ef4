"""Series over time: tones, heartbeats, seasons, sensors of a phone."""

import torch

from evaluation.faults.data.split import split_at


def tones(n=2500, m=800, length=64, seed=0):
    """Noisy sine waves of three frequencies with random phases."""
    g = torch.Generator().manual_seed(seed)

    def draw(k):
        y = torch.randint(0, 3, (k,), generator=g)
        t = torch.linspace(0, 1, length) * 2 * torch.pi
        wave = torch.sin((2.0 + 2 * y)[:, None] * t + 6.28 * torch.rand(k, 1, generator=g))
        return (wave + 0.5 * torch.randn(k, length, generator=g))[:, None], y

    return draw(n), draw(m)


def heartbeats(n=2400, m=600, seed=0, length=96):
    """Two channels of beats at a random rate: regular, with one beat missing, or with one beat too wide."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    t = torch.arange(length).float()
    interval, start = 14 + 6 * torch.rand(k, generator=g), 8 * torch.rand(k, generator=g)
    abnormal = torch.randint(1, 4, (k,), generator=g)
    x = torch.zeros(k, 2, length)
    for beat in range(7):
        center, hit = start + beat * interval, abnormal == beat
        width = torch.where(hit & (y == 2), 4.0, 1.2)[:, None]
        height = torch.where(hit & (y == 1), 0.0, 1.0)[:, None]
        bump = height * torch.exp(-0.5 * ((t - center[:, None]) / width).square())
        x[:, 0] += bump
        x[:, 1] -= 0.5 * bump.roll(3, 1)
    x = x + 0.15 * torch.randn(x.shape, generator=g)
    return split_at((x - x.mean()) / x.std(), y, n)


def seasonal_windows(n=2500, m=600, seed=0, past=48, ahead=8):
    """Windows (48, 1) of a noisy seasonal series, and the next 8 values."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    t = torch.arange(past + ahead).float()
    phase, rate = 6.28 * torch.rand(k, 1, generator=g), 0.3 + 0.4 * torch.rand(k, 1, generator=g)
    z = torch.sin(rate * t + phase) + 0.5 * torch.randn(k, 1, generator=g) + 0.15 * torch.randn(k, len(t), generator=g)
    return split_at(z[:, :past, None], z[:, past:], n)


def phone_sensors(n=2400, m=600, seed=0, length=64):
    """Six channels of a carried phone: rest, walk, run, stairs, cycle, ride; gravity acts on one of the axes."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 6, (k,), generator=g)
    t = torch.arange(length).float()
    rate = torch.tensor([0.0, 0.35, 0.6, 0.3, 0.45, 0.9])[y] * (1 + 0.1 * torch.randn(k, generator=g))
    loud = torch.tensor([0.05, 0.8, 1.8, 1.0, 0.6, 0.25])[y] * (1 + 0.2 * torch.randn(k, generator=g)).clamp(min=0.3)
    phase = 6.28 * torch.rand(k, 6, 1, generator=g)
    base = torch.sin(rate[:, None, None] * t + phase)
    overtone = torch.tensor([0.0, 0.2, 0.3, 0.9, 0.0, 0.1])[y][:, None, None]
    overtone = overtone * torch.sin(2 * rate[:, None, None] * t + phase)
    x = loud[:, None, None] * (base + overtone) * torch.tensor([1.0, 0.7, 0.5, 0.6, 0.4, 0.8])[:, None]
    x = x + 0.35 * torch.randn(k, 6, length, generator=g)
    x[:, 2] += 0.6 + 0.3 * torch.randn(k, 1, generator=g)
    return split_at(x, y, n)


def overlapping_windows(n=2400, m=600, seed=0, length=64):
    """Windows cut from 60 long recordings and then split at random: most test windows overlap a training window."""
    g = torch.Generator().manual_seed(seed)
    (x, y), _ = phone_sensors(60, 6, seed, length=400)
    recording = torch.randint(0, 60, (n + m,), generator=g)
    start = torch.randint(0, 400 - length, (n + m,), generator=g)
    cut = [x[i, :, s : s + length] for i, s in zip(recording.tolist(), start.tolist(), strict=True)]
    return split_at(torch.stack(cut), y[recording], n)
