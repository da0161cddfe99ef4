"""Numbers behind the findings of the checkup, computed again by hand, with a case on each side of each threshold."""

from math import e, log, sqrt

import numpy as np
import pytest
import scipy.stats
import torch
from torch import nn

from gnomon.checks import find_explosion, gradient_check
from gnomon.checks.network import reach as reach_module
from gnomon.checks.network.applied import _cancels, _flattens, implicit_activation_of_loss, is_minimal_at_targets
from gnomon.checks.network.batch_statistics import copy_with_batch_norm_statistics
from gnomon.checks.network.broadcast import broadcast_findings
from gnomon.checks.network.chance import randomness_findings, relative_output_distance
from gnomon.checks.network.head import head_findings
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.checks.network.modes import dropout_noise_findings
from gnomon.checks.network.normalization import normalization_findings, small_batch_findings
from gnomon.checks.run.decay import weight_decay_findings, weight_decay_of
from gnomon.checks.run.outcome import AccuracyOutcome, advice_for_overfitting, outcome_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings
from gnomon.checks.run.step_size import short_runs
from gnomon.findings.network import INPUTS_IGNORED
from gnomon.training import SGD, Squared
from gnomon.training.torch_optimizers import resolve_optimizer


def kinds(found):
    return [f.kind for f in found]


def value(finding, name):
    return next(float(v.value) for v in finding.evidence if v.name == name)


def test_overfitting_has_the_z_of_two_proportions():
    found = outcome_findings(AccuracyOutcome(0.95, 0.6, 300, 80, guess=0.3, simple=0.7))
    p = (0.95 * 300 + 0.6 * 80) / 380
    z = 0.35 / sqrt(p * (1 - p) * (1 / 300 + 1 / 80))
    assert kinds(found) == ["overfit"] and value(found[0], "z-score") == pytest.approx(z)
    assert value(found[0], "gap between train and test") == pytest.approx(0.35)


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        (AccuracyOutcome(0.9, 0.79, 4000, 4000, guess=0.3), ["overfit"]),
        (AccuracyOutcome(0.9, 0.81, 4000, 4000, guess=0.3), []),  # a gap below ten points
        (AccuracyOutcome(0.9, 0.7, 100, 50, guess=0.3), []),  # fewer than four deviations: z = 3.1
        (AccuracyOutcome(0.9, 0.7, 400, 200, guess=0.3), ["overfit"]),
        (AccuracyOutcome(0.9, 0.7, 400, 200, guess=0.3, alike=0.81), []),  # explained by the shares of classes
        (AccuracyOutcome(0.9, 0.7, 400, 200, guess=0.3, alike=0.79), ["overfit"]),
        (AccuracyOutcome(0.6, None, 400, 0, guess=0.3, simple=0.71), ["underfit"]),
        (AccuracyOutcome(0.6, None, 400, 0, guess=0.3, simple=0.69), []),
        (AccuracyOutcome(0.534, None, 900, 0, guess=0.5, simple=0.532), ["not-learning"]),  # within 2 sqrt(0.25 / 900)
        (AccuracyOutcome(0.366, None, 400, 0, guess=0.3, simple=0.9), ["not-learning"]),  # 4 sqrt(0.21 / 400) = 0.0917
        (AccuracyOutcome(0.390, None, 400, 0, guess=0.3, simple=0.9), ["not-learning"]),
        (AccuracyOutcome(0.393, None, 400, 0, guess=0.3, simple=0.9), ["underfit"]),
        (AccuracyOutcome(0.329, None, 10**6, 0, guess=0.3, simple=0.9), ["not-learning"]),  # three points at least
        (AccuracyOutcome(0.331, None, 10**6, 0, guess=0.3, simple=0.9), ["underfit"]),
        # a tenth of the errors of a guess
        (AccuracyOutcome(0.369, None, 10**6, 0, guess=0.3, simple=0.4), ["not-learning"]),
        (AccuracyOutcome(0.371, None, 10**6, 0, guess=0.3, simple=0.4), []),
        (AccuracyOutcome(0.62, None, 10**6, 0, guess=0.59, simple=0.6), ["not-learning"]),
        (AccuracyOutcome(0.62, None, 10**6, 0, guess=0.61, simple=0.62), []),  # one class is most of the data
    ],
)  # fmt: skip
def test_the_end_of_training_is_judged_on_one_side_of_each_threshold_only(outcome, found):
    assert kinds(outcome_findings(outcome)) == found


