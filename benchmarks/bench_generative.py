"""Flows beside zuko, and a diffusion beside a plain DDPM, on two moons, 8 x 8 digits and MNIST: held-out nats, time, MMD.

    python benchmarks/bench_generative.py [--steps 600] [--data moons digits mnist]

Needs an environment with gnomon's dependencies and zuko in it. Every pair is trained on the same examples with the same
number of steps, batches and learning rate; zuko and the plain DDPM by the bare loop of torch below.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from measure import record

from gnomon.data import digits, moons
from gnomon.generative import (
    Diffusion,
    TimeNetwork,
    autoregressive_flow,
    bits_per_dimension,
    cosine_schedule,
    dequantize,
    fit,
    flow_density_check,
    mmd_test,
    spline_flow,
)
from gnomon.training import Adam

BATCH, LR = 128, 2e-3


def bare(parameters, loss, x, steps):
    """The usual loop."""
    optimizer = torch.optim.Adam(list(parameters), lr=LR)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x[torch.randint(len(x), (BATCH,), generator=generator)]).backward()
        optimizer.step()


def flows(name, train, test, steps, step, rows):
    """Ours and zuko's on one data set; for points log densities, for digits bits for each number."""
    import zuko

    d, wide = train.shape[1], 64 if train.shape[1] == 2 else 128
    pairs = {
        "autoregressive": (
            autoregressive_flow(d, layers=3, hidden=wide),
            zuko.flows.MAF(d, transforms=3, hidden_features=(wide, wide)),
        ),
        "spline": (
            spline_flow(d, layers=2, hidden=wide),
            zuko.flows.NSF(d, transforms=3, hidden_features=(wide, wide)),
        ),
    }
    if d > 100:
        del pairs["spline"]  # zuko's has 18,000 outputs there
    for kind, (ours, theirs) in pairs.items():
        start = time.perf_counter()
        ours = fit(ours, train, steps=steps, batch=BATCH, optimizer=Adam(LR)).model
        mine = time.perf_counter() - start
        start = time.perf_counter()
        bare(theirs.parameters(), lambda x, flow=theirs: -flow().log_prob(x).mean(), train, steps)
        other = time.perf_counter() - start
        with torch.no_grad():
            nats = [-float(log_prob(test).mean()) for log_prob in (ours.log_prob, theirs().log_prob)]
        told = ("", "")
        if d > 2:
            bits = [bits_per_dimension(flow, test, step=step) for flow in (ours, theirs())]
            told = tuple(f", {value:.3f} bits for each number" for value in bits)
        size = [sum(p.numel() for p in m.parameters()) for m in (ours, theirs)]
        rows.append([name, kind, f"{nats[0]:.3f} nats{told[0]}", f"{mine:.1f} s", f"{size[0]:,}", f"{nats[1]:.3f} nats{told[1]}",
                     f"{other:.1f} s", f"{size[1]:,}"])  # fmt: skip
        print(*rows[-1], sep="   ", flush=True)
        if d == 2:
            print(f"      density of ours: {flow_density_check(ours).integral.value:.4f}, of zuko's: "
                  f"{flow_density_check(theirs).integral.value:.4f}", flush=True)  # fmt: skip


def diffusions(name, train, test, steps, rows):
    """Ours, and a DDPM as it is usually written, with the same network."""
    d, count = train.shape[1], 100
    wide = 64 if d == 2 else 256
    torch.manual_seed(0)
    model = Diffusion(TimeNetwork(d, hidden=wide, layers=3), cosine_schedule(count), shape=(d,))
    network = TimeNetwork(d, hidden=wide, layers=3)
    network.load_state_dict(model.network.state_dict())
    kept = model.schedule.kept.float()

    def loss(x):
        t = torch.randint(1, count + 1, (len(x),))
        a, e = kept[t][:, None], torch.randn_like(x)
        return (e - network(a.sqrt() * x + (1 - a).sqrt() * e, t / count)).square().sum(1).mean()

    start = time.perf_counter()
    ours = fit(model, train, steps=steps, batch=BATCH, optimizer=Adam(LR)).model
    mine = time.perf_counter() - start
    start = time.perf_counter()
    bare(network.parameters(), loss, train, steps)
    other = time.perf_counter() - start
    x = torch.randn(len(test), d)
    with torch.no_grad():
        for t in range(count, 0, -1):
            a, before = kept[t], kept[t - 1]
            beta = 1 - a / before
            e = network(x, torch.full((len(x),), t / count))
            x = (x - beta / (1 - a).sqrt() * e) / (1 - beta).sqrt()
            x = x + (beta * (1 - before) / (1 - a)).sqrt() * torch.randn_like(x) if t > 1 else x
    told = [mmd_test(samples, test, permutations=199) for samples in (ours.sample(len(test)), x, train[: len(test)])]
    size = f"{sum(p.numel() for p in network.parameters()):,}"
    real = f" (two real sets {told[2].statistic:.5f})"
    rows.append([name, "diffusion", f"MMD^2 {told[0].statistic:.5f}{real}", f"{mine:.1f} s", size,
                 f"MMD^2 {told[1].statistic:.5f}", f"{other:.1f} s", size])  # fmt: skip
    print(*rows[-1], sep="   ", flush=True)


def sets(name):
    """Train and test examples as rows, scaled; the width of a gray level after scaling."""
    if name == "moons":
        return moons(4000).float() * 1.5, moons(1000, seed=1).float() * 1.5, 1.0
    if name == "digits":
        split = digits(1200, 597)
        return *((dequantize(part.flatten(1), 1 / 16) - 0.5) * 4 for part in (split.x, split.x_test)), 4 / 16
    images = np.load(Path(__file__).parents[2] / "shared" / "data" / "mnist.npz")
    parts = (torch.from_numpy(images[k]).flatten(1).float() / 256 for k in ("x_train", "x_test"))
    train, test = ((dequantize(part[:n], 1 / 256) - 0.5) * 4 for part, n in zip(parts, (20000, 2000), strict=True))
    return train, test, 4 / 256


def main():
    """Run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=600)
    options.add_argument("--data", nargs="+", default=["moons", "digits", "mnist"])
    chosen = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = []
    for name in chosen.data:
        train, test, step = sets(name)
        flows(name, train, test, chosen.steps, step, rows)
        diffusions(name, train, test, chosen.steps, rows)
    record("Generative models beside zuko and a plain DDPM", ["data", "model", "ours", "time", "parameters",
           "peer", "time", "parameters"], rows,
           f"{chosen.steps} steps of Adam({LR}) in batches of {BATCH} on the same examples, one thread. Negative log densities of test "
           "examples for flows (less is better; zuko 1.6), squared maximum mean discrepancy to them for diffusions.")  # fmt: skip


if __name__ == "__main__":
    main()
