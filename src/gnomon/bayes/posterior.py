"""Defines the posterior density of a module's parameters, from a Gaussian prior and the likelihood that the loss
implies.

    log p(w | S) = -n L(w) / s^2 - |w|^2 / (2 r^2) + constant                                              (1)

L is the mean loss over n examples (squared loss: |y - f|^2 / 2, so that s is the standard deviation of Gaussian noise;
cross-entropy with s = 1: the likelihood of the classes), r the standard deviation of the prior. Its maximum is
reached by training with weight decay s^2 / (n r^2) on L. With one output, f, and classes 0 and 1, the loss is the
logistic one, -log p(y) with p(1) = 1 / (1 + exp(-f)).

Hypotheses: examples independent given the parameters; a loss that is a negative log-likelihood.
Reference: [mackay1992practical].
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_examples
from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import AbstractSource, data_source
from gnomon.core.losses import CrossEntropy, Logistic
from gnomon.core.modules.kernels import use_differentiable_layers
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import preserve, set_mode
from gnomon.core.modules.pure import PureFunction
from gnomon.training.evaluate import Loss, Objective

__all__ = ["ModulePosterior", "module_posterior", "prior_to_weight_decay"]


class ModulePosterior:
    """The log posterior density of a module's parameters, as a function of one vector of all parameters.

    See equation (1) of the module docstring.

    >>> posterior = module_posterior(nn.Linear(2, 1), (torch.zeros(3, 2), torch.zeros(3)))
    >>> posterior.names, len(posterior)
    (('weight[0]', 'weight[1]', 'bias[0]'), 3)
    """

    def __init__(
        self, module: nn.Module, objective: Objective, parameters: Any, prior_std: float, noise: float
    ) -> None:
        self.module, self.objective, self.prior_std, self.noise = module, objective, prior_std, noise
        self._f = PureFunction.of(module, parameters)
        self._data = objective.at(torch.arange(len(objective)))

    def __len__(self) -> int:
        return len(self.objective)

    @property
    def start(self) -> Float[Tensor, " p"]:
        """Returns the current parameters of the module as one vector."""
        return torch.cat([w.detach().flatten() for w in self._f.leaves.values()]).double()

    @property
    def names(self) -> tuple[str, ...]:
        """Returns a name for each entry of the parameter vector, such as "0.weight[3]"."""
        return tuple(f"{name}[{i}]" for name, w in self._f.leaves.items() for i in range(w.numel()))

    @property
    def places(self) -> dict[str, slice]:
        """Returns which slice of the parameter vector holds each parameter tensor, by name."""
        ends = torch.tensor([w.numel() for w in self._f.leaves.values()]).cumsum(0).tolist()
        return {name: slice(a, b) for name, a, b in zip(self._f.leaves, [0, *ends], ends, strict=False)}

    def __call__(self, vector: Float[Tensor, " p"]) -> Float[Tensor, ""]:
        """Returns the log posterior density of the parameters in ``vector``, up to a constant.

        See equation (1) of the module docstring.
        """
        return self._value(vector, *self._data)

    @property
    def binary(self) -> bool:
        """Returns whether the module is a binary classifier with one output, the logit of class 1."""
        loss = self.objective.loss
        if isinstance(loss, nn.BCEWithLogitsLoss):
            return loss.weight is None and loss.pos_weight is None and loss.reduction == "mean" and self.width == 1
        return isinstance(loss, Logistic) and self.width == 1

    @property
    def observations(self) -> int:
        """Returns the number of observed targets: one per example, or one per labeled position."""
        loss = self.objective.loss
        return loss.observations(self._data[1]) if isinstance(loss, AbstractLossWithAxes) else len(self)

    @property
    def width(self) -> int:
        """Returns the number of outputs of the module."""
        with torch.no_grad():
            return self.outputs(self.start, self.objective.at(torch.arange(1))[0]).shape[1]

    def mean_loss(self, vector: Float[Tensor, " p"], index: Tensor) -> Float[Tensor, ""]:
        """Returns the mean loss over some examples for a given parameter vector."""
        return self._loss(vector, *self.objective.at(index))

    def on_batch(self, index: Tensor) -> Callable[[Tensor], Tensor]:
        """Returns an estimate of the log posterior from a batch, with the likelihood scaled up to all examples."""
        x, y = self.objective.at(index)
        return lambda vector: self._value(vector, x, y)

    def outputs(self, vector: Float[Tensor, " p"], x: Inputs) -> Float[Tensor, "n k"]:
        """Returns the outputs of the module for a given parameter vector."""
        with set_mode(self.module, "eval"), use_differentiable_layers(self.module):
            return self._f(x, self._leaves(vector))

    def _value(self, vector: Tensor, x: Inputs, y: Tensor) -> Tensor:
        loss = self._loss(vector, x, y)
        return -self.observations * loss / self.noise**2 - vector.square().sum() / (2 * self.prior_std**2)  # (1)

    def _loss(self, vector: Tensor, x: Inputs, y: Tensor) -> Tensor:
        with preserve(self.module, all_derivatives=True):
            return self.objective.loss_of(self._f.module_output(x, self._leaves(vector)), y).double()

    def _leaves(self, vector: Tensor) -> dict[str, Tensor]:
        shapes = self._f.leaves
        pieces = vector.split([w.numel() for w in shapes.values()])
        return {name: p.reshape(w.shape).to(w.dtype) for (name, w), p in zip(shapes.items(), pieces, strict=True)}


@add_call_to_errors
def module_posterior(
    module: nn.Module,
    data: Any,
    *,
    prior_std: float = 1.0,
    noise: float = 1.0,
    loss: Loss | None = None,
    parameters: str | None = None,
) -> ModulePosterior:
    """Returns the log posterior of a module's parameters under a Gaussian prior, for `gnomon.bayes.sample_posterior`.

        log p(w | S) = -n L(w) / noise^2 - |w|^2 / (2 prior_std^2) + constant                              (1)

    Args:
        module: a network in eval mode; it is not changed.
        data: a pair, a ``Dataset``, a ``DataLoader``, batches.
        prior_std: standard deviation of the prior of every parameter.
        noise: the standard deviation of the targets around the outputs; leave it at 1 for classes.
        loss: as in `gnomon.train`; with one output and classes 0 and 1, the logistic loss in place of cross-entropy.
        parameters: a pattern of names; the others keep their values.

    Hypotheses: the loss is a negative log-likelihood. Reference: [mackay1992practical].
    Cost: the data are held in memory; a pass over them for each evaluation.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> posterior = module_posterior(net, (torch.ones(4, 1), torch.ones(4)), prior_std=1.0, noise=1.0)
    >>> w = torch.tensor([0.5]).double()
    >>> round(float(posterior(w)), 4)                                    # -4 (1 - 0.5)^2 / 2 - 0.5^2 / 2
    -0.625
    """
    if isinstance(module, nn.Module):
        module, data = adapt_examples(module, data)
    check_module_is_callable(module)
    prior_std = check_number("prior_std", prior_std, above=0)
    noise = check_number("noise", noise, above=0)
    with preserve(module, mode=None):
        examples = data_source(data, module=module)
        objective = Objective.of(examples, module, _loss_for(examples, module, loss)).indexable()
        return ModulePosterior(module, objective, parameters, prior_std, noise)


def _loss_for(examples: AbstractSource, module: nn.Module, loss: Loss | None) -> Loss | None:
    """Returns the logistic loss if targets are classes and the module has one output, otherwise the given loss."""
    if loss is not None and not isinstance(loss, CrossEntropy):
        return loss
    first = examples.first(1)
    classes = first.y is not None and are_classes(first.y)
    return Logistic() if classes and outputs_in_eval_mode(module, first.x).shape[1] == 1 else loss


@add_call_to_errors
def prior_to_weight_decay(prior_std: float, noise: float, examples: int) -> float:
    """Returns the weight decay that has the effect of a Gaussian prior with the given standard deviation.

        argmin_w  L(w) + decay / 2 |w|^2,    decay = noise^2 / (n prior_std^2)                             (1)

    Hypotheses: L is a mean over n examples, as everywhere here. Reference: [mackay1992practical].

    >>> prior_to_weight_decay(2.0, 1.0, 100)
    0.0025
    """
    return check_number("noise", noise, above=0) ** 2 / (
        check_integer("examples", examples) * check_number("prior_std", prior_std, above=0) ** 2
    )
