# %% [markdown]
# # How certain is it? Ensembles, Laplace and HMC in one picture
#
# How sure is a network of what it says, between the data and beyond them?
#
# Twenty-four measurements of a curve, with a gap in the middle and nothing beyond the ends. One small network, three
# ways to ask how certain it is. Bands are two standard deviations of the function.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon
from gnomon.bayes import HMC, deep_ensemble, laplace, module_posterior, posterior_predictive, sample_posterior
from gnomon.training import Adam

draw = torch.Generator().manual_seed(0)
x = torch.cat([torch.linspace(-2, -0.6, 14), torch.linspace(0.6, 1.6, 10)])[:, None]
y = torch.sin(2.5 * x[:, 0]) + 0.2 * torch.randn(24, generator=draw)
grid = torch.linspace(-3.5, 3.5, 141)[:, None]


def make():
    return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))


torch.manual_seed(0)
trained = gnomon.train(make(), (x, y), optimizer=Adam(0.02), steps=1500).model
posterior = module_posterior(trained, (x, y), prior_std=1.5, noise=0.2)

ensemble = deep_ensemble(make, (x, y), members=8, noise=0.2, optimizer=Adam(0.02), steps=500)
approximation = laplace(trained, (x, y), noise=0.2, prior_precision=1 / 1.5**2)
draws = sample_posterior(posterior, posterior.start, method=HMC(most=32), draws=40, warmup=120)
predictions = {
    "ensemble of 8": ensemble.predictive(grid),
    "Laplace": posterior_predictive(posterior, approximation.sample(200), grid),
    "HMC": posterior_predictive(posterior, draws, grid, most=320),
}
colors = {"ensemble of 8": "C1", "Laplace": "C2", "HMC": "C0"}


def show(axis, name):
    found, place = predictions[name], grid[:, 0]
    mean, std = found.mean[:, 0], found.epistemic.sqrt()
    axis.fill_between(place, mean - 2 * std, mean + 2 * std, color=colors[name], alpha=0.25, linewidth=0)
    axis.plot(place, mean, color=colors[name])
    axis.plot(x, y, ".", color="gray")
    axis.set(title=name, xlabel="x", ylim=(-4, 4))


figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True, layout="constrained")
for axis, name in zip(axes, predictions, strict=True):
    show(axis, name)
axes[0].set_ylabel("y")
figure.suptitle("Same network, same data: three answers to how certain it is")
plt.show()
# alt: Three panels with the same 24 points. All bands are narrow at the points. In the gap and beyond the ends the bands of Laplace and HMC are wide, the band of the ensemble is narrow.

# %% [markdown]
# ## Three ways to ask
#
# Bayes' rule is the reference. Before the data, every weight is normal with standard deviation 1.5 (the prior). The
# data make weights that fit more plausible. What remains plausible is a cloud of networks, and the answer is their
# average ([claim](claim:bayesian-predictive)):
#
# $$p(w \mid \text{data}) \;\propto\; \exp\Bigl(-\tfrac{1}{2\,s^2}\textstyle\sum_i (y_i - f_w(x_i))^2 - \tfrac{1}{2\cdot 1.5^2}|w|^2\Bigr), \qquad s = 0.2 .$$
#
# - **HMC** walks through this cloud like a ball on a frictionless surface (`gnomon.bayes.sample_posterior`). With enough steps it
#   is exact ([claim](claim:hamiltonian-monte-carlo)).
# - **Laplace** takes one trained network and replaces the cloud by the Gaussian that fits the curvature there
#   (`gnomon.bayes.laplace`). The Gaussian describes the linearized network, so `gnomon.bayes.posterior_predictive` uses the
#   network's tangent for these draws.
# - **An ensemble** trains eight networks from eight starting points and looks at their disagreement
#   (`gnomon.bayes.deep_ensemble`). It never mentions Bayes.
#
# !!! question "Predict before you run"
#     Compare the widths at five places: inside of the data (−1), in the gap (0), at the edge (1.6), and outside (2.5,
#     3.5). Where will the three agree? Who is most certain far outside?

# %%
places = [-1.0, 0.0, 1.6, 2.5, 3.5]
index = [int((grid[:, 0] - place).abs().argmin()) for place in places]
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for shift, name in zip((-0.1, 0, 0.1), predictions, strict=True):
    widths = predictions[name].epistemic.sqrt()[index]
    axis.semilogy([k + shift for k in range(5)], widths, "o", color=colors[name], label=name)
    print(
        f"{name:14}",
        "  ".join(f"{place:4.1f}: {float(width):.3f}" for place, width in zip(places, widths, strict=True)),
    )
