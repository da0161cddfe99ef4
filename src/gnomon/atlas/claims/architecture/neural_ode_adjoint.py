"""The gradient of a neural ODE's loss is an integral of the adjoint, an ODE that is solved backward in time.

    da/dt = -a^T df/dh,    dL/dtheta = integral over [0, 1] of a^T df/dtheta dt                               (1)

h(t) is the state, f(h, theta) the vector field, L the loss, and a = dL/dh the adjoint, solved backward from time 1.
Some texts print df/dh in the last integral, which has the wrong shape. Reference: [chen2018neural].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import NeuralODE
from gnomon.models.ode import runge_kutta


def net(width, seed):
    """Returns a random smooth vector field: a linear layer and tanh."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh()).double()


def inputs(width, seed):
    """Returns a random initial state of the neural ODE."""
    return torch.randn(1, width, generator=torch.Generator().manual_seed(seed)).double()


def predicted(width, steps, seed):
    """Returns the gradient of the weights by backpropagation through the solver's steps."""
    field = net(width, seed)
    end = runge_kutta(lambda t, h: field(h), inputs(width, seed), steps=steps)
    return torch.autograd.grad(end.square().sum(), field[0].weight)[0].numpy()


def observed(width, steps, seed):
    """Returns the gradient of the weights by the adjoint method of gnomon.models.NeuralODE."""
    field = net(width, seed)
    end = NeuralODE(field, integration_steps=steps)(inputs(width, seed))
    return torch.autograd.grad(end.square().sum(), field[0].weight)[0].numpy()


def control(width, steps, seed):
    """Returns the gradient by equation (1), solved backward, but with the adjoint constant at its final value."""
    field, h = net(width, seed), inputs(width, seed)
    end = runge_kutta(lambda t, h: field(h), h, steps=steps).detach()

    def backward(_, z):
        h = z[:width].requires_grad_()
        slope = torch.autograd.grad((field(h[None])[0] * 2 * end[0]).sum(), field[0].weight)[0]
        return torch.cat([-field(h[None])[0].detach(), slope.flatten()])

    return runge_kutta(backward, torch.cat([end[0], torch.zeros(width**2)]), steps=steps)[width:].reshape(width, width)


CLAIM = Claim(
    id="neural-ode-adjoint",
    question="How can one differentiate through an ODE solver without storing its steps?",
    equation=r"\frac{dL}{d\theta} = \int_0^1 a^\top \frac{\partial f}{\partial \theta}\, dt",
    axes=("weight of the block", "gradient of the loss"),
    source=Source("theorem", "chen2018neural"),
    premises=(Premise("the adjoint is integrated backward in time"),),
    parameters={"width": 3, "steps": 20},
    judge=equals(within=1e-5, because="steps of fourth order"),
)
