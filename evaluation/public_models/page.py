"""Writes the page of the documentation from the recorded results: `python -m evaluation.public_models.page`."""

import json
import statistics
from pathlib import Path
from typing import Any

from evaluation.public_models.instruments import Check, line
from evaluation.public_models.limits import HEAD as LIMITS_HEAD
from evaluation.public_models.limits import Limits
from evaluation.public_models.limits import line as limit_line
from evaluation.public_models.registry import CASES
from evaluation.public_models.report import close, counts, short

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "topics" / "public-models.md"

INTRODUCTION = """\
# Public models

*What `gnomon.examine` does with architectures that other people published, unmodified and without a wrapper.*

The collection has language models, classifiers of images and text, segmentation, speech, tables, graphs, series,
autoencoders, diffusion, equivariant networks, neural operators and others. Each network gets data in the usual form for
its users: pairs, dicts with `labels`, batches of PyTorch Geometric, tensors without targets. Networks that are
published only as a script are rewritten, and `compare_checkouts` shows that 13 of them return exactly the same numbers
as the published code on four test examples in eval mode. The other rewritten networks (`siamese`, `n-beats`, `gin` and the
differential equations) have only the same interface as the published code; `siamese` has a smaller feature extractor.
To repeat the measurements:

```bash
pip install -c constraints.txt -r evaluation/public_models/requirements.txt
python -m evaluation.public_models --budget 30 --json build/public.jsonl
python -m evaluation.public_models.instruments
python -m evaluation.public_models.compare_checkouts FOLDER
```

"""

MEANING = """\
A network is *accepted* if `gnomon.examine(build, train, test, optimizer=...)` returns a report; `loss=` is passed only if
users of the network write a loss themselves. *Read correctly* means the right task and number of classes; in the column
"now" also that the loss of the untrained network equals the loss of a plain loop, for data that are pairs or dicts and
targets that are classes. *Points* are percent of right answers, or of explained variance, on all test examples: of the
network that the examination trained, and of a plain loop with the same processor time. An empty cell was not measured.

**Limits of these numbers.** The numbers on this page are measurements on a busy machine, with one seed, and not an
acceptance test.

- A *false problem* is a finding of level `problem` that, in our judgment, describes the intended design of the network
  or no defect at all. The judgment is ours. Two findings count as true although the networks were not meant to have a
  fault, which we decided after the run: `performer` is not causal and sees the tokens that it has to predict, and
  `rtdl-resnet` explains 98 % of the variance of 442 training targets and 21 % of the test targets.
- The columns "before the adapter" and "now" are not the same experiment. In the first experiment each network had 30 s.
  For the second, the texts were shortened and copies with other labels were removed from the texts, language models
  went from 64 to 32 positions, and five networks of the first column were measured again on a quieter machine.
- The rows of the second column come from three versions of gnomon. The 22 rows with a budget of processor time are the
  latest; each is the first run of its network with that version. Rows with 30 s are the oldest.
- Of the problems in these 22 rows, `random-in-eval` of `vit-mae` and `inputs-ignored` of `bert-answers`, `schnet` and
  `e3nn` were false, and the failed sections of `segformer`, `wav2vec2`, `gin` and `attentive-fp` were errors of gnomon.
  The causes have been corrected since, each with a test on a small network of the same structure; the networks
  themselves have not been examined again. `word-lstm` was trained with 32 texts in a batch and the plain loop with 20.
- For older rows, processor time of training is estimated from the wall time and the share of the processor that the
  whole examination had. Differences of a few points may come from the estimated time. Some networks are near chance in
  both columns because the time was too short.
- The five networks in the table of refused networks have not been examined again. The present version reads all 75
  networks, and all 17 of the second collection, correctly (`python -m evaluation.public_models --readings`).
- The other false problems in the table, of `kan`, `vae`, `ft-transformer`, `tabnet`, `tab-transformer`, `bert`, `albert`
  and `nano-gpt`, did not appear again when single sections were repeated. `whisper` still has one: gnomon calls the
  gradients of its untrained encoder vanishing, because they pass through small attention weights.
- If the examination did not train the network, the points of the plain loop are measured after a third of the budget.

"""

SECOND = """\
## Second collection

These networks are of other families, and were chosen after the first collection had been accepted. The table states how
each was read the first time, without examining it. Detectors, outputs with steps first and outputs with all positions
in one axis are accepted since then, and the present version reads all 17 correctly. Only two have been examined: `clip`
got no problem, and `detr` the false problem `dead-units`, because the first layer of its decoder sees learned queries
alone. This has been corrected since. Networks that are not packages need `--checkouts FOLDER`.

| network | first reading |
|---|---|
"""

