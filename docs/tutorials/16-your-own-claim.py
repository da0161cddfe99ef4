# %% [markdown]
# # Write your own claim
#
# How do you turn "everybody knows" into a statement that can fail?
#
# Everybody knows that the noise of a mini-batch gradient falls as one over the batch size $B$. On 128 digits and a
# small network, we measured it: dots for batches drawn with replacement, crosses for batches drawn without, as every
# data loader does. The line is the formula. One of the two does not follow it.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon

BATCHES = (1, 4, 16, 64)


def gradients(examples):
    """The gradient of each example for a small fresh network on digits: one row per example."""
    digits = gnomon.data.digits(examples, 1)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10))
    rows = []
    for x, y in zip(digits.x, digits.y, strict=True):
        loss = nn.functional.cross_entropy(net(x[None]), y[None])
        rows.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(net.parameters()))]))
    return torch.stack(rows)


def noise(replacement, repeats, examples):
    """Squared distance of batch gradient and full gradient, over the variance of one example: (repeats, batches)."""
    rows = gradients(examples)
    full = rows.mean(0)
    variance = (rows - full).square().sum(1).mean()
    columns = []
    for size in BATCHES:
        if replacement:
            chosen = torch.randint(examples, (repeats, size))
        else:
            chosen = torch.rand(repeats, examples).argsort(1)[:, :size]
        weights = torch.zeros(repeats, examples).scatter_add_(1, chosen, torch.ones(repeats, size)) / size
        columns.append((weights @ rows - full).square().sum(1) / variance)
    return torch.stack(columns, 1)


torch.manual_seed(0)
with_replacement, without = noise(True, 400, 128).mean(0), noise(False, 400, 128).mean(0)
figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.loglog(BATCHES, [1 / size for size in BATCHES], color="C0", label="formula: 1 / B")
axis.loglog(BATCHES, with_replacement, "o", color="C0", label="drawn with replacement")
axis.loglog(BATCHES, without, "x", color="gray", markersize=9, label="drawn without replacement")
axis.set(
    title="Half of the data in a batch: the formula is off by a factor of two",
    xlabel="batch size B, of 128 examples",
    ylabel="gradient noise, relative to B = 1",
    xticks=BATCHES,
    xticklabels=BATCHES,
)
axis.legend(frameon=False)
plt.show()
for size, a, b in zip(BATCHES, with_replacement, without, strict=True):
    print(f"B = {size:2d}: noise times B is {float(a * size):.2f} with replacement, {float(b * size):.2f} without")
# alt: Gradient noise over batch size on logarithmic axes, with the line 1 over B. The dots lie on the line; the cross at batch size 64 lies below it by a factor of two.

# %% [markdown]
# A picture convinces its author. A claim convinces others, because it says beforehand what would refute it. In gnomon a
# claim has five parts (`gnomon.lab.Claim`):
#
# - a **statement**, with the hypotheses it needs;
# - a **prediction**, from the formula alone;
# - a **measurement** that shares no code with the prediction;
# - a **control**: the same measurement with one hypothesis broken, which must fail;
# - a **judge** that compares the two, with a stated confidence.
#
# We multiply the noise by $B$, so that the prediction is 1 for every batch size:
#
# $$\frac{B}{\sigma^2}\; E\,\bigl|\,g_B - g\,\bigr|^2 = 1,$$
#
# with the batch gradient $g_B$, the gradient $g$ of all examples and the variance $\sigma^2$ of one example's gradient.

# %%
from functools import partial

from gnomon.lab import Claim, Premise, Source, mean_equals, run_claim


def predicted():
    """One, for every batch size."""
    return [1.0] * len(BATCHES)


def scaled_noise(replacement, repeats, examples):
    """The noise times the batch size."""
    return noise(replacement, repeats, examples) * torch.tensor(BATCHES)


claim = Claim(
    id="batch-noise-falls-as-one-over-b",
    title="The noise of a mini-batch gradient is the noise of one example divided by the batch size",
    equation=r"E |g_B - g|^2 = \sigma^2 / B",
    source=Source("theorem"),
    premises=(  # the control breaks the first one
        Premise("the examples of a batch are drawn with replacement"),
        Premise("there are enough repetitions", lambda repeats: repeats >= 100),
    ),
    parameters={"repeats": 400, "examples": 128},
    judge=mean_equals(confidence=0.999),
    predicted=predicted,
    observed=partial(scaled_noise, replacement=True),
    control=partial(scaled_noise, replacement=False),
)
outcome = run_claim(claim, seed=1)
print("claim:  ", outcome.judgment.verdict.value, "-", outcome.judgment.reason)
print("control:", outcome.control.verdict.value, "-", outcome.control.reason)
print("as stated:", outcome.as_stated)

# %% [markdown]
# The claim holds, and its control is refuted. Both matter. A measurement that would agree with anything also "holds".
#
# ## Is the judge awake?
#
# !!! question "Predict before you run"
#     We plant an error: we multiply the prediction by a wrong factor between 0.5 and 2. The judge tests at 99.9 %
#     confidence. With 400 repetitions, which errors will it catch? Only a factor of two, or one of 10 %, or of 1 %?

