"""Colors of nodes and classes of graphs, by hand."""

import torch

from gnomon import graphs


def edges(*pairs):
    return torch.tensor(pairs).T


def sizes(colors):
    return sorted([list(colors).count(c) for c in set(colors)])


def test_colors_of_a_long_path_are_refined_until_both_ends_are_counted():
    """On a path of 7 nodes the classes are the distances from the nearer end."""
    (colors,) = graphs.weisfeiler_leman_colors([edges(*((i, i + 1) for i in range(6)))])
    assert colors == colors[::-1] and sizes(colors) == [1, 2, 2, 2]


def test_names_of_colors_are_shared_by_graphs_of_unequal_size():
    """A leaf of a star with three leaves and a leaf of a path of three see different neighbors."""
    star, path, triangle = edges((0, 1), (0, 2), (0, 3)), edges((0, 1), (1, 2)), edges((0, 1), (1, 2), (2, 0))
    a, b, c, again = graphs.weisfeiler_leman_colors([star, path, triangle, path])
    assert b == again and a[1] == a[2] == a[3] != a[0] and b[0] == b[2] != b[1]
    assert set(a).isdisjoint(b) and set(b).isdisjoint(c) and len(set(c)) == 1


def three():
    return [edges((0, 1), (1, 2)), edges((0, 1), (0, 2), (0, 3)), edges((0, 1), (1, 2), (2, 3), (3, 4))]


def test_pairs_with_outputs_within_a_hundred_thousandth_of_the_largest_are_missed():
    for gap, missed in ((0.9e-5, ((1, 0),)), (1.1e-5, ())):
        outputs = dict(zip((3, 4, 5), (2.0, 2.0 + 100 * gap, -100.0), strict=True))
        found = graphs.graph_classes(three(), lambda a, o=outputs: torch.tensor([o[len(a)], 1.0]).double())
        assert found.missed == missed and found.by_colors == (0, 1, 2)
        assert found.by_network == ((0, 0, 2) if missed else (0, 1, 2))


def test_every_pair_of_graphs_with_one_output_is_missed():
    found = graphs.graph_classes(three(), lambda a: torch.zeros(2))
    assert found.missed == ((1, 0), (2, 0), (2, 1))
    (finding,) = found.findings
    assert finding.level.name == "WARNING" and finding.evidence[0].value == 3 and "Further pairs: 2." in finding.message


def test_outputs_that_differ_in_one_number_are_classifier_auc():
    found = graphs.graph_classes(three(), lambda a: torch.tensor([1.0, float(len(a)), 1.0]))
    assert found.missed == () and found.by_network == (0, 1, 2)
