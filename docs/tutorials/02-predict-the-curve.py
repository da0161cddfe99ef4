# thumbnail: 2
# %% [markdown]
# # Predict the training curve before you train
#
# Can I know the loss at every step before the first step?
#
# For a wide network, yes. The line below was computed from the network at its random start. No training has happened.

# %%
import matplotlib.pyplot as plt
import torch

import gnomon
from gnomon.training import SGD, Squared

digits = gnomon.data.digits(100, 300)
x, y, x_test, y_test = digits.x.flatten(1), digits.y, digits.x_test.flatten(1), digits.y_test
STEPS = sorted({round(10 ** (i / 12)) for i in range(33)})


def start(width, depth=1):
    torch.manual_seed(0)
    return gnomon.models.mlp(64, 10, width=width, depth=depth)


def predict(network):
    lr = gnomon.predict(network, (x, y), loss=Squared()).largest_lr / 2
    options = {"test": (x_test, y_test), "loss": Squared(), "optimizer": SGD(lr)}
    return gnomon.predict(network, (x, y), times=[lr * step for step in [0, *STEPS]], **options)


predicted = predict(start(4096))
fig, ax = plt.subplots()
ax.semilogx(STEPS, predicted.loss[1:], color="C0", label="training loss, predicted")
ax.semilogx(STEPS, predicted.test_loss[1:], color="C1", label="test loss, predicted")
ax.set(title="Before training: the predicted losses of a network with 4,096 units")
ax.set(xlabel="step", ylabel="squared loss", ylim=(0, 0.7))
ax.legend()
# alt: Two smooth predicted curves over steps 1 to 464. The training loss falls to 0.07, the test loss to 0.17.

# %% [markdown]
# The network has one hidden layer and learns 100 pictures of digits by gradient descent on all of them at every step.
# `gnomon.predict` took the network, the data and the learning rate, and returned the losses at the steps we asked
# for.
#
# !!! question "Predict before you run"
#     Now we train. Will the measured dots fall on the line, above it or below it? And if the network has only 64
#     units instead of 4,096?
#
# ## Train, and compare


# %%
def train(network, predicted):
    options = {"loss": Squared(), "optimizer": predicted.optimizer, "test": (x_test, y_test)}
    return gnomon.train(network, (x, y), steps=STEPS[-1], record=STEPS, outputs=True, **options)


def compare(ax, predicted, run, title):
    for color, name in (("C0", "loss"), ("C1", "test_loss")):
        ax.semilogx(STEPS, getattr(predicted, name)[1:], color=color)
        ax.semilogx(STEPS, getattr(run, name)[1:], "o", markersize=4, color=color)
    ax.set(title=title, ylim=(0, 0.7))


run = train(start(4096), predicted)
fig, ax = plt.subplots()
compare(ax, predicted, run, "4,096 units: every dot falls on the line that was there before")
ax.set(xlabel="step", ylabel="squared loss")
ax.legend(["training, predicted", "training, measured", "test, predicted", "test, measured"])
# alt: Measured training and test losses as dots. They lie on the two predicted lines from step 1 to step 464.

# %% [markdown]
# ## Why it works
#
# One gradient step on picture A also changes the output for picture B. By how much is one number, $K(A, B)$: the
# inner product of the gradients of the two outputs with respect to all weights. All these numbers form the **tangent
# kernel**. A step with learning rate $\eta$ on $n$ pictures changes the outputs $f$ by
#
# $$f \leftarrow f - \frac{\eta}{n}\, K\, (f - y),$$
#
# exactly for an infinitely small step. If $K$ stays the same during training, this is a linear recursion that can be
# solved on paper: along each eigenvector of $K$ with eigenvalue $\lambda$ the error shrinks by the factor
# $1 - \eta\lambda/n$ at every step ([claim](claim:ntk-eigenmode-decay)). That is all `gnomon.predict` does. It needs
# $K$ once, at the start: `gnomon.ntk` computes it.
#
# So the prediction can fail for one reason: $K$ moves. Many units move little each, few units must move a lot. Let us
# look at four widths.

# %%
widths, gaps, drifts, pairs = (64, 256, 1024, 4096), [], [], {}
fig, axes = plt.subplots(2, 2, figsize=(7, 5), sharex=True, sharey=True)
print("units   final loss: predicted  measured   largest error   kernel changed by")
for ax, width in zip(axes.flat, widths, strict=True):
    network = start(width)
    predicted = predict(network)
    run = train(network, predicted)
    pairs[width] = (predicted.test[-1], run.test[-1])
    gaps.append(float((predicted.loss / run.loss - 1).abs().max()))
    drifts.append(gnomon.tangent.laziness(network, run.model, x).kernel)
    compare(ax, predicted, run, f"{width:,} units: off by up to {gaps[-1]:.0%}")
    print(f"{width:5,} {predicted.loss[-1]:22.3f} {run.loss[-1]:9.3f} {gaps[-1]:15.1%} {drifts[-1]:19.1%}")
for ax in axes[1]:
    ax.set(xlabel="step")
