"""Bounds from weights and margins, each factor against a hand computation; capacities against enumeration."""

from itertools import product
from math import log, sqrt

import pytest
import torch
from torch import nn

from gnomon import InputError
from gnomon.bounds import (
    generalization_bounds,
    layer_noise_tolerance,
    layer_norms,
    output_margins,
    replace_one_gap,
    ridge_stability,
    vc_bound,
)
from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.bounds.capacity import (
    kernel_rademacher,
    linear_rademacher,
    massart_bound,
    min_norm_bound,
    network_vc_dimension,
    sauer_bound,
)
from gnomon.bounds.norms import path_norm
from gnomon.core.results import Value


def network():
    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))


def data(net, n=80, seed=0):
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(seed))
    return x, net(x).argmax(1).detach()


def test_norms_are_those_of_the_matrices_and_distances_from_the_start():
    start = network()
    net = network()
    for layer, part, before in zip(layer_norms(net, start), net[::2], start[::2], strict=True):
        w, moved = part.weight.detach().double(), (part.weight - before.weight).detach().double()
        assert layer.spectral == pytest.approx(float(torch.linalg.svdvals(w)[0]))
        assert layer.frobenius**2 == pytest.approx(float(w.square().sum()))
        assert layer.row_sum == pytest.approx(max(sum(abs(v) for v in row) for row in w.tolist()))
        assert layer.row_sum_square**2 == pytest.approx(sum(sum(abs(v) for v in row) ** 2 for row in w.tolist()))
        assert layer.moved == pytest.approx(sum(float(row.norm()) for row in moved))
        assert layer.distance == pytest.approx(float(moved.norm())) and 1 <= layer.stable_rank <= 5


def test_the_path_norm_sums_over_all_paths():
    net = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 2, bias=False)).double()
    a, b = net[0].weight.detach(), net[2].weight.detach()
    paths = sum(float((b[o, h] * a[h, i]) ** 2) for o, h, i in product(range(2), range(3), range(2)))
    assert path_norm(net, (2,)) == pytest.approx(sqrt(paths))


def test_every_bound_is_the_product_of_its_factors_and_beside_the_gap():
    """margin-bound-l1inf, margin-bound-frobenius, margin-bound-spec-l12, margin-bound-spec-fro."""
    net = network()
    x, y = data(net)
    found = generalization_bounds(net, (x, y), test=data(net, seed=1), start=network())
    gamma = found.margin
    layers = layer_norms(net)
    values = output_margins(net, (x, y)).values
    assert gamma == pytest.approx(float(torch.quantile(values.double(), 0.1)))
    b, n = float(x.norm(dim=1).max()), len(x)
    frobenius = b / gamma / sqrt(n)
    for layer in layers:
        frobenius *= layer.frobenius
    assert found["frobenius"].value == pytest.approx(frobenius, rel=1e-6)
    assert found["spectral-F"].value == pytest.approx(
        b
        / gamma
        / sqrt(n)
        * torch.tensor([a.spectral for a in layers]).prod().item()
        * sqrt(sum(a.units * a.stable_rank for a in layers)),
        rel=1e-5,
    )
    assert {bound.name for bound in found.bounds} >= {"rows", "spectral-1", "compression", "path", "parameters"}
    for bound in found.bounds:
        total = 1.0
        for factor in bound.factors:
            total *= float(factor.value)
        assert bound.value == pytest.approx(total) and bound.measured is found.gap and bound.order
        assert bound.holds and str(bound) and bound.plots() and bound.to_dict()
        assert bound.dominating.value == max(float(f.value) for f in bound.factors)
    assert float(found.gap.value) == 0.0 and found.gap.interval.high > 0 and found.plots()


