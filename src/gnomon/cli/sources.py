"""Loads the model, weights and data that a command names; never executes code from data files."""

import importlib.util
import re
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from gnomon.cli import tables
from gnomon.cli.archives import check_unpacked_size
from gnomon.cli.encoding import list_classes
from gnomon.core.errors import InputError
from gnomon.core.inputs.arrays import Array, as_array, as_tensor
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.results.record import Record
from gnomon.data import digits, image_folder

PAIRS = (
    ("x_train", "y_train", "x_test", "y_test"),
    ("X_train", "y_train", "X_test", "y_test"),
    ("x", "y", "x_test", "y_test"),
    ("X", "y", "X_test", "y_test"),
    ("data", "target", "", ""),
    ("inputs", "targets", "", ""),
)
"""Names of arrays in an npz file: inputs and targets of training and test; the first row that is there counts."""
HELD_OUT = 0.2
KINDS = (
    "data.npz, data.csv --target column, data.parquet --target column, a folder with one subfolder of images per "
    "class, "
    "file.py:function or digits"
)


@dataclass(frozen=True, slots=True, eq=False)
class CommandData(Record):
    """Data that a command loads: training data, test data (or None), notes on preprocessing, and column names of a
    table.
    """

    train: Any
    test: Any = None
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()


def load_model(spec: str) -> nn.Module | Callable[[], nn.Module]:
    """Loads a module, or the function that builds one, named as ``file.py:name``."""
    value = load_named_object(spec)
    if isinstance(value, nn.Module) or callable(value):
        return value
    what = f"{spec} is a {type(value).__name__}"
    raise InputError(what, accepted="a module or a function that builds one", fix="Pass a module or a function")


def load_named_object(spec: str) -> Any:
    """Loads an object from a Python file or package: ``file.py:name`` or ``package.module:name``."""
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise InputError(f"'{spec}' has no ':'", accepted="file.py:name", fix="Write for example my_model.py:build")
    module = load_file(place) if place.endswith(".py") else _package(place)
    if not hasattr(module, name):
        there = ", ".join(n for n in vars(module) if not n.startswith("_"))[:200]
        raise InputError(f"{place} has no '{name}'", accepted="a name in that file", fix=f"It has: {there}")
    return getattr(module, name)


def load_checkpoint(path: Path, net: nn.Module) -> nn.Module:
    """Loads weights from a file into a module; rejects files that contain anything but tensors."""
    if not path.exists():
        raise InputError(f"File not found: {path}")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    # Loading failed: either it would execute pickled code, or the file is not a checkpoint.
    except Exception as reason:
        what = f"{path} is not a file of plain weights ({type(reason).__name__})"
        fix = "Save with torch.save(model.state_dict(), path); nothing in the file was executed"
        raise InputError(what, accepted="tensors only (weights_only=True)", fix=fix) from None
    if isinstance(state, dict):
        state = state.get("state_dict", state.get("model", state))
    try:
        net.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as reason:
        words = " ".join(str(reason).split())[:300]
        raise InputError(
            f"{path} does not fit the model: {words}",
            accepted="weights of this model",
            fix="Check which model was saved",
        ) from None
    return net