INSTRUMENTS = """\
## Single instruments

Each instrument gets the model and four examples. The reference is autograd, a plain loop, or a closed form for the last
layer, in `evaluation/public_models/references.py`; the error is relative. The VAE samples at each call. For comparison,
gnomon and the reference use the same draw of noise for all examples, and `laplace` and `predict` use the squared error
of the reconstructions. `laplace` computes only the diagonal for GPT-2, the UNet and the VAE, whose last layers have
many outputs; for these models `predict` gets fewer tokens or examples. "No answer in time" means 120 or 150 s on a busy
machine, with an earlier version. Models without a row were not run.

| model | instrument | works | number | reference | error | seconds |
|---|---|---|---|---|---|---|
"""

LIMITS = """\
## Limits of wide networks

`gnomon.limit` is exact for networks whose layers have a formula; none of the networks in this table has formulas for
all of its layers. `gnomon.sampled_limit(build)` averages the kernels of newly built networks, at their own width, and
states its standard error, here relative to the mean diagonal of the kernel. The column *distance* is the difference
from a plain loop over other random networks, in units of the combined standard error. The table shows means over
outputs. `python -m evaluation.public_models.limits` runs fourteen networks; `resnet18` and `unet` are missing in the
table because their runs did not end in time. A network that sets its own random seed, as `kan` does by default, is
refused until its builder passes a new seed at each call, as in the table.

"""

HEAD = "| network | parameters | read as | points | plain loop | problems | seconds |\n|---|---|---|---|---|---|---|\n"


NOT_COUNTED = (
    "within 3 points of a plain loop",
    "over the budget by a tenth",
    "training at 80 % of the plain loop's speed",
)
"""Counts that the table leaves out, because not all rows have them."""


def load(name: str) -> list[dict[str, Any]]:
    """Recorded results; none if there is no such file."""
    path = RESULTS / name
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def render(
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    instruments: list[dict[str, Any]],
    limits: list[dict[str, Any]],
    second: list[dict[str, Any]] | None = None,
) -> str:
    """The whole page."""
    earlier, now = counts(before), counts(after)
    rows = [f"| {name} | {earlier[name]} | {now[name]} |" for name in now if name not in NOT_COUNTED]
    compared = [
        r for r in after if r.get("accepted") and r.get("points") is not None and r.get("plain_points") is not None
    ]
    near = (
        f"Of {len(compared)} networks that the examination trained, {sum(map(close, compared))} are at most 3 "
        "percentage points less accurate than after training in a plain loop.\n"
    )
    table = ["| architectures | before the adapter | now |", "|---|---|---|", *rows]
    accepted = [_row(r) for r in after if r.get("accepted")]
    refused = [f"| {_name(r)} | {short(r['refused'], 160)} |" for r in after if r.get("accepted") is False]
    parts = [
        INTRODUCTION,
        "\n".join(table) + "\n\n",
        near + "\n",
        conditions([r for r in after if "missing" not in r]),
        MEANING,
        "## Accepted\n\n",
        HEAD,
        "\n".join(accepted) + "\n\n",
    ]
    if refused:
        parts += ["## Refused\n\n", "| network | message |\n|---|---|\n", "\n".join(refused) + "\n\n"]
    if second:
        parts += [SECOND, *(f"| {row['id']} ({CASES[row['id']].source}) | {row['first']} |\n" for row in second), "\n"]
    if instruments:
        parts += [INSTRUMENTS, "\n".join(line(Check(**check)) for check in instruments) + "\n"]
    if limits:
        rows = [limit_line(Limits(**row)) for row in limits]
        parts += ["\n", LIMITS, LIMITS_HEAD, "\n", "\n".join(rows), "\n"]
    return "".join(parts).rstrip() + "\n"


def conditions(results: list[dict[str, Any]]) -> str:
    """Budgets, and how much of the processor the examinations had."""
    budgets = sorted({r["budget"] for r in results})
    counted = [f"{b:g} s for {sum(r['budget'] == b for r in results)} networks" for b in budgets]
    shares = [r["processor_seconds"] / r["seconds"] for r in results if r.get("accepted")]
    share = f"{100 * statistics.median(shares):.0f} % of one core" if shares else "no time"
    return f"Budgets: {' and '.join(counted)}. Other programs were running: half of the examinations had at most {share}.\n\n"


def _name(result: dict[str, Any]) -> str:
    return f"{result['id']} ({result['source']}{', rewritten' if result['rewritten'] else ''})"


def _row(result: dict[str, Any]) -> str:
    read = result["reading"] + (f", {result['classes']}" if result["classes"] else "")
    read += "" if result["read_correctly"] else " (wrong)"
    points, plain = ("" if result.get(key) is None else f"{result[key]:.1f}" for key in ("points", "plain_points"))
    problems = ", ".join(f"`{kind}`" for kind in result["problems"])
    cells = (_name(result), f"{result['parameters']:,}", read, points, plain, problems, f"{result['seconds']:.0f}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(
        render(
            load("before-adapter.jsonl"),
            load("examinations.jsonl"),
            load("instruments.jsonl"),
            load("limits.jsonl"),
            load("second.jsonl"),
        )  # fmt: skip
    )


if __name__ == "__main__":
    main()
