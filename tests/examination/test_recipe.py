"""Training as the user names it: optimizer, learning rate, batches, epochs, schedule, loss, augmentation, loader."""

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

from gnomon.core import InputError
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import examine
from gnomon.examination.cost import StepCost, largest_size_up_to, measure_step_cost
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.margins import MarginsStep
from gnomon.examination.steps.training import TrainingStep, batch_size
from gnomon.examination.subject import build_subject
from gnomon.training import SGD, Adam, TrainingRun

G = torch.Generator().manual_seed(0)
X = torch.randn(96, 4, generator=G)
Y = (X[:, 0] > 0).long()


def net(outputs=2):
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, outputs))


def trained(train=(X, Y), make=net, test=None, budget=30, tick=0.001, **options):
    steps = (ArchitectureStep(), TrainingStep(), MarginsStep())
    result = examine(make, train, test, budget=budget, examination_steps=steps, clock=FakeClock(tick), **options)
    assert not [s.answer for s in result.sections if s.status == "failed"]
    return result, result.products.get(TrainingRun)


def test_by_default_adam_takes_batches():
    result, run = trained(epochs=60)
    assert run.optimizer == Adam() and run.stopped == "finished" and run.epochs == 60
    assert result.section("training").value("steps-taken").meaning == "batches of 16"
    assert float(run.accuracy[-1]) > 0.9


def test_the_user_names_steps():
    _, run = trained(optimizer="sgd", lr=0.1, batch=32, epochs=2)
    assert run.optimizer == SGD(0.1) and int(run.steps[-1]) == 6 and run.epochs == 2
    _, run = trained(optimizer=torch.optim.RMSprop, lr=0.01, batch=32, epochs=1)
    assert run.optimizer.name == "RMSprop" and run.optimizer.lr == 0.01
    with pytest.raises(InputError, match="already has a learning rate"):
        trained(optimizer=lambda p: torch.optim.SGD(p, lr=0.1), lr=0.2)


def test_a_schedule_moves_once_per_epoch():
    made = []

    def schedule(optimizer):
        made.append(optimizer)
        return StepLR(optimizer, 1, gamma=0.5)

    trained(optimizer=lambda p: torch.optim.SGD(p, lr=1.0), schedule=schedule, batch=32, epochs=3)
    assert made[-1].param_groups[0]["lr"] == pytest.approx(1 / 8)


def test_a_loss_of_the_users_own_is_what_is_minimized():
    smooth = nn.CrossEntropyLoss(label_smoothing=0.2)
    _, run = trained(loss=smooth, epochs=40, batch=16)
    with torch.no_grad():
        wanted = float(smooth(run.model(X), Y))
    assert float(run.loss[-1]) == pytest.approx(wanted, rel=1e-5) and run.loss_name == "CrossEntropyLoss"
    y = (X[:, 0] > 0).float()[:, None]
    result, run = trained((X, y), lambda: net(1), loss=nn.BCEWithLogitsLoss(), epochs=40, batch=16)
    assert run.loss_name == "logistic loss" and float(run.accuracy[-1]) > 0.9
    _, run = trained((X, X.reshape(96, 2, 2)), lambda: nn.Sequential(nn.Linear(4, 4), nn.Unflatten(1, (2, 2))),
                     loss=nn.L1Loss(), epochs=60, batch=16, lr=0.01)  # fmt: skip
    assert run.loss_name == "L1Loss" and float(run.loss[-1]) < 0.3 * float(run.loss[0])


def test_the_loader_of_the_user_gives_the_batches():
    loader = DataLoader(TensorDataset(X, Y), batch_size=13, shuffle=True, drop_last=True)
    result, run = trained(loader, epochs=1, test=(X, Y))
    assert result.section("training").value("steps-taken").meaning == "batches of the loader"
    assert run.epochs == pytest.approx(13 * int(run.steps[-1]) / 96)


def test_augmentation_is_seen_by_training_alone():
    seen = []

    def augment(x):
        seen.append(len(x))
        return x + 0.01

    trained(augment=augment, batch=32, epochs=2)
    assert seen == [32] * 6


def test_a_training_that_was_too_short_says_so_and_so_does_what_depends_on_it():
    """On a clock where a step takes a fifth of a second: some hundred steps, and time left for what comes after."""
    result, run = trained(budget=18, tick=0.1)
    assert run.stopped == "time" and run.shortage
    assert result.section("training").status == "unsure" == result.section("margins").status
    assert all(result.section(key).answer.startswith("Not trained long enough") for key in ("training", "margins"))
    assert not result.findings


def test_records_keep_to_their_share_of_the_time():
    """Each look at the clock is a hundredth of a second: a record takes one, a step one."""
    _, run = trained(budget=4, tick=0.01)
    assert len(run.steps) <= 0.2 * int(run.steps[-1]) + 2


def test_sizes_come_from_ladders():
    assert [largest_size_up_to((8, 16, 32), n) for n in (1, 8, 20, 1e9)] == [8, 8, 16, 32]
    cheap, dear = StepCost(1e-3, 1e-5, 0.0), StepCost(0.0, 0.05, 0.1)
    assert batch_size(4000, cheap, 60) == 64 and batch_size(60000, cheap, 60) == 128
    assert batch_size(2000, dear, 40) == 16 and batch_size(5, cheap, 60) == 5
    assert (
        batch_size(4000, StepCost(0.0, 1e-4, 0.5), 60) == 64
    )  # the update is what costs: a smaller batch saves nothing
    assert batch_size(2000, dear, 40, least=32) == 32


def test_gradient_descent_has_batches_of_32_at_least():
    """Its noise grows like lr / batch: a user's learning rate is one for usual batches. Adam may have smaller ones."""
    sizes = []
    for rule in ("sgd", "adam"):  # a pass takes so long that 300 steps cannot be afforded
        found, _ = trained((X.repeat(6, 1), Y.repeat(6)), optimizer=rule, lr=0.05, budget=4, tick=0.02)
        sizes.append(found.section("training").value("steps-taken").meaning)
    assert sizes == ["batches of 32", "batches of 16"]


def test_the_cost_is_that_of_the_clock():
    network = build_subject(net(), (X, Y), None, seed=0)
    cost = measure_step_cost(network, FakeClock(0.5), 1e9)
    assert cost.passes(32) == pytest.approx(0.5) and cost.update > 0


class Counted(torch.nn.Linear):
    """A layer that moves its clock by half a second for each pass, and by a hundredth for each example."""

    time = 0.0

    def forward(self, x):
        self.time += 0.5 + 0.01 * len(x)
        return super().forward(x)


def test_the_cost_of_the_weights_is_told_from_that_of_the_examples():
    """A pass on 32 examples would take more than the time only if all of a pass on two were due to the two."""
    layer = Counted(X.shape[1], int(Y.max()) + 1)
    network = build_subject(layer, (X, Y), None, seed=0)
    cost = measure_step_cost(network, lambda: network.module.time, 4.0)
    assert cost.fixed == pytest.approx(0.5) and cost.each == pytest.approx(0.01)


class Coarse:
    """A clock that shows only every tenth of its looks, as one that ticks in milliseconds does."""

    looks = 0

    def __call__(self):
        self.looks += 1
        return float(self.looks // 10)


def test_a_clock_that_stands_still_for_a_pass_tells_the_cost_all_the_same():
    network = build_subject(net(), (X, Y), None, seed=0)
    cost = measure_step_cost(network, Coarse(), 1e9)
    assert 0.05 < cost.passes(32) < 0.5 and cost.each > 0
    assert measure_step_cost(network, lambda: 0.0, 1.0).each > 0
