"""Networks written in the style of public ones, used unmodified by several instruments."""

from dataclasses import dataclass
from typing import Any, Optional

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

import gnomon
from gnomon.bayes import laplace
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.run import run_module
from gnomon.landscape import sharpness
from gnomon.training.evaluate import Objective

N, T, K = 6, 4, 7


class Decoder(nn.Module):
    """As nanoGPT: computes its loss from targets, and returns the last position only without them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(K, 8), nn.Linear(8, K)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        h = self.embed(idx).cumsum(1)
        if targets is None:
            return self.head(h[:, [-1]]), None
        logits = self.head(h)
        return logits, F.cross_entropy(logits.reshape(-1, K), targets.reshape(-1), ignore_index=-1)


@dataclass
class Record:
    """What a model of a library returns."""

    logits: Tensor
    loss: Tensor | None = None


class Shifted(nn.Module):
    """As GPT-2 of a library: dicts in, a record out, labels are the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(K, 8), nn.Linear(8, K)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> Record:
        logits = self.head(self.embed(input_ids).cumsum(1))
        if labels is None:
            return Record(logits)
        return Record(logits, F.cross_entropy(logits[:, :-1].reshape(-1, K), labels[:, 1:].reshape(-1)))


class Autoencoder(nn.Module):
    """As a variational autoencoder: returns a tuple, and its loss needs all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(5, 4), nn.Linear(2, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, log_variance = self.encode(x).chunk(2, 1)
        return self.decode(mean), mean, log_variance


def elbo(returned: tuple[Tensor, Tensor, Tensor], x: Tensor) -> Tensor:
    made, mean, log_variance = returned
    return (made - x).square().sum(1).mean() + (mean.square() + log_variance.exp() - log_variance - 1).sum(1).mean() / 2


class Members(nn.Module):
    """As TabM: outputs (n, members, classes)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(5, 3) for _ in range(4))

    def forward(self, x: Tensor, categories: Optional[Tensor]) -> Tensor:  # noqa: UP045
        assert categories is None
        return torch.stack([layer(x) for layer in self.layers], 1)


def tokens(seed: int = 0) -> Tensor:
    return torch.randint(0, K, (N, T + 1), generator=torch.Generator().manual_seed(seed))


def case(name: str) -> tuple[nn.Module, Any, Any, Any]:
    """A network, data, the user's loss if there is one, and the loss of a plain loop."""
    torch.manual_seed(0)
    ids, x = tokens(), torch.randn(N, 5)
    classes = torch.tensor([0, 1, 2, 0, 1, 2])
    if name == "decoder":
        net: nn.Module = Decoder()
        return net, (ids[:, :-1], ids[:, 1:]), None, lambda: net(ids[:, :-1], ids[:, 1:])[1]
    if name == "shifted":
        net = Shifted()
        return net, {"input_ids": ids, "labels": ids}, None, lambda: net(ids, ids).loss
    if name == "autoencoder":
        net = Autoencoder()
        return net, (x, x), elbo, lambda: elbo(net(x), x)
    net = Members()
    plain = lambda: torch.stack([F.cross_entropy(layer(x), classes) for layer in net.layers]).mean()  # noqa: E731
    return net, (x, classes), None, plain


