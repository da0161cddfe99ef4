"""Limits of checks with a case on each side, and numbers that are known in closed form."""

from math import log

import pytest
import torch
from torch import nn

from gnomon.checks import find_leaks, residual_network_ode_gap, suspect_labels, unit_activity
from gnomon.checks.data import compared_labels, target_shift, unusual
from gnomon.checks.data.changed_images import CHANGES
from gnomon.checks.data.input_relation import input_kernel, label_input_test
from gnomon.checks.data.suspects import FLOOR_CONFIDENCE
from gnomon.checks.data.train_only_features import train_only_feature_findings
from gnomon.checks.network import applied, gradient_hooks, head, loss_scale, meanfield, reach
from gnomon.checks.network.gradients import GradientCheck
from gnomon.checks.network.linear_network import computes_linear_function
from gnomon.checks.network.meanfield import mean_field
from gnomon.checks.network.places import padding_findings
from gnomon.linalg.label_test import label_test


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Scaled(nn.Module):
    """The residual block h + a h."""

    def __init__(self, a):
        super().__init__()
        self.a = a

    def forward(self, h):
        return h + self.a * h


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_blocks_that_change_nothing_have_no_gap(start):
    found = residual_network_ode_gap(nn.Sequential(Scaled(0.0), Scaled(0.0)), torch.full((1, 2), start))
    assert (found.gap, found.steps, found.changes) == (0.0, (0.0, 0.0), (0.0,))


class LastState(nn.Module):
    """Adds the tokens of a sequence up, halving the sum at every token, as a recurrent network reads padding."""

    def __init__(self):
        super().__init__()
        self.unused = nn.GRU(1, 1)

    def forward(self, x):
        state = torch.zeros(len(x))
        for column in x.T.float():
            state = state / 2 + column
        return state[:, None]


@pytest.mark.parametrize(("padded", "found"), [(19, False), (20, True)])
def test_a_fifth_of_padding_matters(padded, found):
    x = torch.randint(1, 9, (10, 10), generator=torch.Generator().manual_seed(0))
    x[:, -1] = 0
    x[:9, -2] = 0
    x[0, -3] = 0 if padded == 20 else 1
    assert bool(padding_findings(LastState(), x)) is found


