"""Extracts model, data, loss, optimizer and schedule from a Lightning module or trainer, or a Hugging Face trainer.

The loss is the user's own step: ``training_step`` in Lightning, ``compute_loss`` in Hugging Face. If a usual loss of
the outputs has the same value on the first batch, also for changed weights, that loss is used: then accuracies have a
meaning.

>>> import torch
>>> setup = training_setup(nn.Linear(2, 1), (torch.zeros(4, 2), torch.zeros(4, 1)), None)
>>> setup.fit, setup.optimizer is None, setup.notes
(False, True, ())
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from gnomon.adapter.model_loss import find_loss_in_output, loss_from_model_output, with_model_loss
from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results.record import Record
from gnomon.examination.recipe import build_recipe
from gnomon.examination.subject import build_subject
from gnomon.training import Schedule
from gnomon.training.evaluate import Loss
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["TrainingSetup", "schedule_like", "training_setup"]

LOSS_TOLERANCE = 1e-4
"""Relative difference of two losses in single precision that are the same function."""
USUAL_LOSSES: tuple[Loss | None, ...] = (
    None,
    F.mse_loss,
    F.l1_loss,
    F.smooth_l1_loss,
    F.binary_cross_entropy_with_logits,
)
"""Losses that are compared with the user's step; None is the loss of the task that gnomon recognizes."""
PERTURBATION_SEEDS = (0, 1)
"""Seeds of the noise on parameters with which two losses are compared, apart from the parameters themselves."""
MIN_PERTURBATION = 0.1
"""Standard deviation of the noise for parameters that are zero."""
LIGHTNING = ("lightning", "pytorch_lightning")
"""Packages that define Lightning modules and trainers."""

Step = Callable[[nn.Module, Any], Any]
"""A function of a model and a batch that returns the loss, or something that contains it."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSetup(Record):
    """What the user passed to `gnomon.examine`: a module or function that builds one, data, optimizer, loss and
    schedule.

    ``fit`` says whether to train a copy: by default if ``module`` is a function that builds the network, or a trainer
    that has not trained yet. ``name`` is a name for the report, empty if the network has its own.
    """

    module: Any
    train: Any
    test: Any = None
    loss: Loss | None = None
    optimizer: OptimizerChoice | None = None
    schedule: Schedule | None = None
    fit: bool = True
    notes: tuple[str, ...] = ()
    name: str | None = None

    def with_given(
        self,
        optimizer: OptimizerChoice | None,
        loss: Loss | None,
        schedule: Schedule | None,
        notes: Sequence[str],
    ) -> "TrainingSetup":
        """Replaces settings of a trainer by the optimizer, loss and schedule that the user passed."""
        return replace(
            self,
            optimizer=self.optimizer if optimizer is None else optimizer,
            loss=self.loss if loss is None else loss,
            schedule=self.schedule if schedule is None else schedule,
            notes=(*notes, *self.notes),
        )


class StepView(ModuleView):
    """Wraps a model so that it returns the loss of a batch, computed by the user's ``training_step``."""

    def __init__(self, module: nn.Module, step: Step) -> None:
        super().__init__(module)
        self.step = step

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Returns the loss of a batch, computed by the user's ``training_step``."""
        return _step_loss(self.step, self.module_of_view, kwargs or (args[0] if len(args) == 1 else args))


def training_setup(network: Any, train: Any, test: Any) -> TrainingSetup:
    """Extracts model, data, loss and optimizer from a Lightning or Hugging Face trainer; returns other networks
    unchanged.

    Cost: for trainers, a few forward passes on the first batch; if only the user's step knows the loss, a copy of the
    data in memory.

    >>> setup = training_setup(nn.Linear(2, 1), (torch.zeros(4, 2), torch.zeros(4, 1)), None)
    >>> setup.fit, setup.optimizer is None
    (False, True)
    """
    if _inherits(network, ("transformers",), "Trainer"):
        return _huggingface(network, train, test)
    if _inherits(network, LIGHTNING, "Trainer"):
        return _lightning_trainer(network, train, test)
    if _inherits(network, LIGHTNING, "LightningModule"):
        return _lightning(network, train, test)
    if train is None:
        what = f"train is missing for a network of type {type(network).__name__}"
        raise InputError(what, accepted="inputs with targets", fix="Pass train=(inputs, targets) or a DataLoader")
    return TrainingSetup(network, train, test, fit=not isinstance(network, nn.Module))


