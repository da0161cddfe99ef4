# %% [markdown]
# # Lazy or rich: one knob between two theories
#
# Does my network learn features, or does it only combine the random ones it started with?
#
# Below, the same network learns the same data six times. Only one number differs: a factor $\alpha$ on its output.
# From left to right the test error triples. At the right end it meets the dashed line, which was computed from the
# network at its start, before any training.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon
from gnomon.training import SGD, Squared

x_all = torch.randn(1300, 20, generator=torch.Generator().manual_seed(0))
y_all = x_all[:, 0] * x_all[:, 1]
x, y, x_test, y_test = x_all[:300], y_all[:300], x_all[300:], y_all[300:]
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))

STEPS = 3000
lr = gnomon.predict(network, (x, y), loss=Squared()).largest_lr / 3
options = {"loss": Squared(), "optimizer": SGD(lr), "times": [0, lr * STEPS]}
kernel = gnomon.predict(network, (x, y), test=x_test, f0=torch.zeros(300), f0_test=torch.zeros(1000), **options)
kernel_error = 100 * float((kernel.test[-1].flatten() - y_test).square().mean() / y_test.var())

alphas = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
sweep = gnomon.tangent.scale_sweep(network, (x, y), (x_test, y_test), alphas=alphas, lr=lr, steps=STEPS)
fig, ax = plt.subplots()
ax.semilogx(alphas, [100 * (1 - score) for score in sweep.scores], "o", color="C0", label="trained network")
ax.axhline(kernel_error, color="C1", linestyle="--", label="tangent kernel at the start (theory)")
ax.set(title="One factor on the output changes what the network learns", ylim=(0, 50))
ax.set(xlabel="output factor alpha", ylabel="test error (% of the variance)")
ax.legend(loc="lower right")
# alt: Test error over alpha. The dots rise from 13 % at alpha 0.3 to 41 % at alpha 100, on the dashed line of theory.

# %% [markdown]
# The data have 20 inputs, but the target is the product of the first two: $y = x_0 x_1$. The other 18 are
# distractors. A network that finds the two relevant directions gets by with few examples. A network with fixed random
# features needs many. (In the code, `times` are learning rate times steps, and `f0` is zero because every run starts
# at output zero.)
#
# ## The knob
#
# Let $f(w)$ be the network with weights $w$, and $w_0$ its start. We train
#
# $$F = \alpha\,\bigl(f(w) - f(w_0)\bigr)$$
#
# with the learning rate divided by $\alpha^2$, so that all runs learn equally fast: $\alpha$ makes the gradient larger
# once, and the effect of each step once more. If $\alpha$ is 100, a tiny change of the weights changes $F$ enough to
# fit the data. The weights stay where they were, and so does everything the
# hidden layer computes. This is **lazy training**. If $\alpha$ is small, the weights must travel far: **rich**
# training, or feature learning. `gnomon.tangent.scale_output` builds $F$, and `gnomon.tangent.scale_sweep` makes the
# sweep above.
#
# !!! question "Predict before you run"
#     The tangent kernel $K(x, x') = \nabla f(x) \cdot \nabla f(x')$ says how much a step on $x'$ changes the output
#     at $x$. By how much will it change during training at $\alpha = 100$: by 50 %, 5 % or 0.5 %? And at $\alpha =
#     10$? (The table also counts hidden units that end on the other side of their ReLU's kink.)

# %%
print("alpha   kernel changed by   units that switched")
for alpha, drift, flips in zip(alphas, sweep.drift, sweep.flips, strict=True):
    print(f"{alpha:5g} {drift:19.1%} {flips:21.1%}")
fig, ax = plt.subplots()
ax.loglog(alphas, [100 * drift for drift in sweep.drift], "o", color="C0", label="measured")
line = [100 * sweep.drift[-1] * 100 / alpha for alpha in alphas]
ax.loglog(alphas, line, color="C1", label="theory for lazy training: 1 / alpha")
ax.axhline(10, color="C4", linestyle="--", label="gnomon says lazy below 10 %")
ax.set(title="The kernel of a lazy network stands still")
ax.set(xlabel="output factor alpha", ylabel="change of the kernel (%)")
ax.legend()
# alt: Change of the tangent kernel over alpha on logarithmic axes. It falls from several hundred percent to below 1 %.

# %% [markdown]
# ## Watch the neurons
#
# Every hidden neuron looks in a direction: its 20 input weights. We draw its two relevant weights, for $x_0$ and
# $x_1$, as an arrow from the start to the end of training.


# %%
def train(alpha):
    model = gnomon.tangent.scale_output(network, alpha)
    return gnomon.train(model, (x, y), loss=Squared(), optimizer=SGD(lr / alpha**2), steps=STEPS).model


