"""Writes the page of the documentation from the recorded results: `python -m evaluation.public_models.page`."""

import json
from pathlib import Path
from typing import Any

from evaluation.public_models.instruments import Check, line
from evaluation.public_models.limits import HEAD as LIMITS_HEAD
from evaluation.public_models.limits import Limits
from evaluation.public_models.limits import line as limit_line
from evaluation.public_models.report import counts, seconds, short, speed

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "topics" / "public-models.md"

INTRODUCTION = """\
# Public models

*What `gnomon.examine` does with architectures that other people published, unmodified and without a wrapper.*

The collection has language models, classifiers of images and text, segmentation, speech, tables, graphs, series,
autoencoders, diffusion, equivariant networks, neural operators and others. Each network gets data in the usual form for
its users: pairs, dicts with `labels`, batches of PyTorch Geometric, tensors without targets. To repeat the measurements:

```bash
pip install -c constraints.txt -r evaluation/public_models/requirements.txt
python -m evaluation.public_models --budget 30 --cpu-time --checkouts FOLDER --json build/public.jsonl
python -m evaluation.public_models.instruments
```

`FOLDER` has checkouts of the repositories that are not packages (`evaluation/public_models/checkouts.py`);
without it some of these networks are rewritten and the others are left out.

## First run of this version

Forty of the 92 networks of the first two collections were drawn at random (`random.Random(403090693).sample(ids, 40)`;
the seed was the nanosecond of the draw) before anything was run. Nothing was changed during the run.

"""

MEANING = """\
A network is *accepted* if `gnomon.examine(build, train, test, optimizer=...)` returns a report; `loss=` is passed only if
users of the network write a loss themselves. *Read correctly* means the right task and number of classes. If the targets
are classes, the loss of the untrained network must also equal the loss in a plain training loop. A *false problem* is a finding of level `problem` that describes the
intended design of the network or no defect at all; the judgment is ours. *Points* are percent of right answers, or of
explained variance, on all test examples: of the network that the examination trained, and of a plain loop with the same
processor time. *Speed* is the number of training steps in a second of processor time, divided by the same number of the plain loop.

"""

CHANGED = """\
**What the first run found, and what was changed after it**, each with a test on a small network of the same structure.
`point-net` and `clip` have not been examined again since:

- `point-net`: the running statistics of batch norm lag behind the weights, which still move fast after six epochs. This
  was a problem, although 32 batches without steps make it disappear. It is a warning now.
- `neural-ode`: after training, the adaptive solver takes other steps for other batches, so a kernel between examples is
  not defined. The section failed; it is skipped with this reason now.
- `clip`: its scores compare all pairs of a batch, so outputs of batches of different size could not be joined, and the
  network was not trained. The prediction is now the score of each own pair.
- `monai-unet`: a tenth of each training step went into a loss in double precision. It is computed in single precision
  now, which made 0.95 of the plain loop's steps in a short measurement without records.

Not changed: `logit-mlp` has steps of 0.3 ms, and gnomon's loop takes more than a third of this again; training without a number of
epochs ends after 2,000 steps or ten epochs even if time is left (`siren`, `logit-mlp`, `tab-transformer`); `performer` is
not causal, so `sees-the-future` is true. Outside this table `whisper` still has a false `vanishing-gradients`.

"""

SECOND_RUN = """\
These networks were examined again with these changes and with the changes after the fourth collection. The budget was
20 s of processor time, on a machine that about ten other programs used. The other drawn networks have not been run again.

"""

THIRD = """\
## Networks that had never been tried

A third collection of 18 networks from further packages was chosen before any of them had been tried, and is examined
once with 20 s of processor time. Networks without a row have not been run. `spiking` returns a tuple whose tensors have
the time steps first, which is not read. `coral` has fewer outputs than classes, because its own loss compares levels;
this is left to the loss now.

"""

