# %% [markdown]
# # How large may the learning rate be?
#
# Above which learning rate does training fail, and what happens just below it?
#
# Three runs of one network, with three learning rates. The dots show the sharpness of the loss, its largest
# curvature. Each run climbs or falls to its own dashed line, and stays there. The lines were known before: they are
# at $2/\eta$, two divided by the learning rate $\eta$. (The loss is half of the squared distance between the ten
# outputs and the label, written as nine zeros and a one.)

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon
from gnomon.landscape import edge_of_stability, sharpness
from gnomon.training import SGD, Squared

digits = gnomon.data.digits(200, 300)
x, y, x_test, y_test = digits.x.flatten(1), digits.y, digits.x_test.flatten(1), digits.y_test


def start():
    torch.manual_seed(0)
    return gnomon.models.mlp(64, 10, width=64, depth=2, activation=nn.Tanh)


def train(lr, batch=None):
    watch = {"sharpness": lambda step, model, loss: sharpness(model, (x, y), loss=Squared()).value}
    options = {"loss": Squared(), "optimizer": SGD(lr), "batch": batch, "test": (x_test, y_test)}
    return gnomon.train(start(), (x, y), steps=2000, record=50, watch=watch, **options)


COLORS = {0.1: "C0", 0.2: "C1", 0.4: "C2"}
runs = {lr: train(lr) for lr in COLORS}
fig, ax = plt.subplots()
for lr, run in runs.items():
    ax.plot(run.steps, run.watched["sharpness"], "o", markersize=4, color=COLORS[lr], label=f"learning rate {lr}")
    ax.axhline(2 / lr, color=COLORS[lr], linestyle="--")
    ax.text(2020, 2 / lr, f"2 / {lr}", color=COLORS[lr], va="bottom")
ax.set(title="The learning rate decides how sharp the loss becomes", xlabel="step", xlim=(-50, 2250), ylim=(0, 25))
ax.set(ylabel="sharpness (largest Hessian eigenvalue)")
ax.legend(loc="upper left", ncols=3, fontsize="small")
# alt: Sharpness over 2,000 steps for three learning rates. Each run ends near its dashed line at 2 over its rate.

# %% [markdown]
# ## The rule: below $2/\lambda$
#
# Start with the case where everything is exact: a linear model with the squared loss. Its loss is a parabola in every
# direction. In a direction of curvature $\lambda$, one step multiplies the distance to the minimum by
#
# $$1 - \eta\lambda .$$
#
# The distance shrinks if this factor lies between -1 and 1, so if $\eta < 2/\lambda$. The steepest direction decides:
# $\lambda$ is the largest eigenvalue of the Hessian, the **sharpness**. `gnomon.landscape.sharpness` computes it
# without building the Hessian.

# %%
torch.manual_seed(0)
linear = nn.Linear(64, 10)
of_linear, of_network = (sharpness(model, (x, y), loss=Squared()) for model in (linear, start()))
print("linear model:", of_linear.verdict)
print("network:     ", of_network.verdict)

# %% [markdown]
# !!! question "Predict before you run"
#     We train both for 300 steps at 0.5 to 3 times their limit $2/\lambda$. Where does the linear model fail: at 1
#     times, or at another value? And the network, whose loss is not a parabola?

# %%
factors = [0.5, 0.8, 0.9, 0.98, 1.02, 1.1, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0]
final = {}
for name, model, found in (("linear model", linear, of_linear), ("network", start(), of_network)):
    rates = [factor * 2 / found.value for factor in factors]
    ends = [gnomon.train(model, (x, y), loss=Squared(), optimizer=SGD(lr), steps=300).loss[-1] for lr in rates]
    final[name] = [min(float(end), 1e4) for end in ends]
fig, ax = plt.subplots()
ax.semilogy(factors, final["linear model"], "s", color="C3", label="linear model")
ax.semilogy(factors, final["network"], "o", color="C0", label="network")
ax.axvline(1, color="C4", linestyle="--", label="limit computed before training")
ax.set(title="The linear model fails exactly at its limit, the network later")
ax.set(xlabel="learning rate, in units of 2 / sharpness at the start", ylabel="loss after 300 steps (cut at 10,000)")
ax.legend()
# alt: Loss after 300 steps over the learning rate. The linear model jumps to 10,000 just above 1, the network above 2.

# %% [markdown]
# The linear model fits at 0.98 times its limit and explodes at 1.02 times ([claim](claim:learning-rate-regimes)). The
# network is stable up to its limit too. Beyond the limit it does not fail at once: it still works at 2.0 times, and
# explodes at 2.25 times. How can it survive where theory predicts growth?
#
# ## The edge of stability
#
# Theory says that at $\eta > 2/\lambda$ the weights leave the *parabola at the start*. They then move to a place where
# the curvature is different. If that place is flat enough, training goes on. So the learning rate decides how sharp
# the place may be. `gnomon.landscape.edge_of_stability` compares the two.

