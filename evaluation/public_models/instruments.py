"""Single instruments on eight public architectures, each number compared with autograd or a plain loop.

    python -m evaluation.public_models.instruments                         the table
    python -m evaluation.public_models.instruments --model gpt2 --instrument ntk
    python -m evaluation.public_models.instruments --gpt2-small            124 million parameters: time and memory

Each call gets the model and a few examples as their users have them. ``error`` is relative to the reference.
"""

import argparse
import json
import multiprocessing
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import gnomon
from evaluation.public_models.cases.language import gpt2
from evaluation.public_models.references import (
    fixed_noise,
    gradient_square,
    largest_eigenvalue,
    mean_squares,
    softmax_layer_trace,
    squared_loss_layer_trace,
    sum_kernel,
)
from evaluation.public_models.registry import CASES
from evaluation.public_models.steps import in_order, without_labels
from gnomon import bayes, checks, landscape

MODELS = ("gpt2", "bert", "vit", "resnet18", "unet", "tabm", "vae", "gin")
LAST_LAYERS = {
    "gpt2": "lm_head.*", "bert": "classifier.*", "vit": "classifier.*", "resnet18": "linear.*", "unet": "outc.*",
    "tabm": "output.*", "vae": "fc4.*", "gin": "mlp.3.*",
}  # fmt: skip
"""Names of the parameters of each last layer."""
DIAGONAL = ("gpt2", "vae", "unet")
"""Models whose last layer has many outputs: only the diagonal of its matrix is computed."""
EXAMPLES = 4
UNET_ACCURACY = 0.01
"""Largest relative error of the sharpness of the UNet: each product with its Hessian takes a second."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """A model in eval mode with a few examples as its users have them."""

    id: str
    model: nn.Module
    batch: Any

    @property
    def inputs(self) -> Any:
        """The batch without its targets."""
        if isinstance(self.batch, dict):
            return without_labels(self.batch)
        return self.batch[0] if isinstance(self.batch, tuple) else self.batch

    @property
    def options(self) -> dict[str, Any]:
        """The user's loss, if the case has one."""
        loss = CASES[self.id].loss
        return {} if loss is None else {"loss": loss}

    @property
    def squared(self) -> Any:
        """The batch; for the VAE with reconstructions as numbers, so that the usual squared loss fits."""
        return (self.batch[0], self.batch[1].flatten(1)) if self.id == "vae" else self.batch

    @property
    def parameters(self) -> list[Tensor]:
        """What is trained."""
        return [p for p in self.model.parameters() if p.requires_grad]

    def outputs(self) -> Tensor:
        """Predictions as a plain forward returns them."""
        if isinstance(self.batch, dict):
            return self.model(**self.inputs).logits
        if isinstance(self.batch, tuple):
            with fixed_noise():
                out = self.model(*self.inputs) if isinstance(self.inputs, tuple) else self.model(self.inputs)
            return out[0] if isinstance(out, tuple) else out
        return self.model(self.batch.x, self.batch.edge_index, self.batch.batch)

    def loss(self) -> Tensor:
        """What a plain loop minimizes, in eval mode; the VAE has one fixed draw of noise, the same for all examples."""
        with fixed_noise():
            return CASES[self.id].batch_loss(self.model, self.batch)

    def squared_loss(self) -> Tensor:
        """Half of the squared error of reconstructions, for instruments that do not know the loss of the VAE."""
        return (self.outputs() - self.batch[1].flatten(1)).square().sum(1).mean() / 2


@dataclass(frozen=True, slots=True)
class Check:
    """One instrument on one model; ``error`` is relative, None if the instrument failed."""

    model: str
    instrument: str
    number: float | None
    reference: float | None
    error: float | None
    seconds: float
    note: str = ""


def first_examples(id: str) -> Examples:
    """The model of a case with its first test examples."""
    case = CASES[id]
    torch.manual_seed(0)
    model = (gpt2(tied=False) if id == "gpt2" else case.build()).eval()  # tied weights are no last layer
    test = case.data(0).test
    if id == "gin":
        from torch_geometric.data import Batch

        return Examples(id, model, Batch.from_data_list([test.dataset[i] for i in range(EXAMPLES)]))
    return Examples(id, model, next(iter(in_order(test, EXAMPLES))))