FOURTH = """\
A fourth collection of 14 networks was written before any of them had been tried, and was examined once. The digits
come from scikit-learn. `autoformer` mixes examples in truth: in eval mode, transformers gives the delays of one example
to another if there are two or more heads; with one head the outputs do not change.

"""

AFTER_FOURTH = """\
**What this run found, and what was changed after it**, each with a small test:

- `googlenet`: only `logits` was passed to the user's loss, so the auxiliary outputs were not trained. The loss gets all
  that the network returns now.
- `triplets`: an accuracy was computed because the targets are integers. Now the loss must raise the output of the label
  most, otherwise outputs are not read as classes.
- `decision-transformer`: a head that the loss does not use is a note now.
- `spline-flow`, `actor-critic` and `spiking` of the third collection: if the network returns a distribution or tensors
  with time steps first, or if there are several targets, the loss becomes a part of the network.
- `hetero-transformer`: each node with a class of a graph with several types of nodes is an example.

Not changed: `frame-transformer` needs a `TensorFrame`, which is not a tensor; the frozen CLIP in `clip-seg` has random
weights here, and gnomon cannot know that users load it; `decision-transformer` does not use the rewards.

"""

INSTRUMENTS = """\
## Single instruments

Each instrument gets the model and four examples. The reference is autograd, a plain loop, or a closed form for the last
layer, in `evaluation/public_models/references.py`; the error is relative. Each call of the VAE draws new random numbers. For comparison,
gnomon and the reference use the same draw of noise for all examples, and `laplace` and `predict` use the squared error
of the reconstructions. `laplace` computes only the diagonal for GPT-2, the UNet and the VAE, whose last layers have
many outputs; for these models `predict` gets fewer tokens or examples, and for the UNet `sharpness` gets smaller images.
`predict` on the UNet needs the kernel between all 768 outputs of each example: two examples of 16 x 16 pixels take
35 GiB, which the error says before anything is computed. `sharpness` on the UNet asks for a
relative accuracy of 0.01. Most rows are from earlier versions. These rows are of this version: `predict` on GPT-2, `sharpness` on ResNet-18, and `watch`,
`predict` and `sharpness` on the UNet.

GPT-2 small (124 million parameters, random weights, 8 sequences of 64 tokens, one thread): `gnomon.ntk(outputs="pseudo")`
takes 54 s, and one complete measurement of `gnomon.watch` takes 204 s. Together they need at most 10.4 GiB (`python -m
evaluation.public_models.instruments --gpt2-small`, with other programs on the second core).

| model | instrument | works | number | reference | error | seconds |
|---|---|---|---|---|---|---|
"""

ATTENTION = """\
## Attention of transformers

`gnomon.sequences` observes the operations of torch. The functions of `gnomon.sequences` therefore take models of Hugging Face and other libraries, with batches in their usual form. If a model can return its own attention (`output_attentions=True`), the maps are equal
to it, exactly.

| model | attention maps, alignment, head ablation | causality | memory |
|---|---|---|---|
| GPT-2, Llama (dict with `input_ids`) | yes | yes: past only | yes |
| BERT for masked words (dict) | yes | yes: sees 11 of 12 positions ahead | yes |
| BERT for classes (dict) | yes | no: one answer for each text | yes |
| T5 (dict with `labels`) | yes | yes, of the decoder | yes |
| ViT, Swin (dict with `pixel_values`), ViT of vit-pytorch | yes | no: images have no order in time | no, as before |
| x-transformers, with and without flash attention | yes | yes: past only | yes |
| Performer, Mamba | no: no softmax of queries and keys | yes | yes |

"""

LIMITS = """\
## Limits of wide networks

`gnomon.limit` is exact for networks whose layers have a formula; none of the networks in this table has formulas for
all of its layers. `gnomon.sampled_limit(build)` averages the kernels of newly built networks, at their own width, and
states its standard error, here relative to the mean diagonal of the kernel. The column *distance* is the difference
from a plain loop over other random networks, in units of the combined standard error. All kernels in the table are means over outputs. `python -m evaluation.public_models.limits` runs fourteen networks; `resnet18` and `unet` are missing in the
table because their runs did not end in time. A network that sets its own random seed, as `kan` does by default, is
refused until its builder passes a new seed at each call, as in the table.

"""

