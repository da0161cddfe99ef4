"""Computes test cases in Python whose numbers the JavaScript of the playground page must reproduce.

``python -m gnomon.playground.fixtures fixtures.json`` writes them; ``tests/playground`` compares the page with them in
node, to 1e-9 (1e-8 after 1,000 training steps).
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.dynamics import kernel_ensemble
from gnomon.forecast import predict
from gnomon.landscape import sharpness
from gnomon.playground.data import CLASSES, CURVES, make_data
from gnomon.playground.network import DenseNetwork, fixed_batches
from gnomon.playground.random_numbers import normals, permutation, uniforms
from gnomon.tangent import alignment, ntk
from gnomon.training import SGD, Adam, Logistic, Squared, train

__all__ = ["PageSetting", "page_settings", "expected_numbers"]

PREDICTED_STEPS = (1, 10, 100)
LONG_RUN = 1000
POINTS_OFF_THE_DATA = 5


@dataclass(frozen=True, slots=True)
class PageSetting:
    """One combination of the options on the playground page.

    >>> next(page_settings()).data
    'sine'
    """

    data: str
    n: int
    noise: float
    data_seed: int
    features: int
    width: int
    depth: int
    activation: str
    scale: float
    weight_std: float
    bias_std: float
    centered: bool
    last_only: bool
    seed: int
    rate: float
    loss: str
    optimizer: str
    momentum: float
    batch: int
    train_steps: int


def page_settings() -> Iterator[PageSetting]:
    """Yields combinations of options as test cases: all activations, depths and data sets, with random widths and
    losses.

    Learning rates are stable, because in a run that diverges rounding errors grow as fast as the loss. Curves have
    biases: without them all inputs are parallel, and the angle between them is rounding error.

    >>> len(list(page_settings())) >= 200
    True
    """
    activations = ("relu", "tanh", "erf", "gelu", "sin", "sigmoid", "linear")
    data = ("sine", "waves", "step", "circle", "xor", "spiral", "hills", "margin", "bump", "gauss")
    rules = (("gd", 0.0, 0), ("gd", 0.9, 0), ("adam", 0.0, 0), ("gd", 0.0, 4), ("gd", 0.5, 2))
    for i, (name, depth, activation) in enumerate(product(data, (0, 1, 2), activations)):
        draw = _Choice(uniforms(i, 99, 20).tolist())
        optimizer, momentum, batch = draw.one_of(*rules)
        classes = name in CLASSES
        yield PageSetting(
            name, n=draw.one_of(1, 6, 9, 12, 16), noise=draw.one_of(0.0, 0.1, 0.3), data_seed=i % 7,
            features=draw.one_of(3, 3, 31, 127, 4) if classes else 3, width=draw.one_of(1, 3, 8, 16, 32, 64),
            depth=depth if depth < 2 else draw.one_of(2, 3, 4), activation=activation,
            scale=draw.one_of(0.5, 0.7, 1.0, 2.0, 10.0), weight_std=draw.one_of(1.4, 1.0, 1.7),
            bias_std=draw.one_of(0.5, 0.1, 1.0, 0.3 if name in CURVES else 0.0),
            centered=draw.one_of(True, *[False] * 6),
            last_only=draw.one_of(True, *[False] * 6), seed=i,
            rate=draw.one_of(0.4, 0.2, 0.1) * (0.1 if batch or momentum else 1.0),
            loss=draw.one_of("logistic", "squared") if classes else "squared", optimizer=optimizer, momentum=momentum,
            batch=batch, train_steps=LONG_RUN if i % 15 == 1 else draw.one_of(1, 30, 100, 200),
        )  # fmt: skip


class _Choice:
    """Chooses options from random numbers in [0, 1): each number selects one of the given values."""

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = iter(numbers)

    def one_of(self, *values: Any) -> Any:
        return values[int(next(self.numbers) * len(values))]


def expected_numbers(case: PageSetting) -> dict[str, Any]:
    """Computes all numbers that the playground page must reproduce for one combination of options.

    Cost: a kernel, its eigenvalues, and a short training run.

    >>> sorted(expected_numbers(next(page_settings())))[:4]
    ['alignment', 'end', 'ensemble', 'f0']
    """
    x, y = make_data(case.data, case.n, noise=case.noise, seed=case.data_seed, features=case.features)
    other = make_data(case.data, POINTS_OFF_THE_DATA, noise=0.5, seed=case.data_seed + 50, features=case.features)[0]
    net = DenseNetwork(
        x.shape[1], width=case.width, depth=case.depth, activation=case.activation, scale=case.scale,
        weight_std=case.weight_std, bias_std=case.bias_std, centered=case.centered, last_only=case.last_only,
        seed=case.seed,
    )  # fmt: skip
    kernel = ntk(net, x)
    top = float(torch.linalg.eigvalsh(kernel / case.n)[-1])
    curvature = 1.0 if case.loss == "squared" else 0.25
    largest = 2 * (1 + case.momentum) / (top * curvature) if top > 0 else 1.0
    lr = 0.05 * case.rate if case.optimizer == "adam" else case.rate * largest
    loss = Squared() if case.loss == "squared" else Logistic()
    out = {
        "x": x, "y": y, "other": other, "f0": net(x)[:, 0], "f0_other": net(other)[:, 0], "kernel": kernel,
        "kernel_other": ntk(net, other, x), "rates": torch.linalg.eigvalsh(kernel / case.n).flip(0), "lr": lr,
        "sharpness": sharpness(net, (x, y), loss=loss).value, "limit": _limits(net, x, other),
        "alignment": _alignment(kernel, y),
        "predicted": _predict(case, net, x, y, other, loss, lr), "end": _train(case, net, x, y, other, loss, lr),
    }  # fmt: skip
    if case.loss == "squared" and not case.centered and case.optimizer == "gd":
        out["ensemble"] = _ensemble(case, net, x, y, other, lr)
    else:
        out["ensemble"] = None
    return _plain(out)


def _alignment(kernel: Tensor, y: Tensor) -> float | None:
    with suppress(InputError):  # A constant kernel or equal targets have no alignment; ignores the error.
        return alignment(kernel, y)
    return None


def _limits(net: DenseNetwork, x: Tensor, other: Tensor) -> dict[str, Tensor]:
    (nngp, tangent), (nngp_other, tangent_other) = net.limit_kernels(x), net.limit_kernels(other, x)
    return {"nngp": nngp, "ntk": tangent, "nngp_other": nngp_other, "ntk_other": tangent_other}


def _predict(case: PageSetting, net: DenseNetwork, x: Tensor, y: Tensor, other: Tensor, loss: Any, lr: float) -> Any:
    if case.optimizer == "adam":
        return None
    times = [lr * s for s in PREDICTED_STEPS]
    run = predict(net, (x, y), test=other, loss=loss, optimizer=SGD(lr, momentum=case.momentum), times=times)
    assert run.train is not None and run.test is not None
    return {"steps": PREDICTED_STEPS, "train": run.train[..., 0], "other": run.test[..., 0], "loss": run.loss}


def _train(case: PageSetting, net: DenseNetwork, x: Tensor, y: Tensor, other: Tensor, loss: Any, lr: float) -> Any:
    optimizer = Adam(lr) if case.optimizer == "adam" else SGD(lr, momentum=case.momentum)
    steps = case.train_steps
    batch = fixed_batches(x, y, case.batch, steps, seed=case.seed) if case.batch else None
    run = train(net, (x, y), loss=loss, optimizer=optimizer, steps=steps, batch=batch, record=[steps])
    model = run.raise_if_interrupted().model
    before = ntk(net, x)
    drift = (ntk(model, x) - before).norm() / before.norm() if float(before.norm()) > 0 else 0.0
    return {"f": model(x)[:, 0], "other": model(other)[:, 0], "loss": float(run.loss[-1]), "drift": drift}


def _ensemble(case: PageSetting, net: DenseNetwork, x: Tensor, y: Tensor, other: Tensor, lr: float) -> Any:
    kernels = _limits(net, x, other)
    own = net.limit_kernels(other)[0].diagonal()
    made = kernel_ensemble(
        kernels["ntk"], kernels["nngp"], y, ntk_test=kernels["ntk_other"], nngp_test=kernels["nngp_other"],
        nngp_test_test=own, times=[lr * 30], optimizer=SGD(lr, momentum=case.momentum),
    )  # fmt: skip
    return {"steps": 30, "mean": made.mean[0].flatten(), "std": made.std[0]}


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def random_number_cases() -> list[dict[str, Any]]:
    """Returns some sequences of random numbers, which Python and the playground page must generate identically."""
    streams = [(seed, stream) for seed in (0, 1, 77, 9999) for stream in (0, 1, 17, 4100)]
    return [
        {"seed": seed, "stream": stream, "uniforms": uniforms(seed, stream, 40).tolist(),
         "normals": normals(seed, stream, 400).tolist(), "permutation": permutation(seed, stream, 20)}
        for seed, stream in streams
    ]  # fmt: skip


def main() -> None:
    """Writes the test cases for the playground page to a file."""
    parser = argparse.ArgumentParser(description="Write cases computed by gnomon for the test of the playground.")
    parser.add_argument("path", type=Path, nargs="?", default=Path("fixtures.json"), help="file to write")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="write only every K-th case")
    options = parser.parse_args()
    chosen = list(page_settings())[:: options.every]
    written = [{"case": asdict(case), "results": expected_numbers(case)} for case in chosen]
    options.path.write_text(json.dumps({"random": random_number_cases(), "cases": written}), encoding="utf-8")
    print(f"{len(written)} cases written to {options.path}")


if __name__ == "__main__":
    main()
