"""Draws the pages of samples of docs/topics/generative.md: points in the plane and 8 x 8 digits, then MNIST.

Run from the root: ``python docs/assets/generative_samples.py [--data ring moons digits] [--seconds 600]
[--mnist FILE]``. Samples are kept in build/samples, so that it can be run in pieces. It prints an energy distance of
samples to held-out data for each panel, with its p-value. ``--mnist`` names an npz file with arrays x_train and x_test.
"""

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import torch
from matplotlib import pyplot as plt
from torch import nn

from gnomon.data import digits, moons, ring_of_gaussians
from gnomon.generative import (
    GAN,
    VAE,
    Diffusion,
    FlowMatching,
    autoregressive_flow,
    coupling_flow,
    energy_test,
    fit,
    spline_flow,
    train_gan,
)
from gnomon.generative.continuous import TimeConditionedNetwork
from gnomon.generative.diffusion.schedule import cosine_schedule
from gnomon.generative.flows.standard_flows import autoregressive_spline_flow
from gnomon.generative.gan import WassersteinLosses
from gnomon.generative.model import dequantize
from gnomon.generative.vae import GaussianObservation
from gnomon.training import Adam
from gnomon.training.schedule import ScheduledOptimizer

STEPS, BATCH = {2: 2000, 64: 1500, 784: 2000}, {2: 512, 64: 128, 784: 128}
FEWER = {("flow matching", 2): 5000, ("diffusion", 2): 5000, ("spline coupling", 2): 500,
         ("autoregressive spline", 2): 800, ("autoregressive", 2): 1500, ("autoregressive spline", 64): 150,
         ("spline coupling", 64): 150, ("autoregressive spline", 784): 60, ("spline coupling", 784): 100,
         ("autoregressive", 784): 600, ("affine coupling", 784): 60, ("Wasserstein GAN", 784): 600,
         ("flow matching", 784): 1200, ("diffusion", 784): 1200}  # fmt: skip
"""Steps where one is long or very short, or where a flow would learn its 1,000 digits by heart."""
KEPT = Path("build/samples")
SHOWN = 1000


def layers(*widths):
    """A network of SiLU layers."""
    parts = [part for a, b in zip(widths, widths[1:], strict=False) for part in (nn.Linear(a, b), nn.SiLU())]
    return nn.Sequential(*parts[:-1])


def models(d):
    """A model of each family for points of d numbers, as functions that make one."""
    wide, latent, deep = {2: (64, 2, 3), 64: (128, 16, 3), 784: (256, 16, 1)}[d]
    return {
        "VAE": lambda: VAE(layers(d, wide, wide, 2 * latent), layers(latent, wide, wide, wide, d), latent=latent,
                           shape=(d,), observation=GaussianObservation(0.1 if d == 2 else 0.15)),
        "Wasserstein GAN": lambda: GAN(layers(latent, wide, wide, d), layers(d, wide, wide, 1), latent=latent,
                                       shape=(d,), game=WassersteinLosses(1.0)),
        "affine coupling": lambda: coupling_flow(d, layers=2 * deep, hidden=wide),
        "autoregressive": lambda: autoregressive_flow(d, layers=deep + 1, hidden=wide),
        "spline coupling": lambda: spline_flow(d, layers=min(deep, 2), hidden=wide),
        "autoregressive spline": lambda: autoregressive_spline_flow(d, layers=deep, hidden=wide),
        "flow matching": lambda: FlowMatching(TimeConditionedNetwork(d, hidden=wide, layers=4), shape=(d,)),
        "diffusion": lambda: Diffusion(TimeConditionedNetwork(d, hidden=wide, layers=4), cosine_schedule(100),
                                       shape=(d,), target="data" if wide < d else "velocity"),
    }  # fmt: skip


def calming(optimizer, steps):
    """Adam whose learning rate falls to zero as a cosine."""
    return ScheduledOptimizer(optimizer, lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, steps), epoch=1)