def _huggingface(trainer: Any, train: Any, test: Any) -> TrainingSetup:
    train = trainer.get_train_dataloader() if train is None else train
    if test is None and trainer.eval_dataset is not None:
        named = isinstance(trainer.eval_dataset, Mapping)
        test = trainer.get_eval_dataloader(next(iter(trainer.eval_dataset)) if named else None)
    before = trainer.optimizer
    try:
        optimizer = trainer.create_optimizer()
    finally:
        trainer.optimizer = before
    kind = getattr(trainer.args.lr_scheduler_type, "value", trainer.args.lr_scheduler_type)
    notes = () if kind == "constant" else (f"the learning rate stays constant; the trainer's schedule is '{kind}'",)
    setup = TrainingSetup(
        trainer.model, train, test, None, optimizer, None, trainer.state.global_step == 0, notes,
        type(trainer.model).__name__,
    )  # fmt: skip
    return _with_loss(setup, lambda model, batch: trainer.compute_loss(model, batch))


def _lightning_trainer(trainer: Any, train: Any, test: Any) -> TrainingSetup:
    module = trainer.lightning_module
    if module is None:
        fix = "Pass the LightningModule: gnomon.examine(module, train_loader, val_loader)"
        raise InputError("the Lightning trainer has no module yet", accepted="a trainer after fit", fix=fix)
    test = trainer.val_dataloaders if test is None else test
    setup = _lightning(module, trainer.train_dataloader if train is None else train, test)
    return replace(setup, fit=False) if trainer.global_step else setup


def _lightning(module: Any, train: Any, test: Any) -> TrainingSetup:
    own = copy.copy(module)  # A shallow copy shares the parameters; its trainer, which must not be copied, is removed.
    own._trainer = None
    for name in ("log", "log_dict", "print"):
        object.__setattr__(own, name, _do_nothing)
    train, test = _lightning_data(module, train, test)
    optimizer, schedule, notes = _lightning_optimizer(own)
    setup = TrainingSetup(own, train, test, None, optimizer, schedule, True, notes, type(module).__name__)
    return _with_loss(setup, _training_step)


def _training_step(model: Any, batch: Any) -> Any:
    return model.training_step(batch, 0)


def _lightning_data(module: Any, train: Any, test: Any) -> tuple[Any, Any]:
    """Finds training and test loaders: the user's own, or the loaders of the Lightning data module or module."""
    given = module if train is None else train
    if train is None or hasattr(given, "train_dataloader"):
        try:
            if given is not module:
                given.prepare_data()
                given.setup("fit")
            train = given.train_dataloader()
        except Exception as reason:  # Lightning and the user's own method may raise any error.
            what = f"train_dataloader() of {type(given).__name__} raised {type(reason).__name__}: {reason}"[:200]
            raise InputError(what, accepted="a loader", fix="Pass gnomon.examine(module, train_loader)") from reason
        test = given.val_dataloader() if test is None and _overrides(given, "val_dataloader") else test
    return train, test[0] if isinstance(test, list) and len(test) == 1 else test


def _lightning_optimizer(module: Any) -> tuple[OptimizerChoice | None, Schedule | None, tuple[str, ...]]:
    """Returns the first optimizer of ``configure_optimizers``, and its scheduler if that steps once per epoch."""
    made = module.configure_optimizers()
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], list | tuple):
        optimizers, schedulers = list(made[0]), list(made[1])
    elif isinstance(made, Mapping):
        optimizers, schedulers = [made["optimizer"]], [made[k] for k in ("lr_scheduler",) if k in made]
    else:
        optimizers, schedulers = [*made] if isinstance(made, list | tuple) else [made], []
    if len(optimizers) != 1 or not isinstance(optimizers[0], Optimizer):
        what = f"configure_optimizers() of {type(module).__name__} returned {len(optimizers)} optimizers"
        fix = "Pass optimizer=, a function of the parameters that are trained"
        raise InputError(what, accepted="one optimizer", fix=fix)
    if not schedulers:
        return optimizers[0], None, ()
    first = schedulers[0]
    scheduler = first["scheduler"] if isinstance(first, Mapping) else first
    interval = first.get("interval", "epoch") if isinstance(first, Mapping) else "epoch"
    if interval != "epoch" or not isinstance(scheduler, LRScheduler) or isinstance(scheduler, ReduceLROnPlateau):
        note = f"the learning rate stays constant; the trainer's schedule is a {type(scheduler).__name__}"
        return optimizers[0], None, (f"{note} that does not move once per epoch",)
    return optimizers[0], schedule_like(scheduler), ()


def schedule_like(scheduler: LRScheduler) -> Schedule:
    """Returns a function that builds a copy of a learning rate scheduler for another optimizer.

    >>> sgd = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.5)
    >>> schedule_like(torch.optim.lr_scheduler.StepLR(sgd, 3))(sgd).step_size
    3
    """
    rates = [float(group["initial_lr"]) for group in scheduler.optimizer.param_groups]

    def build(optimizer: Optimizer) -> LRScheduler:
        for group, rate in zip(optimizer.param_groups, rates, strict=False):
            group.setdefault("initial_lr", rate)
        return copy.deepcopy(scheduler, {id(scheduler.optimizer): optimizer})

    return build