# %%
for lr, run in runs.items():
    print(f"learning rate {lr}: {edge_of_stability(run).verdict}")

# %% [markdown]
# Read the first picture again with this in mind. At the start the sharpness is 6.8.
#
# - At $\eta = 0.4$ the limit $2/\eta = 5$ is *below* the start. The run moves to flatter places until it is near 5.
# - At $\eta = 0.1$ the limit 20 is far *above*. The sharpness grows for about 900 steps, until it reaches 20. Then it
#   stops growing, although the loss still falls.
#
# Gradient descent on networks tends to make the loss sharper, until the learning rate no longer allows it. This is
# called **progressive sharpening**, and the place where it stops is the **edge of stability**. On the edge every step
# overshoots in the steepest direction, so the loss goes up and down. It falls only on average:

# %%
fig, ax = plt.subplots()
for lr in (0.1, 0.4):
    close = gnomon.train(start(), (x, y), loss=Squared(), optimizer=SGD(lr), steps=120, record=1)
    ups = int((close.loss[1:] > close.loss[:-1]).sum())
    ax.plot(close.steps, close.loss, ".-", markersize=3, linewidth=1, color=COLORS[lr], label=f"learning rate {lr}")
    print(f"learning rate {lr}: the loss rises in {ups} of 120 steps, and ends at {close.loss[-1]:.3f}")
ax.set(
    title="At the edge the loss zigzags, and still falls faster", xlabel="step", ylabel="squared loss", ylim=(0, 0.6)
)
ax.legend()
# alt: Loss over 120 steps. At rate 0.1 it falls smoothly; at rate 0.4 it zigzags, and ends lower.

# %% [markdown]
# ## So, how large?
#
# Compute $2/\lambda$ at the start: here 0.293. Half of it is a safe first try. A rate between one and two times the
# limit often works and ends in a flatter place, at the price of a zigzag. Near two times it can explode without
# warning. What the network gains from a flat place is a separate question:

# %%
for lr, run in runs.items():
    print(f"learning rate {lr}: training loss {run.loss[-1]:.3f}, right on test {float(run.test_accuracy[-1]):.1%}")

# %% [markdown]
# The larger rate is ahead in training loss after the same number of steps. The test scores differ by a few of 300
# pictures, too few to call a winner.
#
# On your own model, `gnomon.examine` states this limit, and tries other rates for a few steps. In the
# [playground](../playground.html#lesson=edge-of-stability) you can drag the rate across the edge during a run.
#
# ## Exercises
#
# **Exercise 1.** Subtract the mean picture: `x - x.mean(0)`. What is the sharpness of the linear model now, and what
# does it mean for the learning rate?
#
# ??? success "Answer"
#     It falls from 11.4 to 1.00, so the limit rises from 0.175 to 2.0. The steepest direction was the mean of all
#     pictures, which says nothing about the class. That is one reason to
#     [normalize inputs](claim:data-normalisation-conditioning).
#
# **Exercise 2.** With momentum $\beta$ the limit is $2(1 + \beta)/\lambda$. Check it for the linear model and
# $\beta = 0.9$ with `SGD(lr, momentum=0.9)`, 2 % below and 2 % above.
#
# ??? success "Answer"
#     The limit is 0.333, 1.9 times as large. After 300 steps the loss is 0.118 below it and $10^{61}$ above it
#     ([why](claim:heavy-ball-momentum)).
#
# **Exercise 3.** Use batches of 20 instead of all 200 pictures: `train(0.1, batch=20)`. Does the sharpness still
# reach 20?
#
# ??? success "Answer"
#     No. After 2,000 steps it is 16.8, and it has stopped growing there. The noise of small batches pushes the
#     weights towards flatter places before the edge is reached.
#
# !!! tip "Three lines to remember"
#     - A step multiplies the error along curvature $\lambda$ by $1 - \eta\lambda$: stable below $\eta = 2/\lambda$.
#     - Networks sharpen until $\lambda \approx 2/\eta$ and stay there. The learning rate chooses the sharpness.
#     - The limit at the start is exact for linear models; networks can survive beyond it by moving to a flatter
#       place.
#
# **See also:** [steps below 2/L always help](claim:step-size-two-over-l), [one step on a
# parabola](claim:gradient-descent); `gnomon.landscape.sharpness`, `gnomon.landscape.edge_of_stability`, `gnomon.train`.