def load_data(spec: str, target: str | None, seed: int) -> CommandData:
    """Loads training and test data by name: a bundled set, an npz file, a table, an image folder, or a function."""
    if spec == "digits":
        split = digits(1000, 797)
        return CommandData((split.x, split.y), (split.x_test, split.y_test))
    path = Path(spec)
    kind = path.suffix.lower()
    readers = {".npz": _npz, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
    if kind in readers and not path.exists():
        raise InputError(f"File not found: {spec}")
    if kind in readers and not path.is_dir():
        return readers[kind](path, target, seed)
    if path.is_dir():
        return _pictures(path, seed)
    if ":" in spec:
        return as_command_data(call_user_function(spec, load_named_object(spec)), seed)
    raise InputError(
        f"'{spec}' is not a known kind of data", accepted="a file, a folder, a function or digits", fix=f"Pass {KINDS}"
    )


def split_off_test_examples(x: Any, y: Any, seed: int, notes: tuple[str, ...] = ()) -> CommandData:
    """Splits off a fifth of the examples for testing, stratified by class; a class with one example stays in the
    training set.
    """
    n = len(y)
    if len(x) != n:
        what = f"there are {len(x)} inputs and {n} targets"
        raise InputError(what, accepted="a target for each input", fix="Check how the data were made")
    _check_finite(x)
    cut = max(1, int(HELD_OUT * n)) if n > 4 else 0
    test = stratified_sample(n, y, cut, seed=seed) if cut else torch.arange(0)
    if are_classes(y):
        _, kinds, counts = torch.unique(y, return_inverse=True, return_counts=True)
        test = test[counts[kinds[test]] > 1]  # If a class has only one example, it stays in the training set.
    train = torch.ones(n, dtype=torch.bool)
    train[test] = False
    held = (f"held out for testing: {len(test):,} of {n:,} examples",) if len(test) else ()
    return CommandData((x[train], y[train]), (x[test], y[test]) if len(test) else None, (*notes, *held))


def _check_finite(x: Any) -> None:
    """Raises an error if inputs are NaN or infinite; the message names the index of the example in the user's file."""
    if isinstance(x, Tensor) and x.is_floating_point() and x.dim():
        bad = (~torch.isfinite(x.reshape(len(x), -1)).all(1)).nonzero().flatten()
        if len(bad):
            what = f"{len(bad):,} of {len(x):,} inputs hold NaN or infinity, the first at index {int(bad[0])}"
            raise InputError(what, accepted="finite inputs", fix="Drop or correct those examples")


def parse_seconds(text: str) -> float:
    """Converts a time such as 60, 60s, 2m or 1h to seconds.

    >>> parse_seconds("2m")
    120.0
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*(s|m|h|)\s*", text)
    if match is None or match[1].count(".") > 1 or match[1] == ".":
        raise InputError(f"--budget is '{text}'", accepted="a duration", fix="Write 60s, 2m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def load_file(place: str) -> Any:
    """Imports a Python file; its folder is on the import path during the import."""
    path = Path(place)
    if not path.exists():
        raise InputError(f"File not found: {path}")
    spec = importlib.util.spec_from_file_location(f"gnomon_user_{path.stem}", path)
    # For a file name that ends in .py, importlib always returns a spec with a loader.
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # The module is registered under its name, so that classes defined in the file can be pickled and copied.
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        spec.loader.exec_module(module)
    except Exception as reason:  # The user's file may raise any error when it runs.
        words = f"{path} raised {type(reason).__name__}: {reason}"
        raise InputError(
            words, accepted="a file that can be imported", fix=("Run the file with python to see the error")
        ) from reason
    finally:
        sys.path.remove(str(path.parent.absolute()))
    return module


def _package(name: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        raise InputError(
            f"cannot import {name}: {reason}", accepted="an importable module", fix="Check the name"
        ) from None
    finally:
        sys.path.pop(0)


def _csv(path: Path, target: str | None, seed: int) -> CommandData:
    x, y, notes, names = tables.from_csv(path, target)
    return replace(split_off_test_examples(x, y, seed, notes), columns=names)


def _parquet(path: Path, target: str | None, seed: int) -> CommandData:
    x, y, notes, names = tables.from_parquet(path, target)
    return replace(split_off_test_examples(x, y, seed, notes), columns=names)


def _pictures(path: Path, seed: int) -> CommandData:
    """Loads images from a folder with one subfolder per class, or from its subfolders train and test (or val)."""
    if not (path / "train").is_dir():
        all_of = image_folder(path)
        made = split_off_test_examples(all_of.x, all_of.y, seed, (list_classes(all_of.classes), *all_of.notes))
        return replace(made, class_names=all_of.classes)
    train = image_folder(path / "train")
    other = next((path / name for name in ("test", "val", "valid") if (path / name).is_dir()), None)
    if other is None:
        made = split_off_test_examples(train.x, train.y, seed, (list_classes(train.classes), *train.notes))
        return replace(made, class_names=train.classes)
    size = train.x.shape[2], train.x.shape[3]
    test = image_folder(other, classes=train.classes, size=size)
    told = [list_classes(train.classes), *train.notes, *(f"test: {note}" for note in test.notes)]
    channels, others = train.x.shape[1], test.x.shape[1]
    if channels != others:
        told.append(
            f"test images were converted to {'gray' if channels == 1 else 'three channels'}, like the training images"
        )
    tested = _match_channels(test.x, channels), test.y
    return CommandData((train.x, train.y), tested, tuple(told), class_names=train.classes)


def _match_channels(x: Tensor, channels: int) -> Tensor:
    """Converts images to the given number of channels: repeats gray images, averages color images."""
    if x.shape[1] == channels:
        return x
    return x.expand(-1, 3, -1, -1) if channels == 3 else x.float().mean(1, keepdim=True).round().to(torch.uint8)


def _npz(path: Path, target: str | None, seed: int) -> CommandData:
    arrays = _arrays(path)
    for x, y, xt, yt in PAIRS:
        if x in arrays and y in arrays:
            both = xt in arrays and yt in arrays
            first, second, notes = _targets(arrays[y], arrays[yt] if both else None)
            if second is None:
                return split_off_test_examples(_tensor(arrays[x], x), first, seed, notes)
            return CommandData((_tensor(arrays[x], x), first), (_tensor(arrays[xt], xt), second), notes)
    what = f"{path} has the arrays {', '.join(arrays)}" if arrays else f"{path} has no arrays"
    raise InputError(what, accepted="inputs x and targets y", fix="Name the arrays x and y (and x_test, y_test)")


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """Loads the arrays of an npz file by name; rejects pickled objects, which could execute code."""
    fix = "Save numbers: np.savez(path, x=..., y=...)"
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path} is not an npz file", accepted="arrays saved by np.savez", fix=fix)
    try:
        check_unpacked_size(path)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except ValueError as reason:
        if "allow_pickle" in str(reason):
            what = f"{path} holds arrays of Python objects, which cannot be read without executing code"
            raise InputError(what, accepted="plain arrays", fix=f"{fix}, padded to one length") from None
        words = str(reason).splitlines()[0]
    except (OSError, KeyError, zipfile.BadZipFile, EOFError, MemoryError) as reason:
        words = str(reason).splitlines()[0] if str(reason) else type(reason).__name__
    raise InputError(f"{path} cannot be read ({words})", accepted="arrays saved by np.savez", fix=fix)


def _tensor(array: np.ndarray, name: str) -> Tensor:
    """Converts an array with one row per example to a tensor; also accepts unsigned integers."""
    if not array.ndim or array.dtype.kind not in "biuf":
        kind = "a single number" if not array.ndim else f"of type {array.dtype}"
        raise InputError(
            f"the array '{name}' is {kind}",
            accepted="numbers, one row for each example",
            fix=("Check how the array was saved"),
        )
    # Unsigned integers wider than 8 bits become int64, because torch supports few functions for them.
    wide = array.dtype.kind == "u" and array.dtype.itemsize > 1
    return torch.from_numpy(np.ascontiguousarray(array.astype(np.int64) if wide else array))


def _targets(y: np.ndarray, test: np.ndarray | None) -> tuple[Tensor, Tensor | None, tuple[str, ...]]:
    """Converts targets of train and test to one form: words and one-hot rows become class indices."""
    both = [y] if test is None else [y, test]
    notes: tuple[str, ...] = ()
    if y.dtype.kind in "US":
        names = np.unique(y)
        strange = [] if test is None else sorted(set(test.reshape(-1).tolist()) - set(names.tolist()))
        if strange:
            what = f"y_test contains '{strange[0]}', which is not in y_train"
            raise InputError(what, accepted="only classes of train in test", fix="Check the labels of both sets")
        words = tuple(n.decode(errors="replace") if isinstance(n, bytes) else str(n) for n in names)
        both, notes = [np.searchsorted(names, part) for part in both], (list_classes(words),)
    elif all(_one_hot(part) for part in both):
        both, notes = [part.argmax(1) for part in both], ("one-hot targets were converted to class numbers",)
    told = [_tensor(part, "y") for part in both]
    told = [t.reshape(-1) if t.dim() == 2 and t.shape[1] == 1 and not t.is_floating_point() else t for t in told]
    told = [t.long() if t.dim() == 1 and not t.is_floating_point() else t for t in told]
    return told[0], told[1] if len(told) > 1 else None, notes


def _one_hot(y: np.ndarray) -> bool:
    """Checks whether each row of an array is one-hot."""
    return y.ndim == 2 and y.shape[1] > 1 and len(y) > 0 and bool(np.isin(y, (0, 1)).all() and (y.sum(1) == 1).all())


def call_user_function(spec: str, function: Callable[[], Any]) -> Any:
    """Calls a user's function; an error in it is raised again with the function's name in the message."""
    try:
        return function()
    except InputError:
        raise
    except Exception as reason:  # The user's function may raise any error.
        words = f"{spec} raised {type(reason).__name__}: {reason}"[:300]
        raise InputError(
            words, accepted="a function that returns data", fix=("Run the function alone to see the error")
        ) from reason


def as_command_data(value: Any, seed: int) -> CommandData:
    """Converts the return value of a user's data function, such as (x, y) or four arrays, to training and test data.

    A dict with "train", as Hugging Face has it, gives training data and, under "test" or "validation", test data.
    """
    if isinstance(value, Mapping) and "train" in value:
        return CommandData(
            value["train"], next((value[name] for name in ("test", "validation") if name in value), None)
        )
    if isinstance(value, tuple | list) and len(value) == 4:
        return CommandData((value[0], value[1]), (value[2], value[3]))
    if isinstance(value, tuple | list) and len(value) == 2:
        if all(isinstance(v, tuple | list) and len(v) == 2 for v in value):
            return CommandData(tuple(value[0]), tuple(value[1]))
        if isinstance(value[0], Array):
            return split_off_test_examples(as_tensor(value[0]), torch.as_tensor(as_array(value[1])), seed)
        if all(isinstance(v, Dataset | DataLoader) or hasattr(v, "column_names") for v in value):
            return CommandData(value[0], value[1])
        return CommandData((value[0], value[1]))
    return CommandData(value)  # A Dataset, a DataLoader or a list of batches, which `examine` checks itself.
