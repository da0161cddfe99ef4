"""Models with states, flat targets, complex parameters, losses of their own, and several outputs."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.adapter.adapt import adapt_inputs, adapt_model_and_data
from gnomon.adapter.complex_parameters import with_real_parameters
from gnomon.adapter.model_loss import find_loss_in_output, loss_from_model_output
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.training import TrainingStep
from gnomon.examination.subject import build_subject
from gnomon.training import TrainingRun

TRAINING = (ArchitectureStep(), TrainingStep())


class Words(nn.Module):
    """An LSTM that reads (steps, columns), needs its state and returns flat log-probabilities."""

    def __init__(self, batch_first=False):
        super().__init__()
        self.words, self.rnn = nn.Embedding(7, 6), nn.LSTM(6, 6, batch_first=batch_first)
        self.out = nn.Linear(6, 7)

    def forward(self, words, hidden):
        h, hidden = self.rnn(self.words(words), hidden)
        return F.log_softmax(self.out(h).reshape(-1, 7), 1), hidden

    def init_hidden(self, columns):
        return torch.zeros(1, columns, 6), torch.zeros(1, columns, 6)


def columns(batches=3):
    blocks = torch.randint(0, 7, (batches, 9, 4), generator=torch.Generator().manual_seed(0))
    return [(block[:-1], block[1:].reshape(-1)) for block in blocks]


@pytest.mark.parametrize("batch_first", [False, True])
def test_flat_targets_become_rows_along_the_axis_that_counts_texts(batch_first):
    data = columns()
    if batch_first:
        data = [(x.T.contiguous(), y.reshape(8, 4).T.reshape(-1)) for x, y in data]
    net = Words(batch_first)
    seen = build_subject(net, data, None, seed=0)
    assert seen.task.reading.task == "language model" and seen.task.reading.positions == 8
    assert len(seen.train) == 12
    few = seen.examples(seen.train.first(4))
    expected = F.nll_loss(net.eval()(data[0][0], net.init_hidden(4))[0], data[0][1])
    assert seen.loss_of(seen.module(few.x), few.y).item() == pytest.approx(expected.item(), rel=1e-6)


def test_a_state_is_passed_to_a_module_that_requires_one():
    class Last(Words):
        def forward(self, words, hidden):
            return self.out(self.rnn(self.words(words), hidden)[0][:, -1])

    net, words = Last(batch_first=True).eval(), torch.randint(0, 7, (5, 3))
    module, x = adapt_inputs(net, words)
    assert torch.equal(module(x), net(words, net.init_hidden(5)))
    plain = nn.Linear(2, 1)
    assert adapt_inputs(plain, torch.zeros(3, 2))[0] is plain


class Waves(nn.Module):
    """Multiplies the spectrum of its input by complex weights."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, dtype=torch.complex64))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x) * self.weight, n=8)


def test_complex_parameters_become_two_real_ones_with_the_same_gradients():
    torch.manual_seed(0)
    net, x = Waves(), torch.randn(6, 8)
    view = with_real_parameters(net)
    assert torch.allclose(view(x), net(x))
    net(x).square().sum().backward()
    view(x).square().sum().backward()
    parts = dict(view.named_parameters())
    found = torch.complex(parts["weight_real"].grad, parts["weight_imag"].grad)
    assert torch.allclose(found, net.weight.grad, rtol=1e-5, atol=1e-5)
    assert net.weight.is_complex() and isinstance(net.weight, nn.Parameter)


def test_a_network_with_complex_parameters_learns_in_an_examination():
    torch.manual_seed(1)
    truth, x = Waves(), torch.randn(120, 8)
    result = gnomon.examine(
        Waves, (x, truth(x).detach()), budget=5, lr=0.05, batch=16, epochs=30, examination_steps=TRAINING
    )
    run = result.products.get(TrainingRun)
    assert float(run.loss[-1]) < 0.1 * float(run.loss[0])


class Copier(nn.Module):
    """Returns its loss, and predictions if asked to."""

    def __init__(self, alone=True):
        super().__init__()
        self.fc, self.alone = nn.Linear(4, 4), alone

    def forward(self, x):
        out = self.fc(x)
        loss = (out - x).square().mean()
        return loss if self.alone else {"loss": loss, "logits": out}


@pytest.mark.parametrize("alone", [True, False])
def test_a_loss_that_the_model_computes_is_the_loss_that_is_trained(alone):
    net, x = Copier(alone).eval(), torch.randn(6, 4)
    read = adapt_model_and_data(net, {"x": x})
    returned = read.module(read.train[0])
    assert torch.allclose(loss_from_model_output(returned, None), find_loss_in_output(net(x)))
    rows = returned["logits"]
    expected = (net.fc(x) - x).square().mean(1, keepdim=True) if alone else net.fc(x)
    assert torch.allclose(rows, expected)
    assert build_subject(net, {"x": x}, None, seed=0).task.reading.task == "model loss"


def test_a_model_with_its_own_loss_is_trained_in_an_examination():
    torch.manual_seed(0)
    x = torch.randn(100, 4)
    result = gnomon.examine(Copier, x, x[:20], budget=5, lr=0.05, batch=10, epochs=30, examination_steps=TRAINING)
    run = result.products.get(TrainingRun)
    assert float(run.loss[-1]) < 0.1 * float(run.loss[0])


def test_data_without_targets_are_refused_if_the_model_has_no_loss():
    with pytest.raises(gnomon.InputError, match="without targets"):
        build_subject(nn.Linear(2, 2), torch.zeros(4, 2), None, seed=0)


class Coarse(nn.Module):
    """Logits of half the size of the labels; computes its loss from labels, as SegFormer does."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 2, stride=2)

    def forward(self, pixel_values, labels=None):
        logits = self.conv(pixel_values)
        large = F.interpolate(logits, scale_factor=2)
        return {"logits": logits} if labels is None else {"logits": logits, "loss": F.cross_entropy(large, labels)}


def test_labels_that_do_not_fit_the_outputs_are_left_to_the_model():
    data = {"pixel_values": torch.randn(5, 1, 4, 4), "labels": torch.randint(0, 3, (5, 4, 4))}
    net = Coarse().eval()
    seen = build_subject(net, data, None, seed=0)
    few = seen.examples(seen.train.first(5))
    assert seen.task.reading.task == "model loss"
    assert seen.loss_of(seen.module(**few.x), few.y).item() == pytest.approx(net(**data)["loss"].item())


class TwoOutputs(nn.Module):
    """Returns what came before and what comes next, as N-BEATS does."""

    def __init__(self):
        super().__init__()
        self.back, self.next = nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.back(x), self.next(x)


def test_the_output_with_the_shape_of_the_targets_is_taken():
    net, x = TwoOutputs(), torch.randn(5, 6)
    read = adapt_model_and_data(net, (x, torch.zeros(5, 2)))
    assert torch.equal(outputs_in_eval_mode(read.module, x), net.next(x).detach())
    assert adapt_model_and_data(net, (x, torch.zeros(5, 6))).module is net


def test_a_batch_whose_last_axis_has_one_number_and_another_stride_is_digested():
    x = torch.randn(3, 40).T[:, :, None].transpose(1, 2)
    assert x.shape[-1] == 3
    one = torch.randn(1, 40).T.unsqueeze(1)[:, :, :1].as_strided((40, 1, 1), (1, 40, 40))
    result = gnomon.examine(nn.Flatten(), (one, torch.zeros(40, 1)), budget=2, examination_steps=())
    assert "40 examples" in result.manifest["training data"]