Measured = tuple[float, Callable[[], float]]
"""The instrument's number, and the reference, which is computed afterwards."""


def ntk(given: Examples) -> Measured:
    """Sum of the kernel of the outputs' sum against autograd."""
    kernel = gnomon.ntk(given.model, given.inputs, outputs="pseudo")
    return float(kernel.sum()), lambda: float(sum_kernel(given.outputs, given.parameters).sum())


def watch(given: Examples) -> Measured:
    """Loss of the probe after two steps of a plain loop."""
    watching = gnomon.watch(given.model, given.batch, every=1, examples=EXAMPLES, **given.options)
    optimizer = torch.optim.SGD(given.parameters, lr=1e-3)
    for _ in range(2):
        optimizer.zero_grad()
        loss = given.loss()
        loss.backward()
        optimizer.step()
        with fixed_noise():  # the loss of the probe is that of one draw
            watching.step(loss)
    if watching.missing:
        raise RuntimeError(f"not measured: {watching.missing[0]}")
    return watching.rows[-1]["probe loss"], lambda: float(given.loss())


def signal(given: Examples) -> Measured:
    """Sum over layers of the mean squares of their outputs, against hooks."""
    data = (given.batch,) if isinstance(given.batch, dict) else given.batch
    with fixed_noise():
        measured = checks.signal_propagation(given.model, data, **given.options)
    plain = mean_squares(given.model, given.outputs)
    pairs = [(layer.activation, plain[layer.name]) for layer in measured.layers if layer.name in plain]
    single = [(a, b[0]) for a, b in pairs if a is not None and len(b) == 1]
    return sum(a for a, _ in single), lambda: sum(b for _, b in single)


def sharpness(given: Examples) -> Measured:
    """Largest eigenvalue of the Hessian against Lanczos on autograd; of smaller images and to 1 % for the UNet."""
    accuracy = None
    if given.id == "unet":
        given, accuracy = Examples(given.id, given.model, smaller(given.id, given.batch)), UNET_ACCURACY
    measured = landscape.sharpness(given.model, given.batch, accuracy=accuracy, **given.options)
    return float(measured.value), lambda: largest_eigenvalue(given.loss, given.parameters)


def laplace(given: Examples) -> Measured:
    """Trace of the last layer's Gauss-Newton matrix against its closed form; large layers by its diagonal alone."""
    measured = bayes.laplace(
        given.model, given.squared, parameters=LAST_LAYERS[given.id], prior_precision=1.0,
        structure="diagonal" if given.id in DIAGONAL else "full",
    )  # fmt: skip
    return float(measured.eigenvalues.sum()), lambda: _last_layer_trace(given)


def predict(given: Examples) -> Measured:
    """How fast the loss falls at first, against the squared gradient; on smaller examples if outputs are many."""
    given = Examples(given.id, given.model, smaller(given.id, given.batch))
    loss = given.squared_loss if given.id == "vae" else given.loss
    slope, start = gradient_square(loss, given.parameters), float(loss())
    short = 1e-3 * start / slope
    run = gnomon.predict(given.model, given.squared, times=[0.0, short])
    return float(run.loss[0] - run.loss[-1]) / short, lambda: slope


def smaller(id: str, batch: Any) -> Any:
    """Fewer tokens, pixels or examples: the coupled kernel of all outputs has at most 3,000 rows."""
    if id == "gpt2":
        return {name: t[:, :7] for name, t in batch.items()}
    if id == "unet":
        return tuple(t[:3, ..., :16, :16] for t in batch)
    return tuple(t[:3] for t in batch) if id == "vae" else batch


INSTRUMENTS: dict[str, Callable[[Examples], Measured]] = {
    "ntk": ntk, "watch": watch, "signal": signal, "sharpness": sharpness, "laplace": laplace, "predict": predict,
}  # fmt: skip


