"""Designs, losses and optimizers that keep a network from learning: each planted, and each healthy counterpart."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

from gnomon.checks.network.bottleneck import bottleneck_findings
from gnomon.checks.network.chance import parameters_made_in_forward, randomness_findings
from gnomon.checks.network.gradient_hooks import gradient_hook_findings
from gnomon.checks.network.head import head_findings, normalized_output_findings
from gnomon.checks.network.linear_network import computes_linear_function, linear_network_findings
from gnomon.checks.network.loss_direction import loss_direction_findings
from gnomon.checks.network.places import early_pooling_findings, padding_findings, token_order_findings
from gnomon.checks.network.reshaped_axes import reshaped_axes_findings
from gnomon.checks.network.step_functions import step_function_findings
from gnomon.checks.network.symmetric_units import symmetric_unit_findings
from gnomon.checks.network.without_biases import missing_bias_findings
from gnomon.checks.run.epsilon import optimizer_epsilon_findings
from gnomon.checks.run.schedule import planned_learning_rates, schedule_findings
from gnomon.core.modules.copies import copy_module
from gnomon.training import Adam, train
from gnomon.training.torch_optimizers import resolve_optimizer


def kinds(findings):
    return [finding.kind for finding in findings]


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Forward(nn.Module):
    """A module made of a function."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.function(self, x)


ACTIVATIONS = [nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.LeakyReLU(0.2), nn.Softplus(), nn.MaxPool1d(2)]


@pytest.mark.parametrize("end", [nn.Identity(), nn.Softmax(1), nn.Dropout(), nn.BatchNorm1d(3)])
def test_layers_without_activation_are_linear(end):
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 3), end).eval()
    assert kinds(linear_network_findings(net, drawn(20, 4))) == ["no-activation"]


def test_one_sigmoid_is_a_linear_classifier_and_convolutions_count_as_layers():
    assert computes_linear_function(nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()), drawn(20, 4))
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 2))
    (found,) = linear_network_findings(net, drawn(20, 1, 8, 8))
    assert found.values["layers"] == 2


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_no_activation_is_overlooked(activation, seed):
    torch.manual_seed(seed)
    width = 4 if isinstance(activation, nn.MaxPool1d) else 8
    net = nn.Sequential(nn.Linear(4, 8), activation, nn.Linear(width, 3))
    assert not linear_network_findings(net, drawn(20, 4, seed=seed))


def test_tokens_and_constant_outputs_are_not_called_linear():
    assert not computes_linear_function(
        nn.Sequential(nn.Embedding(5, 3), nn.Flatten()), torch.arange(20).reshape(10, 2) % 5
    )
    net = nn.Linear(3, 2)
    nn.init.zeros_(net.weight)
    assert not computes_linear_function(net, drawn(20, 3))


def test_a_network_without_biases_is_found_and_others_are_not():
    bare = nn.Sequential(nn.Linear(2, 8, bias=False), nn.ReLU(), nn.Linear(8, 2, bias=False))
    assert kinds(missing_bias_findings(bare, drawn(9, 2))) == ["no-biases"]
    normed = nn.Sequential(
        nn.Linear(2, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2, bias=False)
    ).eval()
    nn.init.ones_(normed[1].bias)
    assert not missing_bias_findings(normed, drawn(9, 2))
    assert not missing_bias_findings(
        nn.Sequential(nn.Linear(2, 8, bias=False), nn.ReLU(), nn.Linear(8, 2)), drawn(9, 2)
    )


def test_a_layer_of_one_unit_before_ten_classes_is_a_bottleneck():
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh(), nn.Linear(1, 10))
    (found,) = bottleneck_findings(net, drawn(60, 8))
    assert found.where == "2" and "1 number for" in found.message


