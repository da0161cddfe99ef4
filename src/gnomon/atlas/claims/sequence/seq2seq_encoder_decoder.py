"""The last state of a recurrent encoder with d units stores at most d numbers of the sequence it has read.

    sum over lags k of R^2(x_{T-k} from the last state) <= d                                                  (1)

R^2 is the share of the variance of input x_{T-k} that the best linear readout of the last state explains, for
independent inputs. Attention reads all states. Reference: [jaeger2001short].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(units):
    """Returns the number of units d, the bound on the numbers that the last state stores."""
    return np.array(units, dtype=float)


def capacity(every, d, length, sequences, seed):
    """Returns how many numbers of the sequence linear readouts recover on test sequences."""
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.normal(size=(d, d)))[0] * 0.98
    v = rng.normal(size=d) * 0.3
    x, h, states = rng.uniform(-1, 1, size=(sequences, length)), np.zeros((sequences, d)), []
    for t in range(length):
        h = np.tanh(h @ u.T + x[:, t : t + 1] * v)
        states.append(h)
    read = np.concatenate([np.concatenate(states, 1) if every else h, np.ones((sequences, 1))], 1)
    half = sequences // 2
    fit = np.linalg.lstsq(read[:half], x[:half], rcond=1e-10)[0]
    left = ((read[half:] @ fit - x[half:]) ** 2).mean(0) / x[half:].var(0)
    return float(np.maximum(1 - left, 0.0).sum())


def capacities(every, units, length, sequences, seed):
    """Returns how many numbers of the sequence the last state stores, for each number of units."""
    return np.array([capacity(every, d, length, sequences, seed) for d in units])


observed = partial(capacities, every=False)  # The decoder reads only the last state of the encoder.
control = partial(capacities, every=True)  # Control: the decoder reads all states of the encoder, as attention does.

CLAIM = Claim(
    id="seq2seq-encoder-decoder",
    question="How much of a sequence fits into the last state of an encoder?",
    equation=r"\sum_k R^2(x_{T-k} \mid h_T) \le d",
    axes=("number of units d", "recovered inputs (sum of R^2)", "units"),
    source=Source("theorem", "jaeger2001short"),
    premises=(Premise("the decoder sees only the last state"),),
    parameters={"units": (4, 8), "length": 24, "sequences": 3000},
    full={"units": (4, 8, 16), "length": 48, "sequences": 20000},
    judge=bounded_by(tight=0.6),
    remark="The lossy bottleneck as a theorem; trained translators lose accuracy with length for the same reason.",
)
