"""Posteriors of modules, predictions and Laplace's approximation against Bayesian linear regression in closed form."""

import json
from dataclasses import replace
from math import log, pi

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.bayes import deep_ensemble, laplace, module_posterior, posterior_predictive, sample_posterior
from gnomon.bayes.laplace import Laplace
from gnomon.bayes.posterior import prior_to_weight_decay
from gnomon.core import BudgetError, InputError
from gnomon.training import Adam

X = torch.randn(30, 3, generator=torch.Generator().manual_seed(0)).double()
Y = (
    X @ torch.tensor([1.0, -2.0, 0.5]).double()
    + 0.3 * torch.randn(30, generator=torch.Generator().manual_seed(1)).double()
)
NOISE, PRIOR = 0.3, 2.0


def closed_form():
    covariance = torch.linalg.inv(X.T @ X / NOISE**2 + torch.eye(3).double() / PRIOR**2)
    return covariance @ X.T @ Y / NOISE**2, covariance


def line(weights=None):
    net = nn.Linear(3, 1, bias=False).double()
    if weights is not None:
        net.weight.data[:] = weights
    return net


@pytest.mark.full
def test_the_posterior_of_a_linear_module_is_that_of_linear_regression():
    posterior = module_posterior(line(), (X, Y), prior_std=PRIOR, noise=NOISE)
    draws = sample_posterior(posterior, posterior.start, draws=300, warmup=200)
    mean, covariance = closed_form()
    assert bool(((draws.mean - mean).abs() < 4 * draws.error).all()) and draws.converged
    assert_allclose(draws.std, covariance.diagonal().sqrt(), rtol=0.1)
    new = torch.randn(5, 3).double()
    told = posterior_predictive(posterior, draws, new, most=2000)
    assert_allclose(told.mean[:, 0], new @ mean, atol=0.05)
    assert_allclose(told.epistemic, (new @ covariance * new).sum(1), rtol=0.2)
    assert_allclose(told.aleatoric, torch.full((5,), NOISE**2).double())
    assert json.loads(json.dumps(told.to_dict()))["classes"] is False


def test_the_most_probable_weights_are_ridge_and_those_of_training_with_the_weight_decay():
    posterior = module_posterior(line(), (X, Y), prior_std=PRIOR, noise=NOISE)
    mean, _ = closed_form()
    point = mean.clone().requires_grad_()
    (slope,) = torch.autograd.grad(posterior(point), point)
    assert float(slope.abs().max()) < 1e-9
    decay = prior_to_weight_decay(PRIOR, NOISE, 30)
    ridge = torch.linalg.solve(X.T @ X / 30 + decay * torch.eye(3).double(), X.T @ Y / 30)
    assert_allclose(ridge, mean, rtol=1e-10)


def test_laplace_is_exact_for_linear_regression_and_so_is_its_evidence():
    mean, covariance = closed_form()
    result = laplace(line(mean), (X, Y), prior_precision=1 / PRIOR**2, noise=NOISE)
    assert_allclose(result.variance(), covariance.diagonal(), rtol=1e-9)
    marginal = NOISE**2 * torch.eye(30).double() + PRIOR**2 * X @ X.T
    exact = -(Y @ torch.linalg.solve(marginal, Y) + torch.logdet(marginal) + 30 * log(2 * pi)) / 2
    assert result.log_evidence == pytest.approx(float(exact), rel=1e-9)
    assert result.effective_parameters == pytest.approx(3 - float(covariance.trace()) / PRIOR**2, rel=1e-9)
    best = laplace(line(mean), (X, Y), noise=NOISE)
    assert all(best.log_evidence >= best.evidence(best.prior_precision * f) for f in (0.9, 1.1))
    spread = result.sample(4000).values[0]
    assert_allclose(torch.cov(spread.T), covariance, atol=0.1 * float(covariance.max()))


def test_the_gauss_newton_matrix_of_classes_is_that_of_second_derivatives_for_a_linear_module():
    labels = torch.randint(3, (30,), generator=torch.Generator().manual_seed(2))
    net = nn.Linear(3, 3).double()
    result = laplace(net, (X, labels), prior_precision=1.0)
    posterior = module_posterior(net, (X, labels), prior_std=1.0)
    hessian = -torch.autograd.functional.hessian(posterior, posterior.start)
    matrix = (result.vectors * result.eigenvalues) @ result.vectors.T
    assert_allclose(matrix + torch.eye(12).double(), hessian, atol=1e-9)
    flat = laplace(net, (X, labels), prior_precision=1.0, structure="diagonal")
    assert_allclose(flat.eigenvalues + 1, hessian.diagonal(), atol=1e-9)


