# %% [markdown]
# # Can 30 layers be trained?
#
# Why does a deep network with the default initialization learn nothing, and which initialization works?
#
# This map was computed before any training. It says through how many layers a signal survives in a deep tanh network,
# for every size of the initial weights and biases. The cross is a network as PyTorch initializes it: 5 layers. The
# star is the same network with larger weights.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon


def theory(weight_std, bias_std=0.058):
    return gnomon.checks.mean_field(torch.tanh, weight_std=weight_std, bias_std=bias_std)


weight_stds = [0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.8, 2.2, 2.6]
bias_stds = [0.02, 0.08, 0.15, 0.3, 0.45]
reach = [[min(theory(weight, bias).reach, 999) for weight in weight_stds] for bias in bias_stds]
border = [gnomon.checks.critical_weight_std(torch.tanh, bias_std=bias) for bias in bias_stds]
fig, ax = plt.subplots()
levels = [0, 6, 12, 30, 100, 1000]
shown = ax.contourf(weight_stds, bias_stds, reach, levels, norm="log", cmap="magma", vmin=2, vmax=400)
ax.plot(border, bias_stds, color="white", linestyle="--")
ax.plot(0.577, 0.058, "X", color="C1", markersize=12, markeredgecolor="white")
ax.plot(1.13, 0.058, "*", color="C1", markersize=16, markeredgecolor="white")
ax.set(title="How many layers can be trained: only a narrow strip reaches 30")
ax.set(xlabel="standard deviation of weights x root of fan-in", ylabel="standard deviation of biases")
ax.grid(visible=False)
bar = fig.colorbar(shown, label="layers", ticks=levels[1:-1])
bar.set_ticklabels([str(level) for level in levels[1:-1]])
bar.minorticks_off()
# alt: Map over sizes of weights and biases. A strip near weight size 1.1 reaches 30 layers; the cross lies outside it.

# %% [markdown]
# ## What happens to a signal
#
# Each layer multiplies by random weights and applies tanh. Send a small difference between two inputs, or a gradient,
# through a wide random layer: its squared size changes by a factor
#
# $$\chi = \sigma_w^2\; \mathbb{E}\,\tanh'(u)^2 ,$$
#
# if $\sigma_w$ is the standard deviation of the weights times the square root of the number of inputs, and $u$ is
# Gaussian with the variance of the signal. After 30 layers the factor is $\chi^{30}$. If $\chi < 1$ (**ordered**)
# gradients vanish and all inputs look the same. If $\chi > 1$ (**chaotic**) gradients explode and similar inputs
# become unrelated. Only at $\chi = 1$, on the dashed line, do signals reach any depth.

# %%
critical = gnomon.checks.critical_weight_std(torch.tanh, bias_std=0.058)
print(f"critical weight size: {critical:.3f}")
for weight in (0.577, critical, 2.5):
    print(f"{weight:.3f}: {theory(weight).verdict}")

# %% [markdown]
# !!! question "Predict before you run"
#     PyTorch's default for `nn.Linear` gives $\sigma_w = 0.577$, and theory says $\chi = 0.33$. By which factor does
#     a squared gradient shrink from layer 30 to layer 1? Write down a power of ten.
#
# ## Measure it on a real network
#
# We build 30 tanh layers of 100 units and send 300 pictures of digits through them. `gnomon.checks.signal_propagation` measures
# the gradient at every layer. Theory uses only the sizes of the weights and biases.

# %%
digits = gnomon.data.digits(300, 300)
x = digits.x.flatten(1)
x, y = (x - x.mean()) / x.std(), digits.y


def deep(weight_std, depth=30):
    torch.manual_seed(0)
    network = gnomon.models.mlp(64, 10, width=100, depth=depth, activation=nn.Tanh)
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=weight_std / layer.in_features**0.5)
            nn.init.normal_(layer.bias, std=0.058)
    return network


fig, ax = plt.subplots()
for color, weight in (("C0", 0.577), ("C1", critical), ("C2", 2.5)):
    found = gnomon.checks.signal_propagation(deep(weight), (x, y))
    hidden = [layer for layer in found.layers if layer.kind == "Linear"][:-1]
    path = theory(weight).path(29, q=hidden[0].activation)["gradient"]
    ax.semilogy(range(1, 31), path, color=color)
    measured = [layer.gradient / hidden[-1].gradient for layer in hidden]
    ax.semilogy(range(1, 31), measured, "o", markersize=4, color=color, label=f"weight size {weight:.3g}")
    print(f"weight size {weight:.3g}: layer 1 gets {measured[0]:.1e} of layer 30 (predicted {path[0]:.1e})")
    print("   ", *[finding.message for finding in found.findings[:1]] or ["No problem found."])
ax.set(title="Gradients vanish, pass or explode as predicted (lines: theory)", xlabel="layer")
ax.set(ylabel="squared gradient, relative to layer 30")
ax.legend()
# alt: Squared gradients over 30 layers on a logarithmic axis, lines of theory and measured dots for three weight sizes.

# %% [markdown]
# With the default weights, layer 1 receives $5 \cdot 10^{-15}$ of the squared gradient of layer 30. With weights of
# size 1.135 layers share the gradient almost evenly. Does it decide whether the network learns?

