"""Faults in how a network is put together: each is found where planted, and a healthy control is not accused."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.checks.network.broadcast import broadcast_findings
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.head import head_findings, last_operation
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.checks.network.modes import dropout_noise_findings
from gnomon.checks.network.normalization import lagging_statistics, normalization_findings, small_batch_findings
from gnomon.checks.network.reach import parts_without_gradient, untrained_parameter_findings
from gnomon.checks.network.saturation import saturation_findings
from gnomon.core.results import Finding, Level
from gnomon.findings import network as network_kinds

G = torch.Generator().manual_seed(0)
X = torch.randn(40, 6, generator=G)
CLASSES = torch.randint(0, 3, (40,), generator=G)


def kinds(findings):
    return [finding.kind for finding in findings]


@pytest.mark.parametrize(
    "end, kind",
    [
        (nn.Softmax(1), "softmax-before-loss"),
        (nn.Sigmoid(), "sigmoid-before-loss"),
        (nn.ReLU(), "relu-before-loss"),
        (nn.Tanh(), "tanh-before-loss"),
        (nn.LogSoftmax(1), None),  # its own log-softmax again: no harm
        (nn.Identity(), None),
    ],
)
def test_last_operation_before_cross_entropy(end, kind):
    found = kinds(head_findings(nn.Sequential(nn.Linear(6, 3), end)(X), CLASSES, "cross-entropy"))
    assert found == ([] if kind is None else [kind])


def test_softmax_by_hand():
    exp = nn.Linear(6, 3)(X).exp()
    assert kinds(head_findings(exp / exp.sum(1, keepdim=True), CLASSES, "cross-entropy")) == ["softmax-before-loss"]


def test_least_loss_behind_softmax():
    sure = torch.eye(3)[CLASSES]
    assert float(F.cross_entropy(sure, CLASSES)) == pytest.approx(
        head_findings(sure, CLASSES, "cross-entropy")[0].evidence[0].value, rel=1e-5
    )


def test_targets_out_of_reach():
    y = torch.randn(40, 1, generator=G)
    net = nn.Sequential(nn.Linear(6, 1), nn.Sigmoid())
    assert kinds(head_findings(net(X), y, "squared loss")) == ["targets-out-of-reach"]
    assert head_findings(net(X), torch.rand(40, 1), "squared loss") == ()
    assert kinds(head_findings(net(X), CLASSES, "logistic loss")) == ["sigmoid-before-loss"]


def test_the_graph_is_read_through_reshapes():
    assert last_operation(torch.softmax(nn.Linear(6, 4)(X), 1).view(40, 2, 2).squeeze(0).transpose(0, 1)) == "Softmax"
    assert last_operation(torch.zeros(3)) == ""


def test_broadcast():
    y = torch.randn(40, generator=G)
    assert kinds(broadcast_findings(nn.Linear(6, 1)(X), y, nn.MSELoss())) == ["broadcast-loss"]
    assert kinds(broadcast_findings(nn.Linear(6, 1)(X)[:, 0], y[:, None], nn.L1Loss())) == ["broadcast-loss"]
    assert broadcast_findings(nn.Linear(6, 1)(X)[:, 0], y, nn.MSELoss()) == ()
    assert broadcast_findings(nn.Linear(6, 1)(X), y, lambda f, t: (f.flatten() - t).square().mean()) == ()


class Net(nn.Module):
    """A network with a fault of its own making, as ``wrong`` says."""

    def __init__(self, wrong=""):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(6, 20), nn.Linear(20, 20), nn.Linear(20, 3)
        self.wrong = wrong
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        if self.wrong == "ignores":
            x = torch.ones_like(x)
        if self.wrong == "part":
            x = torch.cat([x[:, :3], torch.zeros_like(x[:, 3:])], 1)
        h = self.first(x).relu()
        if self.wrong == "detached":
            h = h.detach()
        if self.wrong != "unused":
            h = self.second(h).relu()
        if self.wrong == "dropout":
            h = F.dropout(h, 0.3)
        if self.wrong == "mixed":
            h = h - h.mean(0)
        return self.last(self.drop(h))


def reached(net):
    grads = torch.autograd.grad(net(X).square().mean(), list(net.parameters()), allow_unused=True)
    return [name for (name, _), g in zip(net.named_parameters(), grads, strict=True) if g is not None]


def test_parameters_that_are_not_reached():
    assert untrained_parameter_findings(Net(), reached(Net())) == ()
    assert kinds(untrained_parameter_findings(Net("unused"), reached(Net("unused")))) == ["unused-parameters"]
    lost = untrained_parameter_findings(Net("detached"), reached(Net("detached")), affecting_outputs=["first"])
    assert kinds(lost) == ["detached"] and lost[0].where == "first"
    assert list(parts_without_gradient(Net("unused"), reached(Net("unused")))) == ["second"]
    net = Net()
    net.shift = nn.Parameter(torch.zeros(20))  # beside layers that are reached, and never used
    assert (
        list(parts_without_gradient(net, reached(net))) == ["shift"]
        and "self.shift" in untrained_parameter_findings(net, reached(net))[0].fix
    )
    assert untrained_parameter_findings(net, reached(net))[0].level.name == "PROBLEM"

    class Guided(Net):
        def forward(self, x):
            return super().forward(x if torch.rand(()) < 2 else x + self.shift)  # at times, and never in this pass

    net = Guided()
    net.shift = nn.Parameter(torch.zeros(6))
    assert [f.level.name for f in untrained_parameter_findings(net, reached(net))] == ["WARNING"]
    net = Net()
    held = [name for name, _ in net.last.named_parameters(prefix="last")]
    assert kinds(untrained_parameter_findings(net, reached(net), in_optimizer=held)) == ["not-in-optimizer"]


def test_frozen_weights_are_a_fault_while_they_are_random():
    fresh, trained = Net(), Net()
    with torch.no_grad():
        trained.second.weight.add_(0.05 * torch.randn(20, 20, generator=G))
    for net in (fresh, trained):
        net.second.requires_grad_(False)
    assert kinds(untrained_parameter_findings(fresh, reached_of_trainable(fresh))) == ["frozen-at-random"]
    assert untrained_parameter_findings(trained, reached_of_trainable(trained)) == ()


def reached_of_trainable(net):
    return [name for name, p in net.named_parameters() if p.requires_grad]


def test_frozen_test_has_its_level():
    """Fresh layers pass (1) in 99.9 % of cases, here all of 60."""
    from gnomon.checks.network.reach import _is_frozen_fresh

    torch.manual_seed(0)
    assert all(_is_frozen_fresh(nn.Conv2d(3, 8, 3).requires_grad_(False)) for _ in range(60))
    assert all(_is_frozen_fresh(nn.Embedding(20, 30).requires_grad_(False)) for _ in range(20))
    kaiming = nn.Linear(64, 64).requires_grad_(False)
    nn.init.kaiming_normal_(kaiming.weight)
    assert not _is_frozen_fresh(kaiming)


def test_chance():
    assert randomness_findings(Net(), X) == ()
    assert kinds(randomness_findings(Net("dropout"), X)) == ["random-in-eval"]
    assert kinds(randomness_findings(Net("mixed"), X)) == ["examples-mixed"]


def test_an_lstm_without_batch_first():
    class Model(nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            self.lstm, self.last = nn.LSTM(4, 8, batch_first=batch_first), nn.Linear(8, 2)

        def forward(self, x):
            return self.last(self.lstm(x)[0][:, -1])

    x = torch.randn(16, 5, 4, generator=G)
    assert randomness_findings(Model(True), x) == () and ignored_input_findings(Model(True), x) == ()
    assert kinds(randomness_findings(Model(False), x)) == ["examples-mixed"]


def test_ignored_inputs():
    assert ignored_input_findings(Net(), X) == ()
    for wrong in ("ignores", "part"):
        assert kinds(ignored_input_findings(Net(wrong), X)) == ["inputs-ignored"]


def test_a_stride_that_loses_a_row_is_healthy():
    net = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 9, 3))
    assert ignored_input_findings(net, torch.randn(20, 1, 8, 8, generator=G)) == ()


def test_ignored_tokens():
    class Model(nn.Module):
        def __init__(self, part):
            super().__init__()
            self.table, self.last, self.part = nn.Embedding(9, 5), nn.Linear(5, 2), part

        def forward(self, ids):
            return self.last(self.table(ids)[:, self.part].mean(1))

    ids = torch.randint(0, 9, (30, 7), generator=G)
    assert ignored_input_findings(Model(slice(None)), ids) == ()
    assert kinds(ignored_input_findings(Model(slice(0, 1)), ids)) == ["inputs-ignored"]


def test_ignored_argument():
    class Two(nn.Module):
        def __init__(self, use):
            super().__init__()
            self.a, self.b, self.use = nn.Linear(6, 3), nn.Linear(6, 3), use

        def forward(self, left, right):
            return self.a(left) + (self.b(right) if self.use else 0)

    other = torch.randn(40, 6, generator=G)
    assert ignored_input_findings(Two(True), (X, other)) == ()
    assert ignored_input_findings(Two(False), (X, other))[0].where == "input 1"


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU])
def test_states_of_recurrent_layers_that_saturate(kind):
    class States(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.rnn, self.head = kind(6, 32, batch_first=True), nn.Linear(32, 2)

        def forward(self, x):
            return self.head(self.rnn(x)[0][:, -1])

    net, x = States(), torch.randn(20, 12, 6, generator=torch.Generator().manual_seed(0))
    assert saturation_findings(net, x) == saturation_findings(nn.Sequential(nn.Flatten(), nn.Linear(72, 2)), x) == ()
    with torch.no_grad():
        for p in net.rnn.parameters():
            p.mul_(100.0)
    found = saturation_findings(net, x)
    assert kinds(found) == ["saturated-units"] and found[0].where == "rnn"


def test_saturation():
    net = nn.Sequential(nn.Linear(6, 30), nn.Tanh(), nn.Linear(30, 30), nn.Sigmoid(), nn.Linear(30, 3))
    assert saturation_findings(net, X) == ()
    nn.init.normal_(net[2].weight, std=30.0)
    found = saturation_findings(net, X)
    assert kinds(found) == ["saturated-units"] and found[0].where == "3"


def trained_norm(momentum=0.1, steps=40):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 30), nn.BatchNorm1d(30, momentum=momentum), nn.ReLU(), nn.Linear(30, 3))
    rule = torch.optim.Adam(net.parameters(), 0.02)
    x = X * 3 + 5
    for _ in range(steps):
        rule.zero_grad()
        F.cross_entropy(net(x), CLASSES).backward()
        rule.step()
    return net.eval(), x


def test_running_statistics():
    net, x = trained_norm()
    assert normalization_findings(net, x, CLASSES, F.cross_entropy) == ()
    assert kinds(normalization_findings(net, X, CLASSES, F.cross_entropy)) == ["batch-norm-statistics"]
    slow, x = trained_norm(momentum=1e-4)
    before = {name: b.clone() for name, b in slow.named_buffers()}
    assert kinds(normalization_findings(slow, x, CLASSES, F.cross_entropy)) == ["batch-norm-statistics"]
    assert all(torch.equal(b, before[name]) for name, b in slow.named_buffers()) and not slow.training
    fresh = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 3))
    assert normalization_findings(fresh, x, CLASSES, F.cross_entropy) == ()


def test_statistics_that_only_lag_behind_fast_weights_are_a_warning():
    """A last large step moves the first layer; averages with momentum 0.1 follow within 32 batches, with 1e-4 they do not."""
    rows = []
    for momentum in (0.1, 1e-4):
        net, x = trained_norm(momentum)
        with torch.no_grad():
            net[0].weight.mul_(4.0)
        found = normalization_findings(net, x, CLASSES, F.cross_entropy)
        before = {name: b.clone() for name, b in net.named_buffers()}
        rows.append(lagging_statistics(found, net, x, CLASSES, F.cross_entropy, batch=64))
        assert kinds(found) == ["batch-norm-statistics"] and found[0].level is Level.PROBLEM
        assert all(torch.equal(b, before[name]) for name, b in net.named_buffers()) and not net.training
    assert [f.level for row in rows for f in row] == [Level.WARNING, Level.PROBLEM]
    lost = (Finding(network_kinds.STATISTICS_LOST, "1"),)
    assert lagging_statistics(lost, net, x, CLASSES, F.cross_entropy, batch=64) is lost


class WithLoss(nn.Module):
    """Returns a tuple: its outputs, and the loss that it computed."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        logits = self.net(x)
        return logits, F.cross_entropy(logits, CLASSES[: len(x)])