NAMES = ("decoder", "shifted", "autoencoder", "members")


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_that_of_a_plain_loop(name):
    net, data, loss, plain = case(name)
    objective = Objective.of(data, net, loss)
    assert objective.measure(net, None)[0] == pytest.approx(float(plain().detach()), rel=1e-6)
    ((x, y),) = objective.batches(N)
    assert float(objective.value(net, x, y).detach()) == pytest.approx(float(plain().detach()), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_sharpness_is_the_largest_eigenvalue_of_autograds_hessian(name):
    net, data, loss, plain = case(name)
    names, start = zip(*net.named_parameters(), strict=True)
    sizes = [p.numel() for p in start]

    def at(vector: Tensor) -> Tensor:
        parts = {n: v.reshape(p.shape) for n, v, p in zip(names, vector.split(sizes), start, strict=True)}
        with torch.nn.utils.stateless._reparametrize_module(net, parts):
            return plain()

    vector = torch.cat([p.detach().flatten() for p in start])
    largest = torch.linalg.eigvalsh(torch.autograd.functional.hessian(at, vector).double())[-1]
    assert float(sharpness(net, data, loss=loss).value) == pytest.approx(float(largest), rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_watch_records_the_loss_of_the_training_loop(name):
    net, data, loss, plain = case(name)
    watching = gnomon.watch(net, data, loss=loss, examples=N, every=1)
    watching.step(plain())
    (row,) = watching.rows
    assert watching.missing == []
    assert row["probe loss"] == pytest.approx(row["loss"], rel=1e-6)


def test_training_a_decoder_is_a_plain_loop():
    net, data, _, plain = case("decoder")
    trained = gnomon.train(net, data, optimizer=gnomon.training.SGD(0.1), steps=3)
    rule = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        rule.zero_grad()
        plain().backward()
        rule.step()
    for ours, theirs in zip(trained.model.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_targets_are_passed_only_to_models_that_need_them():
    decoder, shifted = Decoder(), Shifted()
    ids = tokens()
    assert sorted(data_source((ids[:, :-1], ids[:, 1:]), module=decoder).first(2).x) == ["idx", "targets"]
    assert sorted(data_source({"input_ids": ids, "labels": ids}, module=shifted).first(2).x) == ["input_ids"]


def test_the_kernel_of_a_tuple_is_that_of_its_predictions():
    net, (x, _), _, _ = case("autoencoder")
    plain = nn.Sequential(net.encode, nn.Unflatten(1, (2, 2)), First(), net.decode)
    torch.testing.assert_close(gnomon.ntk(net, x), gnomon.ntk(plain, x))


class First(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, 0]


def test_optional_arguments_are_none_and_missing_ones_are_named():
    net, data, _, _ = case("members")
    examples = data_source(data, module=net).first(2)
    assert examples.x[1] is None
    assert output_tensor(run_module(net, examples.x)).shape == (2, 4, 3)


@pytest.mark.parametrize("name", ["decoder", "members"])
def test_laplace_counts_positions_and_predict_starts_with_the_squared_gradient(name):
    net, data, _, plain = case(name)
    prefix = "head.*" if name == "decoder" else "layers.*"
    found = laplace(net, data, parameters=prefix, prior_precision=1.0)
    net.zero_grad()
    value = plain()
    names = [n for n, _ in net.named_parameters() if n.startswith(prefix[:-2])]
    start = torch.cat([net.get_parameter(n).detach().flatten() for n in names])

    def at(vector: Tensor) -> Tensor:
        sizes = [net.get_parameter(n).numel() for n in names]
        parts = {n: v.reshape(net.get_parameter(n).shape) for n, v in zip(names, vector.split(sizes), strict=True)}
        with torch.nn.utils.stateless._reparametrize_module(net, parts):
            return plain()

    observed = N * T if name == "decoder" else N  # outputs are linear in these parameters: the Hessian is Gauss-Newton
    trace = observed * float(torch.autograd.functional.hessian(at, start).trace())
    assert float(found.eigenvalues.sum()) == pytest.approx(trace, rel=1e-4)
    slope = sum(float(g.square().sum()) for g in torch.autograd.grad(value, list(net.parameters())))
    times = [0.0, 1e-3 * float(value.detach()) / slope]
    run = gnomon.predict(net, data, times=times)
    assert float(run.loss[0] - run.loss[-1]) / times[1] == pytest.approx(slope, rel=2e-3)


class Sampling(Autoencoder):
    """Draws its latent variable, as a variational autoencoder does by design."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, log_variance = self.encode(x).chunk(2, 1)
        return self.decode(mean + torch.randn_like(mean) * (log_variance / 2).exp()), mean, log_variance


class Dropping(nn.Module):
    """Drops units in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(F.dropout(x + 0 * torch.randn_like(x), 0.5))


def test_sampling_is_no_fault_and_dropout_in_eval_mode_is():
    x = torch.randn(8, 5)
    assert randomness_findings(Sampling(), x) == ()
    assert [finding.kind for finding in randomness_findings(Dropping(), x)] == ["random-in-eval"]


def test_targets_that_only_the_loss_uses_are_not_called_ignored():
    ids = tokens()
    assert ignored_input_findings(Decoder(), {"idx": ids[:, :-1], "targets": ids[:, 1:]}) == ()