for ax in axes[:, 0]:
    ax.set(ylabel="squared loss")
# alt: Four panels, predicted lines and measured dots. At 64 units dots fall below the lines, at 4,096 they lie on them.

# %% [markdown]
# The dots of small networks lie *below* the line: they learn faster than their initial kernel says, because they
# improve it on the way. This is feature learning, the subject of [tutorial 3](03-lazy-or-rich.md).

# %%
fig, ax = plt.subplots()
ax.loglog(widths, [100 * gap for gap in gaps], "o", color="C0", label="largest error of the predicted loss")
ax.loglog(widths, [100 * drift for drift in drifts], "s", color="C2", label="change of the kernel")
ax.loglog(widths, [100 * gaps[0] * 64 / width for width in widths], "--", color="C4", label="1 / width, to compare")
ax.set(title="The prediction fails as much as the kernel moves", xlabel="units in the hidden layer", ylabel="%")
ax.set_xticks(widths, [f"{width:,}" for width in widths])
ax.legend()
# alt: Error of the prediction and change of the kernel over the width, on log axes. Both fall faster than 1 over width.

# %% [markdown]
# From 64 to 4,096 units the error falls from 177 % to 0.9 %, and the change of the kernel from 85 % to 0.4 %. Both
# fall a little faster than 1 / width here. Theory promises that they vanish ([how fast the kernel stops to
# move](claim:ntk-constancy), [how close the outputs stay](claim:ntk-closed-form-trajectory)). The prediction tells
# you whether to trust it: `gnomon.tangent.laziness` measures the change of the kernel after training.
#
# ## Not only the loss
#
# The recursion predicts every output for every picture, also for test pictures that were never trained on.

# %%
fig, axes = plt.subplots(1, 2, figsize=(7, 3.6), sharex=True, sharey=True)
for ax, width in zip(axes, (64, 4096), strict=True):
    ax.plot(pairs[width][0].flatten(), pairs[width][1].flatten(), ".", markersize=2, color="C1", rasterized=True)
    ax.axline((0, 0), slope=1, color="C4", linewidth=1)
    away = (pairs[width][0] - pairs[width][1]).square().mean().sqrt()
    ax.set(title=f"{width:,} units: typical error {away:.3f}", xlabel="predicted output", aspect="equal")
axes[0].set(ylabel="measured output")
# alt: 3,000 test outputs, measured over predicted. At 64 units a cloud around the diagonal, at 4,096 a thin line on it.

# %% [markdown]
# At 4,096 units the typical error of one output is 0.001, and outputs range from about -0.5 to 1.1. The whole
# function was known before training.
#
# ## What it is good for
#
# The prediction costs one kernel of 100 pictures and no training. It gives the largest stable learning rate
# (`predicted.largest_lr`), the number of steps to a given loss, and the test loss if the network kept its initial
# features. If a real run is *worse* than that line, something is wrong with the run. If it is better, the network
# learns features. Try it with the mouse in the [playground](../playground.html#lesson=function-space).
#
# ## Exercises
#
# **Exercise 1.** Use `start(1024, depth=3)`: same width, three hidden layers. Is the prediction better or worse than
# for one hidden layer?
#
# ??? success "Answer"
#     Much worse. The kernel changes by 81 % instead of 6 %, and the final loss is 0.0017, predicted 0.034. More
#     layers multiply their changes. A deeper network must be wider to be equally predictable.
#
# **Exercise 2.** Pass `kernel="infinite"` to `gnomon.predict`. It then uses the kernel of the infinitely wide network
# instead of the kernel of this network. By how much is the training loss at 4,096 units off?
#
# ??? success "Answer"
#     By at most 1.0 %, as with the network's own kernel (0.9 %). At this width, the random start hardly matters. At
#     64 units it is off by 33 %.
#
# **Exercise 3.** At 4,096 units, take a learning rate 5 % above `largest_lr` and 200 steps. What is predicted? What
# happens?
#
# ??? success "Answer"
#     The prediction grows to $10^{15}$: with a constant kernel descent diverges. The network does not. Its loss rises
#     to 1.2 at step 20, and is 0.073 after 200 steps. Meanwhile the kernel changed by 9 %, and its largest stable
#     rate rose from 0.0160 to 0.0177, just enough. Theory knew that the linear regime ends, not where training goes
#     next. [Tutorial 5](05-learning-rate.md) continues here.
#
# !!! tip "Three lines to remember"
#     - One gradient step on A changes the output for B by $K(A, B)$ times the error. If $K$ is constant, training is
#       solved on paper.
#     - The wider the network, the less $K$ moves, and the better the prediction: 177 % off at 64 units, 0.9 % at
#       4,096.
#     - Dots below the predicted line mean that the network improves its own kernel: it learns features.
#
# **See also:** [the kernel is the Gram matrix of gradients](claim:ntk-empirical-definition), [all wide networks start
# with the same kernel](claim:ntk-infinite-width-determinism); `gnomon.predict`, `gnomon.train`, `gnomon.ntk`,
# `gnomon.tangent.laziness`.
