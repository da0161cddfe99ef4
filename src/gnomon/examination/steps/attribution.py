"""What the network looks at: single features that carry its decisions, frequencies it needs, classes over depth."""

from torch import Tensor

from gnomon.attribution import ContactSheet, contact_sheet
from gnomon.core.results import Definition, Value
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.subject import Subject
from gnomon.report import Content
from gnomon.training import Run

MOST, FEWEST = 512, 30


class AttributionStep(AbstractStep):
    """Shortcuts, attributions with their sanity check, frequencies, and probes of layers, of the trained network."""

    key, title, share = "attribution", "What the network looks at", 0.05
    question = "By what does the network decide: the task, or a shortcut?"
    uses = (Run,)
    gives = ContactSheet

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        examples = subject.probe.some(MOST)
        if subject.task.classes < 2 or len(examples) < FEWEST:
            raise Skipped(f"There are no classes, or fewer than {FEWEST} examples.")
        if not isinstance(examples.x, Tensor) or not examples.x.is_floating_point():
            raise Skipped("The inputs are not one tensor of numbers that can be changed a little.")
        run = products.get(Run)
        sheet = contact_sheet(subject.module if run is None else run.model, (examples.x, examples.y), seed=context.seed)
        top = sheet.shortcuts.reliance[0]
        values = [
            Value(f"accuracy lost without {top.name}", top.drop, meaning="the most important single feature"),
            Value("rank correlation of maps with those of shuffled weights", sheet.sanity.weights),
        ]
        if sheet.mask is not None:
            values.append(Value("share of frequencies needed", sheet.mask.kept))
        definition = Definition("accuracy − accuracy with the feature exchanged between examples", "what it is worth")
        content = Content(sheet.verdict, sheet.findings, tuple(values), sheet.plots(), (definition,))
        return StepResult(content, sheet)
