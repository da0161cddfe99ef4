"""The loop against torch's own loop, and its promises: seeds, state, batches, budgets, interruption, divergence."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.core import InputError, NotFiniteError
from gnomon.core.machine.clock import FakeClock
from gnomon.training import SGD, Adam, CrossEntropy, Logistic, Squared, TrainingRun, train


class Words(nn.Linear):
    """Returns no tensor."""

    def forward(self, x):
        return "words"


def net(outputs=1, dropout=0.0):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, outputs)).double()


def data(n=20):
    x = torch.randn(n, 3, dtype=torch.float64)
    return x, x[:, 0] * x[:, 1], (x[:, 0] > 0).long() + (x[:, 2] > 1).long()


@pytest.mark.parametrize("classes", [False, True])
def test_a_full_batch_run_is_that_of_a_plain_loop(classes):
    x, y, labels = data()
    ours = net(3 if classes else 1)
    theirs = copy.deepcopy(ours)
    run = train(ours, (x, labels if classes else y), optimizer=SGD(0.1, momentum=0.5), steps=25, record=5, outputs=True)
    optimizer, seen = torch.optim.SGD(theirs.parameters(), lr=0.1, momentum=0.5), []
    for _ in range(25):
        f = theirs(x)
        value = F.cross_entropy(f, labels) if classes else F.mse_loss(f[:, 0], y) / 2
        seen.append(value.item())
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    assert run.steps.tolist() == [0, 5, 10, 15, 20, 25]
    np.testing.assert_allclose(run.loss[:5], seen[::5], rtol=1e-12)
    np.testing.assert_allclose(run.times, [0, 0.5, 1.0, 1.5, 2.0, 2.5])
    torch.testing.assert_close(run.train[-1], theirs(x).detach(), rtol=1e-11, atol=1e-12)
    if classes:
        assert run.accuracy[-1] == (theirs(x).argmax(1) == labels).double().mean()
    else:
        assert run.accuracy is None


def test_the_given_module_and_the_random_state_stay_as_they_were():
    x, y, _ = data()
    module = net(dropout=0.5)
    module[2].eval()
    module[0].weight.grad = torch.ones(16, 3, dtype=torch.float64)
    before, state, modes = (
        copy.deepcopy(module.state_dict()),
        torch.get_rng_state(),
        [m.training for m in module.modules()],
    )
    run = train(module, (x, y), steps=5, batch=4)
    assert all(torch.equal(a, b) for a, b in zip(module.state_dict().values(), before.values(), strict=True))
    assert torch.equal(torch.get_rng_state(), state) and [m.training for m in module.modules()] == modes
    assert [m.training for m in run.model.modules()] == modes
    assert bool((module[0].weight.grad == 1).all()) and not torch.equal(run.model[0].weight, module[0].weight)


def test_in_place_moves_the_given_module_and_nothing_else_of_it():
    x, y, _ = data()
    module = net(dropout=0.5).eval()
    module[0].bias.requires_grad_(False)
    frozen, twin = module[0].bias.clone(), copy.deepcopy(module)
    run = train(module, (x, y), steps=5, in_place=True)
    assert run.model is module and not module.training and module[3].weight.grad is None
    assert torch.equal(module[0].bias, frozen) and not torch.equal(module[0].weight, twin[0].weight)
    other = train(twin, (x, y), steps=5)
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), other.model.parameters(), strict=True))


def test_a_run_is_reproduced_by_its_seed_and_changed_by_another():
    x, y, _ = data()
    losses = []
    for seed, before in ((0, 5), (0, 6), (1, 5)):
        torch.manual_seed(before)
        losses.append(train(net(dropout=0.5).requires_grad_(), (x, y), steps=20, batch=6, seed=seed).loss)
    assert torch.equal(losses[0], losses[1]) and not torch.equal(losses[0], losses[2])


def test_batches_have_one_size_and_visit_every_point_once_in_n():
    seen = []

    def loss(f, y):
        seen.append(y.clone())
        return ((f[:, 0] - y) ** 2).mean()

    x, y = torch.randn(7, 3).double(), torch.arange(7.0).double()
    train(net(), (x, y), loss=loss, optimizer=SGD(1e-6), steps=21, batch=4, record=[])
    batches = [s for s in seen if len(s) == 4]
    assert len(batches) == 21
    stream = torch.cat(batches)
    for i in range(0, 84, 7):
        assert sorted(stream[i : i + 7].tolist()) == list(range(7))


def test_minibatch_gradients_are_those_of_the_batch():
    x, y, _ = data(6)
    module, torch_y = net(), y
    run = train(module, (x, y), loss=Squared(), optimizer=SGD(0.1), steps=1, batch=2, seed=4)
    index = torch.randperm(6, generator=torch.Generator().manual_seed(4))[:2]
    value = ((module(x[index])[:, 0] - torch_y[index]) ** 2).sum() / 4
    expected = module[0].weight - 0.1 * torch.autograd.grad(value, module[0].weight)[0]
    torch.testing.assert_close(run.model[0].weight, expected)


def test_by_default_sixty_records_are_spread_evenly_over_the_logarithm_of_steps():
    run = train(nn.Linear(1, 1), (torch.ones(2, 1), torch.zeros(2)), optimizer=SGD(1e-3), steps=300)
    wanted = np.unique(np.geomspace(1, 301, 60).round().astype(int) - 1)  # s + 1 in equal ratios, from 0 to the last
    assert run.steps.tolist() == wanted.tolist()


def test_a_loss_that_rises_again_has_not_diverged_while_it_is_below_its_start():
    net = nn.Linear(1, 1, bias=False)
    nn.init.ones_(net.weight)
    run = train(net, (torch.ones(1, 1), torch.zeros(1)), optimizer=SGD(0.3, momentum=0.9), steps=5, record=1)
    assert float(run.loss.min()) < 0.1 * float(run.loss[-1]) < 0.1 * float(run.loss[0])  # it overshoots the bottom
    assert not run.diverges and run.findings == ()


def test_before_averages_of_batch_norm_have_settled_a_large_loss_is_no_divergence():
    """Plain layers: tenfold in a few steps is. With batch norm it is after a hundred steps."""

    def ended(*layers, last, steps=5):
        run = train(nn.Sequential(nn.Linear(1, 1), *layers), (torch.ones(4, 1), torch.zeros(4)), steps=steps, batch=2)
        values = run.loss.clone()
        values[0], values[-1] = 1.0, last
        return replace(run, curves=replace(run.curves, loss=values))

    assert ended(last=11.0).diverges and not ended(last=9.0).diverges
    assert not ended(nn.BatchNorm1d(1), last=100.0).diverges
    assert ended(nn.LayerNorm(1), last=100.0).diverges  # which has no averages
    assert ended(nn.BatchNorm1d(1), last=1.3, steps=100).diverges


def test_steps_are_in_training_mode_and_records_in_eval_mode():
    x, y, _ = data()
    modes = []

    class Spy(nn.Module):
        def forward(self, x):
            modes.append(self.training)
            return x

    module = nn.Sequential(Spy(), *net(dropout=0.9)).eval()
    watched = train(module, (x, y), steps=2, record=1, watch={"mode": lambda _s, m, _l: m.training}).watched
    assert modes == [False, False, True, False, True, False] and watched == {"mode": [False] * 3}
    modes.clear()
    train(module, (x, y), steps=2, mode="eval")
    assert not any(modes)


def test_batch_norm_learns_its_statistics_in_the_copy_alone():
    x, y, _ = data()
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)).double()
    run = train(module, (x, y), steps=30, batch=10, optimizer=SGD(0.05))
    assert int(module[1].num_batches_tracked) == 0 and int(run.model[1].num_batches_tracked) == 30
    assert float(run.loss[-1]) < float(run.loss[0])


def test_watchers_see_step_model_and_loss_and_cannot_disturb():
    x, y, _ = data()
    calls = []

    def watcher(step, model, loss):
        calls.append((step, loss))
        torch.rand(100)
        model.note = 1
        return gnomon.ntk(model, x).trace()

    quiet = train(net(dropout=0.3), (x, y), steps=8, record=4, batch=5)
    run = train(net(dropout=0.3), (x, y), steps=8, record=4, batch=5, watch={"trace": watcher})
    assert torch.equal(run.loss, quiet.loss) and [c[0] for c in calls] == [0, 4, 8]
    assert [c[1] for c in calls] == run.loss.tolist() and not hasattr(run.model, "note")
    assert len(run.watched["trace"]) == 3 and len(json.loads(json.dumps(run.to_dict()))["watched"]["trace"]) == 3


def test_a_time_budget_ends_the_run_with_a_valid_record():
    x, y, _ = data()
    run = train(
        net(), (x, y), steps=10**7, budget=20, clock=FakeClock(1.0)
    )  # one reading before the steps, one after each
    assert run.stopped == "time" and int(run.steps[-1]) == 21 and run.seconds == 22
    assert "time budget" in run.verdict and _is_model_of_last_row(run, x, y)


def test_ctrl_c_gives_a_valid_partial_record():
    x, y, _ = data()

    def stop(done, _total):
        if done == 7:
            raise KeyboardInterrupt

    run = train(net(), (x, y), steps=100, record=5, progress=stop)
    assert run.stopped == "interrupted" and run.steps.tolist() == [0, 5] and "interrupted" in run.verdict
    assert _is_model_of_last_row(run, x, y)


def test_divergence_is_told_and_the_model_is_the_last_finite_one():
    x, y, _ = data()
    run = train(nn.Linear(3, 1).double(), (x, y), optimizer=SGD(50.0), steps=10000)
    assert run.stopped == "diverged" and run.diverges and "diverged" in run.verdict
    (finding,) = run.findings
    assert (
        finding.kind == "training-diverged"
        and finding.level.name == "PROBLEM"
        and finding.evidence[1].value == run.loss[-1]
    )
    assert bool(run.loss.isfinite().all()) and int(run.steps[-1]) < 10000
    assert all(bool(p.isfinite().all()) for p in run.model.parameters()) and _is_model_of_last_row(run, x, y)


def _is_model_of_last_row(run, x, y):
    value = float(((run.model(x)[:, 0].detach() - y) ** 2).mean() / 2)
    return abs(value - float(run.loss[-1])) <= 1e-10 * value


def test_inputs_by_name_numpy_arrays_and_records_with_logits():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net(2)

        def forward(self, a, scale):
            return type("Record", (), {"logits": self.inner(a) * scale})()

    x, _, labels = data()
    labels = labels.clamp_max(1)
    run = train(Named(), ({"a": x.numpy(), "scale": 2.0}, labels.numpy()), steps=300, optimizer=Adam(0.01),
                test=({"a": x[:5], "scale": 2.0}, torch.zeros(5, dtype=torch.long)), outputs=True)  # fmt: skip
    assert (
        float(run.accuracy[-1]) > 0.9 and run.test.shape == (len(run.steps), 5, 2) and run.loss_name == "cross-entropy"
    )


def test_losses_of_torch_and_of_the_house_agree():
    x, _, labels = data()
    ours = train(net(3), (x, labels), loss=CrossEntropy(), steps=10)
    theirs = train(net(3), (x, labels), loss=nn.CrossEntropyLoss(), steps=10)
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-10)
    assert torch.equal(ours.accuracy, theirs.accuracy) and theirs.loss_name == "CrossEntropyLoss"
    signs = train(net(), (x, (2 * labels.clamp_max(1) - 1).double()), loss=Logistic(), steps=10)
    assert signs.accuracy is not None
    onehot = train(net(3), (x, labels), loss=Squared(), steps=1)
    assert onehot.accuracy is not None and float(onehot.loss[0]) == pytest.approx(
        (((net(3)(x) - F.one_hot(labels, 3)) ** 2).sum(1).mean() / 2).item()
    )


def test_gradients_off_outside_do_not_matter():
    x, y, _ = data()
    module = net()
    with torch.inference_mode():
        run = train(module, (x.clone(), y.clone()), steps=3)
    assert float(run.loss[-1]) < float(run.loss[0])


def test_the_record_tells_serializes_and_plots():
    import matplotlib

    matplotlib.use("Agg")
    x, y, _ = data()
    run = train(net(), (x, y), test=(x, y), steps=2000, optimizer=SGD(0.05), batch=10)
    assert isinstance(run, TrainingRun) and 40 <= len(run.steps) <= 61 and run.steps[-1] == 2000
    plain = json.loads(json.dumps(run.to_dict()))
    assert plain["verdict"] == str(run) and plain["curves"]["test_loss"] == plain["curves"]["loss"]
    assert "Gradient descent with learning rate 0.05 took the squared loss from" in str(run)
    assert [line.get_label() for line in run.plot().lines] == ["training", "test"]
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(steps=-1), "steps must be a whole number of at least 0, but it is -1"),
        (dict(batch=0), "batch must be .* at least 1, but it is 0"),
        (dict(test=torch.zeros(1, 3)), "the data have no targets"),
        (dict(mode="fit"), 'mode must be "train" or "eval", but it is \'fit\''),
        (dict(record=0), "record must be .* at least 1, but it is 0"),
        (dict(y=torch.zeros(3)), "4 inputs and 3 targets"),
        (dict(y=torch.tensor([0, 1, 2, 5])), "labels from 0 to 5 .*0 to 0"),
        (dict(y=torch.zeros(4, 2)), "a target for each output"),
        (dict(module=Words(3, 2)), "returned a str"),
        (dict(module=nn.Flatten(0, 0)), "no parameter requires"),
        (dict(loss=nn.MSELoss(reduction="none"), y=torch.zeros(4, 1)), "one number"),
    ],
)
def test_bad_arguments_are_lessons(arguments, message):
    arguments = {"module": nn.Linear(3, 1), "x": torch.zeros(4, 3), "y": torch.zeros(4), **arguments}
    with pytest.raises(InputError, match=message):
        train(arguments.pop("module"), (arguments.pop("x"), arguments.pop("y")), **arguments)


def test_numbers_that_are_not_finite_are_refused():
    x = torch.zeros(4, 3)
    with pytest.raises(NotFiniteError, match="1 of the targets"):
        train(nn.Linear(3, 1), (x, torch.tensor([0.0, 1.0, float("nan"), 0.0])))
    with pytest.raises(NotFiniteError, match=r"example 0 of x contains NaN or infinity \(4 of 4 such examples\)"):
        train(nn.Linear(3, 1), (x / 0, torch.zeros(4)))
    bad = nn.Linear(3, 1)
    nn.init.constant_(bad.bias, float("inf"))
    with pytest.raises(NotFiniteError, match="before the first step"):
        train(bad, (x, torch.zeros(4)))
