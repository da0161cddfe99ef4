"""The line of the user's code that made a layer, in classes, containers and functions that build a network."""

import inspect
from pathlib import Path

import pytest
from torch import nn

import gnomon.core.modules.source_lines as source_lines
from gnomon.core.modules.source_lines import find_source_line
from gnomon.examination.subject import build_subject


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc, self.act = nn.Linear(width, width), nn.ReLU()  # the line of fc

    def forward(self, x):
        return self.act(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            Block(3),
            nn.Linear(3, 4),  # the line of body.1
        )
        self.several = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])  # the line of several
        self.add_module("named", nn.Linear(4, 4))

    def forward(self, x):
        return self.body(x)


def build():
    net = nn.Sequential(
        nn.Linear(2, 2),  # the line of 0
        Net(),
    )
    return net


def one_of_two():
    class Same(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)  # the line of the first Same

    return Same()


def two_of_two():
    class Same(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)  # the line of the second Same

    return Same()


def line_with(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("body.0.fc", "# the line of fc"),
        ("body.0.fc.weight", "# the line of fc"),
        ("body.1", "# the line of body.1"),
        ("several.1", "# the line of several"),
        ("named", "class Net("),
    ],
)
def test_a_layer_is_found_where_its_class_makes_it(where, text):
    found = find_source_line(Net(), where)
    assert found is not None and found.line == line_with(text) and found.file.endswith("test_source_lines.py")


def test_a_layer_of_a_container_is_found_in_the_function_that_builds_it():
    assert find_source_line(build(), "0", build).line == line_with("# the line of 0")
    assert find_source_line(build(), "1.body.1", build).line == line_with("# the line of body.1")
    assert find_source_line(build(), "0") is None  # without the function nothing says where the container was made


def test_places_that_are_no_layers_and_layers_of_packages_have_no_line():
    assert find_source_line(Net(), "inputs") is None
    assert find_source_line(nn.TransformerEncoderLayer(8, 2, 8), "linear1") is None


def test_a_lambda_is_a_function_that_builds():
    one = lambda: nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))  # noqa: E731
    assert find_source_line(one(), "1", one).line == inspect.getsourcelines(one)[1]


def test_a_file_that_is_gone_gives_no_line(monkeypatch):
    monkeypatch.setattr(source_lines, "_tree", lambda file: None)
    assert find_source_line(Net(), "body.1") is None


def test_a_finding_about_a_layer_begins_with_its_line():
    import torch

    from gnomon.core.results import Finding
    from gnomon.examination.run import _with_source_lines
    from gnomon.findings.network import ZERO_WEIGHTS
    from gnomon.report import PageContent

    examined = build_subject(Net, (torch.randn(30, 3), torch.arange(30) % 4), None, seed=0)
    finding = Finding(ZERO_WEIGHTS, "body.1", {"layer": "Linear"})
    (located,) = _with_source_lines(PageContent("", (finding,)), examined).findings
    assert located.message.startswith(f"{located.source}: All weights of 'body.1'")
    assert located.source.endswith(f"test_source_lines.py:{line_with('# the line of body.1')}")
    assert located.to_dict()["source"] == located.source


@pytest.mark.parametrize(("make", "which"), [(one_of_two, "first"), (two_of_two, "second")])
def test_classes_with_one_name_in_a_file_are_told_apart(make, which):
    assert find_source_line(make(), "fc").line == line_with(f"# the line of the {which} Same")
