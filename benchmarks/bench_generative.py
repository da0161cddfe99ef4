"""Flows beside zuko, a diffusion beside a plain DDPM, and a VAE, on two moons, 8 x 8 digits and MNIST.

    python benchmarks/bench_generative.py [--data moons digits mnist] [--models spline] [--seconds 250]

Needs an environment with gnomon's dependencies and zuko in it. Both sides of a pair have the same examples, batches,
steps, learning rate and loop. The same held-out examples choose the step at which a flow is taken, and how a diffusion
draws (ours: how much noise; the plain one: whether predicted examples are held to the range of the data). Every run is
kept in build/generative.jsonl, so that the benchmark can be run in pieces; the table holds all of them.
"""

import argparse
import copy
import json
import time
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import torch
from measure import record
from scipy.stats import t as student
from torch import nn

from gnomon.data import digits, moons
from gnomon.generative import VAE, Diffusion, autoregressive_flow, mmd_test, spline_flow
from gnomon.generative.continuous import TimeConditionedNetwork
from gnomon.generative.diffusion.schedule import cosine_schedule
from gnomon.generative.flows.standard_flows import autoregressive_spline_flow
from gnomon.generative.model import dequantize
from gnomon.generative.vae import GaussianObservation

BATCH, LR, TIMES = 128, 2e-3, 100
KEPT = Path(__file__).parents[1] / "build" / "generative.jsonl"
FLOWS = ("autoregressive", "autoregressive spline", "spline coupling")
SEEDS = {"moons": range(200, 206), "digits": range(200, 203), "mnist": range(200, 202)}
"""Others than those with which the networks were chosen (100 to 103)."""
STEPS = {"moons": 600, "digits": 600, "mnist": 300}
FEWER = {"digits": 200, "mnist": 100}
"""Steps of splines there: on digits they are at their best before, on MNIST a step is long."""
LONGER = {("mnist", "autoregressive spline"): 200}
"""On MNIST at 100 steps both sides still learn fast."""
TRIED = 25
"""Steps between two looks at the examples that choose when to stop."""
ETAS, HELD = (0.0, 0.5, 1.0), (True, False)
"""How much noise ours draws with; whether the plain one holds predicted examples to the range of the data."""


def flow(kind, side, d):
    """A new flow; as many maps and the same widths on both sides."""
    wide, layers = (64 if d == 2 else 128, 3) if d < 100 else (64, 2)
    if side == "ours":
        makers = dict(zip(FLOWS, (autoregressive_flow, autoregressive_spline_flow, spline_flow), strict=True))
        return makers[kind](d, layers=layers, hidden=wide)
    import zuko

    if kind == "autoregressive":
        return zuko.flows.MAF(d, transforms=layers, hidden_features=(wide, wide))
    coupling = {"passes": 2} if kind == "spline coupling" else {}
    many = 2 * layers if coupling else layers
    return zuko.flows.NSF(d, transforms=many, hidden_features=(wide, wide), **coupling)


def descend(model, loss, x, steps, seed, held_out=None):
    """The usual loop: seconds of processor time for each step; the model of the step that was best on held-out examples."""
    optimizer, generator = torch.optim.Adam(model.parameters(), lr=LR), torch.Generator().manual_seed(seed)
    best, chosen, seconds = float("inf"), model.state_dict(), 0.0
    for step in range(1, steps + 1):
        start = time.process_time()
        optimizer.zero_grad()
        loss(x[torch.randint(len(x), (BATCH,), generator=generator)]).backward()
        optimizer.step()
        seconds += time.process_time() - start
        if held_out is not None and step % TRIED == 0:
            with torch.no_grad():
                value = float(torch.stack([loss(part) for part in held_out.split(200)]).mean())
            if value < best:
                best, chosen = value, copy.deepcopy(model.state_dict())
    if held_out is not None:
        model.load_state_dict(chosen)
    return seconds / steps


def density(kind, side, data, seed, steps):
    """Nats of test examples under a flow."""
    train, held_out, test = data
    torch.manual_seed(seed)
    model = flow(kind, side, train.shape[1])

    def loss(x):
        return (model.losses(x) if side == "ours" else -model().log_prob(x)).mean()

    seconds = descend(model, loss, train, steps, seed, held_out)
    with torch.no_grad():
        nats = float(torch.stack([loss(part) * len(part) for part in test.split(200)]).sum()) / len(test)
    return {"value": nats, "seconds": seconds, "parameters": sum(p.numel() for p in model.parameters())}