def test_cushions_are_those_of_jacobians():
    """margin-bound-compression: mu_i = min_x |A a| / (|A|_F |a|), and mu_i-> = min_x |J z| / (|J|_F |z|) between layers."""
    net = network().double().requires_grad_(False)
    x = torch.randn(6, 3).double()
    found = layer_noise_tolerance(net, x)
    middle = net[:3](x)  # before the second activation
    jacobian = torch.stack([torch.func.jacrev(lambda z: net[3:](z))(row) for row in middle])
    ratio = (jacobian @ middle[:, :, None]).flatten(1).norm(dim=1) / (
        jacobian.flatten(1).norm(dim=1) * middle.norm(dim=1)
    )
    assert found.interlayer[1] == pytest.approx(min(float(ratio[~ratio.isnan()].min()), 4**-0.5))
    assert found.interlayer[2] == pytest.approx(3**-0.5)
    a, w = net[:2](x), net[2].weight
    assert found.layer[1] == pytest.approx(float(((a @ w.T).norm(dim=1) / (w.norm() * a.norm(dim=1))).min()))


def test_a_trained_network_has_larger_normalized_margins_on_true_labels():
    """Statements spectral-complexity and normalised-margin-spectral."""
    torch.manual_seed(1)
    x = torch.randn(100, 4)
    easy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    y = (x[:, 0] > 0).long()
    import gnomon

    true = gnomon.train(easy, (x, y), steps=200, optimizer=gnomon.training.Adam(0.02)).model
    hard = torch.randint(2, (100,))
    false = gnomon.train(easy, (x, hard), steps=600, optimizer=gnomon.training.Adam(0.02)).model
    a, b = output_margins(true, (x, y)), output_margins(false, (x, hard))
    assert float(a.normalized.median()) > 2 * float(b.normalized.median())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: generalization_bounds(nn.Linear(3, 2), (torch.zeros(5, 3), torch.zeros(5).long())), "tied|wrong"),
        (lambda: generalization_bounds(nn.Linear(3, 1), (torch.zeros(5, 3), torch.zeros(5).long())), "output for each"),
        (lambda: layer_norms(nn.ReLU()), "no layer is Linear"),
        (lambda: layer_norms(nn.Linear(2, 2), nn.Linear(3, 2)), "the start has no weight"),
        (
            lambda: layer_noise_tolerance(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), torch.ones(1, 2)),
            "neither Linear nor ReLU",
        ),
        (lambda: min_norm_bound(torch.ones(3, 3), torch.ones(3)), "not positive definite"),
        (lambda: vc_bound(0, 4), "n must be"),
        (lambda: ridge_stability(torch.eye(3), torch.ones(2), decay=1.0), "a target per row"),
    ],
)
def test_what_has_no_bound_is_told(call, words):
    with pytest.raises(InputError, match=words):
        call()


class Twisted(nn.Module):
    """Two layers whose order, activation or output is only seen by running them."""

    def __init__(self, how):
        super().__init__()
        self.how, self.a, self.b = how, nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        h = self.b(self.a(x).relu())
        return {"skip": h + x, "scaled": self.b(3 * self.a(x).relu()), "sine": self.b(self.a(x).sin()),
                "softmax": h.softmax(1), "log-softmax": h.log_softmax(1), "plain": h}[self.how]  # fmt: skip


ALL = {"rows", "frobenius", "spectral-1", "spectral-F", "compression", "spectral", "path", "parameters"}


@pytest.mark.parametrize(
    ("net", "names", "reason"),
    [
        (network(), ALL, ""),
        (nn.Sequential(network(), nn.LogSoftmax(1)), ALL, ""),
        (nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3)), {"rows", "spectral-1", "spectral"}, "tanh"),
        (nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)).eval(), set(), "'1.weight'"),
        (nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 1, 1), nn.Flatten()), set(), "'1' is a Conv1d"),
        (nn.Sequential(network(), nn.Softmax(1)), set(), "'1' is a Softmax"),
        (nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 3)), set(), "'1' is a GELU"),
        (Twisted("plain"), ALL, ""),
        (Twisted("log-softmax"), ALL, ""),
        *(
            (Twisted(how), set(), "differ from a chain of its Linear layers")
            for how in ("skip", "scaled", "sine", "softmax")
        ),
    ],
)
def test_only_bounds_whose_assumptions_hold_are_reported(net, names, reason):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    found = generalization_bounds(net, (x, net(x).argmax(1)))
    assert set(found.names) == names and set(found.excluded) == ALL - names
    assert all(reason in why for why in found.excluded.values()) and not any(
        b.broken for b in found.bounds if reason == ""
    )
    assert reason in found.verdict or names
    assert str(found) and (found.plots() or not names) and found.to_dict()
    if names != ALL:
        with pytest.raises(InputError, match="'path' does not apply"):
            found["path"]


