"""``gnomon demo``: the infinite-width kernel of a small CNN on real digits, from module to verdict."""

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from torch import nn

from gnomon.cli.figure import draw
from gnomon.data import digits
from gnomon.kernels import Limit
from gnomon.linalg import cholesky, diagnose
from gnomon.models import mlp

RIDGE = 1e-4  # of the mean diagonal: enough for a stable solve, too little to change a prediction


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure; it is made if it is not there.")] = Path(
        "gnomon-demo"
    ),
    train: Annotated[int, typer.Option(help="Images to learn from.", min=20, max=1500)] = 600,
    test: Annotated[int, typer.Option(help="Images to be judged on.", min=10, max=297)] = 297,
) -> None:
    """Compute the NTK of a small CNN on scikit-learn's digits, fit kernel regression, judge it, and draw it."""
    console = Console()
    data = digits(train, test)
    nets = {"CNN": small_cnn(), "MLP": nn.Sequential(nn.Flatten(), *mlp(64, 10, width=512, depth=2))}
    console.print(
        f"[bold]gnomon[/bold]: exact infinite-width kernels of an nn.Module, on {train} of scikit-learn's digits\n"
    )
    console.print(str(nets["CNN"]), highlight=False)
    table = Table("network", "NTK, train x train", "NTK, test x train", "fit", f"accuracy on {test} unseen digits")
    gram, accuracies, truth = None, {}, data.y_test
    for name, net in nets.items():
        limit = Limit(net)
        console.print(f"\n{name}: {limit.cost(train, shape=(1, 8, 8))}", highlight=False)
        times, k = [perf_counter()], limit.ntk(data.x)
        times.append(perf_counter())
        cross = limit.ntk(data.x_test, data.x)
        times.append(perf_counter())
        targets = nn.functional.one_hot(data.y, data.classes).to(k) - 1 / data.classes
        ridge = RIDGE * float(k.diagonal().mean())
        weights = targets.cholesky_solve(cholesky(k, jitter=ridge).lower)
        predicted = (cross @ weights).argmax(1)
        times.append(perf_counter())
        accuracies[name] = float((predicted == truth).double().mean())
        spans = [f"{b - a:.2f} s" for a, b in zip(times, times[1:], strict=False)]
        table.add_row(name, *spans, f"{100 * accuracies[name]:.1f} %")
        gram = k if gram is None else gram
    assert gram is not None
    console.print()
    console.print(table)
    console.print("\n[bold]The CNN's Gram matrix[/bold]")
    found = diagnose(gram)
    console.print(str(found), highlight=False)
    console.print(f"\nFigure: {draw(gram, data.y, found.eigenvalues, accuracies, out)}")


def small_cnn(width: int = 128) -> nn.Sequential:
    """Three layers of the usual kind; the limit reads them as they are."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10),
    )  # fmt: skip
