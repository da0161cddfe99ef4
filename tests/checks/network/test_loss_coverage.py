"""Losses that ignore examples or drown a class, embeddings with a wrong padding index: planted, and healthy losses."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.checks.network import activity, loss_coverage
from gnomon.checks.network.loss_coverage import loss_coverage_findings
from gnomon.checks.network.loss_minimum import loss_minimum_findings
from gnomon.checks.network.loss_scale import loss_scale_findings
from gnomon.checks.network.padding_index import padding_index_findings


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def classes(n=60, k=3):
    return torch.arange(n) % k


def focal(f, y):
    each = F.cross_entropy(f, y, reduction="none")
    return ((1 - (-each).exp()) ** 2 * each).mean()


HEALTHY = [
    F.cross_entropy, nn.CrossEntropyLoss(label_smoothing=0.1), nn.MultiMarginLoss(), focal, nn.CrossEntropyLoss(reduction="sum"),
    lambda f, y: F.nll_loss(F.log_softmax(f, 1), y), lambda f, y: F.mse_loss(f, F.one_hot(y, 3).float()),
]  # fmt: skip


@pytest.mark.parametrize("loss", HEALTHY)
@pytest.mark.parametrize("seed", range(30))
def test_healthy_losses_count_every_example(loss, seed):
    f, y = 3 * drawn(60, 3, seed=seed), torch.randint(3, (60,), generator=torch.Generator().manual_seed(seed))
    assert loss_coverage_findings(loss, f, y) == ()


def test_an_ignored_class_is_named():
    (found,) = loss_coverage_findings(nn.CrossEntropyLoss(ignore_index=1), drawn(60, 3), classes())
    assert found.kind == "loss-ignores-examples" and found.values["classes"] == "1" and found.values["ignored"] == 20
    weight = torch.tensor([0.0, 1.0, 0.0])
    (found,) = loss_coverage_findings(nn.CrossEntropyLoss(weight=weight), drawn(60, 3), classes())
    assert found.values["classes"] == "0, 2"


def test_examples_that_the_loss_leaves_out_are_counted():
    (found,) = loss_coverage_findings(lambda f, y: F.cross_entropy(f[:15], y[:15]), drawn(60, 3), classes())
    assert (found.values["ignored"], found.values["examples"]) == (45, 60)
    assert "ignores 45 of 60 examples" in found.message


def test_an_index_that_no_example_has_is_no_problem():
    assert loss_coverage_findings(nn.CrossEntropyLoss(ignore_index=7), drawn(60, 9), classes()) == ()


@pytest.mark.parametrize("weight, found", [(9.9, False), (10.1, True)])
def test_a_class_drowns_from_ten_times_the_share(weight, found):
    y = torch.arange(60) % 2
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, weight]))
    assert bool(loss_coverage_findings(loss, drawn(60, 2), y)) is found


def test_weights_that_balance_rare_classes_are_no_problem_and_inverted_ones_are():
    labels = (torch.arange(1000) % 25 == 0).long()  # 4 % of class 1
    y, f = (torch.arange(60) % 2), drawn(60, 2)
    shares = torch.tensor([0.96, 0.04])
    assert loss_coverage_findings(nn.CrossEntropyLoss(weight=1 / shares), f, y, labels) == ()
    assert loss_coverage_findings(nn.CrossEntropyLoss(), f, y, labels) == ()  # the data are imbalanced, not the loss
    (found,) = loss_coverage_findings(nn.CrossEntropyLoss(weight=shares), f, y, labels)
    assert found.kind == "class-weights" and (found.values["most"], found.values["least"]) == (0, 1)
    assert found.values["ratio"] == pytest.approx(24 * 24, rel=1e-4)
    assert found.values["weight"] == pytest.approx(24, rel=1e-4)


@pytest.mark.parametrize("weight, found", [(9.0, False), (1300.0, True)])
def test_a_weight_of_positives_that_is_a_number_of_rows(weight, found):
    y = (torch.arange(60) % 2).float()[:, None]
    loss = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([weight]))
    assert bool(loss_coverage_findings(loss, drawn(60, 1), y)) is found


def test_few_examples_and_targets_that_are_no_classes_are_not_judged():
    loss = nn.CrossEntropyLoss(ignore_index=1)
    assert loss_coverage_findings(loss, drawn(11, 3), classes(11)) == ()
    assert loss_coverage_findings(loss, drawn(12, 3), classes(12)) != ()
    assert loss_coverage_findings(lambda f, y: (f[:1] - y[:1]).sum(), drawn(60, 1), drawn(60, 1)) == ()


class Words(nn.Module):
    """Mean word vectors and a linear layer."""

    def __init__(self, padding):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 4, padding_idx=padding), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.embed(x).mean(1))


def padded(seed, side="right"):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(1, 9, (20, 10), generator=g)
    length = torch.randint(3, 11, (20, 1), generator=g)
    place = torch.arange(10) if side == "right" else torch.arange(9, -1, -1)
    return torch.where(place >= length, 0, x)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("seed", range(20))
def test_padding_at_the_ends_is_padding(seed, side):
    assert padding_index_findings(Words(0), padded(seed, side)) == ()
    assert padding_index_findings(Words(None), padded(seed, side)) == ()


def test_a_padding_index_inside_the_sequences_is_found():
    (found,) = padding_index_findings(Words(3), padded(0))
    assert found.kind == "padding-index" and found.where == "embed" and found.values["token"] == 3


@pytest.mark.parametrize("inside, found", [(5, False), (6, True)])
def test_more_than_half_of_the_positions_must_be_inside(inside, found):
    x = torch.full((10, 5), 2)
    x[:5, 4] = 3  # 5 positions at the end
    x[:inside, 2] = 3
    assert bool(padding_index_findings(Words(3), x)) is found


@pytest.mark.parametrize("positions, found", [(7, False), (8, True)])
def test_a_few_positions_say_nothing(positions, found):
    x = torch.full((10, 5), 2)
    x[:positions, 2] = 3
    assert bool(padding_index_findings(Words(3), x)) is found


def correlation(f, y):
    a, b = f - f.mean(), y - y.mean()
    return 1 - (a * b).sum() / (a.norm() * b.norm() + 1e-6)


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.huber_loss, nn.PoissonNLLLoss(), nn.BCEWithLogitsLoss()])
@pytest.mark.parametrize("seed", range(40))
def test_losses_of_numbers_determine_the_scale(loss, seed):
    y = drawn(30, 1, seed=seed).abs().clamp(max=1)
    assert loss_scale_findings(loss, drawn(30, 1, seed=seed + 100), y) == ()


def test_a_correlation_leaves_level_and_scale_free():
    f, y = drawn(30, 1), drawn(30, 1, seed=1)
    (found,) = loss_scale_findings(correlation, f, y)
    assert found.kind == "scale-free-loss"
    assert loss_scale_findings(lambda f, y: correlation(f, y) + 0.1 * F.mse_loss(f, y), f, y) == ()
    assert loss_scale_findings(lambda f, y: y.sum(), f, y) == ()  # a constant loss is another problem
    assert loss_scale_findings(correlation, f[:7], y[:7]) == () and loss_scale_findings(correlation, f[:8], y[:8]) != ()


def test_wrong_outputs_are_four_below_the_others_and_differ_slightly():
    y = torch.tensor([0, 1, 1])
    noise = 0.1 * drawn(3, 2)
    expected = noise - 4 * torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    torch.testing.assert_close(loss_coverage._wrong_outputs(torch.zeros(3, 2), y), expected)
    single = 0.1 * drawn(3, 1) + 4 * torch.tensor([[1.0], [-1.0], [-1.0]])  # class 0 wants a low output
    torch.testing.assert_close(loss_coverage._wrong_outputs(torch.zeros(3, 1), y), single)


def test_labels_that_begin_at_one_are_classes_and_negative_ones_are_not():
    loss = nn.CrossEntropyLoss(ignore_index=2)
    y = 1 + torch.arange(60) % 2
    (found,) = loss_coverage_findings(loss, drawn(60, 3), y)
    assert found.values["classes"] == "2" and found.values["plural"] == ""
    assert loss_coverage_findings(nn.CrossEntropyLoss(ignore_index=-1), drawn(60, 3), y - 2) == ()


def test_at_most_five_ignored_classes_are_named():
    weight = torch.zeros(9)
    weight[8] = 1.0
    (found,) = loss_coverage_findings(nn.CrossEntropyLoss(weight=weight), drawn(90, 9), classes(90, 9))
    assert found.values["classes"] == "0, 1, 2, 3, 4" and found.values["plural"] == "es"


@pytest.mark.parametrize(("weight", "found"), [(3.9, False), (4.1, True)])
def test_weights_must_quadruple_the_ratio_of_the_numbers(weight, found):
    """Ten times as many labels of class 0, which has this weight: the ratio of the shares is ten times the weight."""
    labels = (torch.arange(1100) % 11 == 0).long()
    loss = nn.CrossEntropyLoss(weight=torch.tensor([weight, 1.0]))
    result = loss_coverage_findings(loss, drawn(60, 2), torch.arange(60) % 2, labels)
    assert bool(result) is found
    if found:
        assert result[0].values["ratio"] == pytest.approx(41, rel=1e-4)
        assert result[0].values["by_number"] == pytest.approx(10)


def test_a_class_counts_by_its_mean_slope_and_not_by_its_number_in_the_batch():
    y, labels = (torch.arange(60) % 12 == 0).long(), torch.arange(100) % 2
    assert loss_coverage_findings(F.cross_entropy, drawn(60, 2), y, labels) == ()


def test_one_of_three_classes_may_drown_and_one_class_alone_cannot():
    weight = torch.tensor([1.0, 1.0, 50.0])
    (found,) = loss_coverage_findings(nn.CrossEntropyLoss(weight=weight), drawn(60, 3), classes())
    assert found.values["most"] == 2 and found.values["ratio"] == pytest.approx(50, rel=1e-4)
    assert loss_coverage_findings(nn.CrossEntropyLoss(weight=weight), drawn(60, 3), torch.zeros(60).long()) == ()


def test_a_class_without_slope_at_equal_outputs_is_not_compared():
    def flat(f, y):
        return torch.where(y == 1, f[:, 1].square(), -f[:, 0]).mean()

    assert loss_coverage_findings(flat, drawn(60, 2), torch.arange(60) % 2) == ()


def test_slopes_of_falling_functions_are_positive():
    h = torch.tensor([-1.0, 0.5, 2.0])
    assert activity._slope(lambda t: -3 * t, h).tolist() == [3.0, 3.0, 3.0]
    torch.testing.assert_close(activity._slope(torch.cos, h), h.sin().abs())


def dice(p, y, *, constant=1.0):
    return 1 - (2 * (p * y).sum() + constant) / (p.sum() + y.sum() + constant)


def weighted(f, y, *, penalty=0.0):
    mean, log_variance = f[:, :1], f[:, 1:]
    return (torch.exp(-log_variance) * (y - mean) ** 2 + penalty * log_variance).mean()


def test_a_dice_loss_of_unbounded_outputs_rewards_overshoot():
    """Dice of k y is 1 - 2 k / (k + 1): at k = 100 it is -0.980."""
    f, y = drawn(40, 1, 6, 6), (drawn(40, 1, 6, 6, seed=1) > 0.5).float()
    (found,) = loss_minimum_findings(dice, f, y)
    assert found.kind == "loss-rewards-overshoot" and found.values["factor"] == 100
    assert found.values["overshot"] == pytest.approx(1 - 200 / 101, abs=1e-3)
    assert loss_minimum_findings(lambda p, y: dice(torch.sigmoid(p), y), f, y) == ()
    assert loss_minimum_findings(lambda p, y: dice(p.clamp(0, 1), y), f, y) == ()
    assert loss_minimum_findings(dice, f, y + 1) == () and loss_minimum_findings(dice, f, 0 * y) == ()
    assert loss_minimum_findings(dice, f[:7], y[:7]) == () and loss_minimum_findings(dice, f[:8], y[:8]) != ()


@pytest.mark.parametrize(("gain", "found"), [(0.09, False), (0.11, True)])
def test_overshoot_counts_above_a_tenth(gain, found):
    """A loss of 0 at the targets, 1 at inverted targets, and -gain at 100 times the targets."""

    def loss(p, y):
        return torch.tensor(-gain) if p.max() > 2 else ((p - y) ** 2).mean()

    y = (torch.arange(20) % 2).float()[:, None]
    assert bool(loss_minimum_findings(loss, drawn(20, 1), y)) is found


@pytest.mark.parametrize(("at_targets", "found"), [(0.019, True), (0.021, False), (-0.019, True), (-0.021, False)])
def test_overshoot_counts_only_if_the_loss_is_zero_at_the_targets(at_targets, found):
    """A loss of at_targets at the targets, 1 at inverted targets, and -1 at 100 times the targets."""
    y = (torch.arange(20) % 2).float()[:, None]

    def loss(p, y):
        if p.max() > 2:
            assert float(p.max()) == 100
            return torch.tensor(-1.0)
        return torch.tensor(at_targets if torch.equal(p, y) else 1.0)

    assert bool(loss_minimum_findings(loss, drawn(20, 1), y)) is found


def test_a_likelihood_without_its_log_variance_vanishes():
    f, y = drawn(50, 2), drawn(50, 1, seed=1)
    (found,) = loss_minimum_findings(weighted, f, y)
    assert found.kind == "loss-vanishes" and found.values["output"] == 1 and found.values["value"] == 30
    assert found.values["given"] == pytest.approx(float(weighted(f, y)))
    (found,) = loss_minimum_findings(lambda f, y: ((y - f[:, :1]) ** 2 / F.softplus(f[:, 1:])).mean(), f, y)
    assert found.values["value"] == 1e4
    assert loss_minimum_findings(lambda f, y: weighted(f, y, penalty=1), f, y) == ()
    assert loss_minimum_findings(weighted, f, torch.ones(50, 1)) == ()  # constant targets are another problem


@pytest.mark.parametrize(
    "loss",
    [
        F.mse_loss, F.l1_loss, F.huber_loss, nn.PoissonNLLLoss(), nn.BCEWithLogitsLoss(), nn.MultiLabelSoftMarginLoss(),
        lambda f, y: F.cross_entropy(f, y / y.sum(1, keepdim=True)), lambda f, y: F.binary_cross_entropy(f.sigmoid(), y),
        lambda f, y: 1 - F.cosine_similarity(f, y).mean(), lambda f, y: F.kl_div(f.log_softmax(1), y / 3),
        lambda f, y: torch.maximum(0.9 * (y - f), 0.1 * (f - y)).mean(), lambda f, y: (f - y).cosh().log().mean(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(20))
def test_common_losses_are_smallest_near_the_targets(loss, seed):
    y = drawn(30, 3, seed=seed).abs().clamp(1e-3, 1)
    assert loss_minimum_findings(loss, drawn(30, 3, seed=seed + 100), y) == ()
