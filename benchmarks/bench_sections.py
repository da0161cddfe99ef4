"""False alarms of the sections on sequences, graphs and attribution: healthy networks drawn at random, each trained.

    PYTHONPATH=. python benchmarks/bench_sections.py                     36 networks for each section, 3 s of processor time each
    PYTHONPATH=. python benchmarks/bench_sections.py --sections graphs   one section
    PYTHONPATH=. python benchmarks/bench_sections.py --table             writes the table of the results so far

Only the steps that a section needs are run. Everything it finds in these networks is a false alarm. Results are appended
to ``--out`` (JSON lines), and a network that is there is not run again.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path
from random import Random

from measure import record
from torch import nn

import gnomon
from evaluation.faults.data.graphs import random_graphs
from evaluation.faults.data.mnist import mnist, mnist_rows
from evaluation.faults.data.tables import digits_8x8
from evaluation.faults.data.text import topic_tokens
from evaluation.faults.models.sequences import LastStepLSTM, TokenGRU
from evaluation.faults.models.transformers import Mixer, Transformer, VisionTransformer
from evaluation.faults.random_healthy import random_cnn, random_optimizer, random_table
from gnomon.core.metrics import binomial_interval
from gnomon.examination import STEPS
from gnomon.training import TrainingRun

NEEDED = ("architecture", "data", "training")


class Graphs(nn.Module):
    """Layers of message passing, with skip connections or without, and the mean of the nodes."""

    def __init__(self, width, depth, skip, act, inputs=8, classes=3):
        super().__init__()
        self.first, self.head, self.act, self.skip = nn.Linear(inputs, width), nn.Linear(width, classes), act(), skip
        self.rest = nn.ModuleList(nn.Linear(width, width) for _ in range(depth - 1))

    def forward(self, x, adjacency):
        h = self.act(adjacency @ self.first(x))
        for layer in self.rest:
            new = self.act(adjacency @ layer(h))
            h = h + new if self.skip else new
        return self.head(h.mean(1))


class Rnn(nn.Module):
    """A recurrent network over rows of images that answers after its last step."""

    def __init__(self, kind, hidden):
        super().__init__()
        self.rnn, self.head = kind(28, hidden, batch_first=True), nn.Linear(hidden, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def sequence(draw: Random):
    kind = draw.choice(("transformer", "transformer", "vit", "gru", "lstm", "rnn"))
    if kind == "transformer":
        size = {"width": draw.choice((32, 64)), "layers": draw.choice((1, 2, 3))}
        return f"{kind} {size}", partial(Transformer, **size), partial(topic_tokens, draw.choice((1000, 2000)), 400)
    if kind == "vit":
        width = draw.choice((32, 48))
        return (
            f"{kind} {width}",
            partial(VisionTransformer, width=width, layers=draw.choice((1, 2))),
            partial(mnist, 1500, 400),
        )
    if kind == "gru":
        return (
            kind,
            partial(TokenGRU, width=draw.choice((32, 48))),
            partial(topic_tokens, draw.choice((1000, 2000)), 400),
        )
    hidden = draw.choice((48, 96))
    build = (
        partial(LastStepLSTM, hidden=hidden) if kind == "lstm" else partial(Rnn, draw.choice((nn.RNN, nn.GRU)), hidden)
    )
    return f"{kind} {hidden}", build, partial(mnist_rows, 1500, 400)


def graph(draw: Random):
    depth, skip = draw.choice((1, 2, 3, 4)), draw.random() < 0.5
    width, act = draw.choice((16, 32, 64)), draw.choice((nn.ReLU, nn.GELU, nn.Tanh))
    nodes = draw.choice((10, 16, 24))
    name = f"{depth} layers of {width}{' with skips' if skip else ''}, {nodes} nodes"
    return name, partial(Graphs, width, depth, skip, act), partial(random_graphs, 1000, 400, nodes)


def any_data(draw: Random):
    kind = draw.choice(("table", "table", "digits", "mnist", "mixer"))
    if kind == "table":
        return random_table(draw)
    if kind == "digits":
        return kind, random_cnn(8, draw), digits_8x8
    return kind, random_cnn(28, draw) if kind == "mnist" else Mixer, partial(mnist, 1500, 400)


FAMILIES = {"sequences": sequence, "graphs": graph, "attribution": any_data}


def examined(section: str, number: int, budget: float) -> dict:
    """The findings of one section in one network, and the accuracy of that network."""
    draw = Random(f"{section} {number}")
    name, build, data = FAMILIES[section](draw)
    train, test = data(seed=number)
    rule = random_optimizer(Random(f"rule {section} {number}"))
    steps = [step for step in STEPS if step.key in (*NEEDED, section)]
    given = {} if rule is None else {"optimizer": rule}
    result = gnomon.examine(
        build, train, test, budget=budget, seed=number, examination_steps=steps, clock=time.process_time, **given
    )
    answer, run = result.section(section), result.products.get(TrainingRun)
    return {
        "section": section, "number": number, "name": name, "state": answer.state, "answer": answer.answer,
        "found": [f.kind for f in answer.findings], "faults": [f.kind for f in answer.findings if f in result.problems],
        "whats": [f.message for f in answer.findings],
        "accuracy": None if run is None or run.test_accuracy is None else float(run.test_accuracy[-1]), "budget": budget,
    }  # fmt: skip


def summary(done: list[dict], *, write: bool) -> None:
    rows_, alarms = [], []
    for section in FAMILIES:
        runs = [r for r in done if r["section"] == section]
        judged = [r for r in runs if r["state"] in ("answered", "unsure")]
        if not judged:
            continue
        found, faults = ([r for r in judged if r[key]] for key in ("found", "faults"))
        high = binomial_interval(len(found), len(judged)).high
        rows_.append(
            [section, len(runs), len(judged), len(found), len(faults), f"{len(found) / len(judged):.1%}", f"{high:.1%}"]
        )
        alarms += [f"{r['name']} ({section}): {' '.join(r['whats'])}" for r in found]
    note = "Healthy networks drawn at random and trained for some seconds; every finding is a false alarm."
    note += "\nA section without time, or whose assumptions do not hold, reports nothing." + "".join(
        f"\n{alarm}" for alarm in alarms
    )
    for row in rows_:
        print(*row)
    print(note)
    if write:
        columns = ["section", "networks", "with a result", "any finding", "faults", "rate", "upper limit, 95 %"]
        record("faults", "False alarms of single sections", columns, [[str(v) for v in row] for row in rows_], note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", default=",".join(FAMILIES))
    parser.add_argument("--count", type=int, default=36)
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--out", default="build/bench_sections.jsonl")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no network after this time")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    out, begin = Path(options.out), time.perf_counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    known = {(r["section"], r["number"]) for r in done}
    for number in range(0 if options.table else options.count):
        for section in options.sections.split(","):
            if (section, number) in known or time.perf_counter() - begin > options.seconds:
                continue
            done.append(examined(section, number, options.budget))
            with out.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
            one = done[-1]
            print(section, number, one["name"], one["state"], one["found"], one["accuracy"], flush=True)
    summary(done, write=options.table)


if __name__ == "__main__":
    main()