def test_a_last_log_softmax_changes_no_bound():
    """Margins are differences of outputs, which a log-softmax leaves as they are; the path norm was 0 with it."""
    net = network()
    x, y = data(net)
    plain, normalized = (generalization_bounds(n, (x, y)) for n in (net, nn.Sequential(*net, nn.LogSoftmax(1))))
    for name in ALL:
        assert normalized[name].value == pytest.approx(plain[name].value, rel=1e-4), name  # float32 margins
    assert plain["path"].value > 0


def test_a_bound_below_the_measured_gap_is_never_reported():
    """A network that is right on eight examples with a large margin and wrong on all others."""
    net = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.5, 0.0], [-0.5, 0.0]]))
    x = torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).repeat(4, 1)
    y = (x[:, 0] < 0).long()
    found = generalization_bounds(net, (x, y), test=(x, 1 - y))
    assert float(found.gap.value) == 1.0 and min(bound.value for bound in found.bounds) >= found.gap.interval.low
    assert "parameters" in found.names and found.excluded.keys() | set(found.names) == ALL
    assert "below the measured gap" in found.excluded["path"]
    bound = GeneralizationErrorBound("path", 0.0, (Value("path norm", 0.0),), 0.05, measured=found.gap)
    assert bound.holds is False and "do not use this bound" in bound.verdict


@pytest.mark.parametrize(
    "net", [nn.Sequential(nn.Linear(3, 2), nn.LogSoftmax(1)), Twisted("softmax"), Twisted("log-softmax")]
)
def test_the_path_norm_of_other_networks_is_refused(net):
    with pytest.raises(InputError, match="a ReLU network"):
        path_norm(net, (3,))


def test_inputs_without_a_length_are_refused():
    torch.manual_seed(0)
    tokens = nn.Sequential(nn.Embedding(7, 3), nn.Flatten(), nn.Linear(6, 2))
    words = torch.randint(7, (40, 2))
    with pytest.raises(InputError, match="embeddings"):
        generalization_bounds(tokens, (words, tokens(words).argmax(1)))


def test_all_answers_wrong_or_one_class_are_told_or_bounded():
    net = nn.Linear(2, 2)
    x = torch.randn(20, 2)
    wrong = 1 - net(x).argmax(1)
    with pytest.raises(InputError, match="100%"):
        generalization_bounds(net, (x, wrong))
    right = net(x).argmax(1)
    one = right == right[0]
    assert generalization_bounds(net, (x[one], right[one])).train_error == 0.0


def test_intervals_shatter_two_points_and_grow_as_sauer_says():
    """growth-function: Pi(m) <= sum_{i <= VC} binom(m, i), with equality for intervals, whose VC dimension is 2.

    vc-dim-networks: VC = O(W L ln W) for W weights in L layers; here the product itself.
    """
    points = list(range(7))
    ways = {tuple(a <= p <= b for p in points) for a in range(-1, 8) for b in range(-2, 8)}
    assert len(ways) == sauer_bound(7, 2)
    assert massart_bound(7, len(ways)) == pytest.approx(sqrt(2 * log(len(ways)) / 7))
    assert vc_bound(10_000, sauer_bound(10_000, 2)) < vc_bound(1000, sauer_bound(1000, 2))
    assert network_vc_dimension(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))) == pytest.approx(25 * 2 * log(25))


