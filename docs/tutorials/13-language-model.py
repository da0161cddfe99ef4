# %% [markdown]
# # What a small language model attends to, remembers, and must not see
#
# Which earlier letters does a language model use, and is it peeking at the letter it should predict?
#
# We invent a language whose rule we know. Its texts have eight letters. Every letter repeats the one five places
# earlier, except that one in ten is random. The next letter is one place ahead, and the letter it repeats five places
# before it. So whoever predicts the next letter must look four places back, and nowhere else. A transformer with one
# layer learns this language from examples. Here is where its two attention heads look.

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import nn

from gnomon import sequences

LETTERS, PERIOD, LENGTH = 8, 5, 24


def texts(count, seed):
    """Texts, and for each of their places the letter that follows."""
    draw = torch.Generator().manual_seed(seed)
    text = torch.randint(LETTERS, (count, LENGTH + 1), generator=draw)
    for place in range(PERIOD, LENGTH + 1):
        repeats = torch.rand(count, generator=draw) < 0.9
        text[:, place] = torch.where(repeats, text[:, place - PERIOD], text[:, place])
    return text[:, :-1], text[:, 1:]


class Transformer(nn.Module):
    """One layer of attention over embedded letters; `ahead` is by how many places its mask is too generous."""

    def __init__(self, ahead=0):
        super().__init__()
        self.places = nn.Parameter(0.3 * torch.randn(LENGTH, 32))
        self.layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.out, self.ahead = nn.Linear(32, LETTERS), ahead

    def forward(self, embedded):
        hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1 + self.ahead)
        return self.out(self.layer(embedded + self.places, src_mask=hidden))


