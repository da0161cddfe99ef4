"""Flows beside zuko, and a diffusion beside a plain DDPM, on two moons and on 8 x 8 digits: held-out nats, time, MMD.

    python benchmarks/bench_generative.py [--steps 600] [--digits]

Needs an environment with gnomon's dependencies and zuko in it. Every pair is trained on the same examples with the same
number of steps, batches and learning rate; zuko and the plain DDPM by the bare loop of torch below.
"""

import argparse
import time

import torch

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


def flows(name, train, test, steps, step):
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
    for kind, (ours, theirs) in pairs.items():
        start = time.perf_counter()
        ours = fit(ours, train, steps=steps, batch=BATCH, optimizer=Adam(LR)).model
        mine = time.perf_counter() - start
        start = time.perf_counter()
        bare(theirs.parameters(), lambda x, flow=theirs: -flow().log_prob(x).mean(), train, steps)
        other = time.perf_counter() - start
        with torch.no_grad():
            nats = [-float(log_prob(test).mean()) for log_prob in (ours.log_prob, theirs().log_prob)]
        told = (
            ""
            if d == 2
            else f"   bits {bits_per_dimension(ours, test, step=step):.3f} and {bits_per_dimension(theirs(), test, step=step):.3f}"
        )
        size = [sum(p.numel() for p in m.parameters()) for m in (ours, theirs)]
        print(f"{name} {kind:15s} ours {nats[0]:8.4f} nats, {mine:5.1f} s, {size[0]} parameters; zuko {nats[1]:8.4f}, {other:5.1f} s,"
              f" {size[1]}{told}", flush=True)  # fmt: skip
        if d == 2:
            print(f"      density of ours: {flow_density_check(ours).integral.value:.4f}, of zuko's: "
                  f"{flow_density_check(theirs).integral.value:.4f}", flush=True)  # fmt: skip


def diffusions(name, train, test, steps):
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
    print(f"{name} diffusion       MMD^2 ours {told[0].statistic:.5f} in {mine:.1f} s; plain DDPM {told[1].statistic:.5f} in {other:.1f} s;"
          f" two real sets {told[2].statistic:.5f}", flush=True)  # fmt: skip


def main():
    """Run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=600)
    options.add_argument("--digits", action="store_true")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if chosen.digits:
        split = digits(1200, 597)
        train, test = ((dequantize(part.flatten(1), 1 / 16) - 0.5) * 4 for part in (split.x, split.x_test))
        flows("digits", train, test, chosen.steps, 4 / 16)
        diffusions("digits", train, test, chosen.steps)
    else:
        train, test = moons(4000).float() * 1.5, moons(1000, seed=1).float() * 1.5
        flows("moons", train, test, chosen.steps, 1.0)
        diffusions("moons", train, test, chosen.steps)


if __name__ == "__main__":
    main()