@pytest.mark.parametrize("n", [150, 201])
def test_the_share_of_wrong_labels_is_of_the_half_with_the_clearest_votes(n):
    """Without any contradiction the interval of Clopper and Pearson ends at 1 - (alpha / 2)^(1 / half)."""
    y = torch.arange(n) % 2
    found = suspect_labels((0.1 * drawn(n, 3) + 5 * y[:, None], y))
    assert (found.floor, found.interval.low, found.accuracy) == (0.0, 0.0, 1.0)
    assert found.interval.high == pytest.approx(1 - ((1 - FLOOR_CONFIDENCE) / 2) ** (1 / (n // 2)))


@pytest.mark.parametrize(("copies", "counted"), [(2, True), (1, False)])
def test_a_hundredth_of_copies_is_tested(copies, counted):
    """Of 200 test examples two may be copies; all ways to mark ``copies`` of 1,000 + 200 examples are equally likely."""
    x = drawn(1200, 8)
    x[1000 : 1000 + copies] = x[:copies]
    found = find_leaks(x[:1000], x[1000:])
    chance = (200 / 1200) * (199 / 1199) if counted else 1.0
    assert found.exact == copies and found.p_exact == pytest.approx(chance)


def test_changes_of_images_do_what_their_code_says():
    x = torch.arange(2.0 * 3 * 4 * 4).reshape(2, 3, 4, 4)
    for _, code, change in CHANGES:
        assert torch.equal(change(x), eval(code)) and not torch.equal(change(x), x), code


@pytest.mark.parametrize(("train", "test", "sign"), [(2, 8, 1), (8, 2, -1)])
def test_a_model_that_is_better_on_train_has_a_negative_root(train, test, sign):
    right = [torch.cat([torch.ones(k), torch.zeros(10 - k)]).double() for k in (train, test)]
    half = 10 * (0.2 * log(0.2 / 0.5) + 0.8 * log(0.8 / 0.5))
    assert compared_labels._root(*right) == pytest.approx(sign * (2 * 2 * half) ** 0.5)
    difference, _, worst, apart, root, _ = compared_labels._by_class(torch.cat(right), torch.zeros(20).long(), 10)
    assert (difference, worst, apart) == pytest.approx((sign * 0.6, 0, sign * 0.6)) and root * sign > 0


def test_tokens_are_compared_at_equal_places_and_by_their_counts():
    """Counts (2, 1, 0), (1, 1, 1) and (0, 0, 3) of three tokens; their cosines are 3 / sqrt(15), 0 and 1 / sqrt(3)."""
    rows = torch.tensor([[5, 5, 7], [5, 7, 9], [9, 9, 9]])
    same = torch.tensor([[3, 1, 0], [1, 3, 1], [0, 1, 3]]).double() / 3
    cosines = torch.tensor([[1, 3 / 15**0.5, 0], [3 / 15**0.5, 1, 3**-0.5], [0, 3**-0.5, 1]]).double()
    assert torch.allclose(input_kernel(rows), same + cosines)


def test_rows_with_any_fraction_are_counted():
    """Of 100 test rows of two numbers, 12 or 8 have a fraction in the first or in the second column."""
    train = torch.arange(200.0).reshape(100, 2)
    for k, found in (
        (target_shift.MIN_FRACTIONAL_SHARE + 0.02, True),
        (target_shift.MIN_FRACTIONAL_SHARE - 0.02, False),
    ):
        test = train.clone()
        rows = round(100 * k)
        test[: rows // 2, 0] += 0.5
        test[rows // 2 : rows, 1] += 0.5
        findings = target_shift._rounding_finding(train.double(), test.double())
        assert bool(findings) is found
        if found:
            assert findings[0].values == {"examples": 100, "share": pytest.approx(rows / 100)}


@pytest.mark.parametrize(("size", "found"), [(0.0099, True), (0.00997, True), (0.0101, False)])
def test_a_feature_is_constant_in_test_below_a_hundredth_of_its_deviation(size, found):
    """Two sets of 60 examples: a feature of 1 and -1 in train that tells the class, and of this size in test."""
    y = torch.arange(60) % 2
    x, test = drawn(60, 3), drawn(60, 3, seed=1)
    x[:, 2], test[:, 2] = 2.0 * y - 1, size * (2.0 * y - 1)
    assert bool(train_only_feature_findings(x, y, test)) is found


def test_inputs_and_numeric_targets_have_the_same_weight_in_distances():
    """Two columns of deviations 3 and 4 have the size 5, and so have the targets after they are multiplied by 5 / 2."""
    x = torch.tensor([[3.0, 4.0], [-3.0, 4.0], [3.0, -4.0], [-3.0, -4.0], [3.0, 4.0], [-3.0, -4.0]])
    y = torch.tensor([1.0, 3.0, 1.0, 3.0, 2 - 6**0.5, 2 + 6**0.5])
    y = (y - y.mean()) / y.std(correction=0) * 2 + 7
    spread = x.std(0, correction=0).norm()
    rows = torch.cat([x, (y - 7)[:, None] * spread / 2], 1)
    apart = torch.cdist(rows, rows[:4]).fill_diagonal_(torch.inf)
    assert torch.allclose(unusual._distances(x, y, 4, 0), apart.min(1).values, rtol=1e-5)


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5)])
def test_a_unit_is_dead_if_its_slope_is_zero_everywhere(shape):
    """The second of three units is negative for all examples and at all places."""
    x = drawn(*shape).abs() + 0.1
    x[:, 1] = -x[:, 1]
    x[0] = -x[0].abs()
    if len(shape) == 3:
        x[1:, 2, 1:] = -1.0
    found = unit_activity(nn.Sequential(nn.ReLU()), x)
    assert found.dead == {"0": pytest.approx(1 / 3)} and found.examples == 4
    assert found.saturated == {"0": pytest.approx(float((x < 0).double().mean()))}


@pytest.mark.parametrize(("factor", "found"), [(0.5, True), (0.99, True), (1.01, False)])
def test_a_hook_that_makes_gradients_small_is_named_with_their_ratio(factor, found):
    net, x = nn.Linear(3, 2), drawn(5, 3)
    for p in net.parameters():
        p.register_hook(lambda g: factor * gradient_hooks.MAX_RATIO * g)
    findings = gradient_hooks.gradient_hook_findings(net, lambda: net(x).square().mean())
    assert [f.values["ratio"] for f in findings] == (
        [pytest.approx(factor * gradient_hooks.MAX_RATIO)] if found else []
    )


@pytest.mark.parametrize(
    ("mean", "deviation", "found"),
    [(0.0, 0.495, True), (0.0, 0.505, False), (0.0, 1.99, False), (0.0, 2.01, True), (0.199, 0.9, False),
     (0.201, 0.9, True), (0.29, 1.5, False), (0.31, 1.5, True), (-0.31, 1.5, True)],
)  # fmt: skip
def test_targets_fit_standardized_outputs_within_a_factor_of_two(mean, deviation, found):
    """The deviation of the targets has the divisor n - 1, the one of normalized outputs n."""
    n = head.MIN_NORMALIZED
    y = (torch.arange(n) % 2).double()[:, None]
    y = mean + deviation * (y - y.mean()) / y.std()
    f = nn.BatchNorm1d(1, affine=False, eps=1e-12).double()(drawn(n, 1).double().requires_grad_())
    findings = head.normalized_output_findings(f, y)
    assert bool(findings) is found
    if found:
        stated = findings[0].values
        assert (stated["target_mean"], stated["target_deviation"], stated["deviation"]) == pytest.approx(
            (mean, deviation, 1.0)
        )


def test_a_network_whose_outputs_fall_short_for_far_inputs_is_not_linear():
    """Combinations 3 a - b - c of numbers up to one reach three, where every output is lower than a line would be."""
    x = torch.rand(40, 2, generator=torch.Generator().manual_seed(0))
    assert computes_linear_function(Bent(0.0), x) and not computes_linear_function(Bent(9.0), x)
    assert not computes_linear_function(Bent(-9.0), x)


class Bent(nn.Module):
    """The sum of the inputs, less ``fall`` where it exceeds two."""

    def __init__(self, fall):
        super().__init__()
        self.fall = fall

    def forward(self, x):
        total = x.sum(1, keepdim=True)
        return total - self.fall * (total > 2)


@pytest.mark.parametrize(("jump", "found"), [(0.9, False), (2.0, True)])
def test_a_loss_near_zero_changes_from_a_millionth_of_its_tolerance_on(jump, found):
    """It is zero for outputs that rise first, whatever their scale, and a tiny number if the examples are exchanged."""
    f, y = torch.arange(9.0)[:, None], torch.arange(9.0)[:, None]

    def loss(t, y):
        return jump * 1e-6 * loss_scale.SAME_LOSS * (t[0, 0] > t[1, 0]).double()

    assert bool(loss_scale.loss_scale_findings(loss, f, y)) is found


def test_many_target_columns_are_replaced_by_sixteen_combinations():
    x, y = drawn(60, 3), drawn(60, 20, seed=1)
    mixed = y.double() @ torch.randn(20, 16, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = label_input_test(x, y, seed=3)
    assert found.alignment == label_test(input_kernel(x), mixed, seed=3).alignment
    assert label_input_test(x, y[:, :16], seed=3).alignment == label_test(input_kernel(x), y[:, :16], seed=3).alignment


def test_distances_of_long_rows_are_those_of_their_projections():
    """1,024 random directions keep squared distances on average, here within a fifth for rows of 1,500 numbers."""
    rows = drawn(12, 1500)
    projected = rows @ torch.randn(1500, 1024, generator=torch.Generator().manual_seed(5)) / 32
    apart = torch.cdist(projected, projected[:8]).fill_diagonal_(torch.inf)
    found = unusual._distances(rows, None, 8, 5)
    assert torch.allclose(found, apart.min(1).values, rtol=1e-4)
    exact = torch.cdist(rows, rows[:8]).fill_diagonal_(torch.inf).min(1).values
    assert torch.allclose(found, exact, rtol=0.2)


@pytest.mark.parametrize(
    ("loss", "outputs", "function"),
    [
        (lambda f, y: (f - y).square().mean(), 0.3, torch.clone),
        (lambda f, y: -(f - y).square().mean(), 0.3, None),  # falls the farther the outputs are
        (lambda f, y: (f - y).square().mean(), 1.3, None),  # no probabilities
        (lambda f, y: (f - 0.5).abs().mean(), 0.3, None),  # the middle is best
        (torch.nn.functional.binary_cross_entropy_with_logits, 0.3, torch.sigmoid),
    ],
)
def test_losses_of_zeros_and_ones_tell_what_outputs_are(loss, outputs, function):
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    f = torch.tensor([[0.2], [outputs], [0.9], [0.4]])
    assert applied.predictions_of_loss(loss, f, y) is function


def test_the_worst_gradient_is_named():
    wrong = GradientCheck({"a": 1e-9, "b": 0.3, "c": 0.1}, 5)
    assert wrong.verdict == "The gradient of 'b' differs from the slope of the loss by 30.0%."
    assert [f.where for f in wrong.findings] == ["b"]
    right = GradientCheck({"a": 1e-9, "b": 1e-8}, 5)
    assert right.findings == () and right.verdict.startswith("Gradients agree")


def test_the_path_of_a_field_multiplies_its_maps():
    """Linear layers of gain 1.2 and bias 0.3: q' = 1.44 q + 0.09, q c' = 1.44 q c + 0.09, gradients 1.44 each."""
    path = mean_field(nn.Identity(), weight_std=1.2, bias_std=0.3).path(3, q=2.0, c=0.5)
    q, together = [2.0], [1.0]
    for _ in range(3):
        q.append(1.44 * q[-1] + 0.09)
        together.append(1.44 * together[-1] + 0.09)
    assert path["variance"] == pytest.approx(q)
    assert path["correlation"] == pytest.approx([t / v for t, v in zip(together, q, strict=True)])
    assert path["gradient"] == pytest.approx([1.44**3, 1.44**2, 1.44, 1.0])


@pytest.mark.parametrize(("level", "root"), [(-4.0, -1.0), (4.0, 2.0), (1.0, 1.0)])
def test_the_better_end_stands_in_for_a_root(level, root):
    """x - level on [-1, 2] has a root only inside."""
    assert meanfield._root(lambda x: x - level, -1.0, 2.0) == pytest.approx(root)


def test_parts_beyond_the_largest_number_are_tried_together(monkeypatch):
    net = nn.ModuleDict({str(i): nn.Linear(1, 1) for i in range(4)})
    module = Sum(net, used=("0", "3"))
    parts = {f"net.{i}": [f"net.{i}.weight", f"net.{i}.bias"] for i in range(4)}
    for most, found in ((4, ["net.0", "net.3"]), (2, ["net.0", "net.2", "net.3"]), (3, ["net.0", "net.3"])):
        monkeypatch.setattr(reach, "MAX_PARTS", most)
        assert reach.parts_that_change_outputs(module, torch.ones(2, 1), parts) == found


class Sum(nn.Module):
    """The sum of some of its layers."""

    def __init__(self, net, used):
        super().__init__()
        self.net, self.used = net, used

    def forward(self, x):
        return sum(self.net[name](x) for name in self.used)
