"""Computes the eigenvectors of a kernel matrix on data, and how much of the labels lies along each eigenvector.

    K u_i = lambda_i u_i,   c_i = u_i^T y,   energy_i = |c_i|^2 / |y|^2,   captured_r = sum_{i <= r} energy_i      (1)

Under gradient flow on the squared loss the part of the labels along u_i is learned at rate lambda_i, so labels whose
energy lies in the first modes are learned early.
Reference: [arora2019fine], section 4.

>>> import torch
>>> kernel_spectrum(torch.diag(torch.tensor([3.0, 1.0])), torch.ones(2)).modes_for(0.9)
2
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_targets
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.square import as_square_matrix

__all__ = ["KernelSpectrum", "kernel_spectrum"]


@dataclass(frozen=True, slots=True)
class KernelSpectrum(Result):
    """Eigenvalues and eigenvectors of a kernel matrix in falling order, and the share of the labels along each
    eigenvector.
    """

    values: Float[Tensor, " n"]
    vectors: Float[Tensor, "n n"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    projections: Float[Tensor, "n k"] | None = field(repr=False, metadata=HIDDEN_IN_JSON)
    energy: Float[Tensor, " n"] | None

    @property
    def captured(self) -> Float[Tensor, " n"] | None:
        """The share of the labels' squared norm in the first r eigenvectors of the kernel, for each r; None without
        labels.
        """
        return None if self.energy is None else self.energy.cumsum(0)

    @add_call_to_errors("modes_for(share)")
    def modes_for(self, share: float) -> int:
        """Returns the smallest number of leading eigenvectors that contain a given share of the labels'
        squared norm.
        """
        if self.captured is None:
            what = "the spectrum has no labels"
            raise InputError(what, accepted="a spectrum with labels", fix="Call kernel_spectrum(kernel, y)")
        return min(len(self.values), int((self.captured < share - 1e-12).sum()) + 1)

    @property
    def verdict(self) -> str:
        """A sentence that says how much of the kernel and of the labels the first eigenvectors contain."""
        top = float(self.values[0] / self.values.sum())
        if self.energy is None:
            return f"The first of {len(self.values)} modes holds {top:.0%} of the trace."
        return (
            f"The first of {len(self.values)} modes holds {top:.0%} of the trace and {float(self.energy[0]):.0%} of "
            f"the labels' energy; 90% of the labels' energy lies in the first {self.modes_for(0.9)}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the kernel's eigenvalues, and the share of the labels in the first eigenvectors."""
        modes, positive = range(1, len(self.values) + 1), self.values.clamp(min=0)
        shown = [(i, v) for i, v in zip(modes, positive.tolist(), strict=True) if v > 0]
        line = Line("eigenvalue", [i for i, _ in shown], [v for _, v in shown])
        plots = [Plot("Eigenvalues of the kernel", (line,), Axis("mode"), Axis("eigenvalue", log=True))]
        if self.captured is not None:
            share = Line("labels captured", modes, self.captured)
            unit = Axis("share of the labels' energy", limits=(0.0, 1.02))
            plots.append(Plot("Labels in the first modes", (share,), Axis("mode"), unit, self.verdict))
        return tuple(plots)


@add_call_to_errors
def kernel_spectrum(kernel: Array, y: Array | None = None) -> KernelSpectrum:
    """Returns eigenvalues and eigenvectors of a symmetric kernel matrix, and the share of labels y along each
    eigenvector.

    See equation (1) of the module docstring.
    Integer labels (n,) are classes, taken as one-hot rows; floating-point ones, (n,) or (n, k), are numbers.

    Hypotheses: symmetric. Degenerate eigenvalues have no preferred vectors: their energies are only sums.
    Reference: [arora2019fine].
    Cost: O(n^3), in float64.

    >>> result = kernel_spectrum(torch.diag(torch.tensor([1.0, 4.0])), torch.tensor([0.0, 2.0]))
    >>> result.values.round(decimals=12).tolist(), result.energy.round(decimals=12).tolist()
    ([4.0, 1.0], [1.0, 0.0])
    """
    k = as_square_matrix(kernel).detach().double()
    if (k - k.T).abs().max() > 1e-6 * k.abs().max():
        fix = "Use ntk(module, x) without x2, or (K + K.T) / 2"
        raise InputError("the kernel is not symmetric", accepted="a symmetric kernel", fix=fix)
    values, vectors = torch.linalg.eigh((k + k.T) / 2)
    values, vectors = values.flip(0), vectors.flip(1)
    if y is None:
        return KernelSpectrum(values, vectors, None, None)
    labels = targets_as_numbers(as_targets(y, len(k))).to(k)
    labels = labels.reshape(len(k), -1)
    if not labels.any():
        fix = "Give labels that differ from zero"
        raise InputError("the labels are all zero", accepted="labels that are not all zero", fix=fix)
    projections = vectors.T @ labels
    return KernelSpectrum(values, vectors, projections, (projections**2).sum(1) / (labels**2).sum())  # (1)
