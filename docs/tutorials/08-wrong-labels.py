# %% [markdown]
# # Which labels are wrong, and would more data help?
#
# Should I clean my labels or collect more data?
#
# We take 1,000 pictures of digits and change 60 labels at random. Then we forget which. Here are the 12 most
# suspicious pictures, found without training a network, each with the label it has and the digit that similar
# pictures have.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

import gnomon

digits = gnomon.data.digits(1000, 797)
chance = torch.Generator().manual_seed(0)
planted = torch.randperm(1000, generator=chance)[:60]
labels = digits.y.clone()
labels[planted] = (labels[planted] + torch.randint(1, 10, (60,), generator=chance)) % 10

found = gnomon.checks.suspect_labels((digits.x, labels))
fig, axes = plt.subplots(2, 6, figsize=(7, 3.2))
for ax, place in zip(axes.flat, found.ranked, strict=False):
    ax.imshow(digits.x[place, 0], cmap="gray")
    ax.set_title(f"labeled {labels[place]}, looks {found.votes[place]}", fontsize="x-small")
    ax.axis("off")
fig.suptitle("The 12 most suspicious of 1,000 labels")
# alt: Twelve digit images. Each title gives a label that contradicts the picture, and the digit that it looks like.

# %% [markdown]
# ## How a wrong label is found
#
# `gnomon.checks.suspect_labels` predicts every label from all *other* pictures, with a kernel (a smooth vote of
# similar pictures). Leaving one picture out of 1,000 needs no 1,000 fits: linear algebra gives all of them at once.
# The **margin** is the vote for the given label minus the best vote for another one. A margin near 1 means that
# similar pictures agree. A negative margin contradicts the label.
#
# !!! question "Predict before you run"
#     60 labels are wrong. Of the 60 most suspicious pictures, how many will really be wrong: 20, 40 or 55? And what
#     will the method say if *no* label is wrong?

# %%
is_planted = torch.zeros(1000, dtype=torch.bool)
is_planted[planted] = True
hits = int(is_planted[list(found.ranked[:60])].sum())
print(f"{hits} of the 60 most suspicious labels are wrong")
print("with 60 wrong labels:", found.verdict)
print("with correct labels: ", gnomon.checks.suspect_labels((digits.x, digits.y)).verdict)
fig, ax = plt.subplots()
bins = [-1.6 + 0.1 * i for i in range(31)]
ax.hist(found.margins[~is_planted], bins, color="C1", label="correct labels (940)")
ax.hist(found.margins[is_planted], bins, color="C0", label="wrong labels (60)")
ax.set(title="Wrong labels have negative margins", xlabel="margin of the label", ylabel="pictures", yscale="log")
ax.legend(loc="upper left")
# alt: Histogram of margins. Correct labels gather around 0.8, the 60 wrong ones are almost all below zero.

# %% [markdown]
# 57 of the first 60 suspects are really wrong, and no planted label has a margin above zero.
#
# The stated share of wrong labels is an estimate with an interval. It counts contradictions only where neighbors
# clearly agree, so that hard pictures are not accused. On the original labels it finds none.

# %%
print(f"estimated share of wrong labels: {found.rate:.1%}, interval {found.interval}; the truth is 6.0%")
hits_so_far, checked = [], list(range(10, 201, 10))
for count in checked:
    hits_so_far.append(float(is_planted[list(found.ranked[:count])].sum()))
fig, ax = plt.subplots()
ax.plot(checked, hits_so_far, "o", color="C0", label="ranked by suspicion")
ax.plot(checked, [0.06 * count for count in checked], "--", color="C4", label="in random order (expected)")
ax.axhline(60, color="C1", label="all wrong labels: 60")
ax.set(title="Checking 70 labels finds all 60 mistakes", xlabel="labels checked", ylabel="wrong labels found")
ax.set(ylim=(0, 65))
ax.legend(loc="center right")
print(
    "labels checked: wrong labels found",
    {count: int(hit) for count, hit in zip(checked, hits_so_far, strict=True) if count in (50, 60, 70, 200)},
)
# alt: Wrong labels found over labels checked. The dots reach 60 at 70 labels; random order would find 12 in 200.

# %% [markdown]
# ## Would more data help?
#
# Suppose that only 250 pictures were labeled. Is it worth labeling 250 more, or 750? `gnomon.bounds.learning_curve`
# answers from the 250 alone. It needs the kernel of a wide network, `gnomon.limit(network).ntk`, and its spectrum:
# how much of the labels lies in directions that are easy to learn, and how much waits for more examples. Here we can
# check the answer, because we have the other 750.

