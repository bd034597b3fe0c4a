"""`sample_cost` in the estimators: what else `fit` can do, routing, effects and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import adacc
from adacc.algorithms.adac import AdaC1
from adacc.boosting.row_costs import RowCostBackend
from adacc.boosting.session import LocalBackend
from adacc.metrics import savings_score

TAKEN = ["cgada", "csb1", "csb2", "adacost", "adac1", "adac2", "adac3"]


@pytest.fixture
def amounts(rare):
    """Costs between ½ and 1, with which all methods boost for many rounds."""
    return np.random.default_rng(3).uniform(0.5, 1.0, len(rare[1]))


def scores(model, X, y, X_new=None, **params):
    return model.fit(X, y, **params).decision_function(X if X_new is None else X_new)


@pytest.mark.parametrize("method", TAKEN)
@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"estimator": DecisionTreeClassifier(max_depth=2)}], ids=str)
class TestLaws:
    def test_only_ratios_matter(self, rare, amounts, method, options):
        model = adacc.BoostingClassifier(method, n_estimators=10, random_state=0, **options)
        plain = scores(model, *rare, sample_cost=amounts)
        np.testing.assert_allclose(scores(model, *rare, sample_cost=1e6 * amounts), plain, rtol=1e-7)
        assert not np.allclose(scores(model, *rare, sample_cost=np.ones(len(amounts))), plain)

    def test_an_integer_weight_is_as_many_rows(self, rare, amounts, method, options):
        X, y = rare
        copies = np.random.default_rng(0).integers(0, 3, len(y))
        model = adacc.BoostingClassifier(method, n_estimators=8, max_bins=None, random_state=0, **options)
        weighted = scores(model, X, y, sample_weight=copies, sample_cost=amounts)
        X_new, y_new, cost = (np.repeat(each, copies, axis=0) for each in (X, y, amounts))
        np.testing.assert_allclose(scores(model, X_new, y_new, X, sample_cost=cost), weighted, rtol=1e-7)

    def test_a_row_of_no_cost_has_no_weight(self, rare, amounts, method, options):
        """Its label does not matter; 100 rows keep theirs, so that the rarer class is the same."""
        X, y = rare
        cost = np.where(np.arange(len(y)) % 5 == 0, 0.0, amounts)
        flipped = np.where((cost == 0.0) & (np.arange(len(y)) > 100), 1 - y, y)
        model = adacc.BoostingClassifier(method, n_estimators=8, max_bins=None, random_state=0, **options)
        plain = scores(model, X, y, sample_cost=cost)
        np.testing.assert_allclose(scores(model, X, flipped, sample_cost=cost), plain, rtol=1e-7)


def test_the_default_takes_another_way(rare, monkeypatch):
    """Without `sample_cost` nothing of it is used."""
    monkeypatch.setattr(RowCostBackend, "__init__", lambda *_: pytest.fail("used"))
    adacc.AdaC1Classifier(n_estimators=3).fit(*rare)
    assert issubclass(RowCostBackend, LocalBackend)


@pytest.mark.parametrize("method", TAKEN)
@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"subsample": 0.7}, {"multi_class": "one_vs_one"}], ids=str)
def test_warm_start_goes_on_as_in_one_go(three, method, options):
    X, y = three
    cost = np.random.default_rng(3).uniform(0.7, 1.0, len(y))
    model = adacc.BoostingClassifier(method, n_estimators=3, warm_start=True, random_state=0, **options)
    model.fit(X, y, sample_cost=cost).set_params(n_estimators=8)
    straight = sklearn.clone(model)
    resumed = scores(model, X, y, sample_cost=cost)
    assert model.n_iter_ > 3
    np.testing.assert_allclose(resumed, scores(straight, X, y, sample_cost=cost), rtol=1e-7)


def test_warm_start_needs_the_costs_again(rare, amounts, tmp_path):
    model = adacc.CSB2Classifier(n_estimators=3, warm_start=True).fit(*rare, sample_cost=amounts)
    model.save(tmp_path / "model.adacc")
    for each in (model, adacc.load(tmp_path / "model.adacc")):
        with pytest.raises(ValueError, match="last fit: that was with sample_cost, this is without"):
            each.set_params(n_estimators=5).fit(*rare)
    with pytest.raises(ValueError, match="that was without sample_cost, this is with"):
        adacc.CSB2Classifier(n_estimators=3, warm_start=True).fit(*rare).fit(*rare, sample_cost=amounts)


def test_early_stopping_holds_out_rows_with_their_costs(rare, amounts):
    X, y = rare
    model = adacc.AdaC2Classifier(n_estimators=40, n_iter_no_change=3, random_state=0).fit(X, y, sample_cost=amounts)
    assert model.n_iter_ < 40
    rows = np.arange(len(y)) % 4 > 0
    given = adacc.AdaC2Classifier(n_estimators=40, n_iter_no_change=3)
    given.fit(X[rows], y[rows], X_val=X[~rows], y_val=y[~rows], sample_cost=amounts[rows])
    whole = adacc.AdaC2Classifier(n_estimators=given.n_iter_)
    whole.fit(X[rows], y[rows], sample_cost=amounts[rows])
    np.testing.assert_allclose(given.decision_function(X), whole.decision_function(X), rtol=1e-9)


def test_sparse_matrices_and_frames(rare, amounts):
    X, y = rare
    X = np.where(np.abs(X) < 1.2, 0.0, X).round(1)
    dense = scores(adacc.AdaC1Classifier(n_estimators=10), X, y, sample_cost=amounts)
    as_sparse = scores(adacc.AdaC1Classifier(n_estimators=10), sparse.csr_matrix(X), y, sample_cost=amounts)
    np.testing.assert_allclose(as_sparse, dense, rtol=1e-9)
    frame = pd.DataFrame(X).rename(columns=str)
    of_frame = scores(adacc.AdaC1Classifier(n_estimators=10), frame, y, sample_cost=pd.Series(amounts))
    np.testing.assert_allclose(of_frame, dense, rtol=1e-9)


def test_threads_do_not_change_the_result(three):
    X, y = three
    cost = np.random.default_rng(3).uniform(0.7, 1.0, len(y))
    one, two = (adacc.AdaC3Classifier(n_estimators=8, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(scores(one, X, y, sample_cost=cost), scores(two, X, y, sample_cost=cost))


def test_problems_of_several_classes_take_the_costs_of_their_rows(three):
    """A pair of classes is boosted as these two classes alone are."""
    X, y = three
    cost = np.random.default_rng(3).uniform(0.7, 1.0, len(y))
    model = adacc.CSB2Classifier(n_estimators=6, multi_class="one_vs_one", costs=[1, 0.9, 0.8], max_bins=None)
    model.fit(X, y, sample_cost=cost)
    pair = y != 1
    alone = adacc.CSB2Classifier(n_estimators=6, max_bins=None, costs=[1, 0.8])
    alone.fit(X[pair], y[pair], sample_cost=cost[pair])
    votes = model.history_["alpha"][model.history_["problem"] == 1]
    np.testing.assert_allclose(votes, alone.history_["alpha"], rtol=1e-9)


def test_expensive_rows_are_predicted_right_more_often(rare):
    """The effect that the costs are for, on training rows."""
    X, y = rare
    cost = np.where(np.arange(len(y)) % 2 == 0, 3.0, 1.0)
    for method in ("cgada", "adacost"):
        wrong = {
            name: adacc.BoostingClassifier(method, n_estimators=30).fit(X, y, sample_cost=each).predict(X) != y
            for name, each in (("costs", cost), ("equal", np.ones(len(y))))
        }
        assert (cost * wrong["costs"]).sum() < (cost * wrong["equal"]).sum(), method


def test_calibration_is_not_weighted_by_cost(rare):
    """The probabilities are frequencies of the rows, for a decision by expected cost, except those of CGAda."""
    X, y = rare
    cost = np.where(y == 1, 3.0, 1.0)
    for method, is_frequency in (("adacost", True), ("cgada", False)):
        model = adacc.BoostingClassifier(method, n_estimators=10, calibration="sigmoid", random_state=0)
        model.fit(X, y, sample_cost=cost)
        weights = None if is_frequency else cost
        mean = np.average(model.predict_proba(X)[:, 1], weights=weights)
        # Held-out rows are calibrated, X are training rows; the shares are 0.17 without and 0.38 with costs.
        assert mean == pytest.approx(np.average(y, weights=weights), abs=0.06), method


class TestRouting:
    def test_pipeline_and_grid_search(self, rare, amounts):
        X, y = rare
        with sklearn.config_context(enable_metadata_routing=True):
            booster = adacc.CSB2Classifier(n_estimators=5).set_fit_request(sample_cost=True)
            scorer = make_scorer(savings_score, fp_cost=1.0).set_score_request(fn_cost=True)
            search = GridSearchCV(make_pipeline(StandardScaler(), booster), {"csb2classifier__learning_rate": [0.5, 1]},
                                  scoring=scorer, cv=3)  # fmt: skip
            search.fit(X, y, sample_cost=amounts, fn_cost=10 * amounts)
        learning_rate = search.best_params_["csb2classifier__learning_rate"]
        alone = adacc.CSB2Classifier(n_estimators=5, learning_rate=learning_rate)
        expected = scores(alone, StandardScaler().fit_transform(X), y, sample_cost=amounts)
        np.testing.assert_allclose(search.decision_function(X), expected)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()

    def test_cost_search(self, rare, amounts):
        X, y = rare
        candidates = [{0: 0.6, 1: 1.0}, {0: 1.0, 1: 1.0}]
        with sklearn.config_context(enable_metadata_routing=True):
            search = adacc.CostSearchCV(adacc.AdaC2Classifier(n_estimators=10), costs=candidates, cv=3)
            pipeline = make_pipeline(StandardScaler(), search.set_fit_request(sample_cost=True))
            pipeline.fit(X, y, sample_cost=amounts)
        search = pipeline[-1]
        alone = adacc.AdaC2Classifier(n_estimators=10, costs=search.best_costs_)
        alone.fit(StandardScaler().fit_transform(X), y, sample_cost=amounts)
        np.testing.assert_allclose(
            search.best_estimator_.decision_function(StandardScaler().fit_transform(X)),
            alone.decision_function(StandardScaler().fit_transform(X)),
        )
        without = adacc.CostSearchCV(adacc.AdaC2Classifier(n_estimators=10), costs=candidates, cv=3)
        without.fit(StandardScaler().fit_transform(X), y)
        assert not np.array_equal(without.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


class TestErrors:
    @pytest.mark.parametrize(
        ("cost", "message"),
        [
            (np.ones(3), r"sample_cost must have one value for each of the 240 rows, got the shape \(3,\)"),
            (-np.ones(240), "sample_cost must be not negative, got -1.0 in row 0"),
            (np.full(240, np.nan), "sample_cost must be finite, got nan in row 0"),
            (np.zeros(240), "sample_cost must not be zero for every row"),
            (["a"] * 240, "sample_cost must be numbers"),
        ],
    )
    def test_values(self, rare, cost, message):
        with pytest.raises(ValueError, match=message):
            adacc.CSB2Classifier().fit(*rare, sample_cost=cost)

    @pytest.mark.parametrize("method", ["adaboost", "adacc1", "adacc2", "rareboost", "rusboost", "adamec"])
    def test_methods_without_row_costs_say_what_to_do(self, rare, method):
        label = adacc.algorithms.METHODS[method].label
        with pytest.raises(ValueError, match=r"sample_cost must be None for .*decide by the expected cost") as error:
            adacc.BoostingClassifier(method).fit(*rare, sample_cost=np.ones(240))
        assert label in str(error.value)

    def test_forest(self, rare):
        with pytest.raises(ValueError, match=r"sample_cost must be None for the AdaCC forest.*expected cost"):
            adacc.AdaCCForestClassifier().fit(*rare, sample_cost=np.ones(240))

    def test_dialect_and_search(self, rare):
        message = r"sample_cost must be None for AdaCost\(dialect='authors', alpha='error'\)"
        authors = adacc.AdaCostClassifier(dialect="authors")
        for model in (authors, adacc.CostSearchCV(authors)):
            with pytest.raises(ValueError, match=message):
                model.fit(*rare, sample_cost=np.ones(240))

    def test_no_cost_is_left(self, rare):
        X, y = rare
        with pytest.raises(ValueError, match="must not be zero for every row"):
            adacc.CSB2Classifier(costs=[0, 1]).fit(X, y, sample_cost=np.where(y == 1, 0.0, 1.0))

    def test_a_rule_of_ones_own(self, rare):
        """A rule that redefines the factors of classes only is not used with costs by row by mistake."""

        class Own(AdaC1):
            takes_row_costs = False

        with pytest.raises(ValueError, match="whose formulas do not hold for costs by row"):
            adacc.BoostingClassifier(Own()).fit(*rare, sample_cost=np.ones(240))


def test_extreme_costs_give_finite_models(rare):
    X, y = rare
    cost = np.exp(np.random.default_rng(0).uniform(-600, 600, len(y)))
    for method in TAKEN:
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = scores(adacc.BoostingClassifier(method, n_estimators=30), X, y, sample_cost=cost)
        assert np.isfinite(found).all(), method
