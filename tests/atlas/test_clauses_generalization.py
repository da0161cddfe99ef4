"""Clauses of the scope on generalization that no claim measures; the ledger names these tests."""

from math import log, prod

import pytest
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

import gnomon
from gnomon.bounds import certify, layer_norms, vc_bound
from gnomon.bounds.capacity import network_vc_dimension, sauer_bound
from gnomon.bounds.output_margins import spectral_complexity
from gnomon.data import digits


def test_the_vc_bound_of_half_planes_has_the_printed_values():
    """vc-inequality: 8 Pi(n) exp(-n e^2 / 32) = 0.05 at e = 0.274 for 10^4 and 0.095 for 10^5 half-planes' examples."""
    for n, e in ((10**4, 0.274), (10**5, 0.095)):
        assert vc_bound(n, n * n - n + 2, 0.05) == pytest.approx(
            e, abs=6e-4
        )  # a line labels n points in n^2 - n + 2 ways


def test_the_spectral_complexity_is_above_its_lower_bound():
    """spectral-complexity: R_A >= prod_i |A_i|_2 J^(3/2), because |A|_{2,1} >= |A|_2 in each of J layers."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 3))
    norms = [float(torch.linalg.matrix_norm(net[i].weight.detach(), 2)) for i in (0, 2, 4)]
    assert spectral_complexity(layer_norms(net)) >= prod(norms) * 3**1.5


@pytest.mark.full
def test_small_networks_memorize_a_label_for_every_four_weights():
    """vc-dim-networks: a relu network of W weights fits W / 4 random labels without error."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
    count = sum(p.numel() for p in net.parameters()) // 4
    x, y = torch.randn(count, 8), torch.randint(2, (count,))
    trained = gnomon.train(net, (x, y), steps=2000, optimizer=gnomon.training.Adam(0.02)).model
    assert int((trained(x).argmax(1) == y).sum()) == count


@pytest.mark.full
def test_a_student_of_a_teacher_beats_one_of_few_hard_labels():
    """distillation: a student with 8 units is more accurate on 1200 soft labels than on 200 hard ones, in >= 3 of 5."""
    wins, agreement = 0, []
    for seed in range(5):
        split = digits(1200, 500, seed=seed)
        x, z = split.x.flatten(1), split.x_test.flatten(1)
        torch.manual_seed(seed)
        teacher = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
        teacher = gnomon.train(teacher, (x, split.y), steps=200, batch=100, optimizer=gnomon.training.Adam(3e-3)).model
        students = []
        for examples, targets in ((x[:200], split.y[:200]), (x, teacher(x).detach().softmax(1))):
            torch.manual_seed(seed + 10)
            student = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10))
            descend(student, examples, targets, rate=1e-2, steps=300)
            students.append(student(z).detach().argmax(1))
        hard, soft = ((s == split.y_test).float().mean() for s in students)
        wins += bool(soft > hard)
        agreement.append(float((students[1] == teacher(z).detach().argmax(1)).float().mean()))
    assert wins >= 3 and sum(agreement) / 5 >= 0.95


@pytest.mark.full
def test_label_smoothing_helps_accuracy_under_wrong_labels():
    """label-smoothing: with 20 % wrong labels smoothing by 0.2 is more accurate in at least 3 of 5 splits."""
    wins = 0
    for seed in range(5):
        split, draw = digits(400, 700, seed=seed), torch.Generator().manual_seed(seed)
        wrong = torch.rand(400, generator=draw) < 0.2
        y = torch.where(wrong, torch.randint(10, (400,), generator=draw), split.y)
        found = []
        for smoothing in (0.0, 0.2):
            torch.manual_seed(seed)
            net = nn.Sequential(nn.Flatten(), nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
            descend(net, split.x, y, rate=3e-3, steps=300, smoothing=smoothing)
            found.append(float((net(split.x_test).argmax(1) == split.y_test).float().mean()))
        wins += found[1] > found[0]
    assert wins >= 3


def descend(net, x, y, *, rate, steps, smoothing=0.0):
    """Trains with Adam on the cross-entropy of all examples."""
    optimizer = torch.optim.Adam(net.parameters(), rate)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y, label_smoothing=smoothing).backward()
        optimizer.step()


@pytest.mark.full
def test_the_pac_bayes_bound_of_logistic_regression_is_below_one_and_above_the_test_error():
    """pac-bayes-bound: test error <= bound < 1 on twenty splits of the breast cancer data."""
    x, y = load_breast_cancer(return_X_y=True)
    x, y = torch.tensor((x - x.mean(0)) / x.std(0)).float(), torch.tensor(y)
    for seed in range(20):
        torch.manual_seed(seed)
        order = torch.randperm(len(x))
        train, test = ((x[part], y[part]) for part in (order[:400], order[400:]))
        bound = certify(nn.Linear(30, 2), train, test=test, draws=200).stochastic
        assert float(bound.measured.value) <= float(bound.value) < 1


def test_bounds_by_labelings_say_nothing_of_networks_that_fit_all_labels():
    """random-label-fitting: with all 2^n labelings the bound sqrt(32 (n log 2 + log(8 / d)) / n) > 1 for every n."""
    net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))
    assert network_vc_dimension(net) > 1000 * 500  # a dimension far above the number of examples
    for n in (100, 500, 1000):
        labelings = sauer_bound(n, 2000)
        assert labelings == 2**n and vc_bound(n, labelings) == pytest.approx((32 * (log(2) + log(160) / n)) ** 0.5)
        assert vc_bound(n, labelings) > 1
    assert vc_bound(100_000, sauer_bound(100_000, 2)) < 0.2  # planes cannot fit all labels, and have a bound


def test_three_terms_bound_the_excess_risk_of_each_draw():
    """risk-decomposition: R(f) - min R <= (min R_n - min R) + sup |R_n - R| + (R_n(f) - min R_n), equal in some draws."""
    g = torch.Generator().manual_seed(0)
    for members, tight in ((200, False), (2, True)):
        risk = 0.1 + 0.5 * torch.rand(members, generator=g).double()
        risk = torch.tensor([0.3, 0.33]).double() if tight else risk
        measured = torch.binomial(torch.full((500, members), 50.0).double(), risk.expand(500, -1), generator=g) / 50
        chosen = measured[:, : max(members // 2, 2)].argmin(1)  # optimization looks at a half of a large class
        least, sup = measured.min(1).values, (measured - risk).abs().max(1).values
        optimization = measured.gather(1, chosen[:, None])[:, 0] - least
        excess, approximation = risk[chosen] - risk.min(), least - risk.min()
        room = approximation + sup + optimization - excess
        assert float(room.min()) >= -1e-12 and float(excess.max()) > 0 and float(approximation.mean()) < 0
        assert float((approximation + 2 * sup + optimization).mean()) >= float(excess.mean())
        assert not tight or float((room < 1e-12).double().mean()) > 0.1  # 0.9 sup would be no bound
