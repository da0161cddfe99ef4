"""Statements checked on a network of one's own: each on a network where it must hold and on one where it must not."""

import json
from copy import deepcopy
from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.atlas.check import check_network as timed
from gnomon.atlas.check import train_trial
from gnomon.atlas.check.layers import check_lipschitz_bound, check_permutation_symmetry, check_scale_invariance
from gnomon.core.errors import InputError
from gnomon.lab import Verdict

check = partial(timed, seconds=1e6)  # what is found must not depend on how busy the machine is


def data(n=48, seed=0):
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, 0] * x[:, 1] > 0).long()


def net(width=16, *, bias=True, between=(), gain=1.0):
    torch.manual_seed(0)
    layers = [nn.Linear(4, width, bias=bias), *between, nn.ReLU(), nn.Linear(width, width, bias=bias), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(width, 2, bias=bias))
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(gain)
    return model


def verdict(model, name, **options):
    return check(model, data(), [name], **options).rows[name]["verdict"]


def test_a_linear_network_keeps_its_kernel_and_is_its_linearization():
    torch.manual_seed(0)
    told = check(nn.Linear(4, 2), data(), ["ntk-constancy", "linearised-model"], steps=30)
    assert [row["verdict"] for row in told.rows.values()] == ["holds", "holds"]


def test_a_narrow_network_trained_for_long_moves_its_kernel():
    told = check(net(6), data(), ["ntk-constancy", "linearised-model"], steps=120)
    assert [row["verdict"] for row in told.rows.values()] == ["refuted", "refuted"]


def test_too_little_training_is_said():
    told = check(net(), data(), ["ntk-constancy"], steps=1, lr=1e-6)
    assert told.rows["ntk-constancy"]["verdict"] == "inconclusive"
    assert "training was too short" in told.rows["ntk-constancy"]["reason"]


def test_steps_beyond_the_limit_are_refuted():
    torch.manual_seed(0)
    x, y = data()
    line = nn.Linear(4, 1)
    assert check(line, (x, x @ torch.ones(4)), ["learning-rate-regimes"], steps=30).rows[
        "learning-rate-regimes"]["verdict"] == "holds"  # fmt: skip
    with_large = check(line, (x, x @ torch.ones(4)), ["learning-rate-regimes"], steps=60, lr=5.0)
    assert with_large.rows["learning-rate-regimes"]["verdict"] == "refuted"


def test_curvature_says_nothing_where_batches_are_normalized():
    """Curvature is read with kept statistics, and training saw those of the batch: another loss."""
    told = check(net(between=(nn.BatchNorm1d(16),)), data(), ["learning-rate-regimes"], steps=3)
    assert "The two losses differ" in told.rows["learning-rate-regimes"]["reason"]


def test_signals_are_kept_or_not():
    good, bad = net(64, bias=False), net(64, bias=False, gain=0.1)
    for layer in good:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    assert verdict(good, "vanishing-exploding-criterion", steps=2) == "holds"
    assert verdict(bad, "vanishing-exploding-criterion", steps=2) == "refuted"


def test_symmetries_and_the_bound_hold_exactly_where_they_apply():
    told = train_trial(net(), data(), steps=3)
    assert (
        check_permutation_symmetry(told).verdict is Verdict.HOLDS
        and check_lipschitz_bound(told).verdict is Verdict.HOLDS
    )
    assert check_scale_invariance(told).verdict is Verdict.INCONCLUSIVE  # nothing is normalized
    normalized = train_trial(net(between=(nn.BatchNorm1d(16),)), data(), steps=3)
    assert check_scale_invariance(normalized).verdict is Verdict.HOLDS
    assert check_lipschitz_bound(normalized).verdict is Verdict.INCONCLUSIVE


def test_a_steep_activation_has_no_bound_by_the_layers_alone():
    """ELU with alpha = 3 has slope 3 left of zero: the product of the norms of the layers is no bound."""
    for activation in (nn.ELU(alpha=3.0), nn.LeakyReLU(1.5), nn.LeakyReLU(-1.5)):
        steep = nn.Sequential(nn.Linear(4, 16), activation, nn.Linear(16, 2))
        assert "1-Lipschitz" in check_lipschitz_bound(train_trial(steep, data(), steps=1)).reason
    gentle = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 2))
    assert check_lipschitz_bound(train_trial(gentle, data(), steps=1)).verdict is Verdict.HOLDS


