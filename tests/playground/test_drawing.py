"""What the page draws of a user's network: curves, maps, and the numbers behind them."""

import pytest
import torch
from torch import nn

from gnomon.playground.drawing import picture_grid
from gnomon.playground.session import PlaygroundSession, PlaygroundSettings


def last_frame(session, steps):
    frame = session.advance(20)
    while frame["step"] < steps and not frame["diverged"]:
        frame = session.advance(20)
    session.stop()
    return frame


def test_a_curve_is_the_network_on_its_grid():
    torch.manual_seed(0)
    x = torch.linspace(-1, 3, 9)[:, None]
    session = PlaygroundSession(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)), x, x[:, 0].sin())
    setup = session.setup(PlaygroundSettings(steps=30, rate=0.3))["setup"]
    grid = torch.tensor(setup["grid"], dtype=torch.float64)
    assert setup["dimension"] == 1 and setup["x"] == x.flatten().tolist() and setup["marks"] == setup["y"]
    torch.testing.assert_close(torch.tensor(setup["start"]).double(), session.network(grid[:, None])[:, 0].detach())
    assert float(grid[0]) == pytest.approx(-1 - 0.12 * 4) and float(grid[-1]) == pytest.approx(3 + 0.12 * 4)
    predicted, frame = setup["predicted"], last_frame(session, 30)
    assert len(predicted["curves"]) == len(setup["records"])
    off = torch.tensor(predicted["curves"][-1]) - torch.tensor(frame["curve"])
    moved = torch.tensor(frame["curve"]) - torch.tensor(setup["start"])
    assert float(off.norm()) < 0.5 * float(moved.norm())  # a network of 32 units follows its kernel about so closely


def test_the_prediction_of_a_linear_model_is_exact_everywhere_in_the_picture():
    torch.manual_seed(1)
    x = torch.randn(7, 2)
    session = PlaygroundSession(nn.Linear(2, 1), x, x[:, 0] - 2 * x[:, 1])
    setup = session.setup(PlaygroundSettings(steps=25, rate=0.4))["setup"]
    frame = last_frame(session, 25)
    assert setup["dimension"] == 2 and len(frame["curve"]) == 36 * 36
    torch.testing.assert_close(torch.tensor(setup["predicted"]["curves"][-1]), torch.tensor(frame["curve"]))
    torch.testing.assert_close(torch.tensor(setup["predicted"]["modes"][-1]), torch.tensor(frame["modes"]))
    torch.testing.assert_close(torch.tensor(setup["predicted"]["loss"][-1]), torch.tensor(frame["loss"]))


def test_two_classes_are_drawn_by_the_difference_of_their_scores():
    labels = torch.tensor([0, 1, 1])
    drawing = picture_grid(torch.randn(3, 2), torch.eye(2)[labels], classes=labels)
    assert drawing.marks == [-1.0, 1.0, 1.0]
    assert drawing.values(torch.tensor([[1.0, 4.0], [2.0, 0.5]])) == [3.0, -1.5]


def test_of_more_classes_the_first_is_drawn_against_the_others():
    labels = torch.tensor([0, 2, 1])
    drawing = picture_grid(torch.randn(3, 2), torch.eye(3)[labels], classes=labels)
    assert drawing.marks == [1.0, -1.0, -1.0] and "class 0" in drawing.message
    assert drawing.values(torch.tensor([[1.0, 4.0, 2.0], [2.0, 0.5, 1.0]])) == [-3.0, 1.0]


def test_cells_of_a_map_run_from_the_upper_left_corner():
    x = torch.tensor([[0.0, 10.0], [1.0, 20.0]])
    drawing = picture_grid(x, torch.zeros(2, 1), classes=None)
    low, high = drawing.low, drawing.high
    assert low == pytest.approx([-0.12, 8.8]) and high == pytest.approx([1.12, 21.2])
    half = torch.tensor([(high[0] - low[0]) / 72, (high[1] - low[1]) / 72], dtype=torch.float64)
    first = torch.tensor([low[0], high[1]], dtype=torch.float64) + torch.tensor([1, -1]) * half
    torch.testing.assert_close(drawing.grid[0], first)
    torch.testing.assert_close(drawing.grid[1] - drawing.grid[0], torch.tensor([2.0, 0.0]).double() * half)
    torch.testing.assert_close(drawing.grid[36] - drawing.grid[0], torch.tensor([0.0, -2.0]).double() * half)


def test_inputs_of_other_shapes_are_not_drawn():
    assert picture_grid(torch.randn(3, 4), torch.zeros(3, 1), classes=None).coordinates() is None
    assert picture_grid(torch.randn(3, 2, 1), torch.zeros(3, 1), classes=None).values(torch.ones(3, 1)) == []


def test_modes_of_cross_entropy_are_pulls_of_the_loss():
    torch.manual_seed(2)
    x, labels = torch.randn(6, 8), torch.tensor([0, 1, 2, 0, 1, 2])
    session = PlaygroundSession(nn.Linear(8, 3), x, labels)
    setup = session.setup(PlaygroundSettings(steps=10, rate=0.5))["setup"]
    outputs = torch.tensor(setup["f0"]).reshape(6, 3).double()
    error = torch.softmax(outputs, 1) - torch.eye(3).double()[labels]
    vectors = torch.linalg.eigh(torch.tensor(setup["kernel"]).reshape(6, 6)).eigenvectors.flip(1).double()
    expected = (vectors.T @ error).norm(dim=1)
    torch.testing.assert_close(torch.tensor(setup["coefficients"]).double(), expected, rtol=1e-4, atol=1e-6)