def test_a_simple_model_near_a_guess_shows_that_labels_are_unrelated():
    deviation = sqrt(0.3 * 0.7 / 400)
    for c, same in ((1.9, True), (2.1, False)):
        found = outcome_findings(
            AccuracyOutcome(0.3 + c * deviation, None, 400, 0, guess=0.3, simple=0.3 + 1.9 * deviation)
        )
        assert ("no better" in found[0].message) == same
    found = outcome_findings(AccuracyOutcome(0.3, None, 400, 0, guess=0.3, simple=0.3 + 2.1 * deviation))
    assert "no better" not in found[0].message


@pytest.mark.parametrize(("gain", "advised"), [(0.011, True), (0.009, False)])
def test_more_examples_are_advised_from_a_point_of_accuracy_on(gain, advised):
    cure = advice_for_overfitting(gain, 301, "accuracy")
    assert cure.startswith("Collect more examples") == advised and "(301 instead of 150 gave" in cure
    assert f"{100 * gain:+.1f} points" in cure


def test_regression_that_overfits_has_the_z_of_welch():
    g = torch.Generator().manual_seed(0)
    train, test = 0.2 * torch.rand(90, generator=g).double(), 1.2 * torch.rand(40, generator=g).double()
    (found,) = regression_outcome_findings(train, test, simple=0.5)
    welch = scipy.stats.ttest_ind(test.numpy(), train.numpy(), equal_var=False).statistic
    assert found.kind == "overfit" and value(found, "z-score") == pytest.approx(welch)
    assert value(found, "gap between train and test") == pytest.approx(float(test.mean() - train.mean()))


def errors(mean, deviation, n):
    """n numbers with this mean and this standard deviation (n - 1)."""
    z = torch.linspace(-1, 1, n).double()
    return mean + deviation * z / z.std()


@pytest.mark.parametrize(
    ("train", "test", "simple", "found"),
    [
        (errors(0.10, 0.01, 50), errors(0.21, 0.01, 40), 0.5, ["overfit"]),
        (errors(0.10, 0.01, 50), errors(0.19, 0.01, 40), 0.5, []),  # a gap below a tenth
        (errors(0.10, 0.30, 25), errors(0.44, 0.30, 25), 0.5, ["overfit"]),  # z = 4.007
        (errors(0.10, 0.30, 25), errors(0.43, 0.30, 25), 0.5, []),  # z = 3.9
        (errors(0.5, 0.5, 100), None, 0.76, ["underfit"]),  # a tenth, and three standard errors: 0.1 + 0.15
        (errors(0.5, 0.5, 100), None, 0.74, []),
        (errors(0.98, 0.1, 100), None, 0.8, ["not-learning"]),
        (errors(0.96, 0.1, 100), None, 0.8, ["underfit"]),  # more than 3 % is explained
        (errors(0.98, 0.1, 100), None, 0.02, ["not-learning"]),
        (errors(0.98, 0.1, 100), None, 0.04, []),
        (errors(0.5, 0.1, 100), errors(0.98, 0.1, 100), 0.02, ["labels-unrelated"]),
        (errors(0.5, 0.1, 100), errors(0.96, 0.1, 100), 0.02, ["overfit"]),
    ],
)
def test_the_end_of_regression_is_judged_on_one_side_of_each_threshold_only(train, test, simple, found):
    assert kinds(regression_outcome_findings(train, test, simple=simple)) == found


