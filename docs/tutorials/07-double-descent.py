# %% [markdown]
# # More parameters, less error: double descent, and what a bound can promise
#
# Why does a model with 20 times more parameters than data not overfit, and what can be promised about new data?
#
# We fit 200 pictures of digits by least squares on random features, from 10 features to 4,000. A random feature is a
# hidden ReLU unit whose weights are drawn once and never trained; only the output layer is fitted. Up to 50 features
# the test error falls. Then it rises, as textbooks say. At 200 features, exactly as many as pictures, it explodes.
# And then it falls again, lower than ever.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon
from gnomon.bounds.double_descent import isotropic_risk

digits = gnomon.data.digits(200, 600)
x, x_test = digits.x.flatten(1).double(), digits.x_test.flatten(1).double()
x, x_test = x - x.mean(0), x_test - x.mean(0)
y, y_test = (nn.functional.one_hot(labels, 10).double() - 0.1 for labels in (digits.y, digits.y_test))


def fit(size, x, y, seed):
    weights = torch.randn(64, size, generator=torch.Generator().manual_seed(seed)).double()
    solution = torch.linalg.lstsq((x @ weights).relu(), y, driver="gelsd").solution
    return lambda inputs: (inputs @ weights).relu() @ solution


sizes = [10, 25, 50, 75, 100, 130, 160, 180, 200, 220, 250, 300, 400, 600, 1000, 2000, 4000]
found = gnomon.bounds.double_descent(fit, sizes, (x, y), (x_test, y_test), along="number of features")
fig, ax = plt.subplots()
ax.loglog(sizes, found.test, "o", color="C0", label="test")
ax.loglog(sizes, found.train, "s", markersize=4, color="C1", label="training")
ax.axvline(200, color="C4", linestyle="--", label="200 training pictures")
ax.set(title="The test error falls, explodes at 200, and falls again", ylim=(1e-3, 1e3))
ax.set(xlabel="number of features", ylabel="mean squared error")
ax.legend()
# alt: Test error over the number of features. It falls to 50, peaks sharply at 200, then falls below all before.

# %%
print(found.verdict)

# %% [markdown]
# `gnomon.bounds.double_descent` fits a model at each size with three seeds and looks for the
# peak.
#
# ## Why there is a peak
#
# With fewer features than pictures, least squares must compromise, and noise averages out. With more features, many
# solutions fit every picture exactly, and `lstsq` returns the one with the smallest weights. At exactly 200 there is
# *one* solution. It must pass through all the noise, and needs huge weights to do so.
#
# We can watch noise alone: labels that are pure noise of variance 1, and $p$ Gaussian features. There is nothing to
# learn, so the best prediction is always 0, and whatever else the model predicts is extra error. For $n$ examples
# theory gives its mean square in closed form:
#
# $$\frac{p}{n - p - 1}\;\text{ if } p < n - 1, \qquad \frac{n}{p - n - 1}\;\text{ if } p > n + 1 .$$
#
# !!! question "Predict before you run"
#     Take $n = 40$. What is the error at $p = 20$, at $p = 38$ and at $p = 400$? Which of the three models is the
#     most harmful?

# %%
torch.manual_seed(0)
pool, noise = torch.randn(4000, 400).double(), torch.randn(4000).double()


def fit_noise(size, x, y, seed):
    rows = torch.randperm(4000, generator=torch.Generator().manual_seed(seed))[:40]
    solution = torch.linalg.lstsq(x[rows, :size], y[rows], driver="gelsd").solution
    return lambda inputs: inputs[:, :size] @ solution


places = [5, 10, 20, 30, 35, 38, 43, 46, 50, 60, 80, 120, 200, 400]
fresh = (torch.randn(500, 400).double(), torch.zeros(500).double())
noisy = gnomon.bounds.double_descent(fit_noise, places, (pool, noise), fresh, draws=60)
theory = [isotropic_risk(40, size, noise=1.0, signal=0.0) for size in places]
for size, measured, predicted in zip(places, noisy.test, theory, strict=True):
    if size in (20, 38, 400):
        print(f"{size:4} features: extra error {measured:6.2f} measured, {predicted:6.2f} predicted")
fig, ax = plt.subplots()
ax.loglog(places[:6], theory[:6], color="C1", label="theory")
ax.loglog(places[6:], theory[6:], color="C1")
ax.loglog(places, noisy.test, "o", color="C0", label="measured, mean of 60 draws")
ax.axvline(40, color="C4", linestyle="--", label="40 examples")
ax.set(title="What noise does: the formula and the measurement", xlabel="number of features", ylabel="extra test error")
ax.legend()
# alt: Extra error from pure noise over the number of features. Dots follow two branches of theory, highest near 40.

