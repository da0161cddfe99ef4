"""The modes of a kernel on data: which directions of the labels it sees first.

    K u_i = lambda_i u_i,   c_i = u_i^T y,   energy_i = |c_i|^2 / |y|^2,   captured_r = sum_{i <= r} energy_i      (1)

Under gradient flow on the squared loss the part of the labels along u_i is learned at rate lambda_i, so labels whose
energy sits in the first modes are learned early.
Reference: [arora2019fine], section 4.

>>> import torch
>>> spectrum(torch.diag(torch.tensor([3.0, 1.0])), torch.ones(2)).modes_for(0.9)
2
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.checks import as_targets
from gnomon.core.classes import numbers
from gnomon.core.errors import InputError, lesson
from gnomon.core.record import Record
from gnomon.linalg.square import square


@dataclass(frozen=True, slots=True)
class Spectrum(Record):
    """Eigenpairs in falling order, projections of the labels (n, k), and each mode's share of their energy."""

    values: Float[Tensor, " n"]
    vectors: Float[Tensor, "n n"]
    projections: Float[Tensor, "n k"] | None
    energy: Float[Tensor, " n"] | None

    @property
    def captured(self) -> Float[Tensor, " n"] | None:
        """Share of the labels' energy in the first r modes, r = 1 ... n."""
        return None if self.energy is None else self.energy.cumsum(0)

    def modes_for(self, share: float) -> int:
        """The least number of modes that hold a share of the labels' energy."""
        if self.captured is None:
            raise InputError(lesson("modes_for(share)", "no labels", "labels to project", "Call spectrum(kernel, y)"))
        return min(len(self.values), int((self.captured < share - 1e-12).sum()) + 1)

    @property
    def verdict(self) -> str:
        """One sentence."""
        top = float(self.values[0] / self.values.sum())
        if self.energy is None:
            return f"The first of {len(self.values)} modes holds {top:.0%} of the trace."
        return (
            f"The first of {len(self.values)} modes holds {top:.0%} of the trace and {float(self.energy[0]):.0%} of "
            f"the labels' energy; 90% of it lies in the first {self.modes_for(0.9)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        parts = {"values": self.values, "vectors": self.vectors, "projections": self.projections, "energy": self.energy}
        return {name: None if t is None else t.tolist() for name, t in parts.items()}

    def plot_data(self) -> dict[str, Any]:
        """The curves as plain lists, for any drawing tool."""
        modes = list(range(1, len(self.values) + 1))
        curves = {"eigenvalue": self.values.clamp(min=0).tolist()}
        if self.captured is not None:
            curves["labels captured"] = self.captured.tolist()
        return {"x": modes, "x_label": "mode", "curves": curves, "log_y": ["eigenvalue"]}

    def plot(self, ax: Any = None) -> Any:
        """Draw eigenvalues (log scale) and the captured share of the labels; returns the matplotlib axes."""
        import matplotlib.pyplot as plt

        data = self.plot_data()
        ax = plt.subplots()[1] if ax is None else ax
        ax.semilogy(data["x"], data["curves"]["eigenvalue"], marker=".", label="eigenvalue")
        ax.set(xlabel=data["x_label"], ylabel="eigenvalue")
        if "labels captured" in data["curves"]:
            twin = ax.twinx()
            twin.plot(data["x"], data["curves"]["labels captured"], color="tab:orange", label="labels captured")
            twin.set(ylabel="share of the labels' energy", ylim=(0, 1.02))
        return ax


def spectrum(kernel: Array, y: Array | None = None) -> Spectrum:
    """Eigenpairs of a symmetric kernel and, with labels, their energy along each mode; equation (1).

    Integer labels (n,) are classes, taken as one-hot rows; floating-point ones, (n,) or (n, k), are numbers.

    Hypotheses: symmetric. Degenerate eigenvalues have no preferred vectors: their energies are only sums.
    Reference: [arora2019fine].
    Cost: O(n^3), in float64.

    >>> found = spectrum(torch.diag(torch.tensor([1.0, 4.0])), torch.tensor([0.0, 2.0]))
    >>> found.values.round(decimals=12).tolist(), found.energy.round(decimals=12).tolist()
    ([4.0, 1.0], [1.0, 0.0])
    """
    k = square(kernel, "spectrum(kernel)").detach().double()
    if (k - k.T).abs().max() > 1e-6 * k.abs().max():
        cure = "Use ntk(module, x) without x2, or (K + K.T) / 2"
        raise InputError(lesson("spectrum(kernel)", "the kernel is not symmetric", "a symmetric kernel", cure))
    values, vectors = torch.linalg.eigh((k + k.T) / 2)
    values, vectors = values.flip(0), vectors.flip(1)
    if y is None:
        return Spectrum(values, vectors, None, None)
    labels = numbers(as_targets(y, len(k), call="spectrum(kernel, y)"), "spectrum(kernel, y)").to(k)
    labels = labels.reshape(len(k), -1)
    if not labels.any():
        found = "labels that are all zero"
        raise InputError(lesson("spectrum(kernel, y)", found, "labels to project", "Give labels that differ from zero"))
    projections = vectors.T @ labels
    return Spectrum(values, vectors, projections, (projections**2).sum(1) / (labels**2).sum())  # (1)
