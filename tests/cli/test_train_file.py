"""`gnomon examine train.py`: model, data, loss, optimizer and schedule found by name, or named by options."""

import json
import sys
from functools import partial
from importlib import import_module

import pytest

from gnomon.cli import run
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.training import TrainingStep
from tests.examination.patients import examined as examine

STEPS = (ArchitectureStep(), TrainingStep())

TRAIN = """
import torch
from torch import nn
from helper import small

x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
y = (x[:, 0] > 0).long()
data = lambda: ((x[:150], y[:150]), (x[150:], y[150:]))
model = small()
criterion = nn.CrossEntropyLoss(label_smoothing=0.2)
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.025)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.0)

def rate(parameters):
    return torch.optim.Adagrad(parameters, lr=0.5)

def other(outputs, targets):
    return nn.functional.cross_entropy(outputs, targets) * 3

def frozen(optimizer):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.0)

number = 3

if __name__ == "__main__":
    raise SystemExit("the script ran")
"""
HELPER = "import torch\ndef small():\n    return torch.nn.Linear(4, 2)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", sys.path.copy())
    return tmp_path


def examined(capsys, *arguments):
    command = ["gnomon", "examine", *arguments, "--json", "--budget", "4", "--epochs", "2", "--out", "r.html"]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", command)
        patch.setattr(import_module("gnomon.examination"), "examine", partial(examine, examination_steps=STEPS))
        run()
    out, err = capsys.readouterr()
    if ended.value.code:
        return err
    result = json.loads(out)
    (training,) = [section for section in result["sections"] if section["key"] == "training"]
    return result, {value["id"]: value["value"] for value in training["values"]}


def test_a_file_brings_model_data_loss_optimizer_and_schedule(folder, capsys):
    result, training = examined(capsys, "train.py")
    assert result["name"] == "train.py"
    assert result["manifest"]["loss"] == "CrossEntropyLoss"
    assert training["optimizer"] == "RMSprop, learning rate 0.025"
    assert result["manifest"]["training data"].startswith("150 examples")
    assert "test-loss" in training


def test_options_name_functions_of_a_file(folder, capsys):
    result, training = examined(
        capsys, "train.py:small", "--data", "train.py:data", "--loss", "train.py:other", "--optimizer", "train.py:rate",
        "--schedule", "train.py:frozen",
    )  # fmt: skip
    assert result["manifest"]["loss"] == "other"
    assert training["optimizer"] == "Adagrad, learning rate 0.5"
    assert float(training["training-loss"]) > 1.0  # the schedule sets the rate to zero: three times log 2, about


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        (("model = small()", "something = small()"), ("train.py",), "train.py has no model"),
        (("data = lambda", "points = lambda"), ("train.py",), "train.py has no data"),
        (("", ""), ("train.py", "--loss", "train.py:number"), "--loss is train.py:number, which is a int"),
    ],
)
def test_what_is_missing_is_named(folder, capsys, change, arguments, said):
    text = TRAIN.replace(*change) if change[0] else TRAIN
    text = text.replace("model.parameters()", "something.parameters()") if "something" in text else text
    (folder / "train.py").write_text(text)
    assert said in " ".join(examined(capsys, *arguments).split())