def test_linear_and_kernel_complexities_agree_with_all_signs():
    """rademacher-complexity: Rad = E_e sup_f (1/n) sum_i e_i f(x_i) = (B/n) E |sum_i e_i x_i| <= B R / sqrt(n)."""
    x = torch.randn(8, 3).double()
    exact = sum(float((torch.tensor(e).double() @ x).norm()) for e in product((-1.0, 1.0), repeat=8)) / 2**8 / 8
    linear, kernel = linear_rademacher(x, draws=4000), kernel_rademacher(x @ x.T, draws=4000)
    assert linear.interval.width == 0.0 and linear.draws == 2**7  # a common sign does not matter
    assert linear.value == pytest.approx(exact, rel=1e-12) and kernel.value == pytest.approx(exact, rel=1e-9)
    drawn = linear_rademacher(x, draws=100)
    half = drawn.interval.width
    assert half > 0 and abs(drawn.value - exact) < 2 * half
    assert 0.6 * linear.closed <= exact <= linear.closed and linear.gap() > 2 * exact


def test_stability_is_above_what_refits_show_and_the_bound_holds():
    x = torch.randn(40, 2).double()
    k, y = (x @ x.T) / 2 + 1, torch.sign(x[:, 0])
    found = ridge_stability(k, y, decay=0.1)
    worst = 0.0
    for i in range(40):
        keep = [j for j in range(40) if j != i]
        full = torch.linalg.solve(k + 40 * 0.1 * torch.eye(40), y)
        # the objective without example i keeps the same penalty: 1 / n sum over the others
        part = torch.linalg.solve(k[keep][:, keep] + 40 * 0.1 * torch.eye(39), y[keep])
        worst = max(worst, abs(float((k[i] @ full - y[i]) ** 2 - (k[i, keep] @ part - y[i]) ** 2)))
    assert float(found.measured.value) == pytest.approx(worst, rel=1e-8) and worst <= found.uniform
    fresh = torch.randn(2000, 2).double()
    error = ((((fresh @ x.T) / 2 + 1) @ torch.linalg.solve(k + 4 * torch.eye(40), y) - fresh[:, 0].sign()) ** 2).mean()
    assert float(error) <= found.bound.value
    beside = ridge_stability(k, y, decay=0.1, test=((fresh @ x.T) / 2 + 1, fresh[:, 0].sign())).bound
    assert beside.holds and float(beside.measured.value) == pytest.approx(float(error)) and beside.measured.interval


def test_the_kernel_bound_stands_beside_the_error_of_the_fit():
    g = torch.Generator().manual_seed(0)
    x = nn.functional.normalize(torch.randn(200, 3, generator=g).double())
    y, k = x[:, 0].sign(), torch.exp(-torch.cdist(x, x))
    fit, new = slice(0, 120), slice(120, 200)
    found = min_norm_bound(k[fit, fit], y[fit], test=(k[new, fit], y[new]))
    wrong = (k[new, fit] @ torch.linalg.solve(k[fit, fit], y[fit])).sign() != y[new]
    assert float(found.measured.value) == pytest.approx(float(wrong.double().mean())) and found.holds
    assert sum(float(part.value) for part in found.factors) == pytest.approx(found.value)


def test_the_mean_change_by_a_replaced_example_is_the_gap():
    """Least squares of 5 weights on 20 rows with noise 1: both sides have the closed form of Gaussian rows."""
    n, p = 20, 5

    def fit(x, y, seed):
        w = torch.linalg.lstsq(x, y).solution
        return lambda z: z @ w

    gaps = []
    for seed in range(60):
        g = torch.Generator().manual_seed(seed)
        x = torch.randn(n + 8, p, generator=g).double()
        gaps.append(
            float(replace_one_gap(fit, (x, torch.randn(n + 8, generator=g).double()), draws=8, seed=seed).gap.value)
        )
    values = torch.tensor(gaps)
    exact = 1 + p / (n - p - 1) - (1 - p / n)  # new examples: 1 + p / (n - p - 1), trained ones: 1 - p / n
    assert abs(float(values.mean()) - exact) < 4 * float(values.std()) / 60**0.5
    with pytest.raises(InputError, match="at least twice"):
        replace_one_gap(fit, (torch.randn(5, 2), torch.randn(5)), draws=4)