# %%
from dataclasses import replace


def wrong_prediction(factor):
    return [factor] * len(BATCHES)


factors = [0.5, 0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.25, 2.0]
verdicts = {}
for repeats in (100, 400, 3000):
    for factor in factors:
        wrong = replace(claim, predicted=partial(wrong_prediction, factor=factor))
        verdicts[repeats, factor] = run_claim(wrong, {"repeats": repeats}, seed=1).judgment.verdict.value

looks = {"holds": ("o", "C0"), "refuted": ("x", "C1"), "inconclusive": ("s", "gray")}
figure, axis = plt.subplots(figsize=(7, 2.8), layout="constrained")
for name, (marker, color) in looks.items():
    points = [(factors.index(f), (100, 400, 3000).index(r)) for (r, f), verdict in verdicts.items() if verdict == name]
    if points:
        axis.plot(*zip(*points, strict=True), marker, color=color, markersize=9, linestyle="none", label=name)
axis.set(
    title="More repetitions catch smaller errors",
    xlabel="factor planted in the prediction",
    ylabel="repetitions",
    xticks=range(len(factors)),
    xticklabels=factors,
    yticks=range(3),
    yticklabels=(100, 400, 3000),
    ylim=(-0.5, 2.5),
)
axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
# alt: A grid of verdicts by planted factor and number of repetitions. Factors far from one are crosses, refuted; the range around one that still holds shrinks as repetitions grow.

# %% [markdown]
# With 400 repetitions the judge misses a factor of 0.95 and catches 0.9; with 3,000 it catches 2 %. Gray squares are
# the most honest answers: with 100 repetitions the interval is so wide that agreement would prove nothing, and the
# judge says *inconclusive*.
#
# ## Does it hold by luck?
#
# One seed is one experiment. Below are twelve others, at the largest batch. Claims in the atlas are run at a second
# seed that changes with every commit.

# %%
seeds = range(12)
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for replacement, color, marker, label in ((True, "C0", "o", "claim"), (False, "gray", "x", "control")):
    means, errors = [], []
    for seed in seeds:
        torch.manual_seed(seed)
        last = scaled_noise(replacement, 400, 128)[:, -1]
        means.append(last.mean().item())
        errors.append(3.3 * last.std().item() / 20)
    axis.errorbar(seeds, means, errors, fmt=marker, color=color, capsize=3, label=label)
axis.axhline(1, color="C0", linewidth=1, label="prediction")
axis.axhline(64 / 127, color="gray", linewidth=1, linestyle="--", label="(n - B) / (n - 1)")
axis.set(
    title="The claim holds at every seed, the control at none",
    xlabel="seed",
    ylabel="noise × B, at B = 64",
    ylim=(0, 1.4),
    xticks=seeds,
)
axis.legend(frameon=False, ncols=4, loc="lower left")
plt.show()
print([run_claim(claim, seed=seed).as_stated for seed in seeds].count(True), "of 12 runs are as stated")
# alt: Twelve dots with intervals around the prediction one, and twelve crosses around one half, where a dashed line marks the formula for draws without replacement.

# %% [markdown]
# The control does not fail at random: it follows the dashed line $(n - B)/(n - 1)$, the textbook correction for draws
# without replacement. A control that fails for a known reason is the best evidence that the measurement sees what you
# think.
#
# Your claim can live with the others: save it as a file in `src/gnomon/atlas/claims`, and `gnomon atlas run` finds it.
# Read two neighbors first: [the variants of gradient descent](claim:gd-sgd-variants) and [what SGD has over gradient
# descent](claim:sgd-advantages). The functions are `gnomon.lab.run_claim` and `gnomon.lab.mean_equals`; `gnomon.lab.rate_is`
# judges power laws.
#
# ## Exercises
#
# **Exercise 1.** Run the claim with `{"repeats": 50}`. What does the outcome say?
#
# ??? success "Answer"
#     "Outside its hypotheses (there are enough repetitions), so the claim does not apply. Result anyway: inconclusive."
#     With 50 repetitions the interval is too wide to see a difference of 20 %.
#
# **Exercise 2.** Run the claim with `{"examples": 1500}`. What happens to the control, and why?
#
# ??? success "Answer"
#     The control *holds*, so the run is not as stated. With 64 of 1,500 examples the correction is 0.958, and 400
#     repetitions cannot tell it from 1. On large data sets drawing without replacement hardly matters. A control must
#     break its hypothesis by more than the judge can overlook.
#
# **Exercise 3.** Make the textbook correction the prediction, so that drawing without replacement becomes the claim.
# What is now the control?
#
# ??? success "Answer"
#     Predict `[(examples - b) / (examples - 1) for b in BATCHES]` and exchange `observed` and `control`. The claim
#     holds (0.5039 predicted at $B = 64$, measured within 0.007), and drawing with replacement, now the control, is
#     refuted.
#
# !!! tip "Three lines to remember"
#     - A claim says beforehand what would refute it: a prediction, an independent measurement, a judge.
#     - The control breaks one hypothesis and must fail, or the measurement proves nothing.
#     - Plant an error before you trust a verdict; the judge should catch the size you care about.
