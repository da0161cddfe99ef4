# %% [markdown]
# # Your first examination
#
# Is anything wrong with my network?
#
# One call answers, and says what to fix.
# Here is a training run on 200 small pictures of digits. The code raises no error and the loss stays finite, but 600
# steps take it only from 2.30 to 2.18. Two mistakes are hidden in this example. We will find both.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon
from gnomon.training import SGD, TrainingRun

digits = gnomon.data.digits(200, 350)
train = (digits.x, digits.y)
test = (torch.cat([digits.x_test, digits.x[:150]]), torch.cat([digits.y_test, digits.y[:150]]))


def build():
    torch.manual_seed(0)
    hidden = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(128, 10), nn.Softmax(1))


recipe = {"optimizer": SGD(0.1), "batch": 20}
stuck = gnomon.train(build(), train, steps=600, **recipe)
fig, ax = plt.subplots()
ax.plot(stuck.steps, stuck.loss, "o", markersize=4, color="C0", label="measured")
ax.axhline(2.303, color="C4", linestyle="--", label="guessing among 10 classes: ln 10 = 2.30")
ax.set(title="After 600 steps the loss has hardly moved", xlabel="step", ylabel="cross-entropy (nats)", ylim=(0, 2.6))
ax.legend(loc="lower left")
# alt: The training loss as dots over 600 steps. They begin on the dashed line of guessing at 2.30 and end at 2.18.

# %% [markdown]
# !!! question "Predict before you run"
#     One mistake is in the model, one in the data. Read `build`, and read the line that makes `test`. Which two
#     sentences would you write in a review? Which mistake explains the flat loss?
#
# ## One call
#
# `gnomon.examine` takes the function that builds the network, the data, and the recipe you train with. It trains its
# own copy. `budget` is a time limit in seconds; it needs about ten of them.

# %%
options = {**recipe, "epochs": 60, "budget": 600}
first = gnomon.examine(build, train=train, test=test, **options)
print(first.verdict, "\n")
for finding in first.findings:
    print(f"{finding.level.name}: {finding.message}\n    {finding.fix}\n")

# %% [markdown]
# Both mistakes are in the list. A finding has a **level** (a *problem* makes results unreliable, a *warning* costs
# time or accuracy, a *note* is worth knowing), a **message** with the measurement, and a **fix**.
#
# The first finding explains the picture. The network ends in `Softmax`, and PyTorch's cross-entropy applies softmax
# again. The network's outputs are now probabilities between 0 and 1. The best it can do is to output a 1 and nine 0s,
# and the second softmax turns that into a loss of
#
# $$\ln\frac{e^1 + 9 e^0}{e^1} = 1.46 .$$
#
# Near guessing, the gradient is also much smaller. gnomon does not only state the fix. It applied it to a copy,
# trained again with two seeds, and compared:

# %%
for fix in first.fixes:
    print(fix.sentence)

# %% [markdown]
# ## Fix the first problem


# %%
def without_softmax():
    return build()[:-1]


second = gnomon.examine(without_softmax, train=train, test=test, **options)
print(second.verdict)

learning = gnomon.train(without_softmax(), train, steps=600, **recipe)
fig, ax = plt.subplots()
ax.plot(stuck.steps, stuck.loss, "o", markersize=4, color="C0", label="with softmax")
ax.plot(learning.steps, learning.loss, "o", markersize=4, color="C1", label="softmax removed")
ax.axhline(1.46, color="C0", linestyle="--", label="lowest possible loss with softmax: 1.46")
ax.set(title="One line removed, and the same recipe learns", xlabel="step")
ax.set(ylabel="cross-entropy (nats)", ylim=(0, 2.6))
ax.legend(loc="center right")
# alt: Two loss curves over 600 steps. With softmax the dots end at 2.18; with softmax removed they fall below 0.1.

# %% [markdown]
# ## Fix the second problem
#
# The other finding says that 30 % of the test pictures are also in the training set. `gnomon.checks.find_leaks` names
# the pairs.

# %%
leaks = gnomon.checks.find_leaks(train, test)
fig, axes = plt.subplots(2, 6, figsize=(7, 3))
for column, (row, original) in zip(axes.T, leaks.copies, strict=False):
    for ax, data, place, name in ((column[0], test, row, "test"), (column[1], train, original, "train")):
        ax.imshow(data[0][place, 0], cmap="gray")
        ax.set_title(f"{name} {place}", fontsize="small")
        ax.axis("off")
fig.suptitle(f"{leaks.exact} test pictures are copies of training pictures. Here are six.")
# alt: Two rows of six digit images. Each test image in the upper row is identical to the training image below it.

# %% [markdown]
# We drop these rows from the test set and examine a last time.