def samples(title, make, train, n):
    """Samples of the model after training."""
    d = train.shape[1]
    steps = FEWER.get((title, d), STEPS[d])
    torch.manual_seed(0)
    model = make()
    if isinstance(model, GAN):
        model = train_gan(
            model,
            train,
            steps=steps,
            optimizer=calming(Adam(1e-3, b1=0.5), steps),
            discriminator_steps=2,
            batch=BATCH[d],
        ).model
    else:
        model = fit(model, train, steps=steps, optimizer=calming(Adam(2e-3), steps), batch=BATCH[d]).model
    if isinstance(model, Diffusion):
        return model.sample(n, seed=3, eta=0.0)
    return model.sample(n, seed=3)


def tiled(x):
    """Sixteen images as one picture, with a white line between them."""
    side = round(x.shape[1] ** 0.5)
    framed = nn.functional.pad(x[:16].reshape(16, side, side), (1, 1, 1, 1), value=-1)
    return framed.reshape(4, 4, side + 2, side + 2).permute(0, 2, 1, 3).reshape(4 * side + 8, 4 * side + 8)


def draw(rows, file):
    """One row of panels for each data set."""
    titles = ["data", *(title for title in models(2) if any(title in panels for panels in rows.values()))]
    size = 1.5 * len(titles), 1.62 * len(rows) + 0.1
    fig, axes = plt.subplots(len(rows), len(titles), figsize=size, layout="constrained")
    for i, (row, panels) in enumerate(zip(np.atleast_2d(axes), rows.values(), strict=True)):
        for place, title in zip(row, titles, strict=True):
            place.set_xticks([])
            place.set_yticks([])
            if i == 0:
                place.set_title(title, fontsize=9)
            x = panels.get(title)
            if x is not None and x.shape[1] == 2:
                place.set_aspect("equal")
                place.scatter(*x.T, s=0.7, linewidths=0, color="#20507a")
                place.set(xlim=(-3, 3), ylim=(-3, 3))
            elif x is not None:
                place.imshow(tiled(x), cmap="gray_r", vmin=-1, vmax=1)
    fig.savefig(Path(__file__).with_name(file), dpi=110)


def sets(name, file):
    """Train and held-out examples."""
    if name in ("ring", "moons"):
        return [
            (ring_of_gaussians(8).sample(n, seed=s) if name == "ring" else 1.5 * moons(n, seed=s)).float()
            for n, s in ((4000, 0), (SHOWN, 1))
        ]
    if name == "digits":
        images = digits(1000, 797)
        return [(dequantize(part.flatten(1), 1 / 16) - 0.5) * 2 for part in (images.x, images.x_test)]
    images = np.load(file)
    parts = images["x_train"][:20000], images["x_test"][:200]
    return [(dequantize(torch.from_numpy(x).flatten(1).float() / 256, 1 / 256) - 0.5) * 2 for x in parts]


def main():
    """Train, print, draw."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", nargs="*", default=["ring", "moons", "digits"])
    options.add_argument("--models", default="", help="models whose name holds this")
    options.add_argument("--mnist", type=Path)
    options.add_argument("--seconds", type=float, default=float("inf"), help="no training begins after so many")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    KEPT.mkdir(parents=True, exist_ok=True)
    start, rows = time.perf_counter(), {}
    for name in [*chosen.data, *(["mnist"] if chosen.mnist else [])]:
        train, test = sets(name, chosen.mnist)
        rows[name] = {"data": test}
        for title, make in models(train.shape[1]).items():
            kept = KEPT / f"{name} {title}.pt"
            if chosen.models in title and not kept.exists() and time.perf_counter() - start < chosen.seconds:
                new = samples(title, make, train, 64 if name == "mnist" else len(test))
                told = energy_test(new, test, permutations=99)
                print(f"{name:7s} {title:22s} energy {told.statistic:8.4f}  p = {told.p_value:.2f}", flush=True)
                torch.save(new, kept)
            if kept.exists():
                rows[name][title] = torch.load(kept)
    small = {name: panels for name, panels in rows.items() if name != "mnist"}
    if small:
        draw(small, "generative-samples.png")
    if "mnist" in rows:
        draw({"mnist": rows["mnist"]}, "generative-samples-mnist.png")


if __name__ == "__main__":
    main()
