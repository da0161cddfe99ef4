"""Watching during training: what is recorded, what it costs, and that the loop does not notice."""

import csv
import random
import sys
import warnings
from collections import UserDict  # what a tokenizer of Hugging Face returns

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.modules.preserve import preserve
from gnomon.examination import watch
from tests.examination.patients import cnn, data

TRAIN, _ = data(150, 50)
FULL = {"step", "loss", "probe loss", "kernel drift", "kernel rotation", "alignment", "sharpness", "overhead"}


class Board:
    def __init__(self):
        self.seen = []

    def add_scalar(self, name, value, step):
        self.seen.append((name, value, step))


class Wandb:
    def __init__(self):
        self.seen = []

    def log(self, values, step):
        self.seen.append((values, step))


def restless():
    """Dropout, batch statistics and noise of its own: everything that training mode does."""

    class Noise(nn.Module):
        def forward(self, x):
            return x + 0.1 * torch.randn_like(x) if self.training else x

    torch.manual_seed(0)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), Noise(), nn.Linear(32, 10)
    )


def loop(net, w=None, steps=7, optimizer=torch.optim.SGD):
    x, y = TRAIN
    way = optimizer(net.parameters(), lr=0.1)
    torch.manual_seed(1)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(x.float()), y)
        way.zero_grad()
        loss.backward()
        way.step()
        if w is not None:
            w.step(loss)
    return net