axis.axhline(0.2, color="gray", linestyle="--", label="noise of one measurement")
axis.set(
    title="The ensemble is the most certain, everywhere",
    xlabel="place x",
    ylabel="standard deviation of the function",
    xticks=range(5),
    xticklabels=["−1\ndata", "0\ngap", "1.6\nedge", "2.5\noutside", "3.5\nfar outside"],
)
axis.legend(frameon=False)
plt.show()
# alt: Standard deviations of the three methods at five places on a logarithmic axis. Laplace and HMC are close together everywhere and grow from data to outside; the ensemble is several times smaller.

# %% [markdown]
# Laplace and HMC nearly agree at the data and are both wide in the gap and outside, where Laplace is the more cautious
# of the two. Compared with HMC, the ensemble is three times too certain at −1 and five times at 3.5. All eight
# networks stop at similar fits, and nothing made them look for different ones. Its band has the right shape, not the
# right size.
#
# ## Can you trust the reference?
#
# HMC is only exact if its chains have seen the whole cloud. `gnomon.bayes.r_hat` compares eight chains: near 1 means
# that each tells the same story. For weights it must fail here. Exchange two hidden units, and the function stays the
# same while the weights differ; every chain lives in another copy. So compare what you need, the function.

# %%
from gnomon.bayes import r_hat

print(draws.verdict)


def function_values(weights, places):
    """Outputs of the network for weights (chains, draws, parameters), at some places."""
    names = [(name, p.shape, p.numel()) for name, p in trained.named_parameters()]
    rows = []
    for row in weights.flatten(0, 1).float():
        parts = row.split([count for _, _, count in names])
        state = {name: part.reshape(shape) for (name, shape, _), part in zip(names, parts, strict=True)}
        rows.append(torch.func.functional_call(trained, state, (places,))[:, 0].detach())
    return torch.stack(rows).reshape(*weights.shape[:2], -1)


values = function_values(draws.values, grid)
ratio = r_hat(values.double())
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for chain in range(8):
    axes[0].plot(grid[:, 0], values[chain, -1], linewidth=1, color="C0", alpha=0.7)
axes[0].plot(x, y, ".", color="gray")
axes[0].set(title="the last draw of each chain", xlabel="x", ylabel="y", ylim=(-4, 4))
axes[1].plot(grid[:, 0], ratio, color="C0", label="R-hat of the function")
axes[1].axhline(float(draws.r_hat.max()), color="C1", linestyle="--", label="worst weight")
axes[1].axhline(1, color="gray", linewidth=1)
axes[1].set(title="agreement of 8 chains (1 is best)", xlabel="x", ylabel="R-hat", ylim=(0.9, None))
axes[1].legend(frameon=False)
figure.suptitle("Chains that disagree about weights can agree about the function")
plt.show()
print(f"R-hat of the function: median {float(ratio.median()):.2f}, worst {float(ratio.max()):.2f}")
# alt: Left, eight curves that pass through the points and fan out. Right, R-hat of the function over x, well below the dashed line of the worst weight.

# %% [markdown]
# At the data the chains agree best. The worst place still has an R-hat of 1.4: forty draws per chain are too few there,
# so take the outermost part of the HMC band as a sketch. `draws=400` costs about three times as much and is the honest
# next step.
#
# The limit of wide networks needs none of this: there the cloud is a Gaussian process
# ([claim](claim:gp-infinite-width-uncertainty)), and you can drag its points in [the
# playground](../playground.html#lesson=gaussian-process).
#
# ## Exercises
#
# **Exercise 1.** How many members does the ensemble need? Compare 3, 8 and 20 by their standard deviation at $x = 0$.
#
# ??? success "Answer"
#     0.10, 0.28 and 0.28. Three happen to agree; beyond eight hardly anything changes. More members estimate the
#     disagreement better, they do not make it larger.
#
# **Exercise 2.** Leave out `prior_precision`, so that `laplace` chooses the prior by its evidence. Which standard
# deviation of the weights does it choose, and how does the width at 3.5 change?
#
# ??? success "Answer"
#     2.85 instead of 1.5, so the width at 3.5 grows from 1.73 to 2.84. At −1 it hardly moves (0.10 to 0.11). Data fix
#     the band where they are; elsewhere you see your prior.
#
# **Exercise 3.** A popular mistake: put the draws of Laplace into the network itself. `function_values` above does
# that: take `function_values(approximation.sample(200).values, torch.tensor([[-1.0]])).std()`. What is the width?
#
# ??? success "Answer"
#     2.50 instead of 0.10, twelve times the noise in the middle of the data. The Gaussian is a statement about the
#     tangent at the trained weights; far from them the network is another function.
#
# !!! tip "Three lines to remember"
#     - Certainty between and beyond the data comes from the prior and the method, not from the data.
#     - Laplace is one bump, an ensemble a few bumps, HMC all of them, at rising cost.
#     - Judge chains by the function, not by the weights; and look outside of the data before you trust a band.
