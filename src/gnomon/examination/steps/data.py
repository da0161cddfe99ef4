"""The data: their scale, constant features, duplicates, balance of classes."""

import torch
from torch import Tensor

from gnomon.core.inputs import tensors
from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.report import COLORS, Definition, Section, Status, Value, figure

LARGE = 20.0  # root mean square beyond which default initializations see inputs out of their range
SMALL = 0.02
ROWS = 4096


class Data(AbstractStep):
    """Scale and balance."""

    key, title, share = "data", "The data", 0.05
    question = "Are inputs and targets of a size that networks are made for, and are there traps in them?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        some = subject.train.some(ROWS, context.seed)
        floats = [t for t in tensors(some.x) if t.is_floating_point()]
        facts: dict[str, object] = {}
        values: list[Value] = [Value("training examples", len(subject.train))]
        figures, trouble = [], []
        if floats:
            flat = torch.cat([t.reshape(len(t), -1).double() for t in floats], 1)
            rms, constant = float(flat.square().mean().sqrt()), int((flat.std(0, correction=0) == 0).sum())
            spread = flat.std(0, correction=0)
            varying = spread[spread > 0]
            ratio = float(varying.max() / varying.min()) if len(varying) else 1.0
            repeated = len(flat) - len(torch.unique(flat, dim=0))
            facts["input scale"] = rms
            values += [
                Value("root mean square of the inputs", rms, meaning="1 where each feature is standardized"),
                Value("mean of the inputs", float(flat.mean())),
                Value("constant features", constant, meaning=f"of {flat.shape[1]}"),
                Value("largest over smallest spread of a feature", ratio),
                Value("examples that occur before", repeated, meaning=f"of {len(flat)}"),
            ]
            figures.append(_histogram(flat))
            whole = len(floats) == len(list(tensors(some.x)))  # no input but these
            facts["constant inputs"] = whole and len(flat) > 1 and constant == flat.shape[1]
            if facts["constant inputs"]:
                trouble.append("all examples are the same")
            if not SMALL <= rms <= LARGE:
                trouble.append(f"the inputs have a root mean square of {rms:.3g}")
        if subject.classes:
            counts = torch.bincount(subject.train.y, minlength=subject.classes)
            facts["largest class"] = float(counts.max() / counts.sum())
            empty = int((counts == 0).sum())
            values += [
                Value("largest class", f"{facts['largest class']:.1%}", meaning="what guessing it always would score"),
                Value("smallest class", int(counts.min())),
            ]
            facts["one class"] = int((counts > 0).sum()) == 1 and len(subject.train) > 1
            if facts["one class"]:
                trouble.append("all labels are the same")
            elif empty:
                trouble.append(f"{empty} of {subject.classes} classes have no training example")
        else:
            values.append(Value("spread of the targets", float(subject.train.y.double().std(correction=0))))
        answer = "Nothing unusual." if not trouble else f"To know: {'; '.join(trouble)}."
        meaning = Definition("rms = √(mean of x²)", "over all features of the examples looked at")
        status: Status = "fault" if trouble else "good"
        section = Section(
            self.key, self.title, self.question, answer, status, tuple(values), tuple(figures), (meaning,)
        )
        return Outcome(section, facts)


def _histogram(flat: Tensor):  # type: ignore[no-untyped-def]
    whole = flat.reshape(-1)
    sample = whole[:: max(1, len(whole) // 20000)].numpy()

    def draw(axes):  # type: ignore[no-untyped-def]
        axes.hist(sample, bins=60, color=COLORS["second"])
        axes.set(xlabel="value of an input feature", ylabel="how often", yscale="log")

    return figure("inputs", "Values of the input features; networks are made for values of order one.", draw)