def same(a, b):
    """Two state dicts, to the last bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_loop_with_dropout_and_batch_norm_is_watched_and_does_not_notice(optimizer):
    plain = loop(restless(), optimizer=optimizer, steps=21)
    left = torch.get_rng_state()
    net = restless()
    w = watch(net, TRAIN, every=10)
    loop(net, w, optimizer=optimizer, steps=21)
    assert same(net.state_dict(), plain.state_dict()) and torch.equal(left, torch.get_rng_state())
    assert all(torch.equal(p.grad, q.grad) for p, q in zip(net.parameters(), plain.parameters(), strict=True))
    assert [row["step"] for row in w.rows] == [0, 10, 20] and not w.missing
    assert all(row.keys() == FULL and np.isfinite(list(row.values())).all() for row in w.rows)
    assert w.rows[-1]["kernel drift"] > 0 and w.rows[-1]["probe loss"] != w.rows[0]["probe loss"]
    assert all(part.training for part in net.modules())


def test_each_part_keeps_its_own_mode():
    net = restless()
    net[2].eval()
    watch(net, TRAIN, every=1).step()
    assert [part.training for part in net] == [True, True, False, True, True, True, True]


def test_a_plain_loop_is_written_to_a_file(tmp_path):
    net = cnn()
    w = watch(net, TRAIN, every=3, log=tmp_path / "w.csv")
    loop(net, w)
    rows = list(csv.DictReader((tmp_path / "w.csv").read_text().splitlines()))
    assert [r["step"] for r in rows] == ["0", "3", "6"] and float(rows[1]["sharpness"]) != 0
    assert set(rows[0]) == FULL and all(value for row in rows for value in row.values())


def test_writers_are_known_by_what_they_do():
    for log, seen in ((Board(), "gnomon/kernel drift"), (Wandb(), "gnomon/kernel drift")):
        net = cnn()
        loop(net, watch(net, TRAIN, every=1, log=log), steps=1)
        assert seen in str(log.seen)
    with pytest.raises(gnomon.InputError, match="log must be a path, an object with add_scalar or log"):
        watch(cnn(), TRAIN, log=3)


class Fails(nn.Module):
    """A model that fails in eval mode once it is told to, as it pleases."""

    def __init__(self, reason):
        super().__init__()
        self.w, self.reason, self.now = nn.Linear(64, 10), reason, False

    def forward(self, x):
        if self.now and not self.training:
            raise self.reason
        return self.w(x.flatten(1))


@pytest.mark.parametrize(
    "reason", [RuntimeError("no luck"), MemoryError(), SystemExit(3), gnomon.InputError("a lesson")]
)
def test_no_failure_reaches_the_loop_and_all_are_told(reason):
    net = Fails(reason)
    w = watch(net, TRAIN, every=1)
    w.step(0.5)
    net.now = True
    w.step(0.4)
    net.now = False
    w.step(0.3)
    assert [row.keys() == FULL for row in w.rows] == [True, False, True] and w.rows[1]["loss"] == 0.4
    assert {what for _, what, _ in w.missing} == {"probe loss", "the kernel", "sharpness"}
    assert {step for step, _, _ in w.missing} == {1}
    assert (
        "Not measured: probe loss 1 times" in w.verdict
        and (getattr(reason, "advice", None) or str(reason)) in w.verdict
    )
    assert net.training


def test_an_interrupt_is_the_users_and_is_obeyed():
    net = Fails(KeyboardInterrupt())
    w = watch(net, TRAIN, every=1)
    net.now = True
    with pytest.raises(KeyboardInterrupt):
        w.step()
    assert net.training


def test_weights_that_are_no_numbers_are_told():
    net = cnn()
    w = watch(net, TRAIN, every=1)
    with torch.no_grad():
        next(net.parameters()).fill_(torch.nan)
    w.step(torch.tensor(torch.nan, requires_grad=True))
    assert [what for _, what, _ in w.missing] == ["the kernel", "sharpness"] and "not finite" in w.missing[0][2]


def test_a_writer_that_fails_is_told_and_the_rows_stay(tmp_path):
    def full(row, step):
        raise OSError("no space left")

    w = watch(cnn(), TRAIN, every=1, log=full)
    w.step()
    assert len(w.rows) == 1 and w.missing == [(0, "log", "OSError: no space left")]


def test_a_loss_that_is_no_number_is_told():
    w = watch(cnn(), TRAIN, every=1)
    w.step(torch.ones(2))
    assert w.missing[0][1] == "loss" and w.rows[0].keys() == FULL - {"loss"}


def on_a_clock_of_our_own(monkeypatch, *, kernel, sharpness, **options):
    """A watch and its clock, on which steps take 0.1 s and measurements what is said; not one real second is read."""
    now = [0.0]
    w = watch(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), TRAIN, clock=lambda: now[0], **options)

    def slow(name, seconds):
        made = getattr(type(w.tracker), name)

        def measured(*args):
            now[0] += seconds
            return made(*args)

        monkeypatch.setattr(type(w.tracker), name, measured)

    slow("_kernel", kernel)
    slow("_sharpness", sharpness)
    return w, now


def walk(w, now, steps):
    for _ in range(steps):
        w.step()
        now[0] += 0.1


def test_every_means_every_whatever_it_costs(monkeypatch):
    w, now = on_a_clock_of_our_own(monkeypatch, kernel=1.0, sharpness=2.0, every=10)
    walk(w, now, 101)
    assert [row["step"] for row in w.rows] == list(range(0, 101, 10)) and w.time.skipped == 0
    assert all("sharpness" in row for row in w.rows) and abs(w.time.total - 33) < 1e-9
    assert abs(w.rows[-1]["overhead"] - 33 / 43) < 1e-9


def test_the_share_of_time_spent_stays_below_what_was_asked_for(monkeypatch):
    """Steps of 0.1 s, kernels of 1 s, half of 5 % for them: the second after 2 / 0.025 = 80 s, and then one in 40 s."""
    w, now = on_a_clock_of_our_own(monkeypatch, kernel=1.0, sharpness=3.0, every=1, overhead=0.05)
    walk(w, now, 4000)
    looks = [row["step"] for row in w.rows]
    assert len(w.rows) == 9 and w.time.skipped == 3991 and 795 <= looks[1] <= 805
    curved = [row["step"] for row in w.rows if "sharpness" in row]
    assert 1 <= len(curved) <= 3 and curved[0] > 0  # guessed at eight kernels, and then known to be three
    assert w.overhead <= 0.05 and all(row["overhead"] <= 0.05 for row in w.rows[1:])
    assert "3991 skipped to keep the overhead below 5.0%" in w.verdict


def test_without_a_word_every_fiftieth_step_is_measured_within_five_percent(monkeypatch):
    w, now = on_a_clock_of_our_own(monkeypatch, kernel=1.0, sharpness=1.0)
    walk(w, now, 4000)
    assert w.every == 50 and w.time.limit == 0.05 and len(w.rows) > 5 and w.overhead <= 0.05
    cheap, now = on_a_clock_of_our_own(monkeypatch, kernel=0.01, sharpness=0.01)
    walk(cheap, now, 501)
    assert [row["step"] for row in cheap.rows] == list(range(0, 501, 50))


def test_a_dear_curvature_does_not_keep_the_kernel_from_being_measured(monkeypatch):
    """Nor the other way round: each has half of the limit."""
    w, now = on_a_clock_of_our_own(monkeypatch, kernel=2.0, sharpness=50.0, every=10, overhead=0.05)
    walk(w, now, 30000)
    curved = [row for row in w.rows if "sharpness" in row]
    assert len(w.rows) > 30 and len(curved) == 1 and w.overhead <= 0.05


def test_the_kernel_of_many_outputs_is_that_of_a_combination_of_them():
    """A linear network: both are x x^T, so that drift and alignment are what they would be."""
    x, y = torch.randn(20, 5), torch.randint(40, (20,))
    net = nn.Linear(5, 40, bias=False)
    w = watch(net, (x, y), every=1)
    w.step()
    kernel = w.tracker.first
    assert kernel is not None and kernel.shape == (16, 16)
    seen = w.tracker.examples.x.double()
    assert torch.allclose(kernel, seen @ seen.T, atol=1e-5)


def test_a_model_that_writes_everywhere_is_put_back():
    class Writes(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Linear(2, 2)
            self.register_buffer("calls", torch.zeros(1))
            self.register_buffer("other", torch.zeros(1))

        def forward(self, x):
            self.calls += 1
            self.other = self.other + random.random() + np.random.rand()
            self.note = "called"
            return self.w(x)

    net = Writes()
    calls, other = net.calls, net.other
    random.seed(3), np.random.seed(3)
    drawn = random.random(), np.random.rand()
    random.seed(3), np.random.seed(3)
    with preserve(net, grad=False):
        net(torch.eye(2))
        net.w.weight.grad = torch.ones(2, 2)
    assert net.calls is calls and net.other is other and float(calls) == float(other) == 0
    assert not hasattr(net, "note") and net.w.weight.grad is None
    assert (random.random(), np.random.rand()) == drawn


def test_watching_under_autocast_and_without_gradients():
    net = cnn()
    w = watch(net, TRAIN, every=1)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        w.step()
        assert torch.is_autocast_enabled("cpu") and not torch.is_grad_enabled()
    assert not w.missing


def test_a_batch_of_names_brings_its_labels():
    x, y = TRAIN

    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Linear(64, 10)

        def forward(self, pixels):
            return self.w(pixels.flatten(1))

    for probe in ({"pixels": x, "labels": y}, UserDict(pixels=x, labels=y), (UserDict(pixels=x), y)):
        w = watch(Named(), probe, every=1)
        w.step()
        assert not w.missing and w.rows[0].keys() == FULL - {"loss"}
    with pytest.raises(gnomon.InputError, match="dicts with 'labels'"):
        watch(Named(), {"pixels": x})


@pytest.mark.parametrize("options", [{"every": 0}, {"overhead": 0.0}, {"overhead": 1.5}, {"examples": 1}])
def test_bad_options_are_told_before_the_loop(options):
    ((name, value),) = options.items()
    with pytest.raises(gnomon.InputError, match=f"{name} must be .*, but it is {value}"):
        watch(cnn(), TRAIN, **options)


def test_a_watch_prints_what_it_did():
    net = cnn()
    w = watch(net, TRAIN, every=2)
    loop(net, w, steps=3)
    assert str(w).startswith("Watched 3 steps: 2 measurements") and len(repr(w)) < 2000


def test_missing_trainers_name_themselves(monkeypatch):
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    w = watch(cnn(), TRAIN)
    with pytest.raises(gnomon.MissingExtraError, match="lightning"):
        w.lightning()
    with pytest.raises(gnomon.MissingExtraError, match="transformers"):
        w.huggingface()


@pytest.fixture
def quiet():
    """Trainers warn about each other and about this machine; that is theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def bert(steps, folder, watched):
    """A tiny BERT, built here, trained by a Hugging Face Trainer; its state and the watch."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate, which its Trainer needs, is not installed")
    transformers.utils.logging.set_verbosity_error()
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=12, num_labels=3, hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    g = torch.Generator().manual_seed(1)
    ids, y = torch.randint(40, (48, 10), generator=g), torch.randint(3, (48,), generator=g)
    rows = [{"input_ids": i, "attention_mask": torch.ones_like(i), "labels": c} for i, c in zip(ids, y, strict=True)]
    probe = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": y}
    w = watch(model, probe, every=4) if watched else None
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=8, learning_rate=1e-3, logging_steps=1,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, seed=5,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model=model, args=arguments, train_dataset=rows, callbacks=[w.huggingface()] if w else None
    )
    trainer.train()
    return model.state_dict(), w


def test_a_hugging_face_trainer_is_watched_and_does_not_notice(tmp_path, quiet):
    plain, _ = bert(9, tmp_path / "a", watched=False)
    state, w = bert(9, tmp_path / "b", watched=True)
    assert same(state, plain)
    assert [row["step"] for row in w.rows] == [0, 4, 8] and not w.missing, w.missing
    assert w.rows[0].keys() == FULL - {"loss"} and all(row.keys() == FULL for row in w.rows[1:])
    assert w.rows[-1]["kernel drift"] > 0


def lit(steps, watched):
    """A CNN with batch norm and dropout, trained by a Lightning Trainer; its state and the watch."""
    lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed")
    x, y = TRAIN

    class Network(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(
                nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(144, 10)
            )

        def forward(self, images):
            return self.net(images)

        def training_step(self, batch, index):
            return nn.functional.cross_entropy(self(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    lightning.seed_everything(3, verbose=False)
    model = Network()
    w = watch(model, (x, y), every=4) if watched else None
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
    trainer = lightning.Trainer(
        max_steps=steps, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[w.lightning()] if w else None,
    )  # fmt: skip
    trainer.fit(model, loader)
    return model.state_dict(), w


def test_a_lightning_trainer_is_watched_and_does_not_notice(quiet):
    plain, _ = lit(13, watched=False)
    state, w = lit(13, watched=True)
    assert same(state, plain) and any("num_batches_tracked" in name for name in state)
    assert [row["step"] for row in w.rows] == [0, 4, 8, 12] and not w.missing, w.missing
    assert all(row.keys() == FULL for row in w.rows) and w.rows[-1]["kernel drift"] > 0