def test_the_time_is_bounded_and_what_was_left_out_is_said():
    """A clock that ticks a second at each look: fewer examples, and statements that are not measured."""
    seen = iter(range(10_000))
    told = check(net(), data(), seconds=4.0, steps=5, clock=lambda: float(next(seen)))
    assert told.examples == 32  # a second for 16 examples: 100 passes over more take longer than 1 s
    assert {row["reason"] for row in told.rows.values()} == {
        "Not measured: the budget of 4 s ran out before this statement. Pass a larger budget."
    }


def test_margins_need_a_homogeneous_network():
    assert "not homogeneous" in check(net(), data(), ["max-margin-homogeneous"], steps=5).rows[
        "max-margin-homogeneous"]["reason"]  # fmt: skip
    easy = torch.eye(4).repeat(4, 1) + 0.01, torch.arange(16) % 2
    told = check(net(bias=False), easy, ["max-margin-homogeneous"], steps=150).rows["max-margin-homogeneous"]
    assert told["verdict"] == "holds" and "degree 3" in told["reason"]


def test_the_network_stays_and_every_source_gives_the_same():
    model, (x, y) = net(), data()
    before = deepcopy(model.state_dict())
    pair = check(model, (x, y), ["ntk-constancy"], steps=5).rows
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert check(model, DataLoader(TensorDataset(x, y), 16), ["ntk-constancy"], steps=5).rows == pair


def test_an_unknown_statement_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match=r"no statement 'nothing' can be checked\. Known: .*ntk-constancy"):
        check(net(), data(), ["nothing"])


def test_a_frozen_network_and_a_single_example_are_answered():
    with pytest.raises(InputError, match=r"check_network\(network, data\): no parameter requires a gradient"):
        check(net().requires_grad_(False), data())
    told = check(net(), data(1), ["lipschitz-product-bound"], steps=1)
    assert "Distances between examples need at least two examples" in told.rows["lipschitz-product-bound"]["reason"]


def test_the_command_tells_json_and_writes_a_page(tmp_path, capsys):
    from typer.testing import CliRunner

    from gnomon.cli.atlas import verbs

    (tmp_path / "my_model.py").write_text(
        "import torch\nfrom torch import nn\n"
        "def build():\n    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\n"
        "def points():\n    x = torch.randn(30, 4)\n    return x, (x[:, 0] > 0).long()\n"
    )
    file = tmp_path / "my_model.py"
    args = ["check", f"{file}:build", "--data", f"{file}:points", "--steps", "10", "--page", str(tmp_path / "p.html")]
    told = CliRunner().invoke(verbs, [*args, "--json"])
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)["statements"]
    assert {row["id"] for row in rows} >= {"ntk-constancy", "lipschitz-product-bound"}
    assert all(row["verdict"] in ("holds", "refuted", "inconclusive") and row["reason"] for row in rows)
    assert "hidden-unit-permutation-symmetry" in (tmp_path / "p.html").read_text()


@pytest.mark.full
def test_a_convolutional_network_on_mnist(shared):
    import numpy as np

    with np.load(shared / "data" / "mnist.npz") as file:
        x, y = (torch.as_tensor(file[name][:2000]) for name in ("x_train", "y_train"))
    torch.manual_seed(0)
    cnn = nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(800, 10),
    )  # fmt: skip
    told = check(cnn, (x.reshape(-1, 1, 28, 28).float() / 255, y.long()), steps=150)
    assert (
        told.loss[1] < 0.5 * told.loss[0]
    )  # at 1 / curvature all units die in the first steps; a quarter of it trains
    for name in ("hidden-unit-permutation-symmetry", "lipschitz-product-bound", "learning-rate-regimes"):
        assert told.rows[name]["verdict"] == "holds", told.rows[name]["reason"]
    assert "not measured" not in " ".join(row["reason"].lower() for row in told.rows.values())
