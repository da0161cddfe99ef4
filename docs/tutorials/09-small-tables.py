# %% [markdown]
# # Beat a forest on a small table without training
#
# Can a neural network that nobody trains beat a random forest on a table with a few hundred rows?
#
# Take three tables that come with scikit-learn. Use half of the rows for fitting and measure the error on the other
# half, for eight random splits. Each gray line below is one split.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

from gnomon.estimators import NTKClassifier, NTKRegressor


def test_errors(X, y, models, splits=8):
    """One row per split and one column per model: 1 - score on the half that was not used for fitting."""
    rows = []
    for seed in range(splits):
        fit_X, test_X, fit_y, test_y = train_test_split(X, y, train_size=0.5, random_state=seed)
        rows.append([1 - model.fit(fit_X, fit_y).score(test_X, test_y) for model in models])
    return np.array(rows)


forest = RandomForestClassifier(random_state=0)
errors = {
    "wine\n178 rows, 13 columns": test_errors(*load_wine(return_X_y=True), [forest, NTKClassifier()]),
    "breast cancer\n569 rows, 30 columns": test_errors(*load_breast_cancer(return_X_y=True), [forest, NTKClassifier()]),
    "diabetes\n442 rows, 10 columns": test_errors(
        *load_diabetes(return_X_y=True), [RandomForestRegressor(random_state=0), NTKRegressor()]
    ),
}

figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
for axis, (name, table) in zip(axes, errors.items(), strict=True):
    axis.plot([0, 1], table.T, color="gray", alpha=0.5, linewidth=1)
    axis.plot(np.zeros(len(table)), table[:, 0], "o", color="C1")
    axis.plot(np.ones(len(table)), table[:, 1], "o", color="C0")
    axis.set(title=name, xticks=[0, 1], xticklabels=["random forest", "network"], xlim=(-0.4, 1.4), ylim=(0, None))
    wins = int((table[:, 1] < table[:, 0]).sum())
    print(f"{name.splitlines()[0]}: forest {table[:, 0].mean():.4f}, network {table[:, 1].mean():.4f}", end=", ")
    print(f"network better in {wins} of 8 splits")
axes[0].set_ylabel("share of wrong classes")
axes[1].set_ylabel("share of wrong classes")
axes[2].set_ylabel("unexplained variance, 1 - R²")
figure.suptitle("The untrained network is better on two tables and equal on the third")
plt.show()
# alt: Three panels with eight gray lines each, from the error of the forest to the error of the network. On breast cancer and diabetes the lines fall; on wine some rise and some fall.

# %% [markdown]
# ## How a network gets by without training
#
# Make a network wider and wider. Training still changes every weight, but by less and less, and the trained function
# approaches a formula. For inputs $X$ with targets $y$, the function that gradient descent ends in is
#
# $$f(x) = T(x, X)\,\bigl(T(X, X) + r\bigr)^{-1} y .$$
#
# $T(x, x')$ says how much a training step on $x'$ changes the output at $x$. It is called the neural tangent kernel
# (NTK). So nobody trains here, but the result is that of training. The ridge $r$ adds some regularization, to allow
# for noise in $y$. "Fitting" is one linear system with as many unknowns as
# rows: a fraction of a second here. No learning rate, no epochs, no random seed.
#
# `gnomon.estimators.NTKClassifier` chooses depth and ridge by leave-one-out errors: how wrong is the fit on each row if
# that row is left out? For a kernel one eigendecomposition gives the answer for all rows. It tells you what it chose:

# %%
X, y = load_wine(return_X_y=True)
print(NTKClassifier().fit(X, y).selection_)

# %% [markdown]
# That the trained network really has this limit is a claim you can run: [a wide network trained on squared loss becomes
# kernel regression](claim:ntk-kernel-regression-limit).
#
# ## Where the forest wins
#
# The two methods make different assumptions. A tree asks about one column at a time and can ignore a column forever.
# The kernel compares whole rows, so every column has a say in how similar two rows are.
#
# !!! question "Predict before you run"
#     We append columns of random numbers to the wine table. Up to 300 of them, next to the 13 real columns. Which of
#     the two methods suffers, and from about how many random columns on? Write down a number.

# %%
noise = np.random.default_rng(0).normal(size=(len(X), 300))
counts = [0, 3, 10, 30, 100, 300]
curves = np.array([test_errors(np.c_[X, noise[:, :k]], y, [forest, NTKClassifier()]).mean(0) for k in counts])

figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(range(len(counts)), 100 * curves[:, 0], "o-", color="C1", label="random forest")
axis.plot(range(len(counts)), 100 * curves[:, 1], "o-", color="C0", label="infinitely wide network")
axis.set(
    title="Useless columns hurt the network much more than the forest",
    xlabel="random columns added to 13 real ones",
    ylabel="test error, %",
    xticks=range(len(counts)),
    xticklabels=counts,
    ylim=(0, None),
)
axis.legend(frameon=False)
plt.show()
for k, (tree, network) in zip(counts, curves, strict=True):
    print(f"{k:3d} random columns: forest {tree:.1%}, network {network:.1%}")
# alt: Test error on wine over the number of random columns. The forest stays near 3 percent and reaches 6 percent at 300 columns; the network rises from about 2 percent to 18 percent at 300 columns.

