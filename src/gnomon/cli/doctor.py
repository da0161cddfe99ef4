"""``gnomon doctor``: shows versions, extras and threads, and runs a short self-test."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Annotated, Any

import typer

NEEDED = ("torch", "numpy", "scipy", "scikit-learn", "matplotlib", "rich", "typer")
OPTIONAL = {"numba": "fast kernels", "zarr": "kernels on disk", "dask": "many machines", "pyarrow": "parquet files"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False) -> None:
    """Show what is installed, and check on a small network that theory and measurement agree."""
    from rich.console import Console
    from rich.table import Table

    state = checkup()
    if as_json:
        print(json.dumps(state))
    else:
        console = Console()
        table = Table(box=None, show_header=False)
        for name, value in state["versions"].items():
            note = f"  ({OPTIONAL[name]})" if name in OPTIONAL else ""
            table.add_row(name, value or f"[yellow]not installed[/]{note}")
        console.print(table)
        console.print(f"threads {state['threads']}; kernel of 500 points in {state['kernel seconds']:.2f} s")
        console.print(
            f"kernel at finite against infinite width: {state['gap']:.1%} apart at width 2048 (expected: a few percent)"
        )
        console.print(
            "[green]everything works[/]"
            if state["well"]
            else ("[red]self-test failed: theory and measurement disagree[/]")
        )
    if not state["well"]:
        raise typer.Exit(1)


def checkup() -> dict[str, Any]:
    """Returns installed versions, thread counts and the result of a short self-test; prints progress to stderr."""
    from gnomon.core.machine.progress import progress_line

    progress_line("loading torch and gnomon")
    import torch

    from gnomon.kernels import Limit
    from gnomon.models import mlp
    from gnomon.tangent import ntk

    progress_line("testing the kernel of an infinitely wide network on 500 points")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(500, 16, generator=generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = mlp(16, width=2048, depth=1)
    limit = Limit(net)
    limit.ntk(x[:20])
    start = perf_counter()
    limit.ntk(x)
    seconds = perf_counter() - start
    progress_line("comparing with a network of width 2048 on 20 points")
    theory, here = limit.ntk(x[:20]), ntk(net, x[:20])
    assert isinstance(here, torch.Tensor)
    gap = float((here.double() - theory).norm() / theory.norm())
    versions = {"python": platform.python_version(), **{name: _version(name) for name in (*NEEDED, *OPTIONAL)}}
    return {"schema": 1, "versions": versions, "threads": torch.get_num_threads(), "kernel seconds": seconds,
            "gap": gap, "well": gap < 0.15}  # fmt: skip


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