@pytest.mark.parametrize(
    "net",
    [
        nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 10)),  # wide enough
        nn.Sequential(nn.Linear(8, 1), nn.Tanh(), nn.Linear(1, 2)),  # two classes need one number
        nn.Sequential(nn.Linear(8, 2), nn.Tanh(), nn.Linear(2, 8)),  # an autoencoder
        Forward(lambda m, x: m.head(x * torch.sigmoid(m.gate(x))), gate=nn.Linear(8, 1), head=nn.Linear(8, 10)),  # a gate
        Forward(lambda m, x: m.up(F.relu(m.down(x))) + m.head(x), down=nn.Linear(8, 2), up=nn.Linear(2, 10),
                head=nn.Linear(8, 10)),  # a path around the narrow layer
    ],
)  # fmt: skip
def test_gates_side_paths_and_wide_layers_are_no_bottlenecks(net):
    assert not bottleneck_findings(net, drawn(60, 8))


@pytest.mark.parametrize("value", [0.1, 1.0, -0.5])
def test_constant_weights_are_symmetric(value):
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    for p in net.parameters():
        nn.init.constant_(p, value)
    (found,) = symmetric_unit_findings(net)
    assert found.where == "0" and found.values["equal"] == 16


def test_random_layers_zeros_and_a_constant_last_layer_are_not_symmetric():
    for seed in range(20):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3))
        nn.init.constant_(net[3].weight, 0.1)
        assert not symmetric_unit_findings(net)
    nn.init.zeros_(net[0].weight)
    assert not symmetric_unit_findings(net)


def test_a_loss_of_the_wrong_sign_or_without_outputs_is_found():
    f, y = drawn(30, 4), torch.arange(30) % 4
    wrong = lambda f, y: F.log_softmax(f, 1).gather(1, y[:, None]).mean()  # noqa: E731
    assert kinds(loss_direction_findings(wrong, f, y)) == ["loss-sign"]
    assert kinds(loss_direction_findings(lambda f, y: -F.mse_loss(f, y), f, drawn(30, 4, seed=1))) == ["loss-sign"]
    one = lambda f, y: F.cross_entropy(f, torch.zeros(len(f), dtype=torch.long))  # noqa: E731
    assert kinds(loss_direction_findings(one, drawn(30, 1), y)) == ["constant-loss"]


@pytest.mark.parametrize("seed", range(5))
def test_usual_losses_have_the_right_sign(seed):
    f, y, numbers = drawn(30, 4, seed=seed), torch.arange(30) % 4, drawn(30, 4, seed=seed + 50)
    for loss in (F.cross_entropy, nn.CrossEntropyLoss(label_smoothing=0.2), F.multi_margin_loss):
        assert not loss_direction_findings(loss, f, y)
    assert not loss_direction_findings(F.nll_loss, f.log_softmax(1), y)
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, nn.HuberLoss()):
        assert not loss_direction_findings(loss, f, numbers)
    for loss in (F.binary_cross_entropy_with_logits, nn.PoissonNLLLoss()):
        assert not loss_direction_findings(loss, f, (numbers > 0).float())


def test_hooks_that_shrink_the_gradient_are_found_also_in_a_copy():
    net, x = nn.Linear(3, 1), drawn(8, 3)
    for p in net.parameters():
        p.register_hook(lambda g: g.clamp(-1e-6, 1e-6))
    copy = copy_module(net)
    for module in (net, copy):
        assert kinds(gradient_hook_findings(module, lambda m=module: m(x).square().mean())) == ["gradient-hooks"]
        torch.autograd.grad(module(x).square().mean(), [module.weight])
        assert float(torch.autograd.grad(module(x).square().mean(), module.weight)[0].abs().max()) <= 1.01e-6


def test_hooks_that_clip_at_the_usual_size_are_fine():
    net, x = nn.Linear(3, 1), drawn(8, 3)
    net.weight.register_hook(lambda g: g / g.norm().clamp(min=1.0))
    assert not gradient_hook_findings(net, lambda: net(x).square().mean())


def test_a_softmax_over_one_output_is_always_one():
    f = torch.softmax(nn.Linear(3, 1)(drawn(9, 3)), 1)
    for loss in ("logistic loss", "cross-entropy", "squared loss"):
        (found,) = head_findings(f, torch.zeros(9), loss)
        assert "always 1" in found.message
    assert not head_findings(nn.Linear(3, 1)(drawn(9, 3)), torch.zeros(9), "logistic loss")


