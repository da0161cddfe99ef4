"""Examination step that reports what the network uses: shortcuts, image frequencies, and how well layers separate
classes.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution import attribution_overview, shortcuts, token_attribution_overview
from gnomon.attribution.sheet import AttributionOverview
from gnomon.attribution.shortcut import Shortcuts
from gnomon.core.results import QuantityDefinition, Value
from gnomon.examination.cost import largest_size_up_to
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
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.report import PageContent
from gnomon.report.shown_example import ShownExample, draw_picture, show_example
from gnomon.training import TrainingRun

SIZES = (128, 256, 512, 1024)
"""Numbers of examples used, chosen by time."""
MIN_EXAMPLES = 30
"""Minimum number of examples."""
SIGNIFICANCE_LEVEL = 0.005
"""Maximum probability of reporting a shortcut for a network without shortcuts."""
SEARCH_PASSES_PER_EXAMPLE = 5.0
"""Forward and backward passes per example for the search for shortcuts."""
SHEET_PASSES_PER_EXAMPLE = 12.0
"""Forward and backward passes per example for the whole sheet."""
MAP_PASSES = 800.0
"""Forward and backward passes for the maps of the sheet."""


class AttributionStep(AbstractStep):
    """Examination step that searches the trained network for shortcuts and, if time allows, explains single
    predictions.
    """

    key, title, share = "attribution", "What the network looks at", 0.03
    question = "Does the network use the intended features or a shortcut?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = Shortcuts
    rests_on = ("examples", "decisions")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return subject.task.classes > 1

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        each, run = max(products[NetworkProfile].cost.each, 1e-9), products.get(TrainingRun)
        if run is None and context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run is not None and run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        affordable = context.seconds / 2 / each
        size = largest_size_up_to(SIZES, affordable / SEARCH_PASSES_PER_EXAMPLE)
        if SEARCH_PASSES_PER_EXAMPLE * size > 2 * affordable:
            raise out_of_time_error(
                f"A search for shortcuts on {size} examples", SEARCH_PASSES_PER_EXAMPLE * size * each, context
            )
        source = subject.train if subject.test is None else subject.test
        examples = subject.examples(source.probe(size, seed=context.seed))
        if subject.task.classes < 2 or len(examples) < MIN_EXAMPLES:
            few = f"There are {len(examples)} examples, and fewer than {MIN_EXAMPLES} are not enough to find shortcuts."
            raise StepSkipped(
                "Skipped: gnomon looks for shortcuts only in classification." if subject.task.classes < 2 else few
            )
        if not isinstance(examples.x, Tensor):
            raise StepSkipped("Skipped: the inputs are not one tensor of numbers.")
        model, data = subject.module if run is None else run.model, (examples.x, examples.y)
        if not examples.x.is_floating_point():
            costly = affordable < MAP_PASSES + SHEET_PASSES_PER_EXAMPLE * size
            return _mark_as_unfinished(_tokens(subject, model, data, costly=costly, seed=context.seed), run)
        if affordable < MAP_PASSES + SHEET_PASSES_PER_EXAMPLE * size:
            found = shortcuts(
                model, data, level=SIGNIFICANCE_LEVEL, columns=_names(subject, examples.x), seed=context.seed
            )
            return _mark_as_unfinished(StepResult(_content(found, None), found), run)
        sheet = attribution_overview(model, data, columns=_names(subject, examples.x), seed=context.seed)
        content = replace(_content(sheet.shortcuts, sheet), exhibits=_maps(sheet))
        return _mark_as_unfinished(StepResult(content, sheet.shortcuts), run)


def _names(subject: Subject, x: Tensor) -> tuple[str, ...]:
    """Returns the names of the columns if the inputs are a table with named columns; otherwise none."""
    return tuple(subject.columns) if x.dim() == 2 and len(subject.columns) == x.shape[1] else ()


def _tokens(
    subject: Subject, model: nn.Module, data: tuple[Tensor, Any], *, costly: bool, seed: int
) -> StepResult:  # fmt: skip
    """Computes how much each token contributes to the network's predictions."""
    x = data[0]
    if x.dim() != 2 or data[1].dim() != 1:
        raise StepSkipped("Skipped: the inputs are integers, but not token sequences with one class per sequence.")
    if costly:
        raise StepSkipped("No time left for attributions to tokens. Give a larger budget.")
    words = subject.vocabulary if len(subject.vocabulary) > int(x.max()) else None
    sheet = token_attribution_overview(model, data, words=words, seed=seed)
    values = [
        Value(f"share of attribution, token {name}", share, id=f"token-{name}")
        for name, share in list(sheet.shares.items())[:3]
    ]
    values.append(
        Value(
            "rank correlation of attributions before and after shuffling the weights",
            sheet.sanity.weights,
            id="sanity-correlation",
        )
    )
    definition = QuantityDefinition(
        "share of one token in the sum of all absolute attributions", "share of attribution"
    )
    return StepResult(PageContent(sheet.verdict, (), tuple(values), sheet.plots(), (definition,)))