# %% [markdown]
# At 38 features the mean is ruled by rare, enormous draws, so 60 draws are too few to meet it. Elsewhere dots and
# lines agree.
#
# Ten times more parameters than examples do *less* harm than half as many. The noise is still fitted, but it is
# spread over so many directions that a new input hardly meets it. So counting parameters cannot tell whether a model
# generalizes.
#
# ## What can be promised?
#
# A **bound** is a promise that holds with a stated confidence, without test data. For a trained network with 4,810
# parameters and 1,000 pictures we ask `gnomon.bounds.generalization_bounds` for bounds made of the norms of the
# weights.

# %%
many = gnomon.data.digits(1000, 797)
train, test = (many.x.flatten(1), many.y), (many.x_test.flatten(1), many.y_test)
torch.manual_seed(0)
network = gnomon.models.mlp(64, 10, width=64, depth=1)
run = gnomon.train(network, train, optimizer=gnomon.training.Adam(1e-3), batch=50, steps=1000)
norms = gnomon.bounds.generalization_bounds(run.model, train, test=test, start=network)
certificate = gnomon.certify(network, train, test=test, epochs=20, draws=5000)
print(certificate.verdict)

# %%
values = {bound.name: bound.value for bound in norms.bounds} | {"certificate": certificate.stochastic.value}
values |= {"measured on test": float(certificate.stochastic.measured.value)}
fig, ax = plt.subplots(figsize=(7, 4.2))
colors = ["C4"] * len(norms.bounds) + ["C1", "C0"]
bars = ax.barh(list(values), [100 * value for value in values.values()], color=colors)
ax.bar_label(bars, [f"{100 * value:,.0f} %" for value in values.values()], padding=3)
ax.axvline(100, color="C4", linestyle="--")
ax.set(title="One bound is close to the truth", xscale="log", xlabel="test error (%)", xlim=(1, 1e5))
ax.invert_yaxis()
# alt: Bars of bounds. Seven of eight norm bounds exceed 100 %; the certificate is 11 %, the measured error 6 %.

# %% [markdown]
# Seven of the eight gray bars are above 100 %, an error that nobody can exceed anyway. They are also stated only up
# to constants and logarithms, so even the 85 % is no promise. They are useful to compare networks, not to certify
# one.
#
# The bar above the last is a promise. `gnomon.certify` uses a **PAC-Bayes** bound. It trains on one half of the
# pictures, and puts a cloud of networks around the result. Then it lets the cloud move and shrink to fit the other
# half, 500 pictures, as well. The bound adds two terms: the error of the cloud on these 500, and a price for how far
# the cloud moved (a KL divergence, divided by 500). The first half has said nearly everything, so the price is small
# ([claim](claim:pac-bayes-bound)). The promise: with confidence 95 %, a network drawn from the cloud errs on at
# most 11.05 % of new digits. Measured on 797 test pictures it errs on 6.22 %.
#
# The certificate does not count parameters either. It counts what was learned from the data that judge it. Play with
# the peak in the [playground](../playground.html#lesson=double-descent).
#
# ## Exercises
#
# **Exercise 1.** Certify with 500 pictures instead of 1,000 (`gnomon.data.digits(500, 797)`). What happens to promise
# and measurement?
#
# ??? success "Answer"
#     The promise gets much worse, 21.0 %, and the measured error only a little, 7.1 %. Promises need data: 250
#     pictures judge here instead of 500.
#
# **Exercise 2.** Ask for more confidence: `confidence=0.999`, one failure in 1,000. What does it cost?
#
# ??? success "Answer"
#     The promise rises from 11.05 % to 12.83 %. Confidence is cheap, because it enters by its logarithm.
#
# **Exercise 3.** Replace least squares by ridge regression: solve $(\Phi^T \Phi + r I) w = \Phi^T y$, with the features
# of a picture as a row of $\Phi$, and $r$ = 1 % of the mean squared length of these rows. Is there still a peak at 200?
#
# ??? success "Answer"
#     No. At 25, 50, 100, 200, 400 and 1,000 features the error falls all the way: 0.054, 0.044, 0.043, 0.034, 0.026,
#     0.020 ([claim](claim:regularisation-tames-double-descent)). The peak belongs to models without regularization.
#
# !!! tip "Three lines to remember"
#     - The error of unregularized models peaks at as many parameters as examples, and falls again beyond.
#     - Noise that is spread over many directions does little harm: extra error 0.11 at 400 features, 1.05 at 20.
#     - Bounds by norms and counts are mostly empty; a PAC-Bayes certificate promised 11 % where 6 % was measured.
#
# **See also:** [the peak in closed form](claim:double-descent-model-wise),
# [the single solution amplifies noise](claim:interpolation-single-solution), [the VC bound](claim:vc-inequality);
# `gnomon.bounds.double_descent`, `gnomon.bounds.generalization_bounds`, `gnomon.certify`.
