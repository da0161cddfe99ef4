"""Plots of every class of results: labeled axes, no empty panel, one look."""

import doctest
import importlib
import inspect
import pkgutil
from dataclasses import dataclass

import matplotlib
import pytest
from matplotlib import pyplot as plt

import gnomon
from gnomon.core.results import Axis, Band, Bars, Histogram, Image, Line, Plot, Reference, Result, Scatter
from gnomon.core.results.drawing import draw, new_axes
from gnomon.core.results.look import COLORS, DARK, LIGHT, SERIES, is_dark
from tests.core.results.seen import plot_faults, results_made

matplotlib.use("agg")


@dataclass(frozen=True, slots=True)
class Shown(Result):
    shown: tuple[Plot, ...] = ()

    @property
    def verdict(self):
        return "Half of them are right."

    def plots(self):
        return self.shown


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def as_seen_without_green(color):
    """The color as a deuteranope sees it (Viénot, Brettel and Mollon 1999), in linear light."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    yellow = 0.29275 * r + 0.70725 * g
    return yellow, yellow, -0.02234 * r + 0.02234 * g + b


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_curves_are_seen_on_their_ground_and_told_apart_without_green(palette):
    colors = [palette[name] for name in SERIES]
    assert all(contrast(color, palette["ground"]) >= 3 for color in colors)  # WCAG 2.1, 1.4.11
    assert contrast(palette["text"], palette["ground"]) >= 7
    seen = [as_seen_without_green(color) for color in colors[:3]]
    for i, a in enumerate(seen):
        for b in seen[:i]:
            assert max(abs(p - q) for p, q in zip(a, b, strict=True)) > 0.08


def test_a_plot_without_points_says_so_and_shows_no_axes():
    empty = (
        Line("a", (), ()), Line("a", (1,), (float("nan"),)), Scatter("a", (), ()), Band("a", (), (), ()),
        Bars("a", (), ()), Histogram("a", (0, 1), (float("nan"),)), Image("a", ()), Reference("a", 1.0),
    )  # fmt: skip
    for mark in empty:
        ax = draw(Plot("Loss", (mark,), Axis("step"), Axis("loss")), new_axes()[0])
        assert not ax.axison and any("Nothing was measured" in text.get_text() for text in ax.texts), mark
    plt.close("all")


def test_flat_matrices_and_single_points_are_visible():
    ax = draw(Plot("Kept", (Image("kept", [[0, 0], [0, 0]]),), Axis("across"), Axis("down")), new_axes()[0])
    assert [text.get_text() for text in ax.texts] == ["kept: 0 everywhere"]
    ax = draw(Plot("Loss", (Line("a", (1,), (2,)),), Axis("step"), Axis("loss")), new_axes()[0])
    assert ax.lines[0].get_marker() == "o"
    plt.close("all")


def test_plot_always_returns_axes_and_the_verdict_is_the_title():
    one = Plot("Loss", (Line("a", (1, 2), (2, 1)),), Axis("step"), Axis("loss"))
    for shown in ((one,), (one, one), (one, one, one)):
        axes = Shown(shown).plot()
        assert axes.figure.get_suptitle() == "Half of them are right." and len(axes.figure.axes) == len(shown)
    own = plt.subplots()[1]
    assert Shown((one, one)).plot(own) is own and own.get_title() == "Loss"
    plt.close("all")


def test_a_dark_style_of_the_user_gives_a_dark_figure():
    plot = Plot("Loss", (Line("a", (1, 2), (2, 1)),), Axis("step"), Axis("loss"))
    with plt.style.context("dark_background"):
        ax = Shown((plot,)).plot()
    assert is_dark(ax.figure.get_facecolor()[:3]) and ax.lines[0].get_color() == DARK["first"]
    assert Shown((plot,)).plot().lines[0].get_color() == COLORS[0]
    plt.close("all")


def test_prediction_and_measurement_of_one_quantity_have_one_color():
    marks = (Line("theory", (1, 2), (1, 2), color=0), Scatter("measured", (1, 2), (1, 2), 0), Line("b", (1, 2), (3, 4)))
    assert Plot("P", marks).colors == (0, 0, 0)
    free = (Line("a", (), ()), Band("interval", (), (), ()), Reference("limit", 1.0), Line("b", (), ()))
    assert Plot("P", free).colors == (0, 0, 4, 1)


def test_pictures_have_coordinates_contours_and_other_marks():
    values = [[float(i * i + j * j) for j in (-1, 0, 1)] for i in (-1, 0, 1)]
    marks = (Image("loss", values, extent=(-1, 1, -1, 1), contours=True), Scatter("model", (0.0,), (0.0,), 0))
    ax = draw(Plot("Loss", marks, Axis("s"), Axis("t")), new_axes()[0])
    assert ax.get_xlim() == (-1, 1) and len(ax.figure.axes) == 2  # the color bar
    assert ax.get_aspect() == 1 and len(ax.collections) >= 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["model"]  # a single mark on a picture is named
    signed = Image("attribution", [[-1.0, 3.0]], centered=True, under=[[0.0, 1.0]])
    shown = draw(Plot("Map", (signed,), Axis("a"), Axis("b")), new_axes()[0]).images
    assert len(shown) == 2 and shown[1].get_clim() == (-3, 3)
    plt.close("all")


def test_the_checker_sees_what_is_missing():
    fine = Plot("Loss", (Line("a", (1, 2), (2, 1)),), Axis("step"), Axis("loss"))
    assert plot_faults(Shown((fine,))) == []
    assert plot_faults(Shown()) == ["no plot"]
    bare = Plot("", (Line("a", (1, 2), (2, 1)),))
    assert plot_faults(Shown((bare,))) == ["'': no title", "'': the x axis has no label", "'': the y axis has no label"]
    empty = Plot("Loss", (Line("a", (1, 2), (float("nan"),) * 2), Reference("limit", 1.0)), Axis("step"), Axis("loss"))
    assert plot_faults(Shown((fine, empty))) == ["'Loss': an empty panel"]
    said = Plot("Loss", (), caption="Nothing was measured.")
    assert plot_faults(Shown((fine, said))) == []
    with results_made() as made:
        Shown((fine,))
        gnomon.core.results.curves.Curves  # noqa: B018
    assert list(made) == []


def classes(of=Result):
    return {c for one in of.__subclasses__() for c in (one, *classes(one))}


@pytest.mark.full
def test_an_example_of_every_class_is_drawn_with_labels_on_all_panels():
    """Runs the examples of all docstrings: those of every class of results make at least one."""
    flags, seen = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, set()
    for module in pkgutil.walk_packages(gnomon.__path__, "gnomon."):
        if "claims" in module.name or "__main__" in module.name:
            continue
        loaded = importlib.import_module(module.name)
        for example in doctest.DocTestFinder().find(loaded, module.name):
            if not example.examples:
                continue
            with results_made() as made:
                doctest.DocTestRunner(verbose=False, optionflags=flags).run(example, out=lambda _: None)
                for result in made:
                    if type(result) in seen:
                        continue
                    seen.add(type(result))
                    assert plot_faults(result) == [], type(result)
                    first = result.plot()
                    for ax in first.figure.axes:
                        words = ax.get_yticklabels() if not ax.get_ylabel() else ()
                        assert not ax.axison or ax.get_label() == "<colorbar>" or ax.get_xlabel(), type(result)
                        assert not ax.axison or ax.get_ylabel() or any(w.get_text() for w in words), type(result)
                    plt.close("all")
    known = {c for c in classes() if c.__module__.startswith("gnomon.") and not inspect.isabstract(c)}
    names = {c.__name__ for c in known} - {c.__name__ for c in seen} - {"ResultWithCurves"}
    assert names == set()
