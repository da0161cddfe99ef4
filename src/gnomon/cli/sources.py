"""What a command names: a model in a file, weights, data. Files of data and weights are read, never executed."""

import csv
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array, as_array, as_tensor
from gnomon.core.errors import InputError, MissingExtraError, lesson
from gnomon.data import digits

PAIRS = (("x_train", "y_train", "x_test", "y_test"), ("X_train", "y_train", "X_test", "y_test"), ("x", "y", "", ""),
         ("X", "y", "", ""), ("data", "target", "", ""), ("inputs", "targets", "", ""))  # fmt: skip
HELD_OUT = 0.2
Data = tuple[Any, Any]
"""Training data and test data, or None for the second."""


def model(spec: str, call: str) -> nn.Module | Callable[[], nn.Module]:
    """The module, or the function that builds it, named ``file.py:name``."""
    value = named(spec, call)
    if isinstance(value, nn.Module) or callable(value):
        return value
    what = f"{spec} is a {type(value).__name__}"
    raise InputError(lesson(call, what, "a module or a function that builds one", "Name one of these"))


def named(spec: str, call: str) -> Any:
    """An object of a Python file that the user names: ``file.py:name`` or ``package.module:name``."""
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise InputError(lesson(call, f"'{spec}' has no ':'", "file.py:name", "Write for instance my_model.py:build"))
    module = _file(Path(place), call) if place.endswith(".py") else _package(place, call)
    if not hasattr(module, name):
        there = ", ".join(n for n in vars(module) if not n.startswith("_"))[:200]
        raise InputError(lesson(call, f"{place} has no '{name}'", "a name in that file", f"It has: {there}"))
    return getattr(module, name)


def checkpoint(path: Path, net: nn.Module, call: str) -> nn.Module:
    """Load weights into the module; the file may hold tensors only, or it is refused."""
    if not path.exists():
        raise InputError(lesson(call, f"{path} does not exist", "a file of weights", "Check the path"))
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as reason:  # a pickle that asks for code, or no checkpoint at all
        what = f"{path} is not a file of plain weights ({type(reason).__name__})"
        cure = "Save with torch.save(model.state_dict(), path); nothing in the file was executed"
        raise InputError(lesson(call, what, "tensors only (weights_only=True)", cure)) from None
    if isinstance(state, dict):
        state = state.get("state_dict", state.get("model", state))
    try:
        net.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as reason:
        words = " ".join(str(reason).split())[:300]
        raise InputError(
            lesson(
                call, f"{path} does not fit the model: {words}", "weights of this model", "Check which model was saved"
            )
        ) from None
    return net


def data(spec: str, target: str | None, seed: int, call: str) -> Data:
    """Training and test points: a bundled set, an .npz, a .csv or .parquet with a target, or a function."""
    if spec == "digits":
        split = digits(1000, 797)
        return (split.x, split.y), (split.x_test, split.y_test)
    path = Path(spec)
    if spec.endswith((".npz", ".csv", ".parquet")) and not path.exists():
        raise InputError(lesson(call, f"{spec} does not exist", "a file of data", "Check the path"))
    if spec.endswith(".npz"):
        return _npz(path, seed, call)
    if spec.endswith(".csv"):
        return held_out(*_csv(path, target, call), seed)
    if spec.endswith(".parquet"):
        return held_out(*_parquet(path, target, call), seed)
    if ":" in spec:
        return _made(named(spec, call)(), spec, seed, call)
    cure = "Pass data.npz, data.csv --target column, data.parquet --target column, file.py:function or digits"
    raise InputError(lesson(call, f"'{spec}' is no known kind of data", "a file, a function or a bundled set", cure))


def held_out(x: Any, y: Any, seed: int) -> Data:
    """A fifth of the examples, drawn by the seed, is kept for testing."""
    n = len(y)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    cut = max(1, int(HELD_OUT * n)) if n > 4 else 0
    test, train = order[:cut].sort().values, order[cut:].sort().values
    return (x[train], y[train]), ((x[test], y[test]) if cut else None)


