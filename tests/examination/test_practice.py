"""Faults of practice through the examination: named first, and healthy networks of the same kinds get none."""

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.data import digits
from gnomon.examination import STEPS, examine

SPLIT = digits(1200, 400)
TRAIN, TEST = (SPLIT.x, SPLIT.y), (SPLIT.x_test, SPLIT.y_test)
BEFORE = [s for s in STEPS if s.key in ("architecture", "data", "columns", "split", "wiring", "signal")]
TRIED = [s for s in STEPS if s.key in ("architecture", "optimizer")]


def net(end=None, dropout=0.0):
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear(128, 10), *([] if end is None else [end]))


def look(module, train=TRAIN, test=TEST, steps=BEFORE, **options):
    return examine(
        module, train, test, examination_steps=steps, fit=False, budget=30, clock=FakeClock(0.001), **options
    )


def flipped():
    y = TRAIN[1].clone()
    y[:180] = (y[:180] + 3) % 10
    return TRAIN[0], y


def leaked():
    return torch.cat([TEST[0][20:], TRAIN[0][:20]]), torch.cat([TEST[1][20:], TRAIN[1][:20]])


def frozen():
    module = net()
    module[6].requires_grad_(False)
    return module


def head_only():
    module = net()
    return module, torch.optim.Adam(module[6].parameters())


FAULTS = {
    "softmax-before-loss": lambda: look(net(nn.Softmax(1))),
    "modes-disagree": lambda: look(net(dropout=0.98)),
    "frozen-at-random": lambda: look(frozen()),
    "not-in-optimizer": lambda: (lambda m, rule: look(m, optimizer=rule))(*head_only()),
    "noisy-labels": lambda: look(net(), flipped()),
    "leaked-test": lambda: look(net(), test=leaked()),
    "train-test-shift": lambda: look(net(), test=(TEST[0].flip(-1), TEST[1])),
    "class-missing": lambda: look(net(), (TRAIN[0][TRAIN[1] != 3], TRAIN[1][TRAIN[1] != 3])),
    "learning-rate-too-small": lambda: look(net(), steps=TRIED, optimizer=lambda p: torch.optim.Adam(p, lr=1e-7)),
    "weight-decay-wins": lambda: look(net(), optimizer=lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=3.0)),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_named_first(kind):
    result = FAULTS[kind]()
    assert not [s.answer for s in result.sections if s.state == "failed"]
    assert result.findings and result.findings[0].kind == kind, str(result)
    assert result.findings[0].fix and result.findings[0].level.name == "PROBLEM"


@pytest.mark.parametrize("options", [{}, {"optimizer": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=5e-4)}])
def test_a_healthy_network_has_no_fault(options):
    result = look(net(dropout=0.3), **options)
    assert result.healthy, str(result)
    assert not [s.answer for s in result.sections if s.state == "failed"]


@pytest.mark.parametrize("lr", [1e-4, 1e-3, 1e-2])
def test_a_usual_learning_rate_is_not_accused(lr):
    assert look(net(), steps=TRIED, optimizer=lambda p: torch.optim.Adam(p, lr=lr)).healthy


def test_the_module_is_left_as_it_was():
    module = net().train()
    before = {name: t.clone() for name, t in module.state_dict().items()}
    look(module)
    assert module.training and all(torch.equal(t, before[name]) for name, t in module.state_dict().items())
    assert all(p.grad is None for p in module.parameters())


def test_a_loader_of_small_batches():
    from torch.utils.data import DataLoader, TensorDataset

    steps = [s for s in STEPS if s.key in ("architecture", "wiring")]
    result = look(net(), DataLoader(TensorDataset(*TRAIN), batch_size=2), steps=steps)
    assert [f.kind for f in result.findings] == ["batch-too-small"]


def test_a_loss_that_broadcasts():
    x = torch.randn(200, 5, generator=torch.Generator().manual_seed(0))
    steps = [s for s in STEPS if s.key in ("architecture", "wiring")]
    module = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    result = look(module, (x, x[:, 0]), None, steps=steps, loss=nn.MSELoss())
    assert result.findings[0].kind == "broadcast-loss"
    assert look(module, (x, x[:, :1]), None, steps=steps, loss=nn.MSELoss()).healthy