def _mark_as_unfinished(result: StepResult, run: TrainingRun | None) -> StepResult:
    """Adds to a section's answer that the network had not finished training, unless the section has findings."""
    if run is None or not run.shortage or result.content.findings:
        return result
    answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {result.content.answer}"
    return replace(result, content=replace(result.content, answer=answer), state="unsure")


def _maps(sheet: AttributionOverview) -> tuple[ShownExample, ...]:
    """Shows images next to copies in which pixels are red if they support the prediction, and blue if they contradict
    it.
    """
    values, images = sheet.attribution.values, sheet.inputs
    if values.dim() != 4 or not isinstance(images, Tensor) or images.shape != values.shape:
        return ()
    found = []
    for i, (image, value) in enumerate(zip(images.cpu(), values.cpu(), strict=True)):
        shown = show_example(image, i, label="", answer="")
        mixed = draw_picture(draw_map_over_image(image.double(), value.double().sum(0)))
        found.append(replace(shown, label_picture=mixed, words=("attribution", ""), input_word="image", ranked=False))
    return tuple(found)


def draw_map_over_image(image: Tensor, value: Tensor) -> Tensor:
    """Draws a map over a gray copy of an image: positive values in red, negative ones in blue.

    Cost: one pass over the pixels.

    >>> draw_map_over_image(torch.zeros(1, 1, 3), torch.tensor([[1.0, 0.0, -1.0]]))[:, 0].T.tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    gray = image.mean(0)
    gray = (gray - gray.min()) / (gray.max() - gray.min()).clamp(min=1e-30)
    share = value / value.abs().max().clamp(min=1e-30)
    red, blue = share.clamp(min=0), (-share).clamp(min=0)
    rest = (1 - red - blue) * gray
    return torch.stack([rest + red, rest, rest + blue])


def _content(found: Shortcuts, sheet: AttributionOverview | None) -> PageContent:
    values = [Value("probability of a false alarm, at most", found.level, id="false-alarm")]
    values += [
        Value(f"decisions lost without {r.name}", r.lost, id=f"lost-without-{r.name}") for r in found.reliance[:1]
    ]
    if sheet is not None:
        values.append(
            Value(
                "rank correlation of maps before and after shuffling the weights",
                sheet.sanity.weights,
                id="sanity-correlation",
            )
        )
        if sheet.mask is not None:
            values.append(Value("share of frequencies needed", sheet.mask.kept, id="frequencies-needed"))
    share = "share of right decisions that change if the feature's value comes from another example"
    definition = QuantityDefinition(share, "decisions lost without a feature")
    shown = found if sheet is None else sheet
    plots = tuple(plot for plot in shown.plots() if plot.id != "what-the-network-looks-at")  # shown as examples
    return PageContent(shown.verdict, found.findings, tuple(values), plots, (definition,))
