"""Series and functions: waves, a transport equation, coordinates of an image, and tones that spell words."""

import math

import torch
from torch import Tensor

from evaluation.public_models.case import Data
from evaluation.public_models.data.images import small_digits


def sine_waves(seed: int, length: int = 60) -> Data:
    """Sine waves with random phases in double precision, and the same waves one step later."""
    phases = torch.rand(100, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    waves = torch.sin(torch.arange(length + 1.0, dtype=torch.double) / 6 + 2 * math.pi * phases)
    return Data((waves[20:, :-1], waves[20:, 1:]), (waves[:20, :-1], waves[:20, 1:]))


def mixtures(
    seed: int, count: int = 1200, past: int = 48, future: int = 12, channels: int = 4
) -> tuple[Tensor, Tensor]:
    """Sums of two sine waves with noise: the past (n, past, channels) and the future (n, future, channels)."""
    generator = torch.Generator().manual_seed(seed)
    times = torch.arange(float(past + future))[:, None]
    waves = torch.zeros(count, past + future, channels)
    for period in (8.0, 24.0):
        phases = 2 * math.pi * torch.rand(count, 1, channels, generator=generator)
        waves = waves + torch.sin(2 * math.pi * times / period + phases)
    waves = waves + 0.1 * torch.randn(waves.shape, generator=generator)
    return waves[:, :past], waves[:, past:]


def forecasts(channels: int = 4, flat: bool = False):
    """A function of a seed: the past and the future of several series; ``flat`` drops the axis of one channel."""

    def data(seed: int) -> Data:
        past, future = mixtures(seed, channels=channels)
        past, future = (past[..., 0], future[..., 0]) if flat else (past, future)
        return Data((past[200:], future[200:]), (past[:200], future[:200]))

    return data


def named_forecasts(seed: int) -> Data:
    """The same as dicts with the names of Hugging Face's forecasting models."""
    past, future = mixtures(seed)
    return Data(
        {"past_values": past[200:], "future_values": future[200:]},
        {"past_values": past[:200], "future_values": future[:200]},
    )


def next_values(channel_first: bool):
    """A function of a seed: one series and its next value at each step, (n, 1, length) or (n, length, 1)."""

    def data(seed: int) -> Data:
        whole = torch.cat(mixtures(seed, channels=1), 1)
        whole = whole.transpose(1, 2).contiguous() if channel_first else whole
        axis = 2 if channel_first else 1
        x, y = whole.narrow(axis, 0, 59), whole.narrow(axis, 1, 59)
        return Data((x[200:], y[200:]), (x[:200], y[:200]))

    return data


def spirals(seed: int) -> Data:
    """Spirals that turn left or right, as cubic paths of torchcde, and their class."""
    import torchcde

    generator = torch.Generator().manual_seed(seed)
    times = torch.linspace(0, 4 * math.pi, 40)
    classes = torch.randint(0, 2, (600,), generator=generator)
    phases = 2 * math.pi * torch.rand(600, 1, generator=generator)
    angles = phases + times * (2.0 * classes[:, None] - 1)
    x = torch.stack((times.expand(600, -1), angles.cos() / (1 + times / 2), angles.sin() / (1 + times / 2)), -1)
    x[..., 1:] += 0.05 * torch.randn(600, 40, 2, generator=generator)
    paths = torchcde.hermite_cubic_coefficients_with_backward_differences(x)
    return Data((paths[150:], classes[150:]), (paths[:150], classes[:150]))


def transport(seed: int, points: int = 64, count: int = 700) -> Data:
    """Burgers' equation on a circle: random smooth initial values and the solution at a later time, (n, 1, points)."""
    generator = torch.Generator().manual_seed(seed)
    places = 2 * math.pi * torch.arange(points) / points
    waves = torch.arange(1, 5)
    shape = (count, len(waves))
    size, phase = torch.randn(shape, generator=generator) / waves, 2 * math.pi * torch.rand(shape, generator=generator)
    start = (size[..., None] * torch.sin(waves[:, None] * places + phase[..., None])).sum(1)
    frequencies = torch.fft.rfftfreq(points, 1 / points)
    u, step, viscosity = start, 0.005, 0.05
    for _ in range(100):
        slope = torch.fft.irfft(1j * frequencies * torch.fft.rfft(u), n=points)
        spectrum = torch.fft.rfft(u - step * u * slope) * torch.exp(-viscosity * frequencies**2 * step)
        u = torch.fft.irfft(spectrum * (frequencies < points / 3), n=points)
    x, y = start[:, None], u[:, None]
    return Data((x[150:], y[150:]), (x[:150], y[:150]))


def image_coordinates(seed: int, size: int = 64) -> Data:
    """Places in a large image from -1 to 1 and the gray there; half of the pixels is for the test."""
    image = torch.nn.functional.interpolate(small_digits(seed)[0][:1], size=(size, size), mode="bicubic")[0, 0]
    line = torch.linspace(-1, 1, size)
    places = torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    order = torch.randperm(size * size, generator=torch.Generator().manual_seed(seed))
    x, y = places[order], image.flatten()[order][:, None]
    return Data((x[2048:], y[2048:]), (x[:2048], y[:2048]))


def formula(seed: int) -> Data:
    """exp(sin(pi a) + b^2) of two numbers from -1 to 1, (n, 1)."""
    x = 2 * torch.rand(1500, 2, generator=torch.Generator().manual_seed(seed)) - 1
    y = torch.exp(torch.sin(math.pi * x[:, :1]) + x[:, 1:] ** 2)
    return Data((x[500:], y[500:]), (x[:500], y[:500]))


def moons(seed: int) -> Data:
    """Two crescents with noise."""
    from sklearn.datasets import make_moons

    points, classes = make_moons(1200, noise=0.15, random_state=seed)
    x, y = torch.tensor(points).float(), torch.tensor(classes).long()
    return Data((x[300:], y[300:]), (x[:300], y[:300]))


def spoken(seed: int, frames: int = 64, bins: int = 16, letters: int = 8, most: int = 5) -> tuple[Tensor, Tensor]:
    """Spectra (n, bins, frames) in which each letter is a tone of 12 frames, and the letters, padded with -100."""
    generator = torch.Generator().manual_seed(seed)
    count = 1000
    lengths = torch.randint(3, most + 1, (count,), generator=generator)
    spelled = torch.randint(0, letters, (count, most), generator=generator)
    spectra = 0.3 * torch.randn(count, bins, frames, generator=generator)
    labels = torch.full((count, most + 1), -100)
    for i in range(count):
        for j in range(int(lengths[i])):
            letter = int(spelled[i, j])
            spectra[i, 2 * letter : 2 * letter + 2, 12 * j : 12 * j + 10] += 1
            labels[i, j] = letter + 3
        labels[i, int(lengths[i])] = 2
    return spectra, labels


def spectra(seed: int) -> Data:
    """Dicts for Whisper."""
    x, labels = spoken(seed)
    return Data(
        {"input_features": x[200:], "labels": labels[200:]}, {"input_features": x[:200], "labels": labels[:200]}
    )


def waveforms(seed: int) -> Data:
    """Dicts for Wav2Vec2: each letter is a tone of 200 samples; labels from 1, padded with -100."""
    generator = torch.Generator().manual_seed(seed)
    count, letters = 800, 5
    spelled = torch.randint(1, letters + 1, (count, 4), generator=generator)
    times = torch.arange(200.0)
    tones = torch.sin(2 * math.pi * times * (spelled[..., None] / 20.0))
    waves = tones.flatten(1) + 0.1 * torch.randn(count, 800, generator=generator)
    return Data(
        {"input_values": waves[200:], "labels": spelled[200:]}, {"input_values": waves[:200], "labels": spelled[:200]}
    )