@pytest.mark.parametrize(("p", "size"), [(0.8, 4), (0.9, 16)])
def test_noise_of_dropout_is_compared_with_what_is_left_of_the_signal(p, size):
    """Six passes in training mode: the variance over passes, and over examples of their mean without its noise."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, size), nn.Dropout(p), nn.Linear(size, 2)).double()
    x = torch.randn(20, 3).double()
    drawn = []
    for seed in range(6):
        torch.manual_seed(seed)
        drawn.append(net.train()(x).detach().numpy())
    drawn = np.array(drawn)
    chance = drawn.var(0, ddof=1).sum(1).mean()
    signal = drawn.mean(0).var(0, ddof=1).sum() - chance / 6
    noise = chance / max(signal, chance / 100)
    found = dropout_noise_findings(net, x)
    assert bool(found) == (noise >= 5)
    assert noise < 5 or value(found[0], "noise over signal") == pytest.approx(noise)


@pytest.mark.parametrize(("rate", "n", "found"), [(0.76, 20, True), (0.74, 20, False), (0.9, 7, False), (0.9, 8, True)])
def test_dropout_is_judged_beyond_three_quarters_and_with_eight_examples(rate, n, found):
    net = nn.Sequential(nn.Linear(2, 1), nn.Dropout(rate), nn.Linear(1, 1, bias=False))
    assert bool(dropout_noise_findings(net, 1e-3 * torch.randn(n, 2))) == found


def test_kolmogorovs_distance_is_that_of_scipy():
    g = torch.Generator().manual_seed(0)
    for u in (torch.rand(30, generator=g) ** 2, 1 - torch.rand(25, generator=g) ** 3, 0.5 + 0 * torch.rand(4)):
        wanted = scipy.stats.kstest(u.double().numpy(), "uniform").statistic
        assert reach_module._distance(u.double()) == pytest.approx(wanted)


class Frozen(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.head = layer.requires_grad_(False), nn.Linear(2, 1)


def test_embeddings_are_fresh_if_they_are_standard_normal():
    """A sample that is skewed to one side: its distance to the normal law is 2.1 / sqrt(n), or 1.8 / sqrt(n)."""
    n = 2500
    for c, fresh in ((1.8, True), (2.1, False)):
        u = (1 - c / 50) * (torch.arange(n) + 0.5).double() / n
        layer = nn.Embedding(50, 50)
        layer.weight.data = (sqrt(2) * torch.erfinv(2 * u - 1)).float().reshape(50, 50)
        found = reach_module.untrained_parameter_findings(Frozen(layer), {"head.weight", "head.bias"})
        assert (kinds(found) == ["frozen-at-random"]) == fresh
        assert not fresh or (found[0].false_alarm == 1e-3 and "2,500 parameters" in found[0].message)


def test_parts_are_listed_and_counted():
    net = nn.ModuleDict({f"l{i}": nn.Linear(2, 3) for i in range(7)})
    own = [name for name, _ in net.named_parameters()]
    (unused,) = reach_module.untrained_parameter_findings(net, {n for n in own if n.startswith("l0")})
    assert unused.message.startswith("These layers have no effect on the outputs: 'l1', 'l2', 'l3', 'l4'. Their 54 ")
    parts = {f"l{i}" for i in range(1, 7)}
    (cut,) = reach_module.untrained_parameter_findings(
        net, {n for n in own if n.startswith("l0")}, affecting_outputs=parts
    )
    assert (
        cut.message.startswith("No gradient reaches 'l1', 'l2', 'l3', 'l4',") and "54 of 63 parameters" in cut.message
    )
    assert "after 'l6'" in cut.fix and cut.where == "l1"
    (held,) = reach_module.untrained_parameter_findings(net, set(own), in_optimizer={"l0.weight"})
    assert "lacks 57 parameters" in held.message and held.message.endswith("'l0.bias', 'l1.weight', 'l1.bias'.")


def test_gradients_are_compared_with_differences_relative_to_the_larger_one():
    class Wrong(nn.Module):
        """The slope of a is right, of b a third of it, of c minus twice it."""

        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (nn.Parameter(torch.tensor([v])) for v in (0.3, -0.7, 0.4))

        def forward(self, x):
            b = self.b / 3 + 2 * self.b.detach() / 3
            c = -2 * self.c + 3 * self.c.detach()
            return x * self.a + b + c

    x = torch.linspace(-1, 2, 9)[:, None]
    found = gradient_check(Wrong(), (x, torch.linspace(2, 1, 9)))
    assert found.errors["a"] < 1e-7
    assert found.errors["b"] == pytest.approx(2 / 3, rel=1e-6) and found.errors["c"] == pytest.approx(1.5, rel=1e-6)
    assert found.examples == 9 and found.worst == found.errors["c"] and "'c'" in found.verdict


@pytest.mark.parametrize("factor", [1.0, 0.05])
def test_two_tables_differ_in_units_of_the_spread_of_the_first(factor):
    a = torch.tensor([[1.0, 5.0], [2.0, 5.5], [6.0, 5.2]])
    b = a + factor * torch.tensor([[0.0, -0.8], [0.1, 0.0], [0.2, 0.0]])
    assert relative_output_distance(a, b) == pytest.approx(factor * 0.8 / 3.0, rel=1e-5)
    flat = torch.tensor([[1000.0], [1000.0]])  # outputs that do not vary: in units of 16 roundings over 1e-3
    rounding = 16 * torch.finfo(torch.float32).eps / 1e-3
    assert relative_output_distance(flat, flat + 1.0) == pytest.approx(1.0 / (1000 * rounding))


def test_outputs_of_half_a_batch_are_compared_with_those_of_the_whole():
    class Mixing(nn.Module):
        def __init__(self, amount):
            super().__init__()
            self.amount = amount

        def forward(self, x):
            return x + self.amount * x.mean(0)

    x = torch.tensor([0.0, 1.0, 3.0, 4.0, 7.0])[:, None]
    (found,) = randomness_findings(Mixing(0.1), x)
    # five examples have mean 3, the last three 14 / 3; the spread of the last three outputs is 7 - 14 / 3
    assert found.kind == "examples-mixed" and value(found, "difference") == pytest.approx(
        0.1 * (14 / 3 - 3) / (7 - 14 / 3)
    )
    edge = 1e-3 * (7 - 14 / 3) / (14 / 3 - 3)
    assert randomness_findings(Mixing(1.05 * edge), x) and not randomness_findings(Mixing(0.95 * edge), x)
    assert not randomness_findings(Mixing(0.1), x[:2])


def test_a_loss_cancels_a_shift_up_to_one_part_in_ten_thousand():
    """A loss that sees a shift of all classes a little: below 1e-4 of its value it counts as none."""
    torch.manual_seed(0)
    f, y = torch.randn(12, 5), torch.randint(5, (12,))
    g = torch.Generator().manual_seed(0)
    size = float(f.double().std()) + 0.1
    shift = float((size * torch.randn(12, 1, generator=g)).mean())
    first = float(nn.functional.cross_entropy(f, y))
    for part, cancels in ((0.9e-4, True), (1.1e-4, False)):
        c = part * first / abs(shift)

        def loss(a, b, c=c):
            return nn.functional.cross_entropy(a.double(), b) + c * (a.double().mean() - f.double().mean())

        assert _cancels(loss, f, y, 1) == cancels
    assert implicit_activation_of_loss(nn.functional.cross_entropy, f, y) == "softmax"


@pytest.mark.parametrize(("slope", "flat"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_loss_is_flat_at_outputs_that_are_far_on_the_right_side(slope, flat):
    """Outputs of +-40 have no gradient under a sigmoid: less than a millionth of the one at the targets."""
    y = torch.tensor([[0.0], [1.0], [1.0]])
    near = torch.cat([y]).requires_grad_()
    nn.functional.binary_cross_entropy_with_logits(near, y).backward()
    size = float(near.grad.double().norm())

    def loss(a, b):
        value = nn.functional.binary_cross_entropy_with_logits(a.double(), b.double())
        far = (a.double().abs() > 30).double().detach()  # only there is the slope added
        return value + slope * size / sqrt(3) * (far * a.double()).sum()

    assert _flattens(loss, y, y) == flat


@pytest.mark.parametrize(("slope", "asks"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_loss_asks_for_its_targets_if_it_is_flat_there(slope, asks):
    y = torch.tensor([[0.5], [1.5], [-1.0]])
    one = 2 / sqrt(3)  # the gradient of the mean square at outputs that are one too large

    def loss(a, b):
        d = a.double() - b.double()
        steep = torch.where(d > 0, 1.0, 0.1)  # outputs that are too large cost more than those too small
        return (steep * d.square()).mean() + slope * one / sqrt(3) * (d * (d.abs() < 0.5)).sum()

    assert is_minimal_at_targets(loss, y) == asks


@pytest.mark.parametrize(("amount", "found"), [(1.5e-4, True), (0.5e-4, False)])
def test_a_loss_broadcasts_if_another_shape_has_another_value(amount, found):
    f, y = torch.ones(4, 1), torch.ones(4)

    def loss(a, b):
        return torch.tensor(1.0 + (amount if a.shape != b.shape else 0.0), dtype=torch.float64)

    assert bool(broadcast_findings(f, y, loss)) == found
    (told,) = broadcast_findings(
        torch.tensor([[1.0], [2.0], [5.0]]), torch.tensor([0.0, 1.0, 3.0]), nn.functional.l1_loss
    )
    given = np.mean([abs(a - b) for a in (1, 2, 5) for b in (0, 1, 3)])
    assert value(told, "loss as it is called") == pytest.approx(given)
    assert value(told, "loss of equal shapes") == pytest.approx(4 / 3)
    assert kinds(broadcast_findings(f[:1], y[:1], loss)) == []


def test_decay_is_compared_with_the_gradient_or_with_the_size_of_weights():
    (found,) = weight_decay_findings(0.2, weights=6.0, rms=0.1, gradient=2.0, decoupled=False)
    assert value(found, "ratio of weight decay to gradient") == pytest.approx(0.6)
    assert not weight_decay_findings(0.2, weights=4.9, rms=100.0, gradient=2.0, decoupled=False)
    (found,) = weight_decay_findings(0.2, weights=1.0, rms=3.0, gradient=2.0, decoupled=True)
    assert value(found, "ratio of weight decay to gradient") == pytest.approx(0.6)
    assert not weight_decay_findings(0.2, weights=100.0, rms=2.4, gradient=2.0, decoupled=True)


def test_the_least_loss_behind_a_softmax_is_that_of_a_sure_network():
    net = nn.Linear(3, 7)
    (found,) = head_findings(torch.softmax(net(torch.randn(5, 3)), 1), torch.randint(7, (5,)), "cross-entropy")
    sure = torch.nn.functional.one_hot(torch.tensor([4]), 7).double()
    least = float(nn.functional.cross_entropy(sure, torch.tensor([4])))
    assert value(found, "smallest possible loss") == pytest.approx(least) == pytest.approx(log(1 + 6 / e))


@pytest.mark.parametrize(
    ("last", "inside", "outside"),
    [
        (nn.Sigmoid(), (0.0, 1.0), (-0.01, 1.01)),
        (nn.Tanh(), (-1.0, 1.0), (-1.01, 1.01)),
        (nn.Hardtanh(), (-1.0, 1.0), (-1.01, 1.01)),
        (nn.ReLU(), (0.0, 1e6), (-0.01,)),
        (nn.Softplus(), (0.0, 1e6), (-0.01,)),
        (nn.Softmax(1), (0.0, 1.0), (-0.01, 1.01)),
    ],
)
def test_targets_are_out_of_reach_beyond_the_range_of_the_last_function(last, inside, outside):
    out = last(nn.Linear(3, 2)(torch.randn(50, 3)))
    y = torch.full((50, 2), 0.5)
    for v in inside:
        assert not head_findings(out, torch.full((50, 2), v), "squared loss")
    for v in outside:
        y[:3] = v  # 6 %
        (found,) = head_findings(out, y, "squared loss")
        assert found.kind == "targets-out-of-reach" and value(
            found, "share of targets outside the range of the outputs"
        ) == pytest.approx(0.06)
        y[2] = 0.5
        assert not head_findings(out, y, "squared loss")  # 4 % may lie outside


@pytest.mark.parametrize(("sum_", "found"), [(1 + 0.9e-4, True), (1 + 1.1e-4, False)])
def test_outputs_are_probabilities_if_they_sum_to_one(sum_, found):
    p = torch.tensor([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]]).double() * sum_
    assert bool(head_findings(p, torch.tensor([0, 1]), "cross-entropy")) == found
    logs = torch.tensor([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]]).double().log() + 10 * (sum_ - 1)
    assert bool(head_findings(logs, torch.tensor([0, 1]), "negative log-likelihood")) != found


def test_running_statistics_are_judged_by_the_loss_of_each_example():
    torch.manual_seed(0)
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 4)).double()
    x, y = torch.randn(40, 3).double(), torch.randint(4, (40,))
    net.train()(x)

    def losses(module):
        with torch.no_grad():
            return nn.functional.cross_entropy(module(x), y, reduction="none").numpy()

    batch = losses(net.train())
    net[0].running_mean += 30.0
    running = losses(net.eval())
    d = running - batch
    assert d.mean() > 4 * d.std(ddof=1) / sqrt(40)
    (found,) = normalization_findings(net, x, y, nn.functional.cross_entropy)
    assert value(found, "loss, running statistics") == pytest.approx(running.mean())
    assert value(found, "loss, batch statistics") == pytest.approx(batch.mean())
    assert not normalization_findings(net, x[:15], y[:15], nn.functional.cross_entropy)
    assert normalization_findings(net, x[:16], y[:16], nn.functional.cross_entropy)


def shifted_loss(difference, base, spread=0.0):
    """A loss that is ``base`` by statistics of the batch, and larger by ``relative_output_distance`` by running ones."""

    def loss(f, y):
        running = (f[:, :1].abs() > 5).double()  # the running mean is far off
        return (base + running * (difference + spread * y.double()[:, None])).mean()

    return loss


@pytest.mark.parametrize(
    ("difference", "base", "spread", "found"),
    [
        (0.51, 1.0, 0.0, True), (0.49, 1.0, 0.0, False), (0.11, 0.1, 0.0, True), (0.09, 0.1, 0.0, False),
        (0.6, 1.0, 0.8, True), (0.6, 1.0, 1.1, False),
    ],
)  # fmt: skip
def test_a_difference_must_be_sure_half_of_the_loss_and_a_tenth(difference, base, spread, found):
    """Spread: y is +-1 in pairs, the standard error of the mean is spread * sqrt(36 / 35) / 6."""
    net = nn.BatchNorm1d(1)
    x, y = torch.randn(36, 1), torch.tensor([1.0, -1.0] * 18)
    net.train()(x)
    net.running_mean += 30.0
    assert bool(normalization_findings(net.eval(), x, y, shifted_loss(difference, base, spread))) == found


@pytest.mark.parametrize(
    ("batch", "n", "found"),
    [(7, 70, [("batch-too-small", "PROBLEM")]), (8, 80, []), (2, 70, [("batch-too-small", "PROBLEM")]), (3, 70, [("batch-too-small", "PROBLEM")]),
     (32, 65, [("last-batch-of-one", "WARNING")]), (32, 66, []), (32, 33, [("last-batch-of-one", "WARNING")]), (32, 1, [])],
)  # fmt: skip
def test_batches_of_batch_norm_are_judged_on_one_side_of_each_threshold_only(batch, n, found):
    assert [(f.kind, f.level.name) for f in small_batch_findings(nn.BatchNorm1d(2), batch, n)] == found


def test_settled_norms_have_the_statistics_of_the_examples():
    net = nn.Sequential(nn.BatchNorm1d(3)).double()
    x = 2 + 3 * torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).double()
    made = copy_with_batch_norm_statistics(net, x)
    torch.testing.assert_close(made[0].running_mean, x.mean(0))
    torch.testing.assert_close(made[0].running_var, x.var(0))
    assert copy_with_batch_norm_statistics(net, x[:3]) is net


class Reads(nn.Module):
    """Reads some columns alone."""

    def __init__(self, columns, weight=1.0):
        super().__init__()
        self.columns, self.weight = columns, weight

    def forward(self, x):
        return (x[:, self.columns] ** 2).sum(tuple(range(1, x.dim())))[:, None].float() * self.weight


@pytest.mark.parametrize(("count", "found"), [(6, False), (8, True)])
@pytest.mark.parametrize("integers", [False, True])
def test_features_are_ignored_from_three_in_ten_on(count, found, integers):
    g = torch.Generator().manual_seed(0)
    x = torch.randint(50, (30, 25), generator=g) if integers else torch.randn(30, 25, generator=g)
    told = ignored_input_findings(Reads(slice(count, 25)), x)
    assert bool(told) == found
    assert not found or (
        value(told[0], "share of features") == pytest.approx(count / 25) and told[0].row is INPUTS_IGNORED
    )


def test_positions_that_are_not_seen_are_named():
    x = torch.randn(20, 6, 3, generator=torch.Generator().manual_seed(0))
    (found,) = ignored_input_findings(Reads(slice(4, 6)), x)
    assert "67%" in found.message and "(positions 0 to 3 along their first axis)" in found.message


@pytest.mark.parametrize(("steps", "recorded"), [(3, 3), (4, 4), (8, 3)])
def test_the_fall_of_short_runs_is_from_the_start_to_the_mean_of_the_last_three(steps, recorded):
    """One weight with a squared loss: after t steps of rate lr the weight is (1 - lr)^t."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.ones_(net.weight)
    x, y = torch.ones(5, 1).double(), torch.zeros(5).double()
    falls, start = short_runs(net, x, y, loss=Squared(), optimizer=SGD(0.1), steps=steps, batch=5, factors=(1.0, 3.0))
    for c in (1.0, 3.0):
        losses = [0.5 * (1 - 0.1 * c) ** (2 * t) for t in range(steps + 1)]
        assert start == pytest.approx(losses[0])
        assert falls[c] == pytest.approx(losses[0] - np.mean(losses[-3:]))


