"""Strange things by name: inputs, targets and modules that a user may hand over, each with what must come of it.

A thing is made anew for every test. ``same`` makes the plain tensor whose answer the strange thing must give; where it
is None the thing must be refused.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
Y = torch.tensor([0, 1, 0, 1, 1, 0])


class Thing(NamedTuple):
    make: Callable[[], Any]
    same: Callable[[], Tensor] | None = None


def plain() -> Tensor:
    return X.clone()


def holed(value: float) -> Tensor:
    x = X.clone()
    x[1, 1] = value
    return x


def protected() -> np.ndarray:
    array = X.numpy().copy()
    array.setflags(write=False)
    return array


INPUTS = {
    "sparse": Thing(lambda: X.to_sparse()),
    "compressed rows": Thing(lambda: X.to_sparse_csr()),
    "nested": Thing(lambda: torch.nested.nested_tensor([X[0], X[1]])),
    "jagged": Thing(lambda: torch.nested.nested_tensor([X[0], X[1]], layout=torch.jagged)),
    "meta": Thing(lambda: X.to("meta")),
    "float8": Thing(lambda: X.to(torch.float8_e4m3fn), lambda: X.to(torch.float8_e4m3fn).float()),
    "half": Thing(lambda: X.half(), lambda: X.half().float()),
    "bfloat16": Thing(lambda: X.bfloat16(), lambda: X.bfloat16().float()),
    "float64": Thing(lambda: X.double(), plain),
    "big-endian": Thing(lambda: X.numpy().astype(">f4"), plain),
    "long double": Thing(lambda: X.numpy().astype(np.longdouble), plain),
    "objects that are numbers": Thing(lambda: X.numpy().astype(object), plain),
    "objects that are none": Thing(lambda: np.array([["a", None, {}]] * 6, dtype=object)),
    "text": Thing(lambda: np.array([["a", "b", "c"]] * 6)),
    "dates": Thing(lambda: np.zeros((6, 3), dtype="M8[s]")),
    "records": Thing(lambda: np.zeros(6, dtype=[("a", float), ("b", float)])),
    "masked": Thing(lambda: np.ma.masked_array(X.numpy(), mask=X.numpy() > 0)),
    "unmasked": Thing(lambda: np.ma.masked_array(X.numpy(), mask=False), plain),
    "write-protected": Thing(protected, plain),
    "reversed": Thing(lambda: X.flip(0).numpy()[::-1], plain),
    "transposed": Thing(lambda: X.T.contiguous().T, plain),
    "table": Thing(lambda: pd.DataFrame(X.numpy(), columns=list("abc")), plain),
    "table with text": Thing(lambda: pd.DataFrame({"a": ["x"] * 6, "b": [1.0] * 6, "c": [2.0] * 6})),
    "table with gaps": Thing(lambda: pd.DataFrame({"a": [None, *"bcdef"], "b": [1.0] * 6, "c": [2.0] * 6})),
    "column": Thing(lambda: pd.Series(X[:, 0].numpy())),
    "list of rows": Thing(lambda: X.tolist(), plain),
    "ragged list": Thing(lambda: [[1.0, 2.0, 3.0], [1.0]]),
    "list of text": Thing(lambda: ["a", "b"]),
    "requires gradients": Thing(lambda: X.clone().requires_grad_(), plain),
    "complex": Thing(lambda: X.to(torch.complex64)),
    "complex array": Thing(lambda: X.numpy().astype(complex)),
    "integers": Thing(lambda: X.long()),
    "booleans": Thing(lambda: X > 0),
    "unsigned": Thing(lambda: np.ones((6, 3), dtype=np.uint16)),
    "too wide": Thing(lambda: torch.ones(6, 5)),
    "no examples": Thing(lambda: torch.zeros(0, 3)),
    "one axis": Thing(lambda: torch.ones(3)),
    "no axis": Thing(lambda: torch.tensor(1.0)),
    "NaN": Thing(lambda: holed(torch.nan)),
    "infinity": Thing(lambda: holed(torch.inf)),
    "None": Thing(lambda: None),
    "a string": Thing(lambda: "data.csv"),
    "a number": Thing(lambda: 3.0),
    "a set": Thing(lambda: {1, 2}),
    "a generator": Thing(lambda: (row for row in X)),
    "an empty dict": Thing(dict),
    "an empty tuple": Thing(tuple),
    "a class": Thing(lambda: nn.Linear),
}

TARGETS = {
    "list": Thing(lambda: Y.tolist(), lambda: Y),
    "column": Thing(lambda: pd.Series(Y.numpy()), lambda: Y),
    "booleans": Thing(lambda: Y.bool(), lambda: Y),
    "bytes": Thing(lambda: Y.to(torch.uint8), lambda: Y),
    "unsigned": Thing(lambda: Y.numpy().astype(np.uint16), lambda: Y),
    "big-endian": Thing(lambda: Y.numpy().astype(">i8"), lambda: Y),
    "float8": Thing(lambda: torch.eye(2)[Y].to(torch.float8_e4m3fn), lambda: torch.eye(2)[Y]),
    "objects that are numbers": Thing(lambda: np.eye(2)[Y].astype(object), lambda: torch.eye(2)[Y].double()),
    "text": Thing(lambda: ["a"] * 6),
    "array of text": Thing(lambda: np.array(["a"] * 6)),
    "table of text": Thing(lambda: pd.DataFrame({"y": ["a"] * 6})),
    "complex": Thing(lambda: torch.ones(6, 2, dtype=torch.complex64)),
    "sparse": Thing(lambda: torch.eye(6, 2).to_sparse()),
    "nested": Thing(lambda: torch.nested.nested_tensor([X[0], X[1]])),
    "meta": Thing(lambda: torch.zeros(6, 2, device="meta")),
    "NaN": Thing(lambda: torch.full((6, 2), torch.nan)),
    "one too few": Thing(lambda: Y[:5]),
    "none at all": Thing(lambda: torch.zeros(0)),
    "no axis": Thing(lambda: torch.tensor(1.0)),
    "negative classes": Thing(lambda: Y - 1),
    "classes without outputs": Thing(lambda: Y + 5),
    "too many axes": Thing(lambda: torch.zeros(6, 2, 2)),
    "a string": Thing(lambda: "y"),
    "a number": Thing(lambda: 3),
}


class Raising(nn.Module):
    """A network whose forward raises an error of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        raise KeyError("my own")


