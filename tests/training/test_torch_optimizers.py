"""PyTorch's own optimizers in the loop: the steps of a plain loop, bit for bit, and nobody's parameters but the copy's."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

import gnomon
from gnomon.training import SGD, Adam, TorchOptimizer, train
from gnomon.training.torch_optimizers import NAMES, as_gradient_descent, resolve_optimizer

X = torch.randn(24, 4, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] * X[:, 1] > 0).long()
LOSS = nn.CrossEntropyLoss()
CALL = "train(module, data)"


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def plain(net, optimizer, steps=12):
    """The loop that everyone writes."""
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            loss = LOSS(net(X), Y)
            loss.backward()
            return loss

        optimizer.step(closure)
    return net


def same(a, b):
    return all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


FACTORIES = {
    "a class": torch.optim.AdamW,
    "a lambda": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "a partial": partial(torch.optim.RMSprop, lr=1e-2),
    "groups": lambda p: torch.optim.Adam([{"params": p[:2], "lr": 1e-2}, {"params": p[2:], "weight_decay": 0.1}]),
    "a closure": partial(torch.optim.LBFGS, lr=0.5, max_iter=3),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_takes_the_steps_of_a_plain_loop(name):
    expected = network()
    plain(expected, FACTORIES[name](list(expected.parameters())))
    net = network()
    run = train(net, (X, Y), loss=LOSS, optimizer=FACTORIES[name], steps=12)
    assert same(run.model, expected) and same(net, network())
    assert run.loss[-1] < run.loss[0] and all(p.grad is None for p in run.model.parameters())


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW, torch.optim.LBFGS])
@pytest.mark.parametrize("in_place", [False, True])
def test_an_instance_goes_on_from_its_state(kind, in_place):
    options = {"lr": 0.05, "momentum": 0.9} if kind is torch.optim.SGD else {"lr": 0.05}
    expected = network()
    theirs = kind(expected.parameters(), **options)
    plain(plain(expected, theirs, 5), theirs, 7)

    net = network()
    ours = kind(net.parameters(), **options)
    plain(net, ours, 5)
    grads, weights = [p.grad.clone() for p in net.parameters()], copy.deepcopy(net)
    before = copy.deepcopy(ours.state_dict())
    run = train(net, (X, Y), loss=LOSS, optimizer=ours, steps=7, in_place=in_place)
    assert same(run.model, expected)
    assert (run.model is net) == in_place and same(net, expected if in_place else weights)
    assert all(torch.equal(p.grad, g) for p, g in zip(net.parameters(), grads, strict=True))
    moved = str(ours.state_dict()) != str(before)
    assert moved == in_place


def test_a_scheduled_instance_moves_the_copy_and_never_the_original():
    """A scheduler ties the optimizer's step to the original object."""
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    torch.optim.lr_scheduler.StepLR(optimizer, 10)
    run = train(net, (X, Y), optimizer=optimizer, steps=3)
    assert same(net, network()) and not same(run.model, network())


def test_an_instance_of_some_parameters_leaves_the_others():
    net = network()
    run = train(net, (X, Y), optimizer=torch.optim.SGD(net[2].parameters(), lr=0.5), steps=3)
    assert torch.equal(run.model[0].weight, net[0].weight) and not torch.equal(run.model[2].weight, net[2].weight)


def test_parameters_without_a_part_in_the_loss_are_not_decayed():
    """As in torch, where their gradient is None."""

    class Spare(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            return self.used(x)

    net = Spare()
    for optimizer in (partial(torch.optim.AdamW, weight_decay=0.5), Adam(0.1, decay=0.5), SGD(0.1, decay=0.5)):
        run = train(net, (X, Y), optimizer=optimizer, steps=3)
        assert same(run.model.spare, net.spare) and not same(run.model.used, net.used)


@pytest.mark.parametrize(
    "name, theirs", [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW), ("sgd", torch.optim.SGD)]
)
def test_names_are_the_defaults_of_torch(name, theirs):
    net = network().double()
    ours = train(net, (X, Y), loss=LOSS, optimizer=name, steps=20)
    other = train(net, (X, Y), loss=LOSS, optimizer=theirs, steps=20)
    for a, b in zip(ours.model.parameters(), other.model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)  # twenty steps of rounding in float64


def test_the_record_says_which_optimizer_it_was():
    run = train(network(), (X, Y), optimizer=partial(torch.optim.Adagrad, lr=0.05), steps=4, record=1)
    assert run.optimizer.lr == 0.05 and run.to_dict()["optimizer"] == {"name": "Adagrad", "lr": 0.05}
    assert run.verdict.startswith("Adagrad with learning rate 0.05 took the cross-entropy from")
    assert torch.allclose(run.times, 0.05 * run.steps.double())
    assert (
        isinstance(run.optimizer, TorchOptimizer) and repr(run.optimizer) == "TorchOptimizer(name='Adagrad', lr=0.05)"
    )


def test_theory_knows_plain_descent_by_what_it_does():
    def told(optimizer):
        return as_gradient_descent(resolve_optimizer(optimizer, None))

    assert told(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, weight_decay=0.2)) == SGD(0.1, 0.5, 0.2)
    assert told("sgd") == SGD(1e-3) and told(SGD(0.3)) == SGD(0.3)
    others = (dict(nesterov=True, momentum=0.9), dict(momentum=0.9, dampening=0.1), dict(maximize=True))
    assert all(told(partial(torch.optim.SGD, **options)) is None for options in others)
    assert told(torch.optim.Adam) is None and told("adam") is None
    uneven = lambda p: torch.optim.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 0.2}], lr=0.1)  # noqa: E731
    net = network()
    assert told(uneven(list(net.parameters()))) is None


def test_a_prediction_takes_torch_descent():
    net = network().double()
    kwargs = {"times": [0.0, 1.0], "outputs": "full"}
    for theirs in (partial(torch.optim.SGD, lr=0.1), torch.optim.SGD(net.parameters(), lr=0.1)):
        told = gnomon.predict(net, (X.double(), Y), optimizer=theirs, **kwargs)
        assert torch.equal(told.loss, gnomon.predict(net, (X.double(), Y), optimizer=SGD(0.1), **kwargs).loss)
    with pytest.raises(gnomon.InputError, match="gradient descent"):
        gnomon.predict(net, (X.double(), Y), optimizer=torch.optim.Adam)


@pytest.mark.parametrize(
    "optimizer, told",
    [
        ("newton", "optimizer is 'newton' .*adamw"),
        (lambda p, lr: torch.optim.SGD(p, lr=lr), "factory raised: .*lambda p"),
        (lambda p: p, "factory returned an object of type list"),
        (lambda p: torch.optim.SGD(network().parameters(), lr=0.1), "used other parameters"),
        (torch.optim.SGD(network().parameters(), lr=0.1), "holds parameters that the module does not have"),
    ],
)
def test_what_is_no_optimizer_is_told(optimizer, told):
    with pytest.raises(gnomon.InputError, match=told):
        train(network(), (X, Y), optimizer=optimizer, steps=1)


def test_names_of_the_house():
    assert set(NAMES) == {"adam", "adamw", "sgd"}
    assert resolve_optimizer(None, None) == Adam()