# %%
keep = torch.ones(len(test[0]), dtype=torch.bool)
keep[[row for row, _ in leaks.copies]] = False
clean = (test[0][keep], test[1][keep])
third = gnomon.examine(without_softmax, train=train, test=clean, **options)
print(third.verdict, "\nhealthy:", third.healthy)

# %% [markdown]
# The report is healthy. `healthy` is `True` only if no problem was found *and* there was enough time, data and
# training to look; if gnomon cannot decide, it is `None`. What did each fix change?

# %%
reports = {"two problems": first, "softmax removed": second, "and copies dropped": third}
errors = [100 * (1 - float(report.products[TrainingRun].test_accuracy[-1])) for report in reports.values()]
fig, ax = plt.subplots()
bars = ax.bar(list(reports), errors, color=["C0", "C1", "C1"], width=0.6)
ax.bar_label(bars, fmt="%.1f %%")
ax.set(title="The first fix improves the network, the second its test")
ax.set(ylabel="wrong on the test set (%)", ylim=(0, 60))
# alt: Three bars of test error: high with two problems, low without softmax, and a little higher without the copies.

# %% [markdown]
# The two fixes are of different kinds. Removing the softmax improved the *network*: from 52.2 % wrong to 4.4 %.
# Dropping the copies improved the *test*: 6.3 % is the honest number. The network knew the copies by heart, so they
# had hidden almost a third of its errors. Nothing in a loss curve shows the second mistake.
#
# ## Read the rest of the report
#
# `print(third)` gives one sentence for each of about twenty questions, and `third.save("report.html")` writes a page
# with pictures that works offline. Here are four of the answers, and what could still be better:

# %%
for key in ("signal", "stability", "regime", "limit"):
    section = third.section(key)
    print(f"{section.title}: {section.answer}\n")
for finding in third.findings:
    print(f"{finding.level.name}: {finding.message}\n    {finding.fix}")

# %% [markdown]
# Each of these answers compares a measurement with theory, and each has its own tutorial: the largest stable learning
# rate comes from the curvature of the loss ([tutorial 5](05-learning-rate.md)), "learned new features" from the
# change of the tangent kernel ([tutorial 3](03-lazy-or-rich.md)), and the very wide version is computed without
# training a network at all ([tutorial 2](02-predict-the-curve.md)).
#
# The warning is not a false alarm: this network sees pixels as 64 unrelated numbers, so a digit that moves by one
# pixel is a new picture to it. Whether you need to act depends on your task. That is why it is a warning and not a
# problem.
#
# For your own model, replace `build`, `train` and `test`. From a terminal:
#
# ```bash
# gnomon examine my_model.py:build --data data.npz --fit --out report.html
# ```
#
# ## Exercises
#
# **Exercise 1.** Examine `without_softmax` on `train` and `clean` with `SGD(10.0)`. Does gnomon notice, and what does
# it propose?
#
# ??? success "Answer"
#     Yes, one problem: "The learning rate is too large: after 40 steps the loss changes by +0.19 with lr=10, and by
#     -0.4 with lr=1." The fix is lr = 1 or less. The report above already stated a stable limit of 5.13 at the start.
#
# **Exercise 2.** Go back to `SGD(0.1)`, and multiply all inputs by 255, as if somebody forgot to scale the pixels.
#
# ??? success "Answer"
#     One problem: "The typical size of the inputs (root mean square) is 124; networks expect about 1." The fix:
#     standardize the inputs. Layers start with weights that are made for inputs of size 1
#     ([why](claim:data-normalisation-conditioning)).
#
# **Exercise 3.** Shuffle the training labels (`order = torch.randperm(200,
# generator=torch.Generator().manual_seed(0))`, then `train[1][order]`). Training accuracy still rises to 42.5 %. What
# betrays the labels?
#
# ??? success "Answer"
#     One problem: after training the network still performs like random guessing, 13.4 % right on the test set. Two
#     warnings point to the reason: a simple model contradicts many training labels, and the network overfits (42.5 %
#     against 13.4 %). What a network learns from random labels is of no use elsewhere.
#
# !!! tip "Three lines to remember"
#     - `gnomon.examine(build, train, test)` trains a copy, compares it with theory, and lists problems with fixes.
#     - Some mistakes harm the network, others only its test. A loss curve shows at most the first kind.
#     - `healthy` is `True`, `False`, or `None` if there was too little time or data to say.
#
# **See also:** [why cross-entropy wants logits](claim:loss-cross-entropy), [what softmax does](claim:softmax),
# [training and true error](claim:expected-vs-empirical-risk); `gnomon.train`, `gnomon.checks.find_leaks`,
# `gnomon.examine`.