class ZeroAndLogit(nn.Module):
    """The softmax classifier that a single logit f is: the outputs (0, f)."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        f = self.inner(x)
        return torch.cat([torch.zeros_like(f), f], 1)


@pytest.mark.parametrize("structure", ["full", "low rank", "diagonal"])
def test_a_single_logit_is_a_classifier_of_two_classes(structure):
    """Against softmax over (0, f), and for a linear module against the Hessian of torch's own binary cross-entropy."""
    labels = (X[:, 0] + 0.5 * X[:, 1] > 0).long()
    torch.manual_seed(0)
    for net in (nn.Linear(3, 1).double(), nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()):
        one = laplace(net, (X, labels), structure=structure)
        two = laplace(ZeroAndLogit(net), (X, labels), structure=structure)
        assert one.prior_precision == pytest.approx(two.prior_precision, rel=1e-5)  # of a search in log d
        assert one.evidence(0.7) == pytest.approx(two.evidence(0.7), rel=1e-10)
        fixed, wanted = (
            laplace(m, (X, labels), prior_precision=0.7, structure=structure) for m in (net, ZeroAndLogit(net))
        )
        assert_allclose(fixed.variance(), wanted.variance(), rtol=1e-8)
        told, other = (
            posterior_predictive(module_posterior(m, (X, labels)), draws.sample(50), X[:5])
            for m, draws in ((net, fixed), (ZeroAndLogit(net), wanted))
        )
        assert told.classes and told.mean.shape == (5, 2)
        assert_allclose(told.mean.sum(1), torch.ones(5), rtol=1e-12)
        if structure == "diagonal":  # the same draws; eigenvectors of others have a sign of their own
            assert_allclose(told.mean, other.mean, rtol=1e-9)
            assert_allclose(told.epistemic, other.epistemic, rtol=1e-6)
    line_, target = nn.Linear(3, 1).double(), labels.double()

    def negative_log_likelihood(w):
        return nn.functional.binary_cross_entropy_with_logits(X @ w[:3] + w[3], target, reduction="sum")

    result = laplace(line_, (X, labels), prior_precision=0.7, structure=structure)
    hessian = torch.autograd.functional.hessian(negative_log_likelihood, result.center)
    exact = hessian if structure != "diagonal" else torch.diag(hessian.diagonal())
    assert_allclose(result.variance(), torch.linalg.inv(exact + 0.7 * torch.eye(4).double()).diagonal(), rtol=1e-9)
    spread = torch.logdet(torch.eye(4).double() + exact / 0.7) + 0.7 * result.center.square().sum()
    wanted = -float(negative_log_likelihood(result.center)) - float(spread) / 2
    assert result.log_evidence == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
def test_binary_cross_entropy_with_logits_is_the_logistic_loss(shape):
    """torch's loss takes real targets 0 and 1, in the shape of the outputs."""
    labels = (X[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(3, 1), *([nn.Flatten(0)] if len(shape) == 1 else [])).double()
    result = laplace(net, (X, labels.double().reshape(shape)), loss=nn.BCEWithLogitsLoss(), prior_precision=1.0)
    wanted = laplace(net[0], (X, labels), prior_precision=1.0)
    assert_allclose(result.variance(), wanted.variance(), rtol=1e-12)
    assert result.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-12)
    with pytest.raises(InputError, match=r"laplace\(module, data\): the loss must be .* without weights"):
        laplace(net[0], (X, labels.double()[:, None]), loss=nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0).double()))
    with pytest.raises(InputError, match="y holds 2"):
        laplace(net[0], (X, 2 * labels))


def test_low_rank_is_exact_where_all_eigenvalues_are_kept_and_a_bound_where_not():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, 1)).double()
    rows = [
        torch.cat([w.flatten() for w in torch.autograd.grad(net(x[None])[0, 0], list(net.parameters()))]) for x in X
    ]
    precision = torch.stack(rows).T @ torch.stack(rows) / NOISE**2 + 0.5 * torch.eye(101).double()
    wanted = torch.linalg.inv(precision).diagonal()
    apart = torch.logdet(precision) - 101 * log(0.5)
    fit = -float((net(X)[:, 0] - Y).detach().square().sum()) / (2 * NOISE**2) - 15 * log(2 * pi * NOISE**2)
    evidence = fit - 0.25 * float(sum(p.detach().square().sum() for p in net.parameters())) - float(apart) / 2
    low = laplace(net, (X, Y), prior_precision=0.5, noise=NOISE, structure="low rank")
    assert low.vectors.shape[1] <= 30 < len(low.center)
    full = laplace(net, (X, Y), prior_precision=0.5, noise=NOISE)
    for told in (low, full, laplace(net, (X.repeat(4, 1), Y.repeat(4)), prior_precision=0.5, noise=2 * NOISE)):
        assert_allclose(
            told.variance(), wanted, rtol=1e-7
        )  # 120 rows of twice the noise: the same matrix by p^2 numbers
    assert low.log_evidence == pytest.approx(evidence, rel=1e-9) and full.log_evidence == pytest.approx(
        evidence, rel=1e-9
    )
    few = laplace(net, (X, Y), prior_precision=0.5, noise=NOISE, structure="low rank", rank=5)
    assert len(few.eigenvalues) == 5 and bool((few.variance() >= full.variance() - 1e-12).all())
    spread = low.sample(3000).values[0].var(0)
    assert_allclose(spread, full.variance(), rtol=0.2)  # five errors of a variance of 3000 draws are 0.13


