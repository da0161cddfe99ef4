"""Draws the page of samples of docs/rooms/generative.md: seven models, three data sets, 4,000 or 1,500 steps.

Run from the root: ``python docs/assets/generative_samples.py``. It prints an energy distance of samples to
held-out data for each panel, with its p-value.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import torch
from matplotlib import pyplot as plt
from torch import nn

from gnomon.data import digits, moons, ring
from gnomon.generative import (
    GAN,
    VAE,
    Diffusion,
    FlowMatching,
    Gaussian,
    TimeNetwork,
    Wasserstein,
    autoregressive_flow,
    cosine_schedule,
    coupling_flow,
    dequantize,
    energy_test,
    fit,
    play,
    spline_flow,
)
from gnomon.training import Adam

STEPS = {2: 4000, 64: 1500}
"""For points in the plane, and for digits, of which a step takes longer."""
SHOWN = 1000


def layers(*widths):
    """A network of SiLU layers."""
    parts = [part for a, b in zip(widths, widths[1:], strict=False) for part in (nn.Linear(a, b), nn.SiLU())]
    return nn.Sequential(*parts[:-1])


def models(d):
    """A model of each family for points of d numbers, and the learning rate of each."""
    wide, latent = (64, 2) if d == 2 else (128, 16)
    vae = VAE(layers(d, wide, 2 * latent), layers(latent, wide, wide, d), latent=latent, shape=(d,),
              observation=Gaussian(0.1 if d == 2 else 0.15))  # fmt: skip
    return {
        "VAE": (vae, 2e-3),
        "Wasserstein GAN": (GAN(layers(latent, wide, wide, d), layers(d, wide, wide, 1), latent=latent, shape=(d,),
                                game=Wasserstein(1.0)), 1e-3),
        "affine coupling": (coupling_flow(d, layers=6, hidden=wide), 2e-3),
        "autoregressive": (autoregressive_flow(d, layers=4, hidden=wide), 2e-3),
        "spline coupling": (spline_flow(d, layers=2, hidden=wide), 2e-3),
        "flow matching": (FlowMatching(TimeNetwork(d, hidden=wide, layers=3), shape=(d,)), 2e-3),
        "diffusion": (Diffusion(TimeNetwork(d, hidden=wide, layers=3), cosine_schedule(100), shape=(d,)),
                      2e-3),
    }  # fmt: skip


def trained(model, lr, x):
    """The model after training."""
    steps = STEPS[x.shape[1]]
    if isinstance(model, GAN):
        return play(model, x, steps=steps, optimizer=Adam(lr, b1=0.5), discriminator_steps=2, batch=128).model
    return fit(model, x, steps=steps, optimizer=Adam(lr), batch=128).model


def tiled(x):
    """Sixteen digits as one picture, with a white line between them."""
    framed = nn.functional.pad(x[:16].reshape(16, 8, 8), (1, 1, 1, 1), value=-1)
    return framed.reshape(4, 4, 10, 10).permute(0, 2, 1, 3).reshape(40, 40)


def main():
    """Train, draw, print."""
    torch.set_num_threads(1)
    images = digits(1000, 797)
    flat = [(dequantize(part.flatten(1), 1 / 16) - 0.5) * 2 for part in (images.x, images.x_test)]
    sets = {
        "ring": (ring(8).sample(4000).float(), ring(8).sample(SHOWN, seed=1).float()),
        "moons": (moons(4000).float(), moons(SHOWN, seed=1).float()),
        "digits": (flat[0], flat[1]),
    }
    fig, axes = plt.subplots(3, 8, figsize=(12, 4.9), layout="constrained")
    for row, (name, (train, test)) in zip(axes, sets.items(), strict=True):
        d = train.shape[1]
        torch.manual_seed(0)
        panels = {"data": test}
        for title, (model, lr) in models(d).items():
            panels[title] = trained(model, lr, train).sample(len(test), seed=3)
            told = energy_test(panels[title], test, permutations=99)
            print(f"{name:7s} {title:16s} energy distance {told.statistic:8.4f}  p = {told.p_value:.2f}", flush=True)
        for place, (title, x) in zip(row, panels.items(), strict=True):
            place.set_xticks([])
            place.set_yticks([])
            if name == "ring":
                place.set_title(title, fontsize=9)
            if d == 2:
                place.set_aspect("equal")
                place.scatter(*x.T, s=0.7, linewidths=0, color="#20507a")
                place.set(xlim=(-3, 3) if name == "ring" else (-2, 2), ylim=(-3, 3) if name == "ring" else (-2, 2))
            else:
                place.imshow(tiled(x), cmap="gray_r", vmin=-1, vmax=1)
        fig.savefig(Path(__file__).with_name("generative-samples.png"), dpi=110)  # row by row: a run may be cut short


if __name__ == "__main__":
    main()