def test_growth_is_that_of_the_root_mean_square_of_outputs():
    net = nn.Sequential(nn.Linear(2, 3, bias=False))
    x = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    sizes = {}
    from gnomon.checks.run.explosion import _measure

    out = net(x).detach()
    _measure("0", sizes, net[0], (x,), out)
    assert sizes["0"] == pytest.approx(sqrt(float(out.square().mean())), rel=1e-6)
    found = find_explosion(net, (x, x), loss=lambda f, y: f.sum() * torch.nan, optimizer=SGD(0.1), steps=3)
    assert found.step == 2 and found.layer == "0"


def test_growth_from_nothing_is_in_units_of_a_millionth():
    """A weight of zero, and a loss with gradient -2 at it: after one step of rate 0.5 the output is 2."""
    net = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(net.weight)
    found = find_explosion(
        net, (torch.full((4, 1), 2.0), torch.zeros(4)), loss=lambda f, y: -f.mean(), optimizer=SGD(0.5), steps=3
    )
    assert (found.step, found.growth) == (2, pytest.approx(2.0 / 1e-6))


def test_the_decay_of_several_groups_is_the_largest():
    net = nn.Linear(2, 2)
    groups = [{"params": [net.weight], "weight_decay": 0.3}, {"params": [net.bias], "weight_decay": 0.01}]
    assert weight_decay_of(resolve_optimizer(torch.optim.SGD(groups, lr=0.1), net)) == (0.3, False)
    assert weight_decay_of(resolve_optimizer(torch.optim.AdamW(groups, lr=0.1), net)) == (0.3, True)