# %%
runs = {}
for weight in (0.577, critical, 2.5):
    runs[weight] = gnomon.train(deep(weight), (x, y), optimizer=gnomon.training.SGD(0.05), batch=50, steps=200)
fig, ax = plt.subplots()
for color, (weight, run) in zip(("C0", "C1", "C2"), runs.items(), strict=True):
    ax.plot(run.steps, run.loss, "o", markersize=4, color=color, label=f"weight size {weight:.3g}")
    print(f"weight size {weight:.3g}: {float(run.accuracy[-1]):.0%} of the training pictures right after 200 steps")
ax.set(title="30 layers: only the critical network learns", xlabel="step", ylabel="cross-entropy (nats)", ylim=(0, 4))
ax.legend()
# alt: Training loss of three 30-layer networks. Only the critical one falls to zero, the others stay at 2.3.

# %% [markdown]
# ## How deep, for which weights?
#
# Theory gives a depth scale: the number of layers over which a signal changes by a factor $e$. Experience says that
# about six of them can be trained. That rule is the dashed line. Each square is one network after 100 steps.

# %%
weights, depths = (0.577, 0.8, 0.95, critical, 1.4, 1.8, 2.2), (3, 6, 12, 24, 48)
right = torch.zeros(len(depths), len(weights))
for row, depth in enumerate(depths):
    for column, weight in enumerate(weights):
        run = gnomon.train(deep(weight, depth), (x, y), optimizer=gnomon.training.SGD(0.05), batch=50, steps=100)
        right[row, column] = 100 * run.accuracy[-1]
line = torch.tensor([min(theory(weight).reach, 66) for weight in weights])
fig, ax = plt.subplots()
shown = ax.imshow(right, origin="lower", aspect="auto", cmap="magma", vmin=0, vmax=100)
ax.plot(torch.log2(line / depths[0]), "--o", color="C1")
ax.set_xticks(range(len(weights)), [f"{weight:.2f}" for weight in weights])
ax.set_yticks(range(len(depths)), depths)
ax.set(title="Networks below the dashed line of theory train", xlabel="weight size", ylabel="hidden layers")
ax.set(ylim=(-0.5, 4.5))
ax.grid(visible=False)
fig.colorbar(shown, label="right on training pictures (%)")
# alt: Training accuracy of 35 networks over weight size and depth. Squares below the dashed line are bright.

# %% [markdown]
# With the default weights (left column), 3 layers reach 88 % in 100 steps, 6 layers 25 %, and 12 layers stay at 10 %,
# which is chance. With critical weights 24 layers reach 100 %, and
# 48 layers are on their way. The rule of six depth scales is experience and not a
# theorem, so the border can be off by a square. The depth scale itself is theory, and it comes from the
# initialization alone.
#
# ## On your own network
#
# `gnomon.checks.signal_propagation(network, x, y)` needs no theory: it measures any module and names the layer where a signal
# vanishes, explodes or dies. `gnomon.examine` includes it. For ReLU the critical weights are those of He, $\sigma_w =
# \sqrt 2$ ([claim](claim:init-he)). Residual connections and normalization are other ways to the same goal: they keep
# $\chi$ close to 1. Turn the knobs in the [playground](../playground.html#lesson=depth-and-signals).
#
# ## Exercises
#
# **Exercise 1.** Compute `gnomon.checks.critical_weight_std(torch.relu)`. Which $\chi$ does a ReLU network have with
# PyTorch's default weights of size 0.577?
#
# ??? success "Answer"
#     1.414, the square root of 2: half of the units are off, so the weights must be twice as large in variance. At
#     0.577 it is $\chi = 0.577^2 / 2 = 0.166$, even smaller than for tanh. About 3 layers can be trained.
#
# **Exercise 2.** Can a better optimizer save the default network? Train the 30 layers as `gnomon.models.mlp` builds
# them with `Adam(1e-3)` instead of SGD, for 200 steps.
#
# ??? success "Answer"
#     Hardly: 14.7 % right after 200 steps, instead of 10.3 %. Adam rescales small gradients, but the outputs for all
#     pictures are almost equal, and a rescaled gradient cannot tell apart what the layers below have merged.
#
# **Exercise 3.** Build 30 ReLU layers with `std=2**0.5 / layer.in_features**0.5` and zero biases, and train with
# `SGD(0.01)`. What is the ratio of the gradients, and does it learn?
#
# ??? success "Answer"
#     The squared gradient of layer 1 is 1.08 times that of layer 30, and 84 % of the pictures are right after 200
#     steps.
#
# !!! tip "Three lines to remember"
#     - A layer multiplies squared differences and gradients by $\chi$; 30 layers by $\chi^{30}$.
#     - $\chi < 1$: everything merges and gradients vanish. $\chi > 1$: chaos and explosion. Start at $\chi = 1$.
#     - PyTorch's default for `nn.Linear` has $\chi = 0.33$ with tanh: good for 5 layers, hopeless for 30.
#
# **See also:** [signals grow or fall exponentially with depth](claim:vanishing-exploding-criterion),
# [Xavier's compromise](claim:init-xavier), [orthogonal weights](claim:init-orthogonal); `gnomon.checks.mean_field`,
# `gnomon.checks.critical_weight_std`, `gnomon.checks.signal_propagation`.