def test_an_ensemble_disagrees_away_from_the_data_and_leaves_the_random_state():
    x = torch.linspace(-1, 1, 20)[:, None]
    before = torch.get_rng_state()

    def make():
        return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))

    told = deep_ensemble(make, (x, x[:, 0] ** 2), members=3, steps=60, noise=0.2, optimizer=Adam(0.02))
    assert torch.equal(before, torch.get_rng_state()) and len(told.models) == 3 and len(told.plots()) == 1
    seen = told.predictive(torch.tensor([[0.0], [6.0]]))
    outputs = torch.stack([model(torch.tensor([[0.0], [6.0]])).detach() for model in told.models]).double()
    assert_allclose(seen.mean, outputs.mean(0))
    assert_allclose(seen.epistemic, outputs.var(0)[:, 0])
    assert float(seen.epistemic[1]) > float(seen.epistemic[0]) and float(seen.aleatoric[0]) == pytest.approx(0.04)
    classes = deep_ensemble(lambda: nn.Linear(1, 2), (x, (x[:, 0] > 0).long()), members=2, steps=5)
    assert classes.classes and classes.predictive(x).mean.shape == (20, 2)
    with pytest.raises(InputError, match="the module is a"):
        deep_ensemble(lambda: 3, (x, x[:, 0]))


def test_an_interrupt_returns_the_members_and_draws_so_far():
    seen = []

    def stop_at(last):
        def told(done, of):
            seen.append((done, of))
            if done == last:
                raise KeyboardInterrupt

        return told

    ensemble = deep_ensemble(lambda: nn.Linear(3, 1).double(), (X, Y), members=3, steps=10, progress=stop_at(14))
    assert len(ensemble.models) == 2 and seen[-1] == (14, 30)
    normal, start = (lambda x: -x.square().sum() / 2), torch.zeros(2)
    draws = sample_posterior(normal, start, draws=40, warmup=10, progress=stop_at(22))
    assert draws.values.shape == (8, 12, 2) and draws.stopped == "interrupted" and "Interrupted" in draws.verdict
    assert torch.equal(draws.values, sample_posterior(normal, start, draws=40, warmup=10).values[:, :12])
    with pytest.raises(KeyboardInterrupt):
        sample_posterior(normal, start, draws=40, warmup=10, progress=stop_at(5))
    with pytest.raises(BudgetError, match=r"10,000,000,000 draws of 2 numbers in 8 chains need .* GB"):
        sample_posterior(normal, start, draws=10**10)


def test_draws_are_what_arviz_takes():
    draws = sample_posterior(lambda x: -x.square().sum() / 2, torch.zeros(2), chains=3, draws=20, warmup=20)
    given = draws.to_arviz()["posterior"]
    assert {name: values.shape for name, values in given.items()} == {"x": (3, 20, 2)}
    named = replace(draws, names=("slope", "offset")).to_arviz()["posterior"]
    assert {name: values.shape for name, values in named.items()} == {"slope": (3, 20), "offset": (3, 20)}


def test_a_module_is_left_as_it_was_and_the_last_layer_can_be_chosen():
    net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 1)).double()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    result = laplace(net, (X, Y), parameters="3.*")
    assert len(result.center) == 5 and net.training
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    assert all(p.grad is None for p in net.parameters())


def test_uncertainty_of_classes_splits_into_two_parts():
    labels = (X[:, 0] > 0).long()
    posterior = module_posterior(nn.Linear(3, 2).double(), (X, labels))
    draws = sample_posterior(posterior, posterior.start, draws=30, warmup=30)
    told = posterior_predictive(posterior, draws, X)
    total = torch.special.entr(told.mean).sum(1)
    assert_allclose(told.epistemic + told.aleatoric, total, rtol=1e-12)
    assert bool((told.epistemic > -1e-12).all()) and told.classes


