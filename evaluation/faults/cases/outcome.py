"""Training that ends badly: networks that overfit few examples, and networks too small for their task."""

from functools import partial

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import first_rows, flatten_inputs
from evaluation.faults.data.drawn_images import shapes, textures
from evaluation.faults.data.mnist import mnist_flat
from evaluation.faults.data.series import phone_sensors
from evaluation.faults.data.tables import digits_8x8, friedman, rent_numbers, uci
from evaluation.faults.data.text import reviews
from evaluation.faults.models.dense import perceptron
from evaluation.faults.models.transformers import MaskedEncoder
from evaluation.faults.networks import mnist_dense, texture_vit

UNDERFIT = ("underfit", "undertrained", "below-limit")
UNDERFIT_OR_NOT_LEARNING = (*UNDERFIT, "not-learning")

CASES: tuple[Case, ...] = (
    faulty("overfits", "tuning", mnist_dense, partial(mnist_flat, 150, 1000), "overfit", epochs=200),
    faulty("overfits-semeion", "held-out", partial(perceptron, (256, 512, 512, 10)), uci("semeion"), "overfit",
           change=first_rows(120), epochs=200),
    faulty("overfits-120-reviews", "unseen", MaskedEncoder, partial(reviews, 120, 800, named=True), "overfit", epochs=150),
    faulty("overfits-friedman", "unseen", partial(perceptron, (10, 512, 512, 1)), partial(friedman, 60, 600), "overfit", epochs=400),
    faulty("overfits-90-textures", "outsider", partial(texture_vit, width=64), partial(textures, 90, 600), "overfit", epochs=150),
    faulty("overfits-rents", "outsider", partial(perceptron, (7, 400, 400, 1)), partial(rent_numbers, n=60, m=800), "overfit", epochs=400),
    faulty("underfits", "tuning", partial(perceptron, (784, 2, 10)), mnist_flat, UNDERFIT, epochs=10),
    faulty("underfits-digits", "held-out", partial(perceptron, (64, 1, 10)), digits_8x8, UNDERFIT, change=flatten_inputs, epochs=40),
    faulty("underfits-shapes", "unseen", partial(perceptron, (3072, 1, 5)), shapes, UNDERFIT_OR_NOT_LEARNING,
           change=flatten_inputs, epochs=10),
    faulty("underfits-friedman", "unseen", partial(perceptron, (10, 1, 1)), friedman, UNDERFIT_OR_NOT_LEARNING, epochs=60),
    faulty("underfits-sensors", "outsider", partial(perceptron, (384, 1, 6)), phone_sensors, UNDERFIT_OR_NOT_LEARNING,
           change=flatten_inputs, epochs=10),
)  # fmt: skip
