"""Tutorials: every one is complete, their stored outputs are current, and the fast ones still print the same."""

import json

import pytest

pytest.importorskip("PIL")
from tests.house.tree import expect_none
from tools.tutorials import check, compare, execute, notebook, parse, render, store, style

TUTORIALS = parse.read_all()
FAST = [tutorial for tutorial in TUTORIALS if tutorial.fast]
SAMPLE = """# fast: true
# thumbnail: 1
# %% [markdown]
# # Falling
#
# How fast does it fall?
#
# Uses `gnomon.ntk` and [a claim](claim:perceptron-novikoff).
# %%
# alt: a magenta curve that falls from one to almost zero
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 1, 20)
figure, axes = plt.subplots()
axes.plot(x, np.exp(-3 * x))
axes.axhline(0, color="black")
print("last value", round(float(np.exp(-3)), 3))
x.sum()
# %% [markdown]
# !!! question "Predict before you run"
#     Is it two?
#
# ??? success "Answer"
#     Yes, see [the page](../limits.md).
# %%
# varies
x = 1
"""


@pytest.fixture
def sample(tmp_path):
    tutorial = parse.parse(SAMPLE, "01-falling")
    outputs = execute.execute([cell.text for cell in tutorial.cells if cell.kind == "code"], tutorial.slug)
    store.write(tutorial, outputs, 1.0, tmp_path)
    return tutorial, store.load(tutorial, tmp_path), tmp_path


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda tutorial: tutorial.slug)
def test_a_tutorial_is_complete_and_its_outputs_are_current(tutorial):
    expect_none([f"{tutorial.slug} {problem}" for problem in check.problems(tutorial, store.load(tutorial))])


@pytest.mark.parametrize("tutorial", FAST, ids=lambda tutorial: tutorial.slug)
def test_a_fast_tutorial_prints_what_its_page_shows(tutorial):
    code = [cell for cell in tutorial.cells if cell.kind == "code"]
    outputs = execute.execute([cell.text for cell in code], tutorial.slug)
    stored = store.load(tutorial)
    assert stored is not None, store.missing(tutorial)
    for number, (cell, output, kept) in enumerate(zip(code, outputs, stored.cells, strict=True), 1):
        assert cell.varies or compare.difference(output.text, kept.text) == "", f"cell {number}"
        assert len(output.pictures) == len(kept.pictures)


def test_cells_are_executed_and_shown(sample):
    tutorial, stored, _ = sample
    assert [cell.text for cell in stored.cells] == ["last value 0.05\n10.0", ""] or "np.float64(10.0)" in stored.cells[
        0
    ].text
    page = render.page(tutorial, stored)
    assert page.index("*How fast does it fall?*") < page.index("```python") < page.index("last value 0.05")
    assert "![a magenta curve that falls from one to almost zero](outputs/01-falling/1-light.svg#only-light)" in page
    assert "# alt:" not in page and "# varies" not in page and tutorial.cells[-1].varies


def test_a_dark_picture_has_the_colors_of_the_dark_page(sample):
    _, _, folder = sample
    light, dark = ((folder / "outputs/01-falling" / f"1-{kind}.svg").read_text() for kind in ("light", "dark"))
    assert style.LIGHT["first"] in light and style.DARK["first"] not in light
    for text in (style.LIGHT["first"], style.LIGHT["ground"], style.LIGHT["text"], "#000000"):
        assert text not in dark
    assert style.DARK["first"] in dark and style.DARK["ground"] in dark and style.DARK["text"] in dark


def test_outputs_of_other_code_are_not_current(sample):
    _, _, folder = sample
    assert store.load(parse.parse(SAMPLE.replace("-3 * x", "-4 * x"), "01-falling"), folder) is None
    assert store.load(parse.parse(SAMPLE.replace("How fast", "How slowly"), "01-falling"), folder) is not None


def test_the_notebook_has_the_outputs_and_plain_boxes(sample):
    tutorial, stored, folder = sample
    book = json.loads(notebook.notebook(tutorial, stored, folder))
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert kinds == ["markdown", "code", "markdown", "code"] and book["nbformat"] == 4
    outputs = book["cells"][1]["outputs"]
    assert outputs[0]["text"][0] == "last value 0.05\n" and "<svg" in outputs[1]["data"]["image/svg+xml"]
    text = "".join(book["cells"][2]["source"])
    assert "> **Predict before you run**" in text and "???" not in text and "../limits.md" not in text


def test_what_a_tutorial_lacks_is_said(sample):
    tutorial, stored, _ = sample
    found = " ".join(check.problems(tutorial, stored))
    for words in ("words; 600 to 1000", "1 folded answers", "Three lines to remember", "1 pictures, not 3"):
        assert words in found
    assert "Predict" not in found and "claim" not in found and "function" not in found


def test_missing_outputs_fail_the_build_with_the_command_to_run(sample):
    assert "python -m tools.tutorials run 01-falling" in store.missing(sample[0])


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("loss 0.512", "loss 0.514", True),
        ("loss 0.512", "loss 0.612", False),
        ("error 1e-12", "error 7e-09", True),
        ("a 1", "b 1", False),
        ("a", "a\nb", False),
        ("95.1% right", "60.0% right", False),
    ],
)
def test_printed_text_is_compared_up_to_rounding(first, second, equal):
    assert (compare.difference(first, second) == "") is equal
