"""Defines the findings (problems, warnings and notes) about sequence and graph networks, such as attention problems."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level

_kind = partial(FindingKind, page="topics/sequences.md")

SEES_THE_FUTURE = _kind("sees-the-future", Level.PROBLEM,
    "The network sees the future: output {output} depends on input {input}, up to {ahead} positions ahead of what it "
    "should predict.",
    "Mask attention above the diagonal, pad convolutions only on the left, run recurrences in one direction.")

SKIP_CONNECTIONS = "Add a skip connection and a feed-forward part to every attention layer, and normalize before it."
TOKENS_ALIKE = _kind("tokens-alike", Level.PROBLEM,
    "The tokens of a sequence have become nearly equal: at '{where}' they differ by {difference:.1e} of their size.",
    SKIP_CONNECTIONS)
TOKENS_COLLAPSE = _kind("tokens-alike", Level.PROBLEM,
    "After '{where}', the tokens of a sequence are nearly equal: they differ by less than {limit:.0%} of their size.",
    SKIP_CONNECTIONS)
STATE_GROWS = _kind("state-grows", Level.PROBLEM,
    "A mode of the linear recurrence '{where}' grows by {factor:.4g} at every step.",
    "Write its eigenvalues as exp(-exp(nu) + i theta), as in gnomon.models.LinearRecurrentUnit.")
SHORT_MEMORY_SO_FAR = _kind("memory-too-short", Level.WARNING,
    "Before training, the network hardly remembers: inputs {lag} steps back affect the output {ratio:.1e} times as "
    "much as the strongest inputs.",
    "Expect slow learning. Use gates with a forget bias near 1, an orthogonal recurrent matrix, or shorter sequences.")
MEMORY_TOO_SHORT = _kind("memory-too-short", Level.PROBLEM,
    "The network hardly remembers: inputs {lag} steps back affect the output {ratio:.1e} times as much as the "
    "strongest inputs.",
    "Use gates with a forget bias near 1, an orthogonal recurrent matrix, attention, or shorter sequences.",
    milder_if="not_trained_enough", milder=SHORT_MEMORY_SO_FAR)
WORSE_THAN_COUNTING = _kind("worse-than-counting", Level.PROBLEM,
    "The network predicts text worse than character frequencies do: {bits:.3g} bits per character instead of "
    "{counts:.3g}.",
    "Train longer or with larger steps. Check that output t predicts character t + 1.")
ATTENTION_SATURATED = _kind("attention-saturated", Level.PROBLEM,
    "All heads of '{where}' put {top:.1%} or more of their weight on one of {keys} positions.",
    "Divide the attention logits by sqrt(d_k), normalize the inputs of attention, or normalize queries and keys.")
GATES_FORGET = _kind("gates-forget", Level.PROBLEM,
    "The gates forget within {longest:.3g} steps: of an input {lag} steps back, only {left:.1e} remains.",
    "Start with open forget gates: use a bias of log(lag) for the forget gate (the update gate of a GRU).")
DEAD_HEAD = _kind("dead-head", Level.WARNING,
    "Head {head} of '{where}' has no effect on the outputs.",
    "Initialize its weights again, or prune it.")
NODE_ORDER_COUNTS = _kind("node-order-counts", Level.PROBLEM,
    "Listing the nodes in another order changes the outputs by {error:.1e} of their size.",
    "Use only sums, means or maxima over neighbors, and no embeddings of node numbers or positions.")
HARMLESS_SMOOTHING = _kind("oversmoothed", Level.WARNING,
    "After '{where}', the features of different nodes are nearly equal (they differ by less than {limit:.0%} of their "
    "size); training works anyway.",
    "Change nothing if one answer for the whole graph is enough; otherwise use fewer layers or skip connections.")
OVERSMOOTHED = _kind("oversmoothed", Level.PROBLEM,
    "After '{where}', the features of different nodes are nearly equal: they differ by less than {limit:.0%} of their "
    "size.",
    "Use fewer layers or skip connections, or concatenate the features of all layers at the end.",
    milder_if="loss_fell", milder=HARMLESS_SMOOTHING)
OVERSQUASHED = _kind("oversquashed", Level.WARNING,
    "Information hardly crosses the graph: nodes {reach} hops apart influence each other {faintest:.1e} times as much "
    "as themselves.",
    "Add edges across the bottleneck, or a node that is connected to all others.")
GRAPHS_NOT_TOLD_APART = _kind("graphs-not-told-apart", Level.WARNING,
    "The network gives graphs {one} and {other} the same output. Further pairs: {more}.",
    "Sum over neighbors instead of taking means or maxima, with an MLP after the sum (GIN), or add layers.")
OUT_OF_REACH = _kind("out-of-reach", Level.NOTE,
    "Nodes more than {reach} hops apart do not influence each other; the diameter of the graph is {diameter}.",
    "Use as many layers as the task needs hops, or connect all nodes to one shared node.")