def test_outdated_statistics_are_found_with_a_loss_that_reads_all_that_the_module_returns():
    net, x = trained_norm()
    whole, own = WithLoss(net).eval(), lambda out, y: F.cross_entropy(out[0], y) + 0 * out[1]
    assert normalization_findings(whole, x, CLASSES, own) == ()
    assert kinds(normalization_findings(whole, X, CLASSES, own)) == ["batch-norm-statistics"]
    assert normalization_findings(whole, X, CLASSES, lambda out, y: out[1]) == ()  # one number has no standard error


def test_batches_for_batch_norm():
    net = nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3))
    assert kinds(small_batch_findings(net, 2, 100)) == ["batch-too-small"]
    assert kinds(small_batch_findings(net, 33, 100)) == ["last-batch-of-one"]
    assert small_batch_findings(net, 32, 100) == () and small_batch_findings(net, None, 100) == ()


def test_dropout_that_leaves_nothing():
    def net(p):
        return nn.Sequential(nn.Linear(6, 50), nn.ReLU(), nn.Dropout(p), nn.Linear(50, 3))

    assert kinds(dropout_noise_findings(net(0.95), X)) == ["modes-disagree"]
    assert dropout_noise_findings(net(0.5), X) == () and dropout_noise_findings(net(0.95), X[:4]) == ()