def test_an_outcome_without_a_count_of_examples_is_judged():
    """It counts as one example, with which no accuracy is better than a guess."""
    assert kinds(outcome_findings(AccuracyOutcome(0.9, None, 0, 0, guess=0.3, simple=0.5))) == ["not-learning"]


class Shifted(nn.Module):
    """Large outputs to which inputs add little; a second output is zero."""

    def forward(self, x):
        return torch.cat([100 + x, 0 * x], 1)


@pytest.mark.parametrize(("size", "found"), [(0.9e-4, True), (1.1e-4, False)])
def test_a_signal_vanishes_below_a_millionth_of_the_outputs(size, found):
    x = size / 3 * torch.tensor([-3.0, 1.0, 1.0, 1.0])[:, None]  # float32 near 100 has steps of 8e-6
    told = kinds(ignored_input_findings(Shifted(), x))
    assert told == (["vanishing-activations"] if found else [])


@pytest.mark.parametrize(("slope", "error"), [(0.005, 0.0), (0.02, 0.5)])
def test_a_slope_below_the_rounding_of_the_loss_is_no_error(slope, error):
    """A loss of 1e6 is rounded to 1e-14 of itself, which is 0.01 over steps of 1e-6."""

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([0.5]))

        def forward(self, x):
            size = 2e6**0.5
            return (size + slope / size * (self.w - self.w.detach())) * torch.ones_like(x)

    found = gradient_check(Constant(), (torch.ones(3, 1), torch.zeros(3)), loss=Squared())
    assert found.errors["w"] == pytest.approx(error, rel=1e-3)
