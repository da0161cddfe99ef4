# %% [markdown]
# # Why low frequencies come first
#
# Why does a network learn the blurred picture first, and the details last?
#
# A network gets two numbers, the place of a pixel, and must answer with its brightness. It sees every pixel of the
# photograph at every step. Still it draws like a painter: first the large shapes, then smaller ones.

# %%
from math import pi

import matplotlib.pyplot as plt
import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_sample_image

import gnomon
from gnomon.training import SGD, Adam

SIDE, SHOWN = 48, [10, 30, 100, 300, 1200]
photograph = Image.fromarray(load_sample_image("flower.jpg")).convert("L").crop((180, 40, 460, 320))
target = torch.tensor(np.asarray(photograph.resize((SIDE, SIDE))) / 255.0).float().flatten()
target = target - target.mean()
places = torch.cartesian_prod(torch.linspace(-1, 1, SIDE), torch.linspace(-1, 1, SIDE))


def paint(inputs):
    torch.manual_seed(0)
    network = gnomon.models.mlp(inputs.shape[1], 1, width=128, depth=2)
    return gnomon.train(network, (inputs, target), optimizer=Adam(2e-3), steps=SHOWN[-1], record=SHOWN, outputs=True)


def show(run, title):
    fig, axes = plt.subplots(1, 6, figsize=(7, 1.9))
    names = [*(f"step {step:,}" for step in SHOWN), "photograph"]
    for ax, name, values in zip(axes, names, [*run.train[1:], target], strict=True):
        ax.imshow(values.reshape(SIDE, SIDE), cmap="gray", vmin=target.min(), vmax=target.max())
        ax.set_title(name, fontsize="small")
        ax.axis("off")
    fig.suptitle(title)


plain = paint(places)
show(plain, "The picture sharpens: large shapes first")
# alt: Five stages of a flower and the photograph. At step 10 there is a gray blur, at step 1,200 a soft flower.

# %% [markdown]
# ## Predict it from the kernel
#
# A cleaner experiment: one input that runs around a circle, and a target that is a sum of waves with 1, 2, 3, 5 and 8
# periods, all of the same height. By [tutorial 2](02-predict-the-curve.md), a pattern $v$ is learned at the rate
#
# $$\text{rate} = \frac{v^\top K v}{n},$$
#
# if $K$ is the tangent kernel of the $n$ points and $v$ a unit vector. `gnomon.tangent.kernel_frequencies` computes
# it for waves. A wave of rate $r$ has grown to half its height after $\ln 2 / (\eta r)$ steps with learning rate
# $\eta$.

# %%
FREQUENCIES, LR = (1, 2, 3, 5, 8), 0.02
torch.manual_seed(0)
network = gnomon.models.mlp(2, 1, width=1024, depth=1)


def circle(t):
    return torch.stack([torch.cos(2 * pi * t), torch.sin(2 * pi * t)], 1)


rates = gnomon.tangent.kernel_frequencies(network, circle, frequencies=FREQUENCIES)
print(rates.verdict)

# %% [markdown]
# !!! question "Predict before you run"
#     Rates have been printed only as a ratio. If the wave with one period is half learned after 10 steps, when is the
#     wave with 8 periods?

# %%
curve = gnomon.tangent.frequency_curve(network, circle, frequencies=FREQUENCIES, steps=20000, optimizer=SGD(LR))
fig, ax = plt.subplots()
for i, (frequency, rate) in enumerate(zip(FREQUENCIES, rates.rates, strict=True)):
    steps = torch.logspace(0, 4.3, 200)
    ax.semilogx(steps, 1 - torch.exp(-LR * rate * steps), color=f"C{i}")
    grown = [row[i] for row in curve.amplitudes]
    ax.semilogx(curve.steps[1:], grown[1:], "o", markersize=4, color=f"C{i}", label=f"{frequency} periods")
ax.set(title="Each wave has its own time (lines: predicted from the kernel)", xlabel="step", ylabel="height learned")
ax.legend(fontsize="small")
print(curve.verdict, "\nhalf of its height:")
for i, (frequency, rate) in enumerate(zip(FREQUENCIES, rates.rates, strict=True)):
    step = next(step for step, row in zip(curve.steps, curve.amplitudes, strict=True) if row[i] >= 0.5)
    print(f"  {frequency} periods: predicted at step {np.log(2) / (LR * rate):,.0f}, measured by step {step:,}")
# alt: Height of five waves over steps. They rise one after the other, from 1 period to 8, near the lines of theory.