HEAD = (
    "| network | parameters | read as | points | plain loop | speed | problems | seconds of processor time |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


DRAWN = 40
"""Networks that were drawn for the first run."""


def load(name: str) -> list[dict[str, Any]]:
    """Recorded results; none if the file is missing."""
    path = RESULTS / name
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def render(
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    third: list[dict[str, Any]],
    instruments: list[dict[str, Any]],
    limits: list[dict[str, Any]],
    fourth: list[dict[str, Any]],
) -> str:
    """The whole page."""
    parts = [INTRODUCTION, unfinished(first), figures(first), MEANING, rows(first), CHANGED]
    if second:
        parts += [SECOND_RUN, figures(second), rows(second)]
    if third:
        parts += [THIRD, figures(third), rows(third)]
    if fourth:
        parts += [FOURTH, figures(fourth), rows(fourth), AFTER_FOURTH]
    parts += [ATTENTION]
    if instruments:
        parts += [INSTRUMENTS, "\n".join(line(Check(**check)) for check in instruments) + "\n\n"]
    if limits:
        parts += [LIMITS, LIMITS_HEAD, "\n", "\n".join(limit_line(Limits(**row)) for row in limits), "\n"]
    return "".join(parts).rstrip() + "\n"


def unfinished(results: list[dict[str, Any]]) -> str:
    """A sentence if not all drawn networks have been run."""
    return (
        "" if len(results) == DRAWN else f"**{len(results)} of the {DRAWN} drawn networks have been run so far.**\n\n"
    )


def figures(results: list[dict[str, Any]]) -> str:
    """The counts of a run as a table, and its budgets."""
    run = [r for r in results if "missing" not in r]
    lines = [f"| {name} | {count} |" for name, count in counts(results).items() if name != "run"]
    budgets = sorted({r["budget"] for r in run}, reverse=True)
    spent = " and ".join(f"{b:g} s for {sum(r['budget'] == b for r in run)} networks" for b in budgets)
    return f"| networks | {len(run)} |\n|---|---|\n" + "\n".join(lines) + f"\n\nBudgets of processor time: {spent}.\n\n"


def rows(results: list[dict[str, Any]]) -> str:
    """The table of accepted networks, and the table of refused ones if there are any."""
    text = HEAD + "\n".join(_row(r) for r in results if r.get("accepted")) + "\n\n"
    refused = [f"| {_name(r)} | {short(r['refused'], 160)} |" for r in results if r.get("accepted") is False]
    return text + ("| refused | message |\n|---|---|\n" + "\n".join(refused) + "\n\n" if refused else "")


def _name(result: dict[str, Any]) -> str:
    return f"{result['id']} ({result['source']}{', rewritten' if result['rewritten'] else ''})"


def _row(result: dict[str, Any]) -> str:
    read = result["reading"] + (f", {result['classes']}" if result["classes"] else "")
    read += "" if result["read_correctly"] else " (wrong)"
    points, plain = ("" if result.get(key) is None else f"{result[key]:.1f}" for key in ("points", "plain_points"))
    pace = speed(result)
    problems = [f"`{kind}`" + (" (false)" if kind in result["false_problems"] else "") for kind in result["problems"]]
    problems += [f"section {key} failed" for key in result["failed_sections"]]
    cells = (
        _name(result), f"{result['parameters']:,}", read, points, plain, "" if pace is None else f"{pace:.2f}",
        ", ".join(problems), f"{seconds(result):.0f}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Writes the page."""
    names = ("first-run", "second-run", "third", "instruments", "limits", "fourth")
    PAGE.write_text(render(*(load(f"{name}.jsonl") for name in names)))


if __name__ == "__main__":
    main()
