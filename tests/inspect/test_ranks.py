"""The critical-difference diagram, against pairwise tests of scikit-posthocs and against its own picture."""

import matplotlib as mpl
import numpy as np
import pytest
import scikit_posthocs

from adacc.inspect import CriticalDifferenceDisplay

pytestmark = pytest.mark.usefixtures("matplotlib_stays_as_it_is")


@pytest.fixture
def scores():
    rng = np.random.default_rng(1)
    return rng.normal(size=(20, 7)) + np.array([1.6, 1.2, 1.0, 0.5, 0.4, 0.0, -0.8])


def names(n):
    return [f"m{i}" for i in range(n)]


def test_methods_share_a_group_where_nemenyi_cannot_tell_them_apart(scores):
    display = CriticalDifferenceDisplay.from_scores(names(7), scores)
    p_values = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    frame = display.frame()
    number = {name: int(name[1:]) for name in frame["method"]}
    told_apart = 0
    for i, one in frame.iterrows():
        for j, other in frame.iterrows():
            if i < j:
                shared = set(one["groups"].strip("()").split(", ")) & set(other["groups"].strip("()").split(", ")) - {
                    ""
                }
                assert bool(shared) == (p_values[number[one["method"]], number[other["method"]]] > 0.05)
                told_apart += not shared
    assert 0 < told_apart < 21


def test_best_comes_first_and_groups_are_the_longest(scores):
    display = CriticalDifferenceDisplay.from_scores(names(7), scores)
    assert np.all(np.diff(display.mean_ranks) >= 0)
    for first, last in display.groups:
        assert display.mean_ranks[last] - display.mean_ranks[first] < display.critical_difference
        assert not any(a <= first and last <= b for a, b in display.groups if (a, b) != (first, last))


def test_plot_has_a_label_a_bar_and_a_line_for_all(scores):
    display = CriticalDifferenceDisplay.from_scores(names(7), scores)
    ax = display.plot(title="ranks").ax_
    labels = [text.get_text().strip() for text in ax.texts]
    for name, rank in zip(display.names, display.mean_ranks, strict=True):
        assert f"{name} ({rank:.2f})" in labels
    assert f"CD = {display.critical_difference:.2f}" in labels
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx(list(display.mean_ranks))
    red = [c for c in ax.collections if mpl.colors.same_color(c.get_color()[0], "tab:red")]
    assert len(red) == len(display.groups) + 1