# %% [markdown]
# The order is as predicted, and the steps span more than three powers of ten. The wave with 8 periods arrives 2.7
# times earlier than its line: the network has improved its kernel on the way, which the prediction does not know.
#
# So the blur is not a choice. The tangent kernel of a wide network on a circle has waves as eigenvectors, and its
# eigenvalues fall steeply with the frequency ([claim](claim:spectral-bias-frequency)). Gradient descent learns along
# each eigenvector at its own rate ([claim](claim:ntk-eigenmode-decay)). The same order explains why stopping early
# helps with noisy labels: what belongs to the signal is learned before the noise
# ([claim](claim:signal-before-noise)).
#
# ## Change the inputs, change the order
#
# The kernel depends on the inputs. If we give the network sines and cosines of the place (**Fourier features**)
# instead of the place itself, the kernel sees fine waves as well.

# %%
directions = 2 * pi * torch.randn(2, 64, generator=torch.Generator().manual_seed(0)) / 2
features = torch.cat([torch.sin(places @ directions), torch.cos(places @ directions)], 1)
fourier = paint(features)
show(fourier, "With Fourier features the details come early")
for name, run in (("place", plain), ("Fourier features", fourier)):
    left = [f"{float(2 * loss / target.var()):.1%}" for loss in run.loss[1:]]
    print(f"{name:17} variance not yet explained at steps {SHOWN}: {', '.join(left)}")
# alt: Five stages of the same flower from Fourier features. At step 100 it is already sharp.

# %% [markdown]
# After 100 steps 22.6 % of the variance of the photograph is missing with places as inputs, and 5.0 % with Fourier
# features. Which part is missing? We compare the error at step 100 with the photograph, frequency by frequency.

# %%
fig, ax = plt.subplots()
window = torch.arange(1, 24)
ky, kx = torch.meshgrid(torch.fft.fftfreq(SIDE) * SIDE, torch.fft.fftfreq(SIDE) * SIDE, indexing="ij")
ring = torch.hypot(kx, ky).round().long()


def power(values):
    energy = torch.fft.fft2(values.reshape(SIDE, SIDE).float()).abs().square().flatten()
    return torch.zeros(40).index_add(0, ring.flatten(), energy)[window]


for color, name, run in (("C0", "place", plain), ("C1", "Fourier features", fourier)):
    share = power(run.train[3].flatten() - target) / power(target)
    ax.plot(window, 100 * share, "o", markersize=4, color=color, label=name)
ax.axhline(100, color="C4", linestyle="--", label="nothing learned")
ax.set(title="At step 100 the coarse waves are learned, the fine ones are not", ylim=(0, None))
ax.set(xlabel="frequency (waves across the picture)", ylabel="error (% of the photograph)")
ax.legend(loc="lower right")
# alt: Missing share of each frequency at step 100. With places it nears 100 % at frequency 10, with features later.

# %% [markdown]
# With places, waves up to frequency 3 are learned, and almost everything above 10 is missing. With Fourier features
# the border moves to about 8, and even the finest waves have begun. Nothing else was changed: not the network, the
# optimizer or the number of steps. The features decide what is easy.
#
# Watch waves being learned one by one in the [playground](../playground.html#lesson=spectral-bias).
#
# ## Exercises
#
# **Exercise 1.** Use three hidden layers: `gnomon.models.mlp(2, 1, width=1024, depth=3)`. How much more slowly is the
# wave with 8 periods learned than the wave with one, according to the kernel?
#
# ??? success "Answer"
#     119 times, instead of 9,180 times with one hidden layer. Depth flattens the spectrum: fine details become easier
#     compared with coarse ones.
#
# **Exercise 2.** And with one hidden layer of `Tanh` instead of `ReLU`?
#
# ??? success "Answer"
#     The rate of 8 periods is zero up to rounding (below $10^{-6}$, against 57 for one period). Tanh is smooth, and
#     the rates of a smooth activation fall much faster than those of ReLU, which has a kink.
#
# **Exercise 3.** Make the circle five times larger: `lambda t: 5 * circle(t)`. Does the ratio change?
#
# ??? success "Answer"
#     It falls by half, from 9,180 to 4,560, and all rates grow. The rate of 8 periods grows most, from 0.0034 to
#     0.12. The scale of the inputs is part of the kernel.
#
# !!! tip "Three lines to remember"
#     - A pattern is learned at the rate that the tangent kernel gives it; for usual inputs it falls with the
#       frequency.
#     - Coarse first, fine last: one period after 1 step, 8 periods after thousands.
#     - Fourier features, depth and activation change the kernel, and with it what is learned early.
#
# **See also:** [a network that solves an equation misses its high frequency](claim:spectral-bias-pinn),
# [early stopping acts like a penalty](claim:early-stopping-equals-l2); `gnomon.tangent.kernel_frequencies`,
# `gnomon.tangent.frequency_curve`, `gnomon.train`.