def plain(network, kept, x, span):
    """Samples of a DDPM as it is usually written; with a span, predicted examples are held to it."""
    for t in range(TIMES, 0, -1):
        a, before = kept[t], kept[t - 1]
        beta = 1 - a / before
        e = network(x, torch.full((len(x),), t / TIMES))
        x0 = (x - (1 - a).sqrt() * e) / a.sqrt()
        x0 = x0 if span is None else x0.clamp(*span)
        x = (before.sqrt() * beta * x0 + (1 - beta).sqrt() * (1 - before) * x) / (1 - a)
        x = x + (beta * (1 - before) / (1 - a)).sqrt() * torch.randn_like(x) if t > 1 else x
    return x


def diffusion(side, data, seed, steps):
    """MMD^2 of samples to test examples: our diffusion, or a DDPM that predicts the noise, with the same network."""
    train, held_out, test = data
    d, schedule = train.shape[1], cosine_schedule(TIMES)
    torch.manual_seed(seed)
    network = TimeConditionedNetwork(d, hidden=64 if d == 2 else 256, layers=3)
    model, kept = Diffusion(network, schedule, shape=(d,)), schedule.kept.float()

    def usual(x):
        t, e = torch.randint(1, TIMES + 1, (len(x),)), torch.randn_like(x)
        a = kept[t][:, None]
        return (e - network(a.sqrt() * x + (1 - a).sqrt() * e, t / TIMES)).square().sum(1).mean()

    def apart(way, real, seed):
        """How far samples drawn in one of the ways are from real examples."""
        torch.manual_seed(seed)
        span = (float(train.min()), float(train.max())) if way is True else None
        with torch.no_grad():
            new = (plain(network, kept, torch.randn(len(real), d), span) if side == "peer"
                   else model.sample(len(real), seed=seed, eta=way))  # fmt: skip
        return mmd_test(new.clamp(-1e6, 1e6), real, permutations=99).statistic

    seconds = descend(network, usual if side == "peer" else lambda x: model.losses(x).mean(), train, steps, seed)
    chosen = min(HELD if side == "peer" else ETAS, key=lambda way: apart(way, held_out, seed + 1000))
    return {"value": apart(chosen, test, seed), "chosen": chosen, "seconds": seconds,
            "parameters": sum(p.numel() for p in network.parameters())}  # fmt: skip


def layers(*widths):
    """A network of SiLU layers."""
    parts = [part for a, b in zip(widths, widths[1:], strict=False) for part in (nn.Linear(a, b), nn.SiLU())]
    return nn.Sequential(*parts[:-1])


def vae(data, seed, steps):
    """Nats of test examples by the bound with 64 draws, and MMD^2 of samples; the noise of the decoder is fixed."""
    train, held_out, test = data
    d, wide, latent = train.shape[1], 64 if train.shape[1] == 2 else 256, 2 if train.shape[1] == 2 else 16
    torch.manual_seed(seed)
    model = VAE(layers(d, wide, 2 * latent), layers(latent, wide, wide, d), latent=latent, shape=(d,),
                observation=GaussianObservation(0.15 if d == 2 else 0.4))  # fmt: skip
    seconds = descend(model, lambda x: model.losses(x).mean(), train, steps, seed, held_out)
    with torch.no_grad():
        nats = -float(torch.cat([model.bound(part, 64) for part in test.split(200)]).mean())
    return {"value": nats, "mmd": mmd_test(model.sample(len(test), seed=seed), test, permutations=99).statistic,
            "seconds": seconds, "parameters": sum(p.numel() for p in model.parameters())}  # fmt: skip


def sets(name, shared):
    """Train, held-out and test examples as rows, scaled; the width of a gray level after scaling."""
    if name == "moons":
        return [moons(n, seed=seed).float() * 1.5 for n, seed in ((4000, 0), (1000, 2), (1000, 1))], 1.0
    if name == "digits":
        split = digits(1200, 597)
        train, test = ((dequantize(part.flatten(1), 1 / 16) - 0.5) * 4 for part in (split.x, split.x_test))
        return [train[:1000], train[1000:], test], 4 / 16
    images = np.load(shared / "data" / "mnist.npz")
    parts = images["x_train"][:20000], images["x_train"][-500:], images["x_test"][:2000]
    return [(dequantize(torch.from_numpy(x).flatten(1).float() / 256, 1 / 256) - 0.5) * 4 for x in parts], 4 / 256


def interval(values, places):
    """A mean over seeds with its 95 % interval."""
    values = np.array(values)
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else None
    return f"{values.mean():.{places}f}" + ("" if half is None else f" +- {half:.{places}f}")


