"""Trainers of other libraries: the classes here have the names and methods that gnomon uses, and nothing else.

`python -m evaluation.public_models.trainers` runs the same with the real libraries.
"""

import types

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon.core.errors import InputError
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.training import TrainingStep
from gnomon.examination.trainers import training_setup
from gnomon.training import TrainingRun
from tests.examination.patients import examined

STEPS = (ArchitectureStep(), TrainingStep())

X = torch.randn(96, 4, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()
LOADER = DataLoader(TensorDataset(X, Y), batch_size=16)


def _named(kind, package):
    kind.__module__ = package
    return kind


class LightningModule(nn.Module):
    _trainer = None

    def log(self, *args):
        raise RuntimeError("no trainer")

    def train_dataloader(self):
        raise RuntimeError("not implemented")

    def val_dataloader(self):
        raise RuntimeError("not implemented")


LightningModule = _named(LightningModule, "lightning.pytorch.core.module")


class Net(LightningModule):
    def __init__(self, step):
        super().__init__()
        self.fc, self.step = nn.Linear(4, 2), step

    def forward(self, x):
        return self.fc(x)

    def training_step(self, batch, index):
        self.log("loss", 0.0)
        return {"loss": self.step(self(batch[0]), batch[1])}

    def configure_optimizers(self):
        sgd = torch.optim.SGD(self.parameters(), lr=0.5)
        return {"optimizer": sgd, "lr_scheduler": torch.optim.lr_scheduler.StepLR(sgd, 1, gamma=0.1)}


class Trainer:
    """As a Hugging Face trainer."""

    optimizer = None

    def __init__(self, model, done=0):
        self.model, self.eval_dataset = model, [1]
        self.state = types.SimpleNamespace(global_step=done)
        self.args = types.SimpleNamespace(lr_scheduler_type="linear")

    def get_train_dataloader(self):
        return LOADER

    def get_eval_dataloader(self, name=None):
        return LOADER

    def create_optimizer(self):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.02, weight_decay=0.3)
        return self.optimizer

    def compute_loss(self, model, inputs):
        return F.cross_entropy(model(inputs[0]), inputs[1])


Trainer = _named(Trainer, "transformers.trainer")


def smoothed(f, y):
    return F.cross_entropy(f, y, label_smoothing=0.2)


@pytest.mark.parametrize("step", [F.cross_entropy, smoothed])
def test_the_loss_is_a_usual_one_only_if_the_step_computes_it(step):
    net = Net(step)
    with torch.no_grad():
        net.fc.weight.zero_()  # all losses of these outputs are log 2
        net.fc.bias.zero_()
    setup = training_setup(net, LOADER, LOADER)
    usual = setup.loss is None
    assert usual == (step is F.cross_entropy)
    if not usual:
        with torch.no_grad():
            returned = setup.module(*setup.train[0])
        assert float(setup.loss(returned, setup.train[1])) == pytest.approx(float(step(net(X), Y).detach()))


def test_a_squared_error_is_recognized_so_that_the_explained_variance_is_known():
    net = Net(lambda f, y: F.mse_loss(f[:, :1], y))
    loader = DataLoader(TensorDataset(X, X[:, :1] * 2), batch_size=16)
    net.forward = lambda x: nn.Linear.forward(net.fc, x)[:, :1]
    assert training_setup(net, loader, None).loss is F.mse_loss


def test_a_lightning_module_trains_with_its_own_optimizer_and_schedule():
    net = Net(F.cross_entropy)
    before = net.fc.weight.clone()
    found = examined(net, LOADER, LOADER, budget=3, epochs=3, examination_steps=STEPS)
    run = found.products.get(TrainingRun)
    assert (run.optimizer.name, run.optimizer.lr) == ("SGD", 0.5)
    assert float(run.loss[-1]) < float(run.loss[0])
    assert run.test_accuracy is not None
    assert torch.equal(net.fc.weight, before)
    assert "log" not in vars(net)


@pytest.mark.filterwarnings("ignore:Seems like")
def test_a_schedule_of_the_module_is_copied_to_the_trained_copy():
    net = Net(F.cross_entropy)
    setup = training_setup(net, LOADER, None)
    other = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.5)
    moved = setup.schedule(other)
    moved.step()
    assert other.param_groups[0]["lr"] == pytest.approx(0.05)
    assert setup.optimizer.param_groups[0]["lr"] == 0.5


def test_a_trainer_brings_loaders_and_optimizer_and_stays_as_it_was():
    trainer = Trainer(nn.Linear(4, 2))
    setup = training_setup(trainer, None, None)
    assert trainer.optimizer is None
    assert setup.optimizer.param_groups[0]["weight_decay"] == 0.3
    assert setup.train is LOADER and setup.test is LOADER and setup.fit
    assert "linear" in setup.notes[0]
    assert not training_setup(Trainer(nn.Linear(4, 2), done=5), None, None).fit


def test_several_optimizers_are_refused():
    net = Net(F.cross_entropy)
    net.configure_optimizers = lambda: [torch.optim.SGD(net.parameters(), 1.0)] * 2
    with pytest.raises(InputError, match="2 optimizers"):
        training_setup(net, LOADER, None)


def test_a_module_without_loaders_says_what_to_pass():
    with pytest.raises(InputError, match=r"Pass gnomon.examine\(module, train_loader\)"):
        training_setup(Net(F.cross_entropy), None, None)
    with pytest.raises(InputError, match="train is missing for a network of type Linear"):
        gnomon.examine(nn.Linear(2, 1))