def _last_layer_trace(given: Examples) -> float:
    """For a linear layer or a convolution of one pixel, with softmax after it."""
    name = LAST_LAYERS[given.id].removesuffix(".*")
    layer = given.model.get_submodule(name)
    seen: list[Tensor] = []
    handle = layer.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0].detach()))
    with torch.no_grad():
        logits = given.outputs()
    handle.remove()
    features = seen[0]
    if given.id == "vae":
        return squared_loss_layer_trace(features, logits)
    if isinstance(layer, nn.Conv2d):
        features, logits = features.movedim(1, -1), logits.movedim(1, -1)
    if given.id == "gpt2":  # the last position has no label
        features, logits = features[:, :-1], logits[:, :-1]
    members = logits.shape[1] if given.id == "tabm" else 1  # the loss is the mean over the members of the ensemble
    return softmax_layer_trace(features, logits, bias=getattr(layer, "bias", None) is not None) / members


def check(id: str, instrument: str) -> Check:
    """Runs one instrument on one model; an error is the result, not the end."""
    given = first_examples(id)
    start = time.perf_counter()
    try:
        number, reference = INSTRUMENTS[instrument](given)
    except Exception as error:
        note = " ".join(str(error).split()) or traceback.format_exc()
        return Check(id, instrument, None, None, None, time.perf_counter() - start, f"{type(error).__name__}: {note}")
    seconds = time.perf_counter() - start
    expected = reference()
    return Check(id, instrument, number, expected, abs(number - expected) / abs(expected), seconds)


def check_within(id: str, instrument: str, limit: float) -> Check:
    """The same in a process of its own, which is ended after this many seconds."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(check(id, instrument)))
    process.start()
    answered = receiver.poll(limit)
    result = receiver.recv() if answered else None
    process.terminate()
    process.join()
    return Check(id, instrument, None, None, None, limit, "no answer in time") if result is None else result


def line(result: Check) -> str:
    """A row of the table in Markdown."""
    if result.number is None or result.reference is None or result.error is None:
        return f"| {result.model} | {result.instrument} | no | {result.note[:100]} | | | {result.seconds:.1f} |"
    numbers = f"{result.number:.6g} | {result.reference:.6g} | {result.error:.1e}"
    return f"| {result.model} | {result.instrument} | yes | {numbers} | {result.seconds:.1f} |"


def gpt2_small() -> str:
    """`ntk` and `watch` on eight sequences of 64 tokens with GPT-2 small, random weights: seconds and memory."""
    import resource

    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config()).eval()
    tokens = torch.randint(0, 50257, (8, 64))
    start = time.perf_counter()
    kernel = gnomon.ntk(model, {"input_ids": tokens}, outputs="pseudo")
    middle = time.perf_counter()
    watching = gnomon.watch(model, {"input_ids": tokens, "labels": tokens}, every=1, examples=8)
    watching.measure()
    end = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"ntk {tuple(kernel.shape)} in {middle - start:.0f} s, one measurement of watch in {end - middle:.0f} s, "
        f"largest memory {memory:.1f} GiB, not measured: {watching.missing}, row: {watching.rows[-1]}"
    )


def main() -> None:
    """Prints the table; results can also be written as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.public_models.instruments", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--model", action="append", choices=MODELS, help="may be repeated; all by default")
    parser.add_argument(
        "--instrument", action="append", choices=tuple(INSTRUMENTS), help="may be repeated; all by default"
    )
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one instrument with its reference")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append each result to this file")
    parser.add_argument("--gpt2-small", action="store_true", help="time and memory of ntk and watch on GPT-2 small")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if options.gpt2_small:
        print(gpt2_small())
        return
    print("| model | instrument | works | number | reference | error | seconds |\n|---|---|---|---|---|---|---|")
    for id in options.model or MODELS:
        for instrument in options.instrument or INSTRUMENTS:
            result = check_within(id, instrument, options.limit)
            print(line(result), flush=True)
            if options.json is not None:
                with options.json.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")


if __name__ == "__main__":
    main()