def train(body, steps=300):
    """Trains an embedding and `body` to predict the next letter; returns the model and its losses."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(LETTERS, 32), body)
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.005), []
    for step in range(steps):
        text, following = texts(64, seed=step)
        scores = model(text)[:, PERIOD - 1 :]  # before that, nobody can know
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), following[:, PERIOD - 1 :].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


torch.manual_seed(0)
model, losses = train(Transformer())
text, following = texts(64, seed=10**6)
maps = sequences.attention_maps(model, text)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for head, axis in enumerate(axes):
    picture = axis.imshow(maps.maps[0][:, head].mean(0), cmap="magma", vmin=0, vmax=1)
    axis.plot([0, LENGTH - 5], [4, LENGTH - 1], color="C2", linestyle="--", linewidth=1.5)
    axis.set(title=f"head {head}", xlabel="letter that is looked at")
    axis.grid(False)
axes[0].set_ylabel("place that looks")
figure.colorbar(picture, ax=axes, label="attention, mean over 64 texts")
figure.suptitle("Both heads look four places back (dashed)")
plt.show()
# alt: Attention maps of two heads. In both, a bright stripe runs along the dashed line four places below the diagonal; in the second it is less sharp.

# %% [markdown]
# ## Attention, in numbers
#
# A picture invites stories; two measurements check them. `gnomon.sequences.attention_alignment` searches for the
# pattern that most places follow. `gnomon.sequences.head_ablation` switches heads off one by one: a head may look at
# the right place and still not matter.

# %%
print(sequences.attention_alignment(model, text).verdict)
effects = sequences.head_ablation(model, text).effects["1.layer.self_attn"]
for head, effect in enumerate(effects):
    print(f"without head {head} the outputs change by {effect:.0%}")

# %% [markdown]
# 83 % is as high as it can be: the first four of the 24 places have no letter four places back. Head 0 matters more.
#
# Attention itself does not know places: without the vectors in `places`, a transformer sees a bag of letters
# ([attention is equivariant to permutations](claim:attention-permutation-equivariance)). The stripe is learned from
# them.
#
# ## How good can it be?
#
# We know the language, so we know the best possible loss. The right letter has probability $0.9 + 0.1/8$, each of the
# other seven $0.1/8$. The uncertainty that remains (the entropy) is 0.467 nats. Averaged over many texts, no honest
# model gets below it; on few texts luck moves the loss up or down.
#
# !!! question "Predict before you run"
#     We make the classical mistake. The mask that hides the future is off by one, so each place also sees the next
#     letter, which is the one to predict. The code runs without any warning. What will the training loss of this model
#     be? And would you notice, if you did not know 0.467?

# %%
torch.manual_seed(0)
leaky, leaky_losses = train(Transformer(ahead=1))
right = 0.9 + 0.1 / LETTERS
entropy = -right * math.log(right) - (1 - right) * math.log(0.1 / LETTERS)

figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(range(0, 300, 5), losses[::5], ".", color="C0", label="correct mask")
axis.plot(range(0, 300, 5), leaky_losses[::5], ".", color="C1", label="mask off by one")
axis.axhline(entropy, color="C0", label=f"best possible: {entropy:.3f} nats")
axis.axhline(math.log(LETTERS), color="gray", linestyle="--", label="guessing: ln 8")
axis.set(
    title="A loss below the entropy of the language is a leak",
    xlabel="training step",
    ylabel="cross-entropy, nats per letter",
    ylim=(0, None),
)
axis.legend(frameon=False)
plt.show()
print(f"last 50 steps: correct {sum(losses[-50:]) / 50:.3f}, off by one {sum(leaky_losses[-50:]) / 50:.3f} nats")
# alt: Training losses as dots. With the correct mask they fall to a line at 0.467 nats and stay on it; with the mask off by one they fall to nearly zero.

# %% [markdown]
# With real text nobody knows the entropy, and a loss of 0.03 looks like success. `gnomon.sequences.causality` needs no
# loss. It exchanges one letter after the other and records which outputs change. An output that depends on a later
# letter sees the future ([what a decoder may see](claim:transformer-decoder-autoregressive)). White cells below the
# line are letters that the output ignores.

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for axis, (name, one) in zip(axes, (("correct mask", model), ("mask off by one", leaky)), strict=True):
    found = sequences.causality(one, text[:8])
    picture = axis.imshow(torch.tensor(found.dependence) > 1e-6, cmap="Greys", vmin=0, vmax=1.5)
    axis.plot([0.5, LENGTH - 0.5], [-0.5, LENGTH - 1.5], color="C1", linewidth=1.5)
    axis.set(title=name, xlabel="letter that is changed")
    axis.grid(False)
    print(f"{name}: {found.verdict}")
axes[0].set_ylabel("output that changes")
figure.suptitle("Gray above the line is a look into the future")
plt.show()
# alt: Two triangular maps of which output depends on which letter, with a line along the diagonal. With the correct mask all gray cells are on or below the line; with the mask off by one a gray diagonal lies above it.

# %% [markdown]
# ## What does it remember?
#
# `gnomon.sequences.memory_length` asks how much the last output changes if the input at each lag changes a little. We compare
# the transformer with a recurrent network (GRU) trained on the same texts. The GRU has no attention; it must carry
# every letter through its state.


# %%
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.state, self.out = nn.GRU(32, 64, batch_first=True), nn.Linear(64, LETTERS)

    def forward(self, embedded):
        return self.out(self.state(embedded)[0])


torch.manual_seed(0)
recurrent, recurrent_losses = train(Recurrent())
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, one, color in (("transformer", model, "C0"), ("GRU", recurrent, "C3")):
    curve = torch.tensor(sequences.memory_length(one[1], one[0](text).detach(), lag=4).sensitivity)
    axis.plot(curve[:16] / curve.sum(), "o-", color=color, label=name)
    print(f"{name}: {curve[4] / curve.sum():.0%} of its sensitivity is at lag 4")
print(f"loss of the GRU, last 50 steps: {sum(recurrent_losses[-50:]) / 50:.3f} nats")
axis.axvline(4, color="gray", linestyle="--", label="the rule of the language")
axis.set(
    title="The transformer remembers one letter, the GRU a bit of all",
    xlabel="lag, letters back from the last one",
    ylabel="share of the sensitivity",
    ylim=(0, None),
)
axis.legend(frameon=False)
plt.show()
# alt: Share of the sensitivity over the lag. The transformer has a high peak at lag 4, marked by a dashed line, and one at lag 0. The GRU has a low peak at lag 4 and fades slowly.

# %% [markdown]
# The transformer spends 56 % of its sensitivity on the one letter that the rule needs, the GRU 14 %. After as many
# steps its loss is 0.59 nats, still above the best possible: carrying five letters at once through one state is the
# harder task ([how gates keep a memory](claim:lstm-long-memory)).
#
# ## Exercises
#
# **Exercise 1.** Train with `PERIOD = 12`. Does the stripe move, and does the GRU still keep up?
#
# ??? success "Answer"
#     The stripe moves to 11 places back, and the transformer again comes close to the best possible loss: 0.480 on
#     4,000 fresh texts, 0.479 with period 5. The GRU stops at 1.37: twelve letters are too many to carry after 300
#     steps.
#
# **Exercise 2.** Set `model[1].places.data` to zero after training. What does the loss on 4,000 fresh texts become, and
# why? (`texts(4000, seed=10**6)`, and the two lines with `scores` in `train`.)
#
# ??? success "Answer"
#     It rises from 0.48 to 1.80, not far from guessing (2.08). The letters are all still there, but
#     attention can no longer find the one that counts.
#
# **Exercise 3.** Give the mask one place too few (`ahead=-1`). Does `causality` complain? Does the loss suffer?
#
# ??? success "Answer"
#     No complaint: hiding too much is not a leak. The loss stays at 0.47, because the rule does not need the letter
#     that is now hidden. In another language it would suffer, and only the loss would show it.
#
# !!! tip "Three lines to remember"
#     - Attention maps show where a head looks; switch the head off to see whether it matters.
#     - A loss that is too good is a symptom. Test causality by changing inputs, not by reading the mask.
#     - Attention reaches any place in one step; a recurrent state must carry it there.