def _with_loss(setup: TrainingSetup, step: Step) -> TrainingSetup:
    """Replaces the user's ``training_step`` by a standard loss if both agree on the first batch; otherwise keeps it."""
    batch = next(_batches(setup.train))
    models = [setup.module, *(_perturb(setup.module, seed) for seed in PERTURBATION_SEEDS)]
    wanted = []
    for model in models:
        with preserve(model, grad=False, seed=0):
            wanted.append(float(_step_loss(step, model, batch)))
    for loss in USUAL_LOSSES:
        try:
            found = [_usual_loss(model, batch, loss) for model in models]
        except Exception:  # This loss does not fit the outputs, so the next loss is tried.
            continue
        if all(abs(a - b) <= LOSS_TOLERANCE * abs(b) for a, b in zip(found, wanted, strict=True)):
            return replace(setup, loss=loss)
    view = with_model_loss(StepView(setup.module, step))
    pairs = [None if data is None else _join(data) for data in (setup.train, setup.test)]
    return replace(setup, module=view, train=pairs[0], test=pairs[1], loss=loss_from_model_output)


def _perturb(module: nn.Module, seed: int) -> nn.Module:
    """Copies a module with noise added to its parameters, because different losses may be equal at initialization."""
    made = copy_module(module)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in made.parameters():
            if p.is_floating_point():
                noise = torch.randn(p.shape, generator=generator).to(p)
                p.add_(noise * (p.detach().square().mean().sqrt() + MIN_PERTURBATION))
    return made


def _usual_loss(module: nn.Module, batch: Any, loss: Loss | None) -> float:
    """Returns the default loss of a batch for the outputs and targets that gnomon finds in it."""
    network = build_subject(module, [batch], None, seed=0, plan=partial(build_recipe, loss=loss))
    examples = network.examples(network.train.whole())
    with preserve(network.module, grad=False, seed=0):
        return float(network.loss_of(run_module(network.module, examples.x), examples.y))


def _step_loss(step: Step, module: nn.Module, batch: Any) -> Tensor:
    returned = step(module, batch)
    loss = find_loss_in_output(returned)
    if loss is None:
        what = f"the training step returned a {type(returned).__name__} without a loss"
        raise InputError(what, accepted="a loss, or a dict with the key 'loss'", fix="Return the loss of the batch")
    return loss


def _batches(data: Any) -> Iterator[Any]:
    """Returns an iterator over the batches in data; a pair or a dict of tensors is one batch."""
    if isinstance(data, Mapping) or (isinstance(data, tuple | list) and all(isinstance(t, Tensor) for t in data)):
        return iter([data])
    return iter(data)


def _join(data: Any) -> tuple[Any, Tensor]:
    """Joins all batches to one, with zeros as targets, because only ``training_step`` knows the real targets."""
    batches = list(_batches(data))
    first = batches[0]
    try:
        if isinstance(first, Mapping):
            whole: Any = {
                name: torch.cat([b[name] for b in batches]) for name in first if isinstance(first[name], Tensor)
            }
            return whole, torch.zeros(len(next(iter(whole.values()))), 1, dtype=torch.long)
        parts = [b if isinstance(b, tuple | list) else (b,) for b in batches]
        whole = tuple(torch.cat(column) for column in zip(*parts, strict=True))
    except (RuntimeError, TypeError) as reason:
        what = f"batches of the loader cannot be joined: {' '.join(str(reason).split())[:120]}"
        raise InputError(
            what, accepted="batches of tensors of one length", fix="Pad all examples to one length"
        ) from None
    return whole, torch.zeros(len(whole[0]), 1, dtype=torch.long)


def _inherits(value: Any, packages: tuple[str, ...], name: str) -> bool:
    """Checks whether a value's class inherits from a class in one of these packages, without importing the packages."""
    kinds = type(value).__mro__
    return any(kind.__name__ == name and kind.__module__.partition(".")[0] in packages for kind in kinds)


def _overrides(value: Any, name: str) -> bool:
    """Checks whether the user's class defines a method that is empty in Lightning's own classes."""
    owner = next(kind for kind in type(value).__mro__ if name in vars(kind))
    return owner.__module__.partition(".")[0] not in LIGHTNING


def _do_nothing(*args: Any, **kwargs: Any) -> None:
    """Does nothing; replaces methods that log, because these need a running trainer."""
