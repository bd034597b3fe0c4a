"""Numbers that were established once and for all, on the paper's own data."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

import adacc

pytestmark = pytest.mark.compiled


def five_folds(X, y, **params):
    """Mean balanced accuracy in percent, over the folds that the published figures were computed on."""
    accuracies = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = adacc.BoostingClassifier(n_estimators=200, **params).fit(X.iloc[train], y[train])
        accuracies.append(balanced_accuracy_score(y[test], model.predict(X.iloc[test])))
    return 100 * np.mean(accuracies)


@pytest.mark.parametrize(
    ("name", "adacc1", "adacc2"),
    [("satimage", 84.18, 85.84), ("us_crime", 75.34, 75.00), ("optical_digits", 94.66, 94.03)],
)
def test_authors_dialect_gives_the_published_packages_figures(load_table, name, adacc1, adacc2):
    X, y = load_table(name)
    assert round(five_folds(X, y, method="adacc1", dialect="authors"), 2) == adacc1
    assert round(five_folds(X, y, method="adacc2", dialect="authors"), 2) == adacc2


@pytest.mark.parametrize(
    ("name", "adacc1", "adacc2"),
    [("mammography", 89.08, 88.78), ("wine_quality", 76.42, 74.60), ("phoneme", 80.06, 79.72), ("wilt", 94.71, 94.25)],
)
def test_exact_splits_give_them_up_to_ties(load_table, name, adacc1, adacc2):
    X, y = load_table(name)
    assert five_folds(X, y, method="adacc1", dialect="authors", max_bins=None) == pytest.approx(adacc1, abs=0.6)
    assert five_folds(X, y, method="adacc2", dialect="authors", max_bins=None) == pytest.approx(adacc2, abs=0.6)
