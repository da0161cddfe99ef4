"""The paths of docs/design/call-paths.md are those that the calls take."""

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import gnomon
from gnomon.cli import app
from gnomon.estimators import NTKClassifier
from gnomon.examination.steps.signal import SignalStep
from tests.house.call_paths import CallPath, faults, traced
from tests.house.tree import ROOT, SOURCE, expect_none

PAGE = (ROOT / "docs" / "design" / "call-paths.md").read_text(encoding="utf-8")
MODEL = """
from torch import nn
def build():
    layers = [part for _ in range(12) for part in (nn.Linear(3, 3), nn.Tanh())]
    for layer in layers[::2]:
        nn.init.normal_(layer.weight, std=0.01)
    return nn.Sequential(*layers, nn.Linear(3, 2))
"""


def network():
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))


def check(path, call):
    expect_none(faults(path, traced(call, path.ends, SOURCE), PAGE))


def test_the_path_of_a_limit():
    ends = (("program/affine.py", "linear"), ("kernels/plan.py", "plan"), ("kernels/fused/dense.py", "run"))
    path = CallPath("gnomon.limit(net).ntk(x)", ends, 8)
    check(path, lambda: gnomon.Limit(network(), compiled=True).ntk(torch.randn(5, 3)))


def test_the_path_of_a_tangent_kernel():
    ends = (
        ("tangent/graph.py", "uses"),
        ("tangent/rules.py", "factors_of"),
        ("tangent/block.py", "gradients"),
        ("tangent/sums.py", "outer"),
    )
    check(CallPath("gnomon.ntk(net, x)", ends, 10), lambda: gnomon.ntk(network(), torch.randn(5, 3)))


def test_the_path_of_a_fit():
    ends = (
        ("estimators/network.py", "__call__"),
        ("linalg/ridge_modes.py", "ridge_modes"),
        ("linalg/solve/direct.py", "solve"),
    )
    x = np.random.default_rng(0).normal(size=(12, 3))
    check(CallPath("NTKClassifier().fit(X, y)", ends, 8), lambda: NTKClassifier().fit(x, x[:, 0] > 0))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_path_of_an_examination(tmp_path, monkeypatch):
    ends = (
        ("cli/sources.py", "load_data"),
        ("examination/subject.py", "build_subject"),
        ("examination/step.py", "order_steps"),
        ("checks/network/hooks.py", "record_layers"),
        ("checks/network/signal_findings.py", "signal_findings"),
        ("findings/table.py", "most_serious_first"),
        ("checks/network/chain.py", "mean_field_of_module"),
        ("examination/policy.py", "findings_to_report"),
        ("report/sections.py", "section_html"),
    )
    x = np.random.default_rng(0).normal(size=(200, 3)).astype("float32")
    np.savez(tmp_path / "data.npz", x=x, y=(x[:, 0] > 0).astype(int))
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.setattr("gnomon.examination.run.STEPS", (SignalStep(),))
    words = ["examine", f"{tmp_path / 'model.py'}:build", "--data", str(tmp_path / "data.npz"), "--no-fit", "--out"]

    def call():
        assert CliRunner().invoke(app, [*words, str(tmp_path / "report.html")]).exit_code == 0

    check(CallPath("gnomon examine model.py:build --data data.npz", ends, 15), call)
