"""Attributions compared with captum; Fourier masks of trained networks; false alarms and power of the search for shortcuts.

    CAPTUM_PYTHON=... python benchmarks/bench_attribution.py captum
    python benchmarks/bench_attribution.py masks
    python benchmarks/bench_attribution.py shortcuts [SEEDS]

captum comes from the environment of the Python that CAPTUM_PYTHON names (``pip install captum==0.9.*`` there). Both
run in one process, with one torch, in turns, so that whatever slows the machine slows both. MNIST lies beside the
project and not in it: the variable GNOMON_SHARED, or beside the checkout.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import torch
from attribution_networks import SAMPLES, STEPS, in_turns, problems
from measure import record
from torch import nn

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("GNOMON_SHARED", HERE.resolve().parents[1] / "shared"))


def captum():
    from gnomon.attribution import grad_cam, gradient, integrated_gradients, occlusion, token_attribution  # fmt: skip
    from gnomon.attribution.gradient import smooth_grad

    ask = [os.environ["CAPTUM_PYTHON"], "-c", "import captum; print(captum.__path__[0])"]
    where = subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    sys.path += [str(Path(where).parent), str(HERE / "peers")]
    import captum_maps

    rows = []
    for name, (net, x, y, layer) in problems().items():
        methods = {
            "gradient": lambda net=net, x=x, y=y: gradient(net, x, y),
            "integrated gradients": lambda net=net, x=x, y=y: integrated_gradients(net, x, y, path_points=STEPS),
            "SmoothGrad": lambda net=net, x=x, y=y: smooth_grad(net, x, y, samples=SAMPLES),
            "occlusion": lambda net=net, x=x, y=y: occlusion(net, x, y, window=7, stride=7),
            "Grad-CAM": lambda net=net, x=x, y=y, layer=layer: grad_cam(net, x, y, layer=str(layer)),
        }
        if not x.is_floating_point():
            methods = {
                "integrated gradients": lambda net=net, x=x, y=y: token_attribution(
                    net, x, y, baseline=0, path_points=STEPS
                ),
                "occlusion": lambda net=net, x=x, y=y: occlusion(net, x, y, fill_value=0),
            }
        peer = captum_maps.images if x.is_floating_point() else captum_maps.tokens
        theirs = peer(net, x, y, layer, STEPS, SAMPLES)
        for method, run in methods.items():
            (value, other, *_), (seconds, *taken) = in_turns(run, *theirs[method])
            ours, taken = value.values, min(taken)
            apart = float((ours - other.detach().reshape(ours.shape)).abs().max() / other.abs().max())
            complete = "" if value.completeness is None else f"{100 * float(value.completeness.max()):.2g} %"
            told = f"{apart:.1e}" if method != "SmoothGrad" else f"{apart:.1e} (other draws)"
            times = [f"{1e3 * seconds:.2f} ms", f"{1e3 * taken:.2f} ms", f"{taken / seconds:.2f}x"]
            rows.append([name, method, told, complete, *times])
            print(rows[-1], flush=True)
    note = (
        f"Largest difference relative to the largest value; {STEPS} steps, {SAMPLES} samples, windows of 7 x 7 (tokens:"
        "\none at a time). SmoothGrad draws its noise on both sides for itself; captum's is the faster of all samples at once"
        "\nand one at a time. Times: the smallest of calls in turns in one process. Completeness: the largest share of the"
        "\nattributions of an example that is missing from f(x) - f(baseline)."
    )
    columns = ["network", "method", "difference", "completeness", "gnomon", "captum", "ratio"]
    record("attribution", "Attributions compared with captum 0.9", columns, rows, note)


def cnn(pixels, channels=16, pooled=False):
    side = pixels // 2
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * channels, 10)]
    if not pooled:
        head = [nn.Flatten(), nn.Linear(2 * channels * side * side, 10)]
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), *head,
    )  # fmt: skip


def mlp(pixels):
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels**2, 64), nn.ReLU(), nn.Linear(64, 10))


def trained(net, x, y, steps, rate=3e-3, batch=100):
    optimizer = torch.optim.Adam(net.parameters(), rate)
    for _ in range(steps):
        i = torch.randint(len(x), (batch,))
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net.eval()


def digits(seed=0):
    from gnomon import data

    split = data.digits(1200, 500, seed=seed)
    return split.x, split.y, split.x_test, split.y_test


@cache
def stored():
    with np.load(SHARED / "data" / "mnist.npz") as file:
        return [file[k] for k in ("x_train", "y_train", "x_test", "y_test")]


def mnist(seed=0, train=4000, test=1200):
    parts = stored()
    draw = np.random.default_rng(seed)
    a, b = draw.permutation(len(parts[0]))[:train], draw.permutation(len(parts[2]))[:test]
    x, z = (torch.from_numpy(v).float().reshape(-1, 1, 28, 28) / 255 for v in (parts[0][a], parts[2][b]))
    return x, torch.from_numpy(parts[1][a]).long(), z, torch.from_numpy(parts[3][b]).long()


WAVES = ((2, 3), (3, 1))


def planted(images, seed=0):
    """Images with two waves of random signs; the class is the pair of signs, so that either wave alone gives half."""
    draw, k = torch.Generator().manual_seed(seed), torch.arange(float(images.shape[2]))
    waves = torch.stack([torch.cos(2 * torch.pi * (a * k[:, None] + b * k) / len(k)) for a, b in WAVES])
    signs = torch.randint(2, (len(images), 2), generator=draw)
    return images + 0.3 * torch.einsum("nw,whv->nhv", 2.0 * signs - 1, waves)[:, None], 2 * signs[:, 0] + signs[:, 1]


def masks():
    from gnomon.attribution import fourier_mask

    rows = []
    for name, data, pixels, steps in (("digits", digits(), 8, 400), ("MNIST", mnist(), 28, 150)):
        x, y, z, goal = data
        torch.manual_seed(0)
        net = trained(cnn(pixels, 8), x, y, steps)
        for lam, p in ((0.5, 1.0), (2.0, 1.0), (8.0, 1.0), (2.0, 0.5)):
            found = fourier_mask(net, (x[:500], y[:500]), sparsity_weight=lam, sparsity_power=p, epochs=40)
            kept = found.on(net, (z, goal))
            said = [f"{v:.1%}" for v in (found.kept, kept.accuracy, kept.masked_accuracy, kept.agreement)]
            rows.append([f"{name} CNN", f"{lam:g}", f"{p:g}", *said, ""])
            print(rows[-1], flush=True)
        (x, y), (z, goal) = planted(x), planted(z, seed=1)
        net = trained(cnn(pixels, 8), x, y, steps)
        found = fourier_mask(net, (x[:500], y[:500]), sparsity_weight=4.0, epochs=40)
        kept = found.on(net, (z, goal))
        said = [f"{v:.1%}" for v in (found.kept, kept.accuracy, kept.masked_accuracy, kept.agreement)]
        names = ", ".join(map(str, found.frequencies()))
        rows.append([f"{name} CNN, planted {WAVES[0]} and {WAVES[1]}", "4", "1", *said, names])
        print(rows[-1], flush=True)
    note = (
        "The mask is found on training images and judged on others: accuracy without and with it, and the share of"
        "\ndecisions that stay the same. Planted: two waves on the images, whose signs are the class; either alone gives"
        "\nhalf of the classes."
    )
    columns = ["network", "lam", "p", "kept", "accuracy", "behind the mask", "same decisions", "found"]
    record("attribution", "Fourier masks", columns, rows, note)


def corner(x, y, most=3.0):
    """A pixel from 0 to three times white, by class."""
    x = x.clone()
    x[:, 0, 0, 0] = y * most / 9
    return x


def faint(x, y):
    """A pixel from black to white, by class."""
    return corner(x, y, most=1.0)


def watermark(x, y):
    k = torch.arange(float(x.shape[2]))
    wave = torch.cos(2 * torch.pi * (3 * k[:, None] + 2 * k) / x.shape[2])
    return x + 0.4 * (y[:, None, None, None] - 4.5) / 4.5 * wave


def pair(data, seed):
    """Two of the ten classes, others for each seed."""
    a, b = np.random.default_rng(seed).choice(10, 2, replace=False).tolist()
    x, y, z, goal = data
    i, j = (y == a) | (y == b), (goal == a) | (goal == b)
    return x[i], (y[i] == b).long(), z[j], (goal[j] == b).long()


def shortcut_cases():
    """Name, data by seed, network, training steps, what is planted."""
    small, pooled = (lambda p: cnn(p, 8)), (lambda p: cnn(p, 8, pooled=True))
    for name, make, pixels, steps in (("digits", digits, 8, 300), ("MNIST", mnist, 28, 100)):
        two = lambda seed, make=make: pair(make(seed), seed)  # noqa: E731
        for kind, build in (("perceptron", mlp), ("CNN", small), ("pooled CNN", pooled)):
            yield f"{name} {kind}", make, build, pixels, steps, None
            yield f"{name} {kind}, hardly trained", make, build, pixels, 20, None
            yield f"{name} {kind}, two classes", two, build, pixels, steps // 3, None
        for kind, build in (("perceptron", mlp), ("CNN", small)):
            for plant in (corner, faint, watermark):
                yield f"{name} {kind}", make, build, pixels, steps, plant
    yield "MNIST perceptron, trained four times as long", mnist, mlp, 28, 400, corner


def shortcut_table(seeds):
    from gnomon.attribution import shortcuts

    names = {corner: "pixel (0, 0)", faint: "pixel (0, 0), faint", watermark: "frequency (3, 2)", None: "none"}
    rows, alarms, healthy = [], 0, 0
    for name, make, build, pixels, steps, plant in shortcut_cases():
        found = []
        for seed in range(seeds):
            x, y, z, goal = make(seed)
            if plant:
                x, z = plant(x, y), plant(z, goal)
            torch.manual_seed(seed)
            found.append(shortcuts(trained(build(pixels), x, y, steps), (z, goal), seed=seed))
        lost, alone = ([max(getattr(r, key) for r in f.reliance) for f in found] for key in ("lost", "alone"))
        means = [f"{np.mean(v):.0%}" for v in ([f.accuracy for f in found], lost, alone)]
        accused, name_of = sum(bool(f.findings) for f in found), names[plant].removesuffix(", faint")
        right, used = (
            sum(f(v) == (name_of,) for v in found) for f in (lambda v: v.named + v.offered, lambda v: v.named)
        )
        told = f"{accused} of {seeds} accused"
        if plant is not None:
            told = f"{right} of {seeds} named, and nothing else; {used} in use"
        healthy, alarms = healthy + seeds * (plant is None), alarms + accused * (plant is None)
        rows.append([name, names[plant], *means, told])
        print(rows[-1], flush=True)
    note = (
        f"{alarms} false alarms in {healthy} healthy networks, each of another seed, judged on held-out images at level"
        "\n0.005. `lost` and `alone`: the largest share of decisions that is lost without a candidate, and the largest"
        "\naccuracy that one gives by itself, means over seeds. In use: the network is said to rely on it, else the data are"
        "\nsaid to offer it. A pixel goes from 0 to three times white with the class; a faint one to white. A pooled CNN"
        "\ncannot see where a pixel is."
    )
    columns = ["network", "planted", "accuracy", "lost", "alone", "result"]
    record("attribution", "Shortcuts: false alarms and power", columns, rows, note)


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else "captum"
    if mode == "shortcuts":
        shortcut_table(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    else:
        {"captum": captum, "masks": masks}[mode]()
