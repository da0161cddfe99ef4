"""Animates a plot: its curves and dots appear from left to right."""

from typing import Any

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results.drawing import draw
from gnomon.core.results.plot import Plot

__all__ = ["animate"]

MILLISECONDS_PER_FRAME = 50
"""Time for which a frame is shown."""


@add_call_to_errors
def animate(plot: Plot, ax: Any = None, *, frames: int = 60) -> Any:
    """Returns a matplotlib animation of a plot; ``.save("run.gif")`` writes it, and ``.to_jshtml()`` is for notebooks.

    Args:
        plot: a plot of curves or dots.
        ax: matplotlib axes; new ones by default.
        frames: number of frames.

    Cost: one drawing of the curves for each frame when it is saved or shown.

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from gnomon.core.results.plot import Axis, Line, Plot
    >>> movie = animate(Plot("Loss", (Line("training", range(10), range(10)),), Axis("step"), Axis("loss")), frames=5)
    >>> movie._draw_was_started = True                          # nothing is shown or saved here
    >>> len(list(movie.new_frame_seq()))
    5
    """
    from matplotlib.animation import FuncAnimation

    count = check_integer("frames", frames, least=2)
    drawn = draw(plot, ax)
    curves = [(line, line.get_xdata(), line.get_ydata()) for line in drawn.lines if len(line.get_xdata()) > 1]
    for text in drawn.texts:
        text.set_visible(len(curves) > 1)

    def show(frame: int) -> list[Any]:
        for line, x, y in curves:
            last = max(1, round(len(x) * (frame + 1) / count))
            line.set_data(x[:last], y[:last])
        return [line for line, _, _ in curves]

    return FuncAnimation(drawn.figure, show, frames=count, interval=MILLISECONDS_PER_FRAME, blit=False)