def told(runs, kind, step, d):
    """The mean over seeds with its 95 % interval, in nats and bits or as MMD^2."""
    values = [run["value"] for run in runs]
    if kind == "diffusion":
        return f"MMD^2 {interval(values, 5)}"
    bits = "" if d == 2 else f", {(np.mean(values) / d - log(step)) / log(2):.3f} bits for each number"
    more = "" if "mmd" not in runs[0] else f"; MMD^2 {np.mean([run['mmd'] for run in runs]):.5f}"
    return f"{interval(values, 3 if d == 2 else 1)} nats{bits}{more}"


def table(known, shared):
    """One row for each model on each data set that has had a turn on both sides."""
    rows = []
    for name, kind in product(SEEDS, (*FLOWS, "diffusion", "VAE")):
        mine, theirs = (
            {key[3]: run for key, run in known.items() if key[:3] == (name, kind, side)} for side in ("ours", "peer")
        )
        if not mine:
            continue
        data, step = sets(name, shared)
        d, both = data[0].shape[1], sorted(mine.keys() & theirs.keys())
        row = [name, kind, str(next(iter(mine.values()))["steps"]), str(len(both or mine))]
        for runs in ([side[seed] for seed in both or side] for side in (mine, theirs)):
            each = f"{np.median([run['seconds'] for run in runs]) * 1e3:.1f} ms" if runs else ""
            row += [told(runs, kind, step, d), each, f"{runs[0]['parameters']:,}"] if runs else [""] * 3
        places = 5 if kind == "diffusion" else 3 if d == 2 else 1
        row.insert(4, interval([mine[seed]["value"] - theirs[seed]["value"] for seed in both], places) if both else "")
        rows.append(row)
        if kind == "diffusion":
            real = mmd_test(data[0][: len(data[2])], data[2], permutations=99).statistic
            rows[-1][5] += f" (two real sets {real:.5f})"
    record("generative", "Generative models compared with zuko and a plain DDPM", ["data", "model", "steps", "seeds", "ours less peer", "ours", "a step",
           "parameters", "peer", "a step", "parameters"], rows,
           f"Adam({LR}), batches of {BATCH}, one thread, processor time; means over seeds with 95 % intervals, differences by pairs of one "
           "seed. Flows and the VAE: minus the\nlog density of test examples (less is better; of the VAE its bound), at the step that was best "
           "on other held-out examples. zuko 1.6: MAF, NSF, NSF with\npasses=2, whose count of parameters includes masked ones, as does "
           "ours. Diffusions: squared maximum mean discrepancy of samples to test examples; the peer\nis a DDPM that predicts the noise. "
           f"Held-out examples choose the noise of ours (eta {', '.join(map(str, ETAS))}) and whether the peer holds predicted examples to the range "
           "of the data.\nOn MNIST the networks have fewer units than there are pixels: those of zuko see the first 64 pixels alone, ours are spread over all. "
           "The speeds at which parts of\nour masked networks learn were chosen with seed 100, on held-out examples of digits and MNIST; the seeds here are others. "
           "Coupling maps of both change\nall coordinates; half of the weights that zuko counts there are masked.")  # fmt: skip


def main():
    """Run what has had no turn, then write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", nargs="+", default=list(SEEDS))
    options.add_argument("--models", default="", help="models whose name holds this")
    options.add_argument(
        "--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="with data/mnist.npz"
    )
    options.add_argument("--seconds", type=float, default=float("inf"), help="no run begins after so many")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    KEPT.parent.mkdir(exist_ok=True)
    runs = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    known, begin = {tuple(run["key"]): run for run in runs}, time.perf_counter()
    for name in chosen.data:
        data = sets(name, chosen.shared)[0]
        for seed, kind, side in product(SEEDS[name], (*FLOWS, "diffusion", "VAE"), ("ours", "peer")):
            key, steps = (name, kind, side, seed), (FEWER if "spline" in kind else STEPS).get(name, STEPS[name])
            steps = LONGER.get((name, kind), steps)
            late = time.perf_counter() - begin > chosen.seconds
            if chosen.models not in kind or key in known or late or (kind, side) == ("VAE", "peer"):
                continue
            run = (vae(data, seed, steps) if kind == "VAE" else diffusion(side, data, seed, steps) if kind == "diffusion"
                   else density(kind, side, data, seed, steps))  # fmt: skip
            known[key] = run | {"key": key, "steps": steps}
            with KEPT.open("a") as file:
                file.write(json.dumps(known[key]) + "\n")
            print(*key, run, flush=True)
    table(known, chosen.shared)


if __name__ == "__main__":
    main()