class Exiting(Raising):
    """A network that wants to end the program."""

    def forward(self, x: Tensor) -> Tensor:
        sys.exit(3)


class Converting(nn.Module):
    """Two dtypes that fit."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2).double()

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).double())


def net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def broken() -> nn.Module:
    found = net()
    nn.init.constant_(found[0].weight, torch.nan)
    return found


def normed(norm: Callable[[nn.Module], nn.Module]) -> Callable[[], nn.Module]:
    def build() -> nn.Module:
        found = net()
        found[0] = norm(found[0])
        return found

    return build


MODULES: dict[str, Callable[[], Any]] = {
    "data parallel": lambda: nn.DataParallel(net()),
    "scripted": lambda: torch.jit.script(net()),
    "traced": lambda: torch.jit.trace(net(), X),
    "lazy": lambda: nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2)),
    "dtypes that do not fit": lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2).double()),
    "dtypes that fit": Converting,
    "double": lambda: net().double(),
    "half": lambda: net().half(),
    "bfloat16": lambda: net().bfloat16(),
    "complex": lambda: nn.Linear(3, 2, dtype=torch.complex64),
    "meta": lambda: net().to("meta"),
    "without parameters": nn.Tanh,
    "frozen": lambda: net().requires_grad_(False),
    "batch norm in training": lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)),
    "dropout in training": lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 2)),
    "weight norm": normed(nn.utils.parametrizations.weight_norm),
    "weight norm by hooks": normed(nn.utils.weight_norm),
    "spectral norm": normed(nn.utils.parametrizations.spectral_norm),
    "spectral norm by hooks": normed(nn.utils.spectral_norm),
    "not finite": broken,
    "raising": Raising,
    "exiting": Exiting,
    "without forward": nn.Module,
    "a class": lambda: nn.Linear,
    "None": lambda: None,
    "a string": lambda: "net",
    "a function": lambda: lambda x: x,
    "a state dict": lambda: net().state_dict(),
}
