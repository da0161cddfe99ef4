"""Limits of wide networks for fourteen public architectures: exact, sampled with its error, or the reason why not.

    python -m evaluation.public_models.limits                    the table
    python -m evaluation.public_models.limits --model bert --json FILE

`gnomon.limit` is exact or says what has no formula. `gnomon.sampled_limit` averages the kernels of newly built
networks, at the width that they have. ``distance`` compares it with a plain loop over other networks: the difference of
the NTK's diagonal, in standard errors of both. Between -3 and 3 is what chance makes.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from torch import nn

import gnomon
from evaluation.public_models.cases.structured import kan
from evaluation.public_models.instruments import Examples, first_examples
from evaluation.public_models.registry import CASES
from gnomon.core.errors import GnomonError

MODELS = (
    "mnist-cnn", "mnist-rnn", "vae", "time-sequence", "siamese", "bert", "gpt2", "vit", "tabm", "resnet18", "unet",
    "neural-ode", "kan", "gin",
)  # fmt: skip
"""Models of all kinds on which the limits were tried."""
DRAWS = 16
"""Networks over which kernels are averaged."""
FEW = {"resnet18": 6, "unet": 4, "time-sequence": 4}
"""Fewer networks for models that take long."""


SEEDED: dict[str, Callable[[], nn.Module]] = {"kan": lambda: kan(seed=int(torch.randint(2**31, ())))}
"""Builders for networks that set the same random seed at each call unless they are given one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """One row; numbers are means of the diagonals of the kernels, errors are relative standard errors."""

    model: str
    exact: float | None
    why_not: str
    nngp: float | None = None
    ntk: float | None = None
    error: float | None = None
    distance: float | None = None
    draws: int = 0
    seconds: float = 0.0


def measure(id: str) -> Limits:
    """The row of a model."""
    given, start = first_examples(id), time.perf_counter()
    try:
        exact, why = float(gnomon.limit(given.model).ntk(given.inputs).diagonal().mean()), ""
    except GnomonError as error:
        exact, why = None, " ".join(str(error).split())
    draws = FEW.get(id, DRAWS)
    try:
        found = gnomon.sampled_limit(SEEDED.get(id, CASES[id].build), draws=draws)(given.inputs)
    except GnomonError as error:
        return Limits(id, exact, f"{why} | sampled: {' '.join(str(error).split())}")
    seconds = time.perf_counter() - start
    assert found.ntk is not None and found.ntk_error is not None
    ntk, error = float(found.ntk.diagonal().mean()), float(found.ntk_error.diagonal().square().mean().sqrt())
    plain, plain_error = plain_diagonal(id, given, draws)
    distance = (ntk - plain) / sqrt(error**2 + plain_error**2)
    return Limits(id, exact, why, float(found.nngp.diagonal().mean()), ntk, error / ntk, distance, draws, seconds)


def plain_diagonal(id: str, given: Examples, draws: int) -> tuple[float, float]:
    """Mean diagonal of the NTK per output over new networks with other seeds, by autograd, and its standard error."""
    values = []
    for seed in range(1000, 1000 + draws):
        torch.manual_seed(seed)
        one = Examples(id, SEEDED.get(id, CASES[id].build)().eval(), given.batch)
        outputs = one.outputs()
        flat = outputs.reshape(len(outputs), -1)
        signs = torch.randint(0, 2, flat.shape[1:]).to(flat) * 2 - 1
        squares = []
        for row in flat @ signs:
            slopes = torch.autograd.grad(row, one.parameters, retain_graph=True, allow_unused=True)
            squares.append(sum(float(g.double().square().sum()) for g in slopes if g is not None))
        values.append(sum(squares) / len(squares) / flat.shape[1])
    mean = torch.tensor(values).double()
    return float(mean.mean()), float(mean.std() / sqrt(draws))


def line(row: Limits) -> str:
    """A row of the table in Markdown."""
    exact = "no" if row.exact is None else f"{row.exact:.4g}"
    why = row.why_not.replace("|", "/")
    if row.ntk is None:
        return f"| {row.model} | {exact} | no | | | | {why} |"
    sampled = f"{row.nngp:.3g} | {row.ntk:.4g} | {100 * (row.error or 0):.0f} % | {row.distance:+.1f} | {row.draws}"
    return f"| {row.model} | {exact} | {sampled} | {why[:160]} |"


HEAD = (
    "| model | exact NTK | NNGP | NTK | standard error | distance | networks | why there is no exact limit |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Prints the table; results can also be written as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.public_models.limits", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--model", action="append", choices=MODELS, help="may be repeated; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append each result to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(HEAD)
    for id in options.model or MODELS:
        found: Any = measure(id)
        print(line(found), flush=True)
        if options.json is not None:
            with options.json.open("a") as file:
                file.write(json.dumps(asdict(found)) + "\n")


if __name__ == "__main__":
    main()
