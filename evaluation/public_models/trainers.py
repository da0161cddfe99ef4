"""Trainers of real libraries in `gnomon.examine`: `python -m evaluation.public_models.trainers`.

Prints for each what was trained with which optimizer and loss, and whether the user's weights stayed the same.
"""

import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon.training import TrainingRun

BUDGET = 8.0
"""Seconds for each examination."""


def lightning(loss: Callable[[Tensor, Tensor], Tensor], *, fitted: bool = False) -> tuple[nn.Module, tuple[Any, ...]]:
    """A Lightning module with a schedule, and what is passed to `gnomon.examine`."""
    import lightning as pl

    class Net(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))

        def forward(self, x: Tensor) -> Tensor:
            return self.net(x)

        def training_step(self, batch: Any, index: int) -> Tensor:
            found = loss(self(batch[0]), batch[1])
            self.log("loss", found)
            return found

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.AdamW(self.parameters(), lr=3e-3)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.5)]

    x = torch.randn(400, 8)
    y = (x[:, 0] * x[:, 1] > 0).long()
    loaders = [DataLoader(TensorDataset(x[part], y[part]), batch_size=32) for part in (slice(300), slice(300, 400))]
    net = Net()
    if not fitted:
        return net, (net, *loaders)
    off = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", **off)
    trainer.fit(net, *loaders)
    return net, (trainer,)


def huggingface(*, smoothing: float, folder: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """A trainer of a small BERT; with ``smoothing``, its class computes another loss than the model."""
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    class Smoothed(Trainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **more: Any) -> Any:
            out = model(**inputs)
            loss = F.cross_entropy(out.logits, inputs["labels"], label_smoothing=smoothing)
            return (loss, out) if return_outputs else loss

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    net = BertForSequenceClassification(BertConfig(vocab_size=20, num_labels=2, max_position_embeddings=16, **sizes))
    tokens = torch.randint(3, 20, (300, 8))
    rows = [
        {"input_ids": row, "labels": (row[0] > 10).long(), "attention_mask": torch.ones_like(row)} for row in tokens
    ]
    options = TrainingArguments(
        output_dir=folder, learning_rate=1e-3, weight_decay=0.1, per_device_train_batch_size=16, report_to=[],
        use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    kind = Smoothed if smoothing else Trainer
    return net, (kind(model=net, args=options, train_dataset=rows[:200], eval_dataset=rows[200:]),)


def described(name: str, net: nn.Module, given: tuple[Any, ...]) -> str:
    """One line about an examination."""
    before = [p.detach().clone() for p in net.parameters()]
    found = gnomon.examine(*given, budget=BUDGET)
    same = all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
    run = found.products.get(TrainingRun)
    head = f"{name}: loss {found.manifest['loss']}, weights {'unchanged' if same else 'CHANGED'}, "
    if run is None:
        return f"{head}not trained again"
    accuracy = "no accuracy" if run.test_accuracy is None else f"test accuracy {float(run.test_accuracy[-1]):.0%}"
    losses = f"loss {float(run.loss[0]):.3f} to {float(run.loss[-1]):.3f}"
    return f"{head}{run.optimizer.name} at {run.optimizer.lr:g}, {int(run.steps[-1])} steps, {losses}, {accuracy}"


def main() -> None:
    """Examines each trainer."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    penalized: Callable[[Tensor, Tensor], Tensor] = lambda f, y: F.cross_entropy(f, y) + 0.1 * f.square().mean()  # noqa: E731
    print(described("Lightning module", *lightning(F.cross_entropy)))
    print(described("Lightning module with its own loss", *lightning(penalized)))
    print(described("Lightning trainer after fit", *lightning(F.cross_entropy, fitted=True)))
    with tempfile.TemporaryDirectory() as folder:
        print(described("Hugging Face trainer", *huggingface(smoothing=0.0, folder=folder)))
        print(described("Hugging Face trainer with its own loss", *huggingface(smoothing=0.1, folder=folder)))


if __name__ == "__main__":
    main()
