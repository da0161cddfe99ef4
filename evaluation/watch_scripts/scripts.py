"""The public scripts: where they are in their checkouts, with which arguments they run, and what is prepared for them."""

import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Script:
    """A script: the checkout, the folder that is copied, the file in it, the arguments, and the preparation."""

    id: str
    checkout: str
    folder: str
    file: str
    arguments: tuple[str, ...] = ()
    prepare: Callable[[Path], None] = lambda folder: None
    path: str = ""


def _results(folder: Path) -> None:
    (folder / "results").mkdir(exist_ok=True)


def _sine_waves(folder: Path) -> None:
    subprocess.run([sys.executable, "generate_sine_wave.py"], cwd=folder, check=True)


def _words(folder: Path) -> None:
    """A small corpus of the lines of the validation text, in the three files that the script reads."""
    lines = (folder / "data" / "wikitext-2" / "valid.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    small = folder / "data" / "small"
    small.mkdir(parents=True)
    for name, start, end in (("train", 0, 500), ("valid", 500, 560), ("test", 560, 620)):
        (small / f"{name}.txt").write_text("".join(lines[start:end]), encoding="utf-8")


def _characters(folder: Path) -> None:
    """The text of the project's own read me, one number for each character."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    letters = sorted(set(text))
    numbers = array("H", [letters.index(letter) for letter in text])
    cut = int(0.9 * len(numbers))
    target = folder / "data" / "chars"
    target.mkdir(parents=True, exist_ok=True)
    (target / "train.bin").write_bytes(numbers[:cut].tobytes())
    (target / "val.bin").write_bytes(numbers[cut:].tobytes())
    (target / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": len(letters)}))


NANO = (
    "--dataset=chars", "--device=cpu", "--compile=False", "--dtype=float32", "--eval_interval=100", "--eval_iters=10",
    "--log_interval=50", "--block_size=64", "--batch_size=8", "--n_layer=3", "--n_head=4", "--n_embd=96",
    "--dropout=0.1", "--max_iters=200", "--lr_decay_iters=200", "--warmup_iters=20", "--gradient_accumulation_steps=2",
)  # fmt: skip
WORDS = ("--data", "./data/small", "--epochs", "2", "--emsize", "64", "--nhid", "64", "--bptt", "20", "--lr", "5")

SCRIPTS = (
    Script("mnist", "examples", "mnist", "main.py", ("--epochs", "2")),
    Script("mnist_rnn", "examples", "mnist_rnn", "main.py", ("--epochs", "3")),
    Script("vae", "examples", "vae", "main.py", ("--epochs", "10"), _results),
    Script("regression", "examples", "regression", "main.py"),
    Script("time_sequence_prediction", "examples", "time_sequence_prediction", "train.py", ("--steps", "1"), _sine_waves),
    Script("gcn", "examples", "gcn", "main.py", ("--epochs", "200")),
    Script("gat", "examples", "gat", "main.py", ("--epochs", "6", "--hidden-dim", "16", "--num-heads", "4")),
    Script("mnist_forward_forward", "examples", "mnist_forward_forward", "main.py",
           ("--epochs", "150", "--train_size", "1000", "--test_size", "500")),
    Script("word_language_model", "examples", "word_language_model", "main.py", WORDS, _words),
    Script("word_transformer", "examples", "word_language_model", "main.py",
           (*WORDS, "--model", "Transformer", "--use-optimizer", "--lr", "0.001"), _words),
    Script("makemore", "makemore", ".", "makemore.py", ("--max-steps", "400", "--num-workers", "0")),
    Script("minGPT-adder", "minGPT", ".", "projects/adder/adder.py",
           ("--trainer.max_iters=600", "--trainer.num_workers=0"), path="."),
    Script("nanoGPT", "nanoGPT", ".", "train.py", NANO, _characters),
)  # fmt: skip
"""All scripts."""

MNIST_SIZE = 640
"""Training examples of the short runs with a planted mistake."""
SHORT: dict[str, tuple[str, ...]] = {
    "gat": ("--epochs", "5", "--hidden-dim", "8", "--num-heads", "2"),
    "mnist_forward_forward": ("--epochs", "20", "--train_size", "400", "--test_size", "100"),
    "word_language_model": (*WORDS, "--epochs", "1", "--emsize", "16", "--nhid", "16"),
    "word_transformer": (
        *WORDS,
        "--epochs",
        "1",
        "--emsize",
        "16",
        "--nhid",
        "16",
        "--model",
        "Transformer",
        "--use-optimizer",
        "--lr",
        "0.001",
    ),
    "mnist": ("--epochs", "3", "--test-batch-size", "80"),
    "mnist_rnn": ("--epochs", "4", "--test-batch-size", "80"),
    "vae": ("--epochs", "8", "--batch-size", "64"),
    "makemore": ("--max-steps", "60", "--num-workers", "0"),
    "minGPT-adder": ("--trainer.max_iters=60", "--trainer.num_workers=0", "--data.ndigit=1"),
    "nanoGPT": (*NANO, "--max_iters=40", "--eval_interval=20"),
}
"""Arguments of the short runs with a planted mistake."""
