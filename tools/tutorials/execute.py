"""Executes the cells of a tutorial script in order, and keeps what each cell prints, returns and draws."""

import ast
import io
import os
import random
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

RANDOM_SEED = 0
TERMINAL_COLUMNS = 96
"""Width of printed tables, which fits a page."""
MAX_SVG_BYTES = 160_000
"""A larger picture is stored as PNG."""
PNG_DOTS_PER_INCH = 144
PNG_COLORS = 256


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure in two versions: for light and for dark pages."""

    suffix: str
    light: bytes
    dark: bytes


@dataclass(frozen=True, slots=True)
class CellOutput:
    """The output of one code cell: printed text with the value of its last expression, and its pictures."""

    text: str = ""
    pictures: list[Picture] = field(default_factory=list)


def execute(cells: Iterable[str], name: str) -> list[CellOutput]:
    """Runs the cells of a tutorial one after another, in an empty folder, with fixed seeds and one thread."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with session():
        return [run_cell(cell, names, f"<{name}, cell {number}>") for number, cell in enumerate(cells, 1)]


@contextmanager
def session(*, quiet: bool = True) -> Iterator[None]:
    """Context manager with an empty folder, the plot style of the pages, fixed seeds and one thread."""
    import matplotlib

    matplotlib.use("agg")
    import numpy as np
    import torch
    from matplotlib import pyplot as plt

    from tools.tutorials.style import rc_parameters

    threads, environment = torch.get_num_threads(), dict(os.environ)
    random.seed(RANDOM_SEED)
    np.random.seed(RANDOM_SEED)
    torch.manual_seed(RANDOM_SEED)
    torch.set_num_threads(1)
    os.environ |= {"COLUMNS": str(TERMINAL_COLUMNS), "NO_COLOR": "1"}
    plt.close("all")
    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder), plt.rc_context(rc_parameters()):
            with warnings.catch_warnings():
                # Hides numpy's warning about arrays of tensors, which tutorials draw or save.
                warnings.filterwarnings("ignore", "__array__ implementation")
                if quiet:
                    warnings.simplefilter("ignore")
                yield
    finally:
        plt.close("all")
        torch.set_num_threads(threads)
        os.environ.clear()
        os.environ |= environment


def run_cell(code: str, names: dict[str, Any], name: str, *, every_value: bool = False) -> CellOutput:
    """Runs one cell, and shows the value of its last line, as a notebook does, or of every expression."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        statements = ast.parse(code, name).body
        for number, statement in enumerate(statements, 1):
            if isinstance(statement, ast.Expr) and (every_value or number == len(statements)):
                value = eval(compile(ast.Expression(statement.value), name, "eval"), names)
                if _is_shown(value, code) and (not every_value or _is_result(value)):
                    print(value if every_value and isinstance(value, str) else repr(value))
            else:
                exec(compile(ast.Module([statement], []), name, "exec"), names)
    text = "\n".join(line.rstrip() for line in printed.getvalue().splitlines()).strip("\n")
    return CellOutput(text, open_figures())


def _is_shown(value: Any, code: str) -> bool:
    """Checks whether a page shows the value of an expression: not None, not part of a picture, no semicolon at the
    end.
    """
    first = value.flat[0] if type(value).__name__ == "ndarray" and value.size and value.dtype == object else value
    first = first[0] if isinstance(first, list | tuple) and first else first
    return value is not None and not type(first).__module__.startswith("matplotlib") and not code.rstrip().endswith(";")


def _is_result(value: Any) -> bool:
    """Checks whether a value inside a cell is worth showing, unlike random generators, fitted models or saved files."""
    is_setting = type(value).__name__ in ("Generator", "PosixPath", "Parameter") or hasattr(value, "fit")
    return not is_setting and not callable(value)


def open_figures() -> list[Picture]:
    """Saves and closes every open matplotlib figure, and returns the pictures."""
    from matplotlib import pyplot as plt

    figures = [plt.figure(number) for number in plt.get_fignums()]
    pictures = [save(figure) for figure in figures]
    plt.close("all")
    return pictures


def save(figure: Any) -> Picture:
    """Saves a figure in the colors of light and of dark pages, as SVG, or as PNG if the SVG would be large."""
    from tools.tutorials.style import recolor

    # Axes of color bars have a place already, so the automatic layout must not move them.
    colorbars = any(axes.get_label() == "<colorbar>" for axes in figure.axes)
    plain = any(axes.get_subplotspec() is not None for axes in figure.axes) and not colorbars
    if figure.get_layout_engine() is None and plain:
        figure.set_layout_engine("constrained")
    for axes in figure.axes:
        if axes.images or any(type(collection).__name__ == "QuadMesh" for collection in axes.collections):
            axes.grid(visible=False)
    light, small = _svg(figure), _png(figure)
    recolor(figure)
    if len(light) <= MAX_SVG_BYTES:
        return Picture("svg", light, _svg(figure))
    return Picture("png", small, _png(figure))


def _svg(figure: Any) -> bytes:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, facecolor=figure.get_facecolor())
    return stream.getvalue().encode()


def _png(figure: Any) -> bytes:
    from PIL import Image

    whole, stream = io.BytesIO(), io.BytesIO()
    figure.savefig(whole, format="png", dpi=PNG_DOTS_PER_INCH, facecolor=figure.get_facecolor())
    Image.open(whole).convert("RGB").quantize(PNG_COLORS).save(stream, format="png", optimize=True)
    return stream.getvalue()