# %%
x, x_test = digits.x.flatten(1).double(), digits.x_test.flatten(1).double()
kernel = gnomon.limit(gnomon.models.mlp(64, 10, width=512, depth=1)).ntk
sizes = [50, 125, 250, 500, 1000]
curve = gnomon.bounds.learning_curve(kernel(x[:250]), digits.y[:250], sizes=sizes)
print(curve.verdict)

whole, cross = kernel(x), kernel(x_test, x)
ridge = 1e-3 * float(whole.diagonal().mean())
targets, targets_test = (nn.functional.one_hot(y, 10).double() for y in (digits.y, digits.y_test))
measured = []
for n in sizes:
    weights = torch.linalg.solve(whole[:n, :n] + ridge * torch.eye(n), targets[:n])
    measured.append(float((cross[:, :n] @ weights - targets_test).square().sum(1).mean()))
fig, ax = plt.subplots()
ax.loglog(sizes, curve.predicted, color="C1", label="predicted from 250 pictures")
ax.loglog(sizes, measured, "o", color="C0", label="measured on 797 test pictures")
low, high = curve.doubled.interval.low, curve.doubled.interval.high
ax.vlines(500, low, high, color="C1", alpha=0.5, linewidth=6, label="interval for 500")
ax.axvline(250, color="C4", linestyle="--")
ax.set_xticks(sizes, sizes)
ax.set(
    title="The effect of more data is known before it is collected", xlabel="labeled pictures", ylabel="squared error"
)
ax.legend()
for n, guess, truth in zip(sizes, curve.predicted, measured, strict=True):
    print(f"{n:5} pictures: error {guess:.3f} predicted, {truth:.3f} measured")
# alt: Squared error over the number of pictures. Measured dots lie close to the predicted line up to 1,000 pictures.

# %% [markdown]
# From 250 pictures the error at 1,000 is predicted as 0.068; it is 0.071. The largest miss is at 125: 0.239 for
# 0.263. Each doubling of the data removes about 30 % of the error, so labeling pays.
#
# ## Clean or collect?
#
# Put the two together. We repeat the forecast with the first 250 labels *as they are*, wrong ones included.

# %%
dirty = gnomon.bounds.learning_curve(kernel(x[:250]), labels[:250])
print("wrong labels included:", dirty.verdict)
print("after cleaning:       ", curve.verdict)

# %% [markdown]
# With the wrong labels the error is 34.0 % of the variance, and doubling the data would remove 22 % of it: about 26.5
# % would be left. Cleaning brings it to 16.6 % at once. Here the answer is: clean first. (Part of the 34 % is not the
# model's fault: a wrong label in the data that judge also counts as an error.)
#
# What this cannot tell: mistakes that form a pattern. See exercise 2. And a suspicion is no proof; look at the
# pictures before you change a label. `gnomon.examine` runs both checks on your data.
#
# ## Exercises
#
# **Exercise 1.** Plant only 20 wrong labels instead of 60. Are they still found? What does the verdict say?
#
# ??? success "Answer"
#     19 of the 20 most suspicious labels are wrong, so the ranking still works. The estimated rate is 1.4 %, and
#     `found.noisy` is `False`: the evidence is too weak to call the labels noisy as a whole. Ranking is easier than
#     accusing.
#
# **Exercise 2.** Make a systematic mistake: give the first 60 pictures of a 3 the label 8. How many of the 60 most
# suspicious labels are wrong?
#
# ??? success "Answer"
#     Only 17. More than half of all 3s now carry an 8, so similar pictures confirm the wrong label. The method finds
#     labels that contradict their neighbors, not neighbors that are wrong together.
#
# **Exercise 3.** Replace the 250 labels by random digits, and ask `gnomon.bounds.learning_curve` whether more data
# would help.
#
# ??? success "Answer"
#     The error is 143 % of the variance, worse than always answering the mean, and twice the data would remove 3 % of
#     it. There is nothing to learn, and the curve says so before you pay for more labels.
#
# !!! tip "Three lines to remember"
#     - Predict each label from the others: wrong labels have negative margins. Checking 70 labels found all 60
#       mistakes.
#     - The spectrum of a kernel extrapolates the learning curve: 250 pictures predicted the error at 1,000 within 4
#       %.
#     - Random mistakes are found, systematic ones are not. Always look at the suspects.
#
# **See also:** [correct labels are learned before wrong ones](claim:signal-before-noise),
# [stopping early with noisy labels](claim:early-stopping-patience),
# [wide networks are kernel regression](claim:ntk-kernel-regression-limit); `gnomon.checks.suspect_labels`,
# `gnomon.bounds.learning_curve`, `gnomon.limit`.