class Twice(nn.Module):
    """The same layer twice, so that the square of a product of squares would be wrong."""

    def __init__(self):
        super().__init__()
        self.line, self.out = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.line(self.line(x).tanh()).tanh())


class Tokens(nn.Module):
    """Three tokens of one number, a layer and a norm at each."""

    def __init__(self):
        super().__init__()
        self.line, self.norm, self.out = nn.Linear(1, 4), nn.LayerNorm(4), nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.norm(self.line(x[..., None]).tanh())).sum(1)


class TimeFirst(nn.Module):
    """Thirty times before thirty examples."""

    def __init__(self):
        super().__init__()
        self.line, self.out = nn.Linear(3, 2), nn.Linear(2, 2)

    def forward(self, x):
        waves = torch.linspace(0, 1, 30, dtype=x.dtype)[:, None, None]
        return self.out(self.line(x * (1 + waves)).tanh()).sum(0)


@pytest.mark.parametrize("make", [
    TimeFirst,
    lambda: nn.Sequential(nn.Linear(3, 5), nn.ReLU(inplace=True), nn.Linear(5, 2)),
    lambda: nn.Sequential(nn.Linear(3, 5, bias=False), nn.LayerNorm(5), nn.Linear(5, 2)),
    Twice,
    Tokens,
])  # fmt: skip
@pytest.mark.parametrize("classes", [False, True])
def test_the_diagonal_is_that_of_derivatives_taken_one_by_one(make, classes):
    torch.manual_seed(0)
    net = make().double()
    y = torch.arange(len(X)) % 2 if classes else torch.randn(len(X), 2, dtype=torch.float64)
    told = laplace(net, (X, y), noise=1.0 if classes else NOISE, prior_precision=1.0, structure="diagonal").eigenvalues
    wanted = torch.zeros_like(told)
    for x in X:
        out = net(x[None])[0]
        slopes = [torch.cat([g.flatten() for g in torch.autograd.grad(o, list(net.parameters()), retain_graph=True)])
                  for o in out]  # fmt: skip
        p = out.softmax(0).detach()
        curved = torch.diag(p) - torch.outer(p, p) if classes else torch.eye(2, dtype=torch.float64) / NOISE**2
        wanted += sum(curved[a, b] * slopes[a] * slopes[b] for a in range(2) for b in range(2))
    assert_allclose(told, wanted, rtol=1e-9, atol=1e-12 * float(wanted.max()))
    assert not any(part._forward_hooks for part in net.modules())


def test_what_does_not_fit_into_memory_is_refused():
    net = nn.Sequential(nn.Linear(3, 2000), nn.Tanh(), nn.Linear(2000, 2000), nn.Tanh(), nn.Linear(2000, 1))
    x = torch.randn(200_000, 3)
    with pytest.raises(BudgetError, match="200,000 rows of 4,012,001 parameters need .* GB. Pass structure='diagonal'"):
        laplace(net, (x, x[:, 0]), structure="low rank")
    with pytest.raises(BudgetError, match="draws of 2,000,000 parameters need .* GB. Ask for fewer at a time"):
        Laplace(torch.zeros(2_000_000), torch.ones(2_000_000), None, 1.0, 0.0, 10, 0.0).sample(10**7)


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="noise must be"):
        module_posterior(line(), (X, Y), noise=0.0)
    with pytest.raises(InputError, match=r"deep_ensemble\(factory, data\): make is a Linear"):
        deep_ensemble(line(), (X, Y))
    with pytest.raises(InputError, match=r"laplace\(module, data\): 30 inputs and 9 targets"):
        laplace(line(), (X, Y[:9]))
    with pytest.raises(InputError, match='structure must be "full", "low rank" or "diagonal"'):
        laplace(line(), (X, Y), structure="kfac")
    with pytest.raises(BudgetError, match="parameters need .* GB"):
        laplace(nn.Linear(3, 10_000).double(), (X, torch.zeros(30, 10_000).double()))


def test_laplace_shows_how_many_batches_are_done(monkeypatch):
    """A bar of the package counts the batches of each pass over the examples."""
    counted = []

    def shown(items, what):
        counted.append((len(items), what))
        return iter(items)

    monkeypatch.setattr("gnomon.bayes.gauss_newton.with_progress_bar", shown)
    x = torch.randn(130, 2)
    laplace(nn.Linear(2, 1), (x, x.sum(1)))
    assert counted == [(3, "batches of derivatives")]