def test_a_normalization_at_the_end_is_found_if_the_targets_are_elsewhere():
    f = nn.BatchNorm1d(1, affine=False)(nn.Linear(3, 1)(drawn(40, 3)))
    assert kinds(normalized_output_findings(f, 5 + 3 * drawn(40, 1))) == ["normalized-output"]
    assert not normalized_output_findings(f, drawn(40, 1))  # such targets are within reach
    layer = nn.BatchNorm1d(1)
    nn.init.constant_(layer.weight, 3.0)
    assert not normalized_output_findings(layer(nn.Linear(3, 1)(drawn(40, 3))), 5 + 3 * drawn(40, 1))


def test_a_layer_made_in_forward_is_found_and_lazy_layers_are_not():
    net = Forward(lambda m, x: nn.Linear(4, 2)(x))
    assert parameters_made_in_forward(net, drawn(8, 4)) == 10
    assert kinds(randomness_findings(net, drawn(8, 4))) == ["layer-made-in-forward"]
    assert not parameters_made_in_forward(nn.LazyLinear(2), drawn(8, 4))


def test_a_reshape_that_should_be_a_transpose_is_found():
    for function in (lambda m, x: x.reshape(len(x), 3, 40), lambda m, x: x.view(-1, 3, 40)):
        (found,) = reshaped_axes_findings(Forward(function), drawn(7, 40, 3))
        assert "x.transpose(1, 2)" in found.fix


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x.transpose(1, 2),
        lambda m, x: x.flatten(1).reshape(len(x), 40, 3),
        lambda m, x: x.reshape(len(x), 40, 3, 1),
        lambda m, x: x.reshape(len(x), 4, 10, 3).transpose(2, 3).reshape(len(x), 4, 30),
        lambda m, x: x.mean(2, keepdim=True).reshape(len(x), 1, 40),
    ],
)
def test_other_changes_of_shape_are_fine(function):
    assert not reshaped_axes_findings(Forward(function), drawn(7, 40, 3))


def test_a_large_epsilon_is_found_and_a_usual_one_is_not():
    gradients = {"weight": torch.full((10,), 0.01)}
    large = resolve_optimizer(lambda p: torch.optim.Adam(p, eps=10.0), None)
    assert kinds(optimizer_epsilon_findings(Adam(eps=10.0), gradients)) == ["large-epsilon"]
    assert epsilon_is_read(large)
    for fine in (Adam(), Adam(eps=1e-4), Adam(eps=0.1)):
        assert not optimizer_epsilon_findings(fine, gradients)


def epsilon_is_read(optimizer):
    return kinds(optimizer_epsilon_findings(optimizer, {"weight": torch.full((10,), 0.01)})) == ["large-epsilon"]


SCHEDULES = {
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 30),
    "steps": lambda o: lr_scheduler.MultiStepLR(o, [15, 25], 0.1),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "linear": lambda o: lr_scheduler.LinearLR(o, 1.0, 0.01, 30),
    "warm-up": lambda o: lr_scheduler.LinearLR(o, 0.01, 1.0, 10),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_usual_schedules_do_not_decay_away(name):
    assert not schedule_findings(planned_learning_rates(SCHEDULES[name], 0.1, 30))


def test_a_schedule_that_stops_training_is_found():
    (found,) = schedule_findings(planned_learning_rates(lambda o: lr_scheduler.ExponentialLR(o, 0.1), 5e-3, 15))
    assert found.values["effective"] == pytest.approx(1 / 0.9, rel=1e-6)


class Attention(nn.Module):
    """One layer of attention with or without positions."""

    def __init__(self, positions):
        super().__init__()
        torch.manual_seed(0)
        self.tokens, self.places = nn.Embedding(12, 16), nn.Embedding(10, 16) if positions else None
        self.attention, self.head = nn.MultiheadAttention(16, 2, batch_first=True), nn.Linear(16, 2)

    def forward(self, x):
        h = self.tokens(x) + (self.places(torch.arange(x.shape[1])) if self.places is not None else 0.0)
        return self.head(self.attention(h, h, h, need_weights=False)[0].mean(1))


