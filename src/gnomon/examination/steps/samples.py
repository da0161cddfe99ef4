"""Examination step that draws samples from a generative model, such as a VAE, and shows the nearest training examples.

The code is the first input of a layer that differs between two passes over the same examples. It is replaced by

    z ~ N(0, I),   sample = outputs of the model for the code z,                                             (1)

which are samples of the model if its prior is the standard normal distribution.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import seed_generators
from gnomon.core.results import Finding, Hypothesis, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    SKIPPED_WITHOUT_TRAINING,
    TRAINING_NOT_FINISHED,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.subject import Subject
from gnomon.findings import generative as kinds
from gnomon.report import PageContent
from gnomon.report.shown_example import ShownExample, draw_picture, is_picture
from gnomon.training import TrainingRun

SHOWN_SAMPLES = 12
"""Number of samples that are shown."""
MEASURED_SAMPLES = 64
"""Maximum number of samples whose distances from each other are measured."""
MAX_COMPARED_EXAMPLES = 2000
"""Maximum number of training examples that are compared with the samples."""
MIN_SPREAD_SHARE = 0.5
"""Share of the distance between training examples below which samples vary far less than the data: samples of a model
that generates the distribution of the data have the same distances, up to the chance of 64 draws. On digits and on
normal numbers, 0 of 200 such models were reported."""


MAX_COLLAPSED_SHARE = 0.25
"""Share of the distance between training examples below which samples look the same: half of `MIN_SPREAD_SHARE`."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSamples(Record):
    """Result: samples drawn from a model, the number of its latent dimensions, and distances to the nearest training
    examples.

    ``spread`` is the median distance between two samples, ``data_spread`` between two training examples.
    """

    samples: Tensor
    code_size: int
    distances: Tensor
    spread: float
    data_spread: float


class SamplesStep(AbstractStep):
    """Examination step that shows samples of a model with a random latent code, such as a VAE."""

    key, title, share = "samples", "Samples of the model", 0.02
    question = "What does the model generate, and does it repeat training examples?"
    uses = (TrainingRun,)
    gives = DrawnSamples
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit and _makes_examples(subject)

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run = products.get(TrainingRun)
        if not _makes_examples(subject):
            raise StepSkipped("Skipped: the outputs do not have the shape of the inputs, so they cannot be samples.")
        if run is None:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        model = copy_module(run.model)
        x = subject.probe.some(MEASURED_SAMPLES).x
        assert isinstance(x, Tensor)
        where = latent_code_layer(model, x, context.seed)
        if where is None:
            raise StepSkipped("Skipped: the network has no random code, so it cannot draw new examples.")
        layer, size = where
        with torch.random.fork_rng(devices=[]), _random_code(model, layer):
            seed_generators(context.seed)
            made = subject.outputs(x, model).reshape(x.shape)  # (1)
        seen = subject.examples(subject.train.probe(MAX_COMPARED_EXAMPLES, seed=context.seed)).x
        assert isinstance(seen, Tensor)
        shown = made[:SHOWN_SAMPLES]
        distances, nearest = torch.cdist(shown.double().flatten(1), seen.double().flatten(1)).min(1)
        spread, data_spread = (_median_distance(t.double().flatten(1)) for t in (made, seen[: len(made)]))
        product = DrawnSamples(shown, size, distances, spread, data_spread)
        content = _content(product, seen, nearest, unfinished=bool(run.shortage))
        return StepResult(content, product, "unsure" if run.shortage else "answered")


def _makes_examples(subject: Subject) -> bool:
    x = subject.probe.x
    return isinstance(x, Tensor) and x.is_floating_point() and x[0].numel() == subject.task.outputs > 1


def _content(drawn: DrawnSamples, seen: Tensor, nearest: Tensor, *, unfinished: bool) -> PageContent:
    few = seen[: len(drawn.samples) * 10].double().flatten(1)
    usual = float(torch.cdist(few, few).fill_diagonal_(torch.inf).min(1).values.median())
    away, spread, wanted = float(drawn.distances.median()), drawn.spread, drawn.data_spread
    share = spread / wanted if wanted > 0 else 1.0
    uniform = share < MIN_SPREAD_SHARE
    kind = kinds.SAMPLES_COLLAPSED if share < MAX_COLLAPSED_SHARE else kinds.SAMPLES_HARDLY_DIFFER
    findings = (Finding(kind, "outputs", {"share": share}),) if uniform and not unfinished else ()
    answer = (
        f"{len(drawn.samples)} samples from random codes of {drawn.code_size} numbers. The samples differ from each "
        f"other by {spread:.3g} (median distance), training examples by {wanted:.3g}"
        f"{': the samples vary far less than the data' if uniform else ''}. The nearest training example of a sample "
        f"is {away:.3g} away; the nearest other example of a training example is {usual:.3g} away."
    )
    answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if unfinished else answer
    shown = tuple(
        _exhibit(i, drawn.samples[i], seen[int(nearest[i])], float(drawn.distances[i]))
        for i in range(len(drawn.samples))
    )
    values = (
        Value("median distance of a sample to its nearest training example", away, id="sample-distance"),
        Value("median distance between neighboring training examples", usual, id="training-distance"),
        Value("median distance between two samples", spread, id="sample-spread"),
        Value("median distance between two training examples", wanted, id="training-spread"),
    )
    definition = QuantityDefinition("z ~ N(0, I)", "the code of each sample", "kingma2014auto")
    premise = Hypothesis("the prior of the code is the standard normal distribution", None)
    return PageContent(answer, findings, values, (), (definition,), (premise,), exhibits=shown, good_news=not uniform)


