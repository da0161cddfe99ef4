"""Healthy models for UCI's tables."""

from evaluation.published.case import Recipe, adam, healthy
from evaluation.published.data.load import uci
from evaluation.published.networks import mlp


def _uci_case(name, width=64, epochs=25, lr=2e-3, decay=1e-3):
    train, test = uci(name)
    columns, classes = train[0].shape[1], int(max(train[1].max(), test[1].max())) + 1
    return Recipe(
        network=lambda: mlp(columns, width, classes), train=train, test=test, optimizer=adam(lr, decay), epochs=epochs
    )


@healthy("uci-car", "UCI car evaluation (Fernandez-Delgado et al. 2014)", score=0.9)
def uci_car():
    """Car evaluation, 1728 rows."""
    return _uci_case("car", epochs=30, lr=5e-3, decay=0.0)


@healthy("uci-seeds", "UCI seeds", score=0.85)
def uci_seeds():
    """Three kinds of wheat, 210 rows."""
    return _uci_case("seeds", width=32, epochs=40)


@healthy("uci-vehicle", "UCI statlog vehicle", score=0.7)
def uci_vehicle():
    """Four kinds of vehicles by their silhouettes."""
    return _uci_case("statlog-vehicle", epochs=40)


@healthy("uci-german-credit", "UCI statlog German credit", score=0.68)
def uci_german():
    """Credit risk: noisy, about 75 % is what good methods reach."""
    return _uci_case("statlog-german-credit", width=16, epochs=10, lr=1e-3, decay=1e-2)


@healthy("uci-ionosphere", "UCI ionosphere", score=0.83)
def uci_ionosphere():
    """Radar returns, 351 rows."""
    return _uci_case("ionosphere", width=32, epochs=30)


@healthy("uci-image-segmentation", "UCI statlog image segmentation", score=0.9)
def uci_segmentation():
    """Seven kinds of outdoor image regions, 2310 rows."""
    return _uci_case("statlog-image", epochs=25, lr=3e-3)
