"""Finds model, data, loss, optimizer and schedule by name in a user's Python file, such as train.py.

The file is imported, so code under ``if __name__ == "__main__"`` does not run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import ismodule
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from gnomon.cli import sources
from gnomon.cli.sources import CommandData
from gnomon.core.errors import InputError
from gnomon.core.results.record import Record
from gnomon.examination.trainers import schedule_like

MODEL_NAMES = ("model", "net", "network", "build_model", "make_model")
DATA_NAMES = ("data", "load_data", "make_data")
LOADER_NAMES = (("train_loader", "test_loader"), ("train_loader", "val_loader"), ("train_loader", ""),
                ("train_data", "test_data"), ("train_dataset", "test_dataset"))  # fmt: skip
LOSS_NAMES = ("loss", "criterion", "loss_fn", "loss_function")
OPTIMIZER_NAMES = ("optimizer", "make_optimizer")
SCHEDULE_NAMES = ("schedule", "scheduler", "make_schedule")


@dataclass(frozen=True, slots=True, eq=False)
class CommandSetup(Record):
    """Everything that an examination needs: a model or a function that builds one, data, loss, optimizer and schedule.

    ``fit`` is None if the kind of model decides whether a copy is trained.
    """

    model: Any
    data: CommandData
    loss: Any = None
    optimizer: Any = None
    schedule: Any = None
    fit: bool | None = None


def setup_from_file(spec: str, data: str | None, target: str | None, seed: int) -> CommandSetup:
    """Loads model, data, loss, optimizer and schedule from a Python file by their usual names; ``data`` replaces the
    file's data.

    A model that the file has built is trained as a copy if the file also has an optimizer or a loss.
    """
    there = vars(sources.load_file(spec))
    model = _first(there, MODEL_NAMES)
    if model is None:
        names = ", ".join(name for name, value in there.items() if not name.startswith("_") and not ismodule(value))
        fix = f"Name it model, or write {spec}:name. The file has: {names[:200]}"
        raise InputError(f"{spec} has no model", accepted=" or ".join(MODEL_NAMES), fix=fix)
    given = _data(spec, there, seed) if data is None else sources.load_data(data, target, seed)
    optimizer, loss = _first(there, OPTIMIZER_NAMES), _first(there, LOSS_NAMES)
    schedule = _first(there, SCHEDULE_NAMES)
    if isinstance(schedule, LRScheduler):
        schedule = schedule_like(schedule)
    if isinstance(optimizer, Optimizer) and not isinstance(model, nn.Module):
        note = "the optimizer of the file holds parameters of another model and is not used"
        optimizer, given = None, replace(given, notes=(*given.notes, note))
    fit = True if optimizer is not None or loss is not None else None
    return CommandSetup(model, given, _as_function(loss), optimizer, schedule, fit)


def _data(spec: str, there: dict[str, Any], seed: int) -> CommandData:
    value = _first(there, DATA_NAMES)
    if value is not None:
        return sources.as_command_data(
            sources.call_user_function(f"{spec}:data", value) if callable(value) else value, seed
        )
    for train, test in LOADER_NAMES:
        if train in there and (not test or test in there):
            return CommandData(there[train], there[test] if test else None)
    pairs = " and ".join(LOADER_NAMES[0])
    fix = "Define data, a function that returns ((x, y), (x_test, y_test)) or two loaders, or pass --data"
    raise InputError(f"{spec} has no data", accepted=f"data, or {pairs}", fix=fix)


def _first(there: dict[str, Any], names: Sequence[str]) -> Any:
    return next((there[name] for name in names if there.get(name) is not None), None)


def _as_function(loss: Any) -> Callable[..., Any] | None:
    """Returns a loss as a function: creates an instance of a class such as ``nn.CrossEntropyLoss``; None for other
    values.
    """
    if isinstance(loss, type) and issubclass(loss, nn.Module):
        return loss()
    return loss if callable(loss) else None