# %% [markdown]
# Up to ten random columns there is nothing to choose between them. At 30 the network is worse; at 100 it makes four
# times as many errors as the forest. The estimator tries five depths and many ridges, but none of them can switch a
# column off. A network of finite width could, by learning features ([fixed or learned
# features](claim:fixed-vs-learned-features)).
#
# The second weakness is scale. A tree only uses the order of the values in a column, so $x$ and $e^{x}$ are the same to
# it. The kernel uses distances. Below we stretch every wine column by an exponential, as incomes and concentrations
# often come. The fix is one line of scikit-learn, because the estimators are ordinary scikit-learn estimators.

# %%
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

skewed = np.exp(3 * (X - X.mean(0)) / X.std(0))
pipeline = make_pipeline(QuantileTransformer(n_quantiles=50, output_distribution="normal"), NTKClassifier())
models = {"forest": forest, "network": NTKClassifier(), "quantiles, then network": pipeline}
stretched = test_errors(skewed, y, list(models.values()))

figure, axis = plt.subplots(figsize=(8, 2.6), layout="constrained")
for row, color in enumerate(["C1", "C0", "C2"]):
    axis.plot(100 * stretched[:, row], np.full(8, row), "o", color=color, alpha=0.6)
    axis.plot(100 * stretched[:, row].mean(), row, "|", color=color, markersize=22, markeredgewidth=3)
axis.set(
    title="A skewed table ruins the network; a quantile transform repairs it",
    xlabel="test error on stretched wine, % (bars: mean of 8 splits)",
    yticks=range(3),
    yticklabels=models,
    xlim=(0, None),
)
axis.invert_yaxis()
plt.show()
print({name: f"{error:.1%}" for name, error in zip(models, stretched.mean(0), strict=True)})
# alt: Errors on the stretched wine table for eight splits. The forest is near 2 percent, the network alone between about 20 and 35 percent, the network after a quantile transform below 5 percent.

# %% [markdown]
# ## How certain is each prediction?
#
# A forest gives one number for each row. The same infinitely wide network, read as a Bayesian prior, gives a number and
# a standard deviation for every row (`gnomon.estimators.NNGPRegressor`). Its function is a Gaussian process
# ([claim](claim:nngp-regression)). A patient's value also has noise of its own, `noise_std_`, and the band below adds
# both.

# %%
from gnomon.estimators import NNGPRegressor

X, y = load_diabetes(return_X_y=True)
fit_X, test_X, fit_y, test_y = train_test_split(X, y, train_size=0.5, random_state=0)
process = NNGPRegressor(select="evidence").fit(fit_X, fit_y)
mean, std = process.predict(test_X, return_std=True)
half_width = 1.645 * np.sqrt(std**2 + process.noise_std_**2)  # 90 % of a normal distribution
inside = np.abs(test_y - mean) < half_width
order = np.argsort(mean)

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
place = np.arange(len(order))
axis.fill_between(place, (mean - half_width)[order], (mean + half_width)[order], color="C0", alpha=0.2, linewidth=0)
axis.plot(place, mean[order], color="C0", label="prediction and 90 % band")
axis.plot(place[inside[order]], test_y[order][inside[order]], ".", color="gray", label="patient inside the band")
axis.plot(place[~inside[order]], test_y[order][~inside[order]], "x", color="C1", label="patient outside")
axis.set(
    title=f"The 90 % band contains {100 * inside.mean():.0f} % of 221 patients it has not seen",
    xlabel="test patients, sorted by prediction",
    ylabel="disease progression, score",
)
axis.legend(frameon=False, loc="upper left")
plt.show()
print(f"noise {process.noise_std_[0]:.0f}, uncertainty of the function {std.min():.0f} to {std.max():.0f}")
# alt: Predictions for 221 patients in increasing order with a wide band around them. Most true values are gray dots inside the band, and about one in ten is a cross outside.

# %% [markdown]
# Most of the band is noise of the patients, not ignorance of the network: more rows could narrow it only a little. (Try
# the same idea with points you can drag: [an ensemble is a Gaussian
# process](../playground.html#lesson=gaussian-process).)
#
# ## Exercises
#
# **Exercise 1.** Is the depth important? Compare `NTKClassifier(depth=1)` with `depth=5` on breast cancer, with
# `test_errors`.
#
# ??? success "Answer"
#     Hardly. One hidden layer errs on 2.8 % of the test rows, five on 2.7 %, and the automatic choice on 2.7 %. With a
#     few hundred rows the shape of the kernel matters less than the ridge.
#
# **Exercise 2.** Is a forest the right opponent? Put `make_pipeline(StandardScaler(),
# LogisticRegression(max_iter=2000))` into `test_errors` on breast cancer.
#
# ??? success "Answer"
#     It errs on 2.6 %, as few as the network (2.7 %). On this table the classes are nearly separated by a plane, and a
#     smooth method has the advantage over steps. "Beats a forest" is not "needs a network": always run the linear
#     model.
#
# **Exercise 3.** Rescue the network from 300 random columns with `SelectKBest(k=10)` in a pipeline. Why must the
# selection be inside of the pipeline?
#
# ??? success "Answer"
#     The error falls from 18.0 % to 2.9 %, below the forest's. Selection uses the labels. If it runs before the split,
#     it has seen the test labels. Shuffle the labels of wine, so that nothing can be learned: selection before the
#     split still reports an error of 48 %, selection inside of the pipeline 67 %, which is chance.
#
# !!! tip "Three lines to remember"
#     - An infinitely wide trained network is a formula: one kernel, one linear system, no training.
#     - It beats a forest if similar rows have similar answers; useless or skewed columns break that.
#     - Put scaling and selection into the pipeline, and read the band before the prediction.
