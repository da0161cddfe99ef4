"""Defines the kinds of program steps: one frozen record class for each kind of layer.

A step maps the covariances of its inputs to the covariances of its output. The steps are only data; the rules of the
limit compute.
Positions are named by their index in the grid of the step's input.

>>> from gnomon.program import read_program
>>> import torch
>>> program = read_program(torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh()), torch.zeros(1, 2))
>>> [type(step.op).__name__ for step in program.steps]
['Input', 'Dense', 'Activation']
>>> program.weights[0].fan_in
2
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.program.expression import Expression

__all__ = [
    "Activation",
    "DeterministicAttention",
    "MultiheadAttention",
    "DataPositionMap",
    "Concat",
    "Conv",
    "Dense",
    "Dropout",
    "Input",
    "FixedPositionMap",
    "Reorder",
    "Normalize",
    "Program",
    "Recurrence",
    "StackBranches",
    "ProgramStep",
    "Sum",
    "SharedWeightMap",
    "TrainableActivationParameter",
    "Weights",
    "ConvolutionWindow",
]


@dataclass(frozen=True, slots=True)
class Weights:
    """Describes the parameters of an affine layer: their paths, the layer's class, the fan-in, and which of them train.

    ``drawn`` are the standard deviations of the entries that its constructor draws, if they differ from Linear.
    """

    path: str
    kind: str
    weight: str
    bias: str | None
    fan_in: int
    trained: tuple[bool, bool] = (True, True)
    drawn: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ConvolutionWindow:
    """Describes the window of a convolution: kernel size, stride, dilation and padding for each position axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    mode: Literal["zeros", "circular"]


@dataclass(frozen=True, slots=True)
class Input:
    """Program step with a fixed function of the data, whose result is the input of the first affine layers.

    With a ``window`` the features of a position are the entries of its patch: a convolution of data is a dense layer on
    their patches, which needs covariances at its output positions only.
    """

    function: Callable[[Tensor], Tensor]
    channel: int
    window: ConvolutionWindow | None = None


@dataclass(frozen=True, slots=True)
class Dense:
    """Program step with an affine map of all channels, including ``contracted`` position axes flattened into
    channels.
    """

    weights: Weights
    contracted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Conv:
    """Program step with a convolution over all positions."""

    weights: Weights
    window: ConvolutionWindow


@dataclass(frozen=True, slots=True)
class SharedWeightMap:
    """Program step with an affine map that shares weights between positions: y[s] = b + sum_t w_t x[index[t, s]]."""

    weights: Weights
    index: Tensor


@dataclass(frozen=True, slots=True)
class TrainableActivationParameter:
    """A trainable parameter of phi(u) = psi(g u + b): the ``gain`` g, the ``bias`` b, or the ``slope`` of a PReLU.

    ``scale`` is the present g, equal for all channels; ``shared`` says whether positions share the parameter.
    """

    path: str
    kind: Literal["gain", "bias", "slope"]
    scale: float = 1.0
    shared: bool = True


@dataclass(frozen=True, slots=True)
class Activation:
    """Program step with an elementwise function and its trainable parameters."""

    expression: Expression
    trainable: tuple[TrainableActivationParameter, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedPositionMap:
    """Program step with a fixed linear map of positions (pooling, means, padding): one matrix per position axis, or
    None.
    """

    matrices: tuple[Tensor | None, ...]


@dataclass(frozen=True, slots=True)
class Reorder:
    """Program step that reorders positions (pixels, tokens): output position s is input position ``index[s]``."""

    index: Tensor
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Program step with a linear combination of branches that are proven to be uncorrelated."""

    coefficients: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Concat:
    """Program step that concatenates channels of several branches; ``shares`` are the branches' fractions of all
    channels.
    """

    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StackBranches:
    """Program step that concatenates the positions (pixels, tokens) of several branches along one axis."""

    axis: int


@dataclass(frozen=True, slots=True)
class Normalize:
    """Program step that divides by the root mean square over channels and over the ``pooled`` position axes."""

    pooled: tuple[int, ...]
    eps: float


@dataclass(frozen=True, slots=True)
class Dropout:
    """Program step with independent dropout masks that keep each entry with probability ``keep`` and divide it by
    ``keep``.
    """

    keep: float


@dataclass(frozen=True, slots=True)
class DeterministicAttention:
    """Program step with softmax attention whose logits become deterministic in the infinite-width limit."""

    weights: Weights


@dataclass(frozen=True, slots=True)
class MultiheadAttention:
    """Program step with softmax attention of many heads (inputs: value, query, key) and logits scaled by 1/sqrt(d_k).

    ``mask`` is added to the logits (queries, keys), None if every position sees all others. A fourth input is what
    padding adds to the logits of each key, as data.
    """

    mask: Tensor | None


@dataclass(frozen=True, slots=True)
class DataPositionMap:
    """Program step that multiplies each sample's positions (tokens, nodes) by a matrix that the second input holds."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Program step with the recurrence u_t = in_t + W phi(u_{t-1}) + b, with the same W and b at every time t."""

    weights: Weights
    expression: Expression


Op = (
    Input | Dense | Conv | Activation | FixedPositionMap | Reorder | Sum | Concat | StackBranches | Normalize | Dropout
    | DeterministicAttention | MultiheadAttention | DataPositionMap | Recurrence | SharedWeightMap
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramStep(Record):
    """One step of a program: its operation, the indices of its inputs, its path in the module, the shape of its
    positions."""

    op: Op
    inputs: tuple[int, ...]
    where: str
    grid: tuple[int, ...]
    channels: int
    gaussian: bool


@dataclass(frozen=True, slots=True)
class Program(Record):
    """A module as data: steps in execution order (the last is the output), and notes on assumptions that were made."""

    steps: tuple[ProgramStep, ...]
    name: str
    input_shape: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> tuple[Weights, ...]:
        """The affine layers of the program in execution order."""
        return tuple(
            s.op.weights
            for s in self.steps
            if isinstance(s.op, Dense | Conv | DeterministicAttention | Recurrence | SharedWeightMap)
        )

    def __str__(self) -> str:
        """Returns the program as text: one line per step, and one line per note."""
        rows = []
        for i, s in enumerate(self.steps):
            source = ", ".join(f"%{j}" for j in s.inputs)
            grid = "x".join(map(str, s.grid)) or "-"
            rows.append(
                f"%{i:<3} = {type(s.op).__name__}({source})  channels {s.channels}, positions {grid}  {s.where}"
            )
        return "\n".join([*rows, *(f"note: {note}" for note in self.notes)])