def test_attention_without_positions_is_found():
    x = torch.randint(12, (40, 10), generator=torch.Generator().manual_seed(0))
    assert kinds(token_order_findings(Attention(positions=False), x)) == ["no-positions"]
    assert not token_order_findings(Attention(positions=True), x)
    bag = Forward(lambda m, x: m.head(m.tokens(x).mean(1)), tokens=nn.Embedding(12, 16), head=nn.Linear(16, 2))
    assert not token_order_findings(bag, x)  # a bag of words ignores the order by design


def test_a_last_state_after_padding_is_found():
    def last(m, x):
        return m.head(m.rnn(m.tokens(x))[0][:, -1])

    def at_the_end(m, x):
        lengths = (x != 0).sum(1).clamp(min=1)
        return m.head(m.rnn(m.tokens(x))[0][torch.arange(len(x)), lengths - 1])

    torch.manual_seed(0)
    layers = {"tokens": nn.Embedding(9, 8), "rnn": nn.GRU(8, 16, batch_first=True), "head": nn.Linear(16, 2)}
    x = torch.randint(1, 9, (40, 30), generator=torch.Generator().manual_seed(0))
    padded = x * (torch.arange(30) < torch.randint(4, 16, (40, 1), generator=torch.Generator().manual_seed(1)))
    assert kinds(padding_findings(Forward(last, **layers), padded)) == ["reads-padding"]
    assert not padding_findings(Forward(at_the_end, **layers), padded)
    assert not padding_findings(Forward(last, **layers), x)  # without padding


def test_averaging_over_the_image_after_one_layer_is_found():
    def early(m, x):
        return m.head(F.relu(m.conv(x)).mean((2, 3)))

    def flat(m, x):
        return m.head(F.relu(m.conv(x)).flatten(1))

    conv = nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular")
    x = drawn(40, 1, 8, 8)
    assert kinds(early_pooling_findings(Forward(early, conv=conv, head=nn.Linear(8, 3)), x)) == ["pooled-too-early"]
    assert not early_pooling_findings(Forward(flat, conv=conv, head=nn.Linear(512, 3)), x)
    deep = nn.Sequential(conv, *(nn.Conv2d(8, 8, 3) for _ in range(2)), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert not early_pooling_findings(deep, x)


@pytest.mark.parametrize("name", ["round", "sign", "floor"])
def test_a_step_function_that_stops_the_gradient_is_found(name):
    def forward(m, x):
        return m.last(getattr(torch, name)(m.first(x)))

    net = Forward(forward, first=nn.Linear(4, 8), last=nn.Linear(8, 2))
    x = drawn(40, 4)
    run = train(net, (x, (x[:, 0] > 0).long()), steps=5, batch=10)
    (found,) = step_function_findings(net, run.model, x)
    assert found.values["function"] == name and "'first'" in found.message


def test_frozen_layers_and_integer_decisions_off_the_path_are_no_step_functions():
    net = Forward(lambda m, x: m.last(torch.relu(m.first(x))), first=nn.Linear(4, 8), last=nn.Linear(8, 2))
    net.first.requires_grad_(False)
    x = drawn(40, 4)
    run = train(net, (x, (x[:, 0] > 0).long()), steps=5, batch=10)
    assert not step_function_findings(net, run.model, x)
    aside = Forward(lambda m, x: m.last(x) + 0 * x.round()[:, :2], last=nn.Linear(4, 2))
    run = train(aside, (x, (x[:, 0] > 0).long()), steps=5, batch=10)
    assert not step_function_findings(aside, run.model, x)


def test_a_convolution_of_zeros_is_not_said_to_average():
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(144, 2))
    nn.init.zeros_(net[0].weight), nn.init.zeros_(net[0].bias)
    assert not early_pooling_findings(net, drawn(40, 1, 8, 8))