rich, lazy = train(0.3), train(100.0)
before = network[0].weight.detach()
fig, axes = plt.subplots(1, 2, figsize=(7, 3.8), sharex=True, sharey=True)
for ax, model, name in ((axes[0], rich, "rich, alpha = 0.3"), (axes[1], lazy, "lazy, alpha = 100")):
    move = model.module[0].weight.detach() - before
    ax.quiver(*before[:, :2].T, *move[:, :2].T, angles="xy", scale_units="xy", scale=1, color="C0", width=0.005)
    ax.plot(*before[:, :2].T, ".", color="C4", markersize=4)
    weights = model.module[0].weight.detach().square()
    share = weights[:, :2].sum() / weights.sum()
    ax.set(title=f"{name}: {share:.0%} on x0, x1", xlabel="weight of x0", xlim=(-0.9, 0.9), ylim=(-0.9, 0.9))
    ax.set(aspect="equal")
axes[0].set(ylabel="weight of x1")
# alt: Arrows of 64 neurons. In the rich panel they shoot out along the diagonals; in the lazy panel nothing moves.

# %% [markdown]
# The dots are the starts. In the lazy run no arrow is long enough to see, and 11 % of the squared weights belong to
# $x_0$ and $x_1$, about the 10 % of a random start. In the rich run it is 44 %: the hidden layer has found the two
# inputs that matter. And the function? We vary $x_0$ and $x_1$, and take the 18 distractors of one test example.

# %%
grid = torch.linspace(-2, 2, 61)
plane = x_test[:1].repeat(61 * 61, 1)
plane[:, :2] = torch.cartesian_prod(grid, grid)
maps = {"target": plane[:, 0] * plane[:, 1], "rich": rich(plane)[:, 0].detach(), "lazy": lazy(plane)[:, 0].detach()}
fig, axes = plt.subplots(1, 3, figsize=(7, 2.7), sharey=True)
for ax, (name, values) in zip(axes, maps.items(), strict=True):
    shown = ax.imshow(values.reshape(61, 61).T, origin="lower", extent=(-2, 2, -2, 2), cmap="RdBu_r", vmin=-4, vmax=4)
    ax.set(title=name, xlabel="x0")
    ax.grid(visible=False)
axes[0].set(ylabel="x1")
fig.colorbar(shown, ax=axes, label="output", shrink=0.8)
# alt: Maps over x0 and x1. The rich network has the saddle of the target; in the lazy one little of it is left.

# %% [markdown]
# The target does not depend on the distractors. The lazy network does: for this example little is left of its saddle.
#
# ## Two theories
#
# Both ends of the knob have a theory. At the lazy end, training is kernel regression with the tangent kernel at the
# start, so the error is known beforehand: 41.0 % predicted, 41.0 % measured at $\alpha = 100$
# ([claim](claim:lazy-dynamics-theorem)). The change of the kernel falls as $1/\alpha$ from $\alpha = 10$ on, and
# faster before ([claim](claim:ntk-change-exponent)). At the rich end theory follows the distribution of all neurons
# while they move, but has no such closed form ([claim](claim:mean-field-flow)).
#
# Width acts like the knob: with the usual scaling, [wider networks are lazier](claim:kappa-width-rate). That is why
# [tutorial 2](02-predict-the-curve.md) needed 4,096 units. And richer is not always better: with a kernel that fits
# the task, or with noise, lazy training can win. Measure it. `gnomon.tangent.laziness` compares two checkpoints of
# any network, and `gnomon.examine` states the regime of yours. The
# [playground](../playground.html#lesson=lazy-to-rich) lets you turn the knob during a run.
#
# ## Exercises
#
# **Exercise 1.** Change the target to the first input alone, $y = x_0$. Does the rich network ($\alpha = 0.3$) still
# beat the lazy one ($\alpha = 100$)?
#
# ??? success "Answer"
#     Both are good now: 0.6 % error and 2.1 %. Random features can express a linear function with few examples.
#     Features must be learned where the start does not have them ([claim](claim:linearised-not-competitive)).
#
# **Exercise 2.** Run the sweep with `alphas=(0.1,)`. What goes wrong, and what fixes it?
#
# ??? success "Answer"
#     The explained variance (1 minus the test error) is poor and not repeatable: -0.19 on one computer, worse than a
#     constant, and 0.50 on another. The kernel grows so much that the learning rate becomes too large. With `lr / 10`
#     and ten times the steps the error is 12.9 %, about as at 0.3 (12.7 %): beyond some point, richer brings nothing
#     more here.
#
# **Exercise 3.** Print `gnomon.tangent.laziness(network, rich.module, x)`, and the same for `lazy.module`. How far
# did the weights travel?
#
# ??? success "Answer"
#     By 131 % of their size in the rich run and 1.7 % in the lazy run. The kernel changed by 492 % and 0.7 %. (The
#     sweep says 614 % for the rich run because it uses 64 examples instead of 300.)
#
# !!! tip "Three lines to remember"
#     - Large output factor or large width: weights hardly move, training is kernel regression, and theory knows the
#       result.
#     - Small output factor: neurons turn to the inputs that matter. Here the error falls from 41 % to 13 %.
#     - The change of the tangent kernel tells the regimes apart: below 10 % gnomon calls training lazy.
#
# **See also:** [where lazy and rich meet](claim:feature-lazy-phase-boundary),
# [fixed and learned features](claim:fixed-vs-learned-features); `gnomon.tangent.scale_sweep`,
# `gnomon.tangent.scale_output`, `gnomon.tangent.laziness`, `gnomon.predict`.
