"""Integrated gradients, occlusion and Grad-CAM beside captum: the same numbers, and the time of each.

    CAPTUM_PYTHON=... python benchmarks/bench_attribution.py

captum runs in the Python that CAPTUM_PYTHON names (``pip install captum==0.9.*`` in an environment of its own). Both
build the same network from the same seed; the smallest of several times counts.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

REPEATS = 5


def problem():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    ).eval()  # fmt: skip
    return net, torch.rand(32, 1, 28, 28), torch.arange(32) % 10


def best(function):
    start = time.perf_counter()
    function()
    times = []
    for _ in range(REPEATS if time.perf_counter() - start > 0.2 else 40):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
    return value, min(times)


def peer(path):
    from captum.attr import IntegratedGradients, LayerGradCam, Occlusion

    net, x, y = problem()
    found = {
        "integrated gradients": best(lambda: IntegratedGradients(net).attribute(x, target=y, n_steps=50)),
        "occlusion": best(
            lambda: Occlusion(net).attribute(x, sliding_window_shapes=(1, 7, 7), strides=(1, 7, 7), target=y)
        ),
        "Grad-CAM": best(lambda: LayerGradCam(net, net[4]).attribute(x, target=y, relu_attributions=True)),
    }
    torch.save({name: (value.detach(), seconds) for name, (value, seconds) in found.items()}, path)


def main():
    from gnomon.attribution import grad_cam, integrated_gradients, occlusion

    net, x, y = problem()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captum.pt"
        subprocess.run([os.environ["CAPTUM_PYTHON"], __file__, "peer", str(path)], check=True)
        theirs = torch.load(path, weights_only=True)
    ours = {
        "integrated gradients": best(lambda: integrated_gradients(net, x, y, steps=50)),
        "occlusion": best(lambda: occlusion(net, x, y, window=7, stride=7)),
        "Grad-CAM": best(lambda: grad_cam(net, x, y, layer="4")),
    }
    for name, (value, seconds) in ours.items():
        other, taken = theirs[name]
        apart = float((value.values - other.reshape(value.values.shape)).abs().max() / other.abs().max())
        print(
            f"{name:22} largest difference {apart:.1e}   ours {1e3 * seconds:7.1f} ms   captum {1e3 * taken:7.1f} ms   ratio {taken / seconds:.2f}"
        )
    print(f"completeness of ours: {float(ours['integrated gradients'][0].completeness.max()):.2%} at most")


if __name__ == "__main__":
    peer(sys.argv[2]) if len(sys.argv) > 1 else main()