def seconds(text: str, call: str) -> float:
    """A time such as 60, 60s, 2m or 1h.

    >>> seconds("2m", "")
    120.0
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*(s|m|h|)\s*", text)
    if match is None or match[1].count(".") > 1 or match[1] == ".":
        raise InputError(lesson(call, f"--budget is '{text}'", "a time", "Write 60s, 2m or 1h"))
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _file(path: Path, call: str) -> Any:
    if not path.exists():
        raise InputError(lesson(call, f"{path} does not exist", "a Python file", "Check the path"))
    spec = importlib.util.spec_from_file_location(f"gnomon_user_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that its classes can be pickled and copied
    try:
        spec.loader.exec_module(module)
    except Exception as reason:  # the user's own file
        words = f"{path} raised {type(reason).__name__}: {reason}"
        raise InputError(
            lesson(call, words, "a file that can be imported", "Run python on it to see where")
        ) from reason
    return module


def _package(name: str, call: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        raise InputError(
            lesson(call, f"cannot import {name}: {reason}", "an importable module", "Check the name")
        ) from None
    finally:
        sys.path.pop(0)


def _npz(path: Path, seed: int, call: str) -> Data:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as reason:  # not a zip, or arrays of objects
        what = f"{path} cannot be read without executing it ({reason})"
        raise InputError(lesson(call, what, "plain arrays", "Save numbers: np.savez(path, x=..., y=...)")) from None
    for x, y, xt, yt in PAIRS:
        if x in arrays and y in arrays:
            first = (_tensor(arrays[x]), _tensor(arrays[y]))
            if xt in arrays and yt in arrays:
                return first, (_tensor(arrays[xt]), _tensor(arrays[yt]))
            return held_out(*first, seed)
    what = f"{path} has the arrays {', '.join(arrays) or 'none'}"
    raise InputError(lesson(call, what, "inputs x and targets y", "Name them x and y (and x_test, y_test)"))


def _csv(path: Path, target: str | None, call: str) -> tuple[Tensor, Tensor]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise InputError(lesson(call, f"{path} has {len(rows)} rows", "a header and some rows", "Check the file"))
    header, body = [h.strip() for h in rows[0]], rows[1:]
    ragged = next((i for i, row in enumerate(body, 2) if len(row) != len(header)), None)
    if ragged is not None:
        what = f"row {ragged} of {path} has {len(body[ragged - 2])} fields, the header {len(header)}"
        raise InputError(lesson(call, what, "a rectangular table", "Repair that row"))
    return _table(header, {h: [row[i] for row in body] for i, h in enumerate(header)}, target, str(path), call)


def _parquet(path: Path, target: str | None, call: str) -> tuple[Tensor, Tensor]:
    try:
        from pyarrow import parquet
    except ImportError:
        cure = "Install the extra: pip install 'gnomon[parquet]'"
        raise MissingExtraError(lesson(call, "pyarrow is not installed", "the extra 'parquet'", cure)) from None
    columns = {name: list(map(str, values)) for name, values in parquet.read_table(path).to_pydict().items()}
    return _table(list(columns), columns, target, str(path), call)


def _table(
    header: list[str], columns: dict[str, list[str]], target: str | None, path: str, call: str
) -> tuple[Tensor, Tensor]:
    """Numbers for inputs; the target may be numbers (values), whole numbers or words (classes)."""
    if target is None:
        cure = f"Add --target with one of: {', '.join(header[:20])}"
        raise InputError(lesson(call, f"{path} is a table and no target was named", "a target column", cure))
    if target not in columns:
        raise InputError(
            lesson(call, f"{path} has no column '{target}'", "a target column", f"It has: {', '.join(header[:20])}")
        )
    features = []
    for name in header:
        if name != target:
            try:
                features.append([float(v) for v in columns[name]])
            except ValueError:
                bad = next((i, v) for i, v in enumerate(columns[name], 2) if not _is_number(v))
                what = f"column '{name}' holds '{bad[1]}' in row {bad[0]}"
                raise InputError(
                    lesson(call, what, "inputs are numbers", "Encode or drop this column, and fill gaps")
                ) from None
    x = torch.tensor(features, dtype=torch.float32).T.contiguous()
    return x, _labels(columns[target])


def _labels(words: list[str]) -> Tensor:
    if all(re.fullmatch(r"\s*[+-]?\d+\s*", w) for w in words):
        numbers = sorted({int(w) for w in words})
        return torch.tensor([numbers.index(int(w)) for w in words])
    if all(map(_is_number, words)):
        return torch.tensor([float(w) for w in words], dtype=torch.float32)
    names = sorted(set(words))
    return torch.tensor([names.index(w) for w in words])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _tensor(array: np.ndarray) -> Tensor:
    if array.dtype.kind in "US":
        names = sorted(set(array.tolist()))
        return torch.tensor([names.index(v) for v in array.tolist()])
    table = torch.from_numpy(np.ascontiguousarray(array))
    return table.long() if not table.is_floating_point() and table.dtype != torch.bool and table.dim() == 1 else table


def _made(value: Any, spec: str, seed: int, call: str) -> Data:
    """What a function returned: (x, y), ((x, y), (x_test, y_test)), four of them, or any data that `examine` takes."""
    if isinstance(value, tuple | list) and len(value) == 4:
        return (value[0], value[1]), (value[2], value[3])
    if isinstance(value, tuple | list) and len(value) == 2:
        if all(isinstance(v, tuple | list) and len(v) == 2 for v in value):
            return tuple(value[0]), tuple(value[1])
        if isinstance(value[0], Array):
            return held_out(as_tensor(value[0]), torch.as_tensor(as_array(value[1])), seed)
        return (value[0], value[1]), None
    return value, None  # a Dataset, a DataLoader, batches: read as any data, or refused there
