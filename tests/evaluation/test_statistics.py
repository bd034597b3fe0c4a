"""The tests of significance beside SciPy's and the paper's own tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare, norm, wilcoxon

from adacc.evaluation import statistics as stats


def paper(paper_table, T):
    ranks = paper_table(f"ranks_T{T}").set_index("dataset").drop(index=["avg.", "winner"])
    return ranks.to_numpy(), list(ranks.columns)


def test_ranks_share_ties_and_begin_with_the_best():
    assert stats.ranks([[3, 1, 2], [1, 1, 5]]).tolist() == [[1, 3, 2], [2.5, 2.5, 1]]


def test_friedman_is_scipys_where_there_are_no_ties():
    scores = np.random.default_rng(0).random((20, 5))
    expected = friedmanchisquare(*scores.T)
    found = stats.friedman(stats.ranks(scores))
    assert (found.chi_square, found.p_value) == pytest.approx(tuple(expected))
    assert stats.friedman(stats.ranks(np.tile([3.0, 2.0, 1.0], (8, 1)))).f_p_value == 0.0


@pytest.mark.parametrize("T", [25, 50, 100, 200])
@pytest.mark.parametrize("method", ["AdaCC1", "AdaCC2"])
def test_holm_on_the_papers_ranks_comes_nearest_to_its_p_values(paper_table, T, method):
    """The text says Bonferroni; the printed p-values, as normal deviates, are nearer to Holm's, if not all of them."""
    ranks, names = paper(paper_table, T)
    printed = paper_table("friedman_p_values").set_index("method")[f"{method}_T{T}"]
    others = [name for name in names if name != method and float(printed[name]) > 1e-16]
    p_values = stats.rank_tests(ranks, names.index(method))

    def gaps(corrected):
        found = pd.Series(corrected, names)[others]
        return abs(norm.isf(found / 2) - norm.isf(printed[others].astype(float) / 2))

    assert np.median(gaps(stats.holm(p_values))) < 0.25
    assert gaps(stats.holm(p_values)).max() < 0.75 * gaps(stats.bonferroni(p_values)).max()


def test_holm_and_bonferroni():
    p_values = [0.01, np.nan, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(stats.holm(p_values), [0.03, np.nan, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(stats.bonferroni(p_values), [0.04, np.nan, 0.16, 0.12, 0.02])
    assert (stats.holm([0.9, 0.8]) == 1.0).all()


def test_nemenyi_is_demsars_table():
    """Demšar 2006, table 5a: q of 2 and 10 methods is 1.960 and 3.164."""
    for k, q in ((2, 1.960), (10, 3.164)):
        assert stats.critical_difference(30, k) / np.sqrt(k * (k + 1) / 180) == pytest.approx(q, abs=1e-3)


def test_wilcoxon():
    scores = np.random.default_rng(1).random((15, 3))
    found = stats.wilcoxon_tests(np.column_stack([scores, scores[:, 0]]), 0)
    assert np.isnan(found[0])
    assert found[1] == wilcoxon(scores[:, 1], scores[:, 0]).pvalue
    assert found[3] == 1.0


def test_bootstrap_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    covers = [
        low <= 0.0 <= high for low, high in (stats.bootstrap(rng.normal(size=27), n_draws=500) for _ in range(300))
    ]
    assert 0.88 < np.mean(covers) < 0.98
    assert stats.bootstrap([1.0, 2.0], seed=3) == stats.bootstrap([1.0, 2.0], seed=3)


def test_gaps_are_named():
    with pytest.raises(ValueError, match="ranks must not have missing values, got NaN in row 1, column 0"):
        stats.friedman([[1, 2], [np.nan, 1]])
    with pytest.raises(ValueError, match="at least two methods"):
        stats.ranks([[1], [2]])