def _median_distance(rows: Tensor) -> float:
    """Returns the median distance between two different rows.

    >>> _median_distance(torch.tensor([[0.0], [1.0], [3.0]]))
    2.0
    """
    return float(torch.nn.functional.pdist(rows).median())


def _exhibit(number: int, sample: Tensor, nearest: Tensor, distance: float) -> ShownExample:
    words = ("nearest example", "sample")
    if is_picture(sample):
        return ShownExample(
            number, "", "", f"distance {distance:.2g}", draw_picture(sample), label_picture=draw_picture(nearest),
            words=words, input_word="sample", ranked=False,
        )  # fmt: skip
    numbers = tuple(f"{value:.3g}" for value in sample.flatten()[:12].tolist())
    return ShownExample(
        number, "", "", f"nearest training example {distance:.2g} away", features=numbers,
        hidden=max(0, sample.numel() - 12), words=words, ranked=False,
    )  # fmt: skip


def latent_code_layer(model: nn.Module, x: Tensor, seed: int) -> tuple[str, int] | None:
    """Finds the layer that takes the random latent code; returns its name and number of dimensions, or None.

    Parts of the model that are not layers run as in training, because some models use the mean of the code otherwise;
    dropout and batch norm stay as in eval mode.

    Cost: two forward passes.

    >>> class Noisy(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.encode, self.decode = nn.Linear(4, 2), nn.Linear(2, 4)
    ...     def forward(self, x):
    ...         code = self.encode(x)
    ...         return self.decode(code + torch.randn_like(code))
    >>> latent_code_layer(Noisy(), torch.ones(3, 4), 0), latent_code_layer(nn.Linear(4, 4), torch.ones(3, 4), 0)
    (('decode', 2), None)
    """
    passes: list[dict[str, Tensor]] = []
    for i in range(2):
        inputs: dict[str, Tensor] = {}
        with torch.random.fork_rng(devices=[]), _as_in_training(model), torch.no_grad(), _kept_inputs(model, inputs):
            seed_generators(seed + i)
            model(x)
        passes.append(inputs)
    first, second = passes
    for name, value in first.items():
        other = second.get(name)
        if other is not None and other.shape == value.shape and not torch.equal(value, other):
            return (name, value[0].numel()) if len(value) == len(x) and value[0].numel() < x[0].numel() else None
    return None


@contextmanager
def _as_in_training(model: nn.Module) -> Iterator[None]:
    """Context manager that makes a VAE sample although dropout is off: containers are in train mode, layers in eval
    mode.
    """
    before = {part: part.training for part in model.modules()}
    model.eval()
    for part in model.modules():
        part.training = any(True for _ in part.children())
    try:
        yield
    finally:
        for part, was in before.items():
            part.training = was


@contextmanager
def _kept_inputs(model: nn.Module, kept: dict[str, Tensor]) -> Iterator[None]:
    """Context manager that stores the first input of each layer by name, in the order of calls."""

    def keep(name: str) -> Any:
        def hook(_: nn.Module, inputs: tuple[Any, ...]) -> None:
            if name not in kept and inputs and isinstance(inputs[0], Tensor):
                kept[name] = inputs[0].detach().clone()

        return hook

    layers = [(name, part) for name, part in model.named_modules() if name and not any(True for _ in part.children())]
    handles = [part.register_forward_pre_hook(keep(name)) for name, part in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _random_code(model: nn.Module, layer: str) -> Iterator[None]:
    """Context manager that replaces the input of one layer by standard normal random numbers."""

    def replace_code(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (torch.randn_like(inputs[0]), *inputs[1:])

    handle = dict(model.named_modules())[layer].register_forward_pre_hook(replace_code)
    try:
        yield
    finally:
        handle.remove()
