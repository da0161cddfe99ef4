"""Computes outputs of a network linearized at trained parameters, for draws of parameters from a Gaussian.

    f_lin(w; x) = f(w*; x) + J(w*; x) (w - w*)                                                             (1)

Laplace's approximation measures the curvature of the linearized network, so its draws belong to f_lin. In the network
itself they predict far worse, because most of them lie where the linearization fails.

Hypotheses: the module has two derivatives in its parameters. Reference: [immer2021improving].
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.posterior import ModulePosterior
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples

__all__ = ["linearized_outputs"]

EXAMPLES_PER_PASS = 256
"""Number of examples whose graph is held at once."""


def linearized_outputs(
    posterior: ModulePosterior, center: Float[Tensor, " p"], vectors: Float[Tensor, "m p"], x: Inputs
) -> Float[Tensor, "m n k"]:
    """Returns the outputs of a network that is linearized at the parameters ``center``, for m parameter vectors.

    See equation (1) of the module docstring.
    J v is the derivative of J^T u in u, so one graph of two passes serves all vectors.

    Cost: two passes, and one backward pass for each vector.

    >>> from torch import nn
    >>> from gnomon.bayes.posterior import module_posterior
    >>> posterior = module_posterior(nn.Linear(1, 1, bias=False), (torch.ones(2, 1), torch.ones(2)))
    >>> w = posterior.start
    >>> outputs = linearized_outputs(posterior, w, torch.stack([w, w + 2]), torch.ones(1, 1)).flatten()
    >>> round(float(outputs[1] - outputs[0]), 5)
    2.0
    """
    pieces = [take_examples(x, slice(i, i + EXAMPLES_PER_PASS)) for i in range(0, count_examples(x), EXAMPLES_PER_PASS)]
    return torch.cat([_outputs_of_piece(posterior, center, vectors, piece) for piece in pieces], 1)


def _outputs_of_piece(posterior: ModulePosterior, center: Tensor, vectors: Tensor, x: Inputs) -> Tensor:
    w = center.detach().clone().requires_grad_()
    with torch.enable_grad():
        outputs = posterior.outputs(w, x).double()
        u = torch.zeros_like(outputs, requires_grad=True)
        (pulled,) = torch.autograd.grad(outputs, w, u, create_graph=True)
        moved = [torch.autograd.grad(pulled, u, v - center, retain_graph=True)[0] for v in vectors]
    return outputs.detach() + torch.stack(moved)  # (1)
