"""No inner split separates the rows of a group, or looks ahead in time."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GroupKFold,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)

import adacc
from adacc.data.groups import GroupDraw

N_GROUPS, COPIES = 90, 4


def copies(seed=0, shift=0.7):
    """Groups of equal rows: whoever splits them has seen the answer."""
    rng = np.random.default_rng(seed)
    y = np.arange(N_GROUPS) % 5 == 0
    X = rng.normal(size=(N_GROUPS, 4)) + shift * y[:, None]
    order = rng.permutation(N_GROUPS * COPIES)
    groups = np.repeat(np.arange(N_GROUPS), COPIES)[order]
    return X[groups], np.where(y, "ill", "fine")[groups], np.array([f"patient {g:03d}" for g in groups])


X, y, groups = copies()


class Recorder(GroupKFold):
    """Notes the groups that it was given."""

    def split(self, X, y=None, groups=None):
        self.seen = groups
        return super().split(X, y, groups)


class TestCalibration:
    def held_out(self, model, folds):
        """Scores of held-out rows by models of the others."""
        scores, rows = [], []
        for train, test in folds:
            fitted = model.fit(X[train], y[train])
            scores.append(fitted.decision_function(X[test]))
            rows.append(test)
        return np.concatenate(scores), np.concatenate(rows)

    @pytest.mark.parametrize("kind", ["int", "splitter", "time"])
    def test_folds_are_those_of_a_loop_by_hand(self, kind):
        """Platt's sigmoid on the scores of a loop over scikit-learn's splits, each by an uncalibrated fit."""
        time = np.arange(len(y)) // 7
        given = {"int": (3, groups), "splitter": (GroupKFold(3), groups), "time": (adacc.TimeSplit(3), time)}
        cv, passed = given[kind]
        model = adacc.AdaCC1Classifier(n_estimators=8, calibration="sigmoid", calibration_cv=cv, random_state=3)
        found = model.fit(X, y, groups=passed).predict_proba(X)
        if kind == "time":
            cuts = [train.max() + 1 for train, _ in TimeSeriesSplit(3).split(X)]
            size = len(y) // 4
            folds = [(np.flatnonzero(time < time[cut]), np.arange(cut, cut + size)) for cut in cuts]
        elif kind == "splitter":
            folds = list(cv.split(X, y, groups))
        else:
            folds = list(
                StratifiedGroupKFold(3, shuffle=True, random_state=model.fitted_model_.seed).split(X, y, groups)
            )
        scores, rows = self.held_out(adacc.AdaCC1Classifier(n_estimators=8), folds)
        positive = (y[rows] == "ill").astype(float)
        n_positive, n_negative = positive.sum(), (1 - positive).sum()
        target = np.where(positive == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        both, weight = np.r_[scores, scores], np.r_[target, 1 - target]
        line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
        line.fit(both[:, None], np.r_[np.ones(len(scores)), np.zeros(len(scores))], sample_weight=weight)
        expected = line.predict_proba(model.decision_function(X)[:, None])[:, 1]
        np.testing.assert_allclose(found[:, model.classes_.tolist().index("ill")], expected, atol=1e-5)

    def test_copies_across_folds_would_make_it_too_sure(self):
        options = {
            "max_depth": 2,
            "calibration": "sigmoid",
            "calibration_cv": 3,
            "duplicates": "apart",
            "random_state": 0,
        }
        model = adacc.AdaCC1Classifier(n_estimators=50, **options)
        X_new, y_new, _ = copies(seed=1)

        def log_loss(**given):
            probability = model.fit(X, y, **given).predict_proba(X_new)
            right = probability[np.arange(len(y_new)), np.searchsorted(model.classes_, y_new)]
            return -np.log(np.maximum(right, 1e-6)).mean()

        assert log_loss(groups=groups) < 0.7 * log_loss()

    def test_a_search_hands_its_groups_to_the_calibration(self):
        cv = Recorder(3)
        model = adacc.AdaMECClassifier(n_estimators=3, calibration="sigmoid", calibration_cv=cv)
        adacc.CostSearchCV(model, costs=[{"ill": 2, "fine": 1}], rounds=[3], cv="training").fit(X, y, groups=groups)
        np.testing.assert_array_equal(cv.seen, np.unique(groups, return_inverse=True)[1])

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({"calibration_cv": 1}, ValueError, "calibration_cv must be a whole number of at least 2, got 1"),
            (
                {"calibration_cv": "5"},
                TypeError,
                "calibration_cv must be None, 'training', a whole number of at least 2, or a",
            ),
            ({"calibration_cv": GroupKFold}, TypeError, "calibration_cv must be None, 'training', a whole number"),
            ({"calibration_cv": True}, TypeError, "calibration_cv must be None, 'training', a whole number"),
            ({"calibration_cv": 19}, ValueError, "=19 needs at least 19 groups of every class, but 'ill'"),
            ({"groups": groups[:7]}, ValueError, "groups must have one value for each of the 360 rows, got 7"),
            ({"groups": groups.reshape(2, -1)}, ValueError, r"for each of the 360 rows, got the shape \(2, 180\)"),
            ({"groups": [*groups[:-1], None]}, ValueError, "groups must not be missing, got None in row 359"),
            ({"groups": [*groups[:-1].tolist(), 3.5]}, TypeError, "groups must have values of one kind"),
        ],
    )
    def test_what_cannot_be_is_refused(self, given, error, message):
        given = {"calibration_cv": 3, "groups": groups, **given}
        if isinstance(given["groups"], list):
            given["groups"] = np.array(given["groups"], dtype=object)
        passed = given.pop("groups")
        model = adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", **given)
        with pytest.raises(error, match=message):
            model.fit(X, y, groups=passed)

    def test_the_first_rows_may_lack_the_rare_class(self):
        fine = np.flatnonzero(y == "fine")[:200]
        late = np.r_[fine, np.setdiff1d(np.arange(len(y)), fine)]
        model = adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=adacc.TimeSplit(8))
        assert model.fit(X[late], y[late], groups=np.arange(len(y))).predict_proba(X).shape == (len(y), 2)
        fine = np.flatnonzero(y == "fine")[:240]
        late = np.r_[fine, np.setdiff1d(np.arange(len(y)), fine)]
        message = "calibration_cv must hold out rows of class 'fine' in a fold whose training rows have every class"
        with pytest.raises(ValueError, match=message):
            model.set_params(calibration_cv=adacc.TimeSplit(2)).fit(X[late], y[late], groups=np.arange(len(y)))

    @pytest.mark.parametrize("cv", [adacc.TimeSplit(3), StratifiedGroupKFold(3, shuffle=True, random_state=1)])
    def test_a_model_file_keeps_the_splitter(self, cv, tmp_path):
        model = adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=cv)
        model.fit(X, y, groups=np.arange(len(y)) // 4).save(tmp_path / "m.adacc")
        again = adacc.load(tmp_path / "m.adacc")
        assert type(again.calibration_cv) is type(cv)
        assert vars(again.calibration_cv) == vars(cv)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        with pytest.raises(TypeError, match="calibration_cv' cannot be saved to a model file"):
            model.set_params(calibration_cv=Recorder(3)).save(tmp_path / "other.adacc")


class TestEarlyStopping:
    def test_watched_rows_are_of_groups_that_are_not_trained_on(self):
        """Copies of trained rows would be right without exception."""
        options = {"n_estimators": 30, "max_depth": 8, "n_iter_no_change": 30, "duplicates": "apart", "random_state": 0}
        model = adacc.AdaCC1Classifier(**options)
        assert model.fit(X, y).history_["validation_balanced_accuracy"].max() == 1.0
        assert model.fit(X, y, groups=groups).history_["validation_balanced_accuracy"].max() < 0.95

    def test_a_class_of_one_group_cannot_be_watched(self):
        one = np.where(y == "ill", "a", groups)
        with pytest.raises(ValueError, match="the groups that could be held out have none of 'ill': give X_val"):
            adacc.AdaCC1Classifier(n_iter_no_change=3).fit(X, y, groups=one)


class TestDrawsOfGroups:
    def test_whole_groups_of_every_class_and_never_all(self):
        numbers = np.unique(groups, return_inverse=True)[1]
        codes = (y == "ill").astype(np.intp)
        draw = GroupDraw(numbers, codes, 2)
        times = np.zeros(N_GROUPS)
        for seed in range(60):
            inside = draw.draw(0.6, np.random.default_rng(seed))
            by_group = np.bincount(numbers, inside) / COPIES
            assert set(by_group) == {0.0, 1.0}
            assert {codes[inside].min(), codes[inside].max(), codes[~inside].min(), codes[~inside].max()} == {0, 1}
            assert inside[codes == 1].mean() == pytest.approx(0.6, abs=0.06)
            times += by_group
        assert times.min() > 18  # none is preferred
        assert times.max() < 54

    def test_a_class_within_one_group_is_always_drawn(self):
        draw = GroupDraw(np.array([0, 0, 1, 1, 2]), np.array([1, 0, 0, 0, 0]), 2)
        assert all(draw.draw(0.1, np.random.default_rng(seed))[0] for seed in range(20))

    def test_rates_out_of_the_bag_are_of_groups_that_a_round_has_not_seen(self):
        """Deep trees know copies of what they have seen; costs that follow their errors would find none."""
        model = adacc.AdaCC2Classifier(
            n_estimators=10, max_depth=None, subsample=0.5, rates="out-of-bag", duplicates="apart", random_state=0
        )  # fmt: skip
        alone = model.fit(X, y).history_["class_recall"][-1].mean()
        together = model.fit(X, y, groups=groups).history_["class_recall"][-1].mean()
        assert alone > 0.95
        assert together < 0.9


class TestForest:
    def test_out_of_bag_figures_are_those_of_rows_not_seen(self):
        forest = adacc.AdaCCForestClassifier(duplicates="apart", random_state=0)
        assert forest.fit(X, y).oob_balanced_accuracy_ > 0.99
        estimated, true = [], []  # of several samples: the figures of one vary by 0.1
        for seed in range(16):
            X_seen, y_seen, groups_seen = copies(seed)
            X_new, y_new, _ = copies(100 + seed)
            forest.fit(X_seen, y_seen, groups=groups_seen)
            estimated.append(forest.oob_balanced_accuracy_)
            true.append(balanced_accuracy_score(y_new, forest.predict(X_new)))
        assert np.mean(estimated) == pytest.approx(np.mean(true), abs=0.08)

    def test_a_row_is_judged_by_bags_without_its_group(self, monkeypatch):
        """Each bag is told from the rows that it is judged by: they share no group."""
        from adacc.boosting import bagging as engine

        bags, original = [], engine.draw_bag

        def noted(rows, ratio, rng, eligible, *others):
            bag, members = original(rows, ratio, rng, eligible, *others)
            bags.append((rows.order.copy(), eligible, members))
            return bag, members

        monkeypatch.setattr(engine, "draw_bag", noted)
        adacc.AdaCCForestClassifier(n_estimators=6, random_state=0).fit(X, y, groups=groups)
        assert len(bags) == 5 + 5 + 3 + 6  # the last bags are grown first: those without replacement
        for number, (order, eligible, members) in enumerate(bags):
            inside = set(groups[order[members]])
            assert inside <= set(groups[order[eligible]])
            assert not inside & set(groups[order[~eligible]])
            assert (0.5 < eligible.mean() < 0.75) if number >= 10 else (0.75 < eligible.mean() < 0.85)

    def test_folds_of_tuning_cv_hold_out_whole_groups_and_decide(self):
        cv = Recorder(3)
        forest = adacc.AdaCCForestClassifier(n_estimators=12, tuning_cv=cv, random_state=0).fit(X, y, groups=groups)
        np.testing.assert_array_equal(cv.seen, np.unique(groups, return_inverse=True)[1])
        out_of_fold = np.empty_like(y)
        for train, test in GroupKFold(3).split(X, y, groups):
            other = adacc.AdaCCForestClassifier(n_estimators=12, tuning_cv=3, random_state=0)
            out_of_fold[test] = other.fit(X[train], y[train], groups=groups[train]).predict(X[test])
        assert forest.oob_balanced_accuracy_ == pytest.approx(balanced_accuracy_score(y, out_of_fold), abs=0.12)

    def test_tuning_forward_in_time_is_that_of_folds_written_out(self):
        n = len(y)

        class Forward(Recorder):
            def split(self, X, y=None, groups=None):
                return iter(
                    [
                        (np.arange(n // 3), np.arange(n // 3, 2 * n // 3)),
                        (np.arange(2 * n // 3), np.arange(2 * n // 3, n)),
                    ]
                )

        forests = [
            adacc.AdaCCForestClassifier(n_estimators=6, tuning_cv=cv, random_state=0).fit(X, y, groups=np.arange(n))
            for cv in (adacc.TimeSplit(2), Forward(2))
        ]
        np.testing.assert_array_equal(*(forest.decision_function(X) for forest in forests))
        alone = adacc.AdaCCForestClassifier(n_estimators=6, random_state=0).fit(X, y)
        assert (alone.decision_function(X) != forests[0].decision_function(X)).any()

    def test_three_classes(self):
        three = np.where(X[:, 0] > 0.8, "large", y)
        forest = adacc.AdaCCForestClassifier(n_estimators=6, tuning_cv=3, random_state=0).fit(X, three, groups=groups)
        assert 0.3 < forest.oob_balanced_accuracy_ < 1.0
        by_bags = adacc.AdaCCForestClassifier(n_estimators=6, random_state=0).fit(X, three, groups=groups)
        assert by_bags.oob_balanced_accuracy_ == pytest.approx(forest.oob_balanced_accuracy_, abs=0.2)

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(TypeError, match="tuning_cv must be None, a whole number of at least 2, or a splitter"):
            adacc.AdaCCForestClassifier(tuning_cv="oob").fit(X, y)


class TestMetaEstimators:
    @pytest.mark.parametrize("routed", [False, True])
    def test_cost_decision_keeps_groups_whole_and_hands_them_on(self, routed):
        inner = Recorder(3)
        model = adacc.AdaCC1Classifier(n_estimators=4, calibration="sigmoid", calibration_cv=inner)
        with sklearn.config_context(enable_metadata_routing=routed):
            found = adacc.CostDecision(model, cv=3).fit(X, y, groups=groups)
        folds = StratifiedGroupKFold(3).split(X, y, groups)
        brier, rows = 0.0, 0
        for train, test in folds:
            fitted = adacc.AdaCC1Classifier(n_estimators=4, calibration="sigmoid", calibration_cv=GroupKFold(3))
            fitted.fit(X[train], y[train], groups=groups[train])
            wrong = fitted.predict_proba(X[test])[:, 1] - (y[test] == fitted.classes_[1])
            brier, rows = brier + (wrong**2).sum(), rows + len(test)
        assert found.brier_ == pytest.approx(brier / rows, abs=1e-9)

    def test_cost_decision_of_an_estimator_without_groups(self):
        found = adacc.CostDecision(LogisticRegression(), cv=3).fit(X, y, groups=groups)
        held_out = cross_val_predict(
            LogisticRegression(), X, y, groups=groups, cv=StratifiedGroupKFold(3), method="predict_proba"
        )
        assert found.brier_ == pytest.approx(((held_out[:, 1] - (y == "ill")) ** 2).mean(), abs=1e-12)

    def test_cost_search_scores_groups_that_were_not_trained_on(self):
        search = adacc.CostSearchCV(
            adacc.CGAdaClassifier(n_estimators=5), costs=[{"ill": 1, "fine": 1}, {"ill": 3, "fine": 1}], cv=3
        ).fit(X, y, groups=groups)
        by_hand = adacc.CostSearchCV(
            adacc.CGAdaClassifier(n_estimators=5), costs=[{"ill": 1, "fine": 1}, {"ill": 3, "fine": 1}],
            cv=list(StratifiedGroupKFold(3).split(X, y, groups)),
        ).fit(X, y)  # fmt: skip
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"])
        with pytest.raises(ValueError, match="3 folds need at least 3 groups, got 2"):
            search.fit(X, y, groups=np.arange(len(y)) % 2)

    @pytest.mark.parametrize(
        "model",
        [
            adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=Recorder(2)),
            adacc.AdaCCForestClassifier(n_estimators=3, tuning_cv=Recorder(2)),
        ],
    )
    def test_routing_brings_groups_without_being_asked(self, model):
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                model, X, y, cv=GroupKFold(2), params={"groups": groups}, return_estimator=True, error_score="raise"
            )
        for fitted in found["estimator"]:
            cv = getattr(fitted, "calibration_cv", None) or fitted.tuning_cv
            assert len(np.unique(cv.seen)) == N_GROUPS / 2

    def test_routing_through_scikit_learns_own(self):
        inner = Recorder(2)
        model = adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=inner)
        with sklearn.config_context(enable_metadata_routing=True):
            fitted = CalibratedClassifierCV(model, cv=GroupKFold(2), ensemble=True).fit(X, y, groups=groups)
        assert all(len(np.unique(each.estimator.calibration_cv.seen)) for each in fitted.calibrated_classifiers_)


class TestTimeSplit:
    def test_rows_before_and_after(self):
        time = np.random.default_rng(0).integers(0, 12, 100)
        folds = list(adacc.TimeSplit(4).split(groups=time))
        assert len(folds) == adacc.TimeSplit(4).get_n_splits() == 4
        for train, test in folds:
            assert time[train].max() < time[test].min()
            np.testing.assert_array_equal(np.sort(train), np.flatnonzero(time < time[test].min()))
        assert len(np.unique(np.concatenate([test for _, test in folds]))) == 80

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(ValueError, match="groups must be the time of each row for TimeSplit, got None"):
            list(adacc.TimeSplit(2).split(X, y))
        with pytest.raises(ValueError, match=r"groups must hold dates, times, .*got '2023-Jan-05' in row 1"):
            list(adacc.TimeSplit(2).split(groups=["2023-Jan-05", "2023-Feb-05", "2023-Apr-05"]))
        with pytest.raises(ValueError, match="groups must hold times that all have an offset from UTC, or none, got"):
            list(adacc.TimeSplit(2).split(groups=["2023-01-05 10:00Z", "2023-01-06 10:00", "2023-01-07 10:00"]))
        with pytest.raises(ValueError, match=r"TimeSplit\(5\) needs more than 5 rows, got 3"):
            list(adacc.TimeSplit(5).split(groups=[1, 2, 3]))

    @pytest.mark.parametrize(
        "text",
        [
            lambda day: str(day + 5),
            lambda day: f"{day + 5}.50",
            lambda day: f"2024-{day // 28 + 1}-{day % 28 + 1}",
            lambda day: str(np.datetime64("2024-01-31T22:00") + 60 * day) + "Z",
            lambda day: str(np.datetime64("2024-01-31T22:00") + 60 * (day + day % 5)) + f"+0{day % 5}:00",
        ],
        ids=["number", "fraction", "date", "utc", "offset"],
    )
    @pytest.mark.parametrize("kind", [np.array, lambda text: np.array(text, dtype=object), pd.Series, pd.Categorical])
    def test_text_is_sorted_by_time(self, kind, text):
        day = np.random.default_rng(0).integers(0, 40, 100)
        times = kind([text(each) for each in day.tolist()])
        found = adacc.TimeSplit(4).split(groups=times)
        for one, other in zip(found, adacc.TimeSplit(4).split(groups=day), strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])

    @pytest.mark.parametrize(
        "make",
        [
            lambda cv: adacc.AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=cv),
            lambda cv: adacc.AdaCCForestClassifier(n_estimators=2, n_rounds=2, random_state=0, tuning_cv=cv),
            lambda cv: adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=3), cv=cv),
            lambda cv: adacc.DecisionRule(adacc.AdaCC1Classifier(n_estimators=3), "f1", cv=cv),
        ],
        ids=["booster", "forest", "search", "rule"],
    )
    def test_estimators_sort_text_by_time(self, make):
        """The estimators number the groups before the splitter receives them."""
        day = np.random.default_rng(0).permutation(len(y))
        model = make(adacc.TimeSplit(3))
        by_number, by_text = (clone(model).fit(X, y, groups=times).predict_proba(X) for times in (day, day.astype(str)))
        np.testing.assert_array_equal(by_text, by_number)
        with pytest.raises(ValueError, match=r"groups must hold dates, times, .*got 'patient 0' in row 1"):
            make(adacc.TimeSplit(3)).fit(X, y, groups=[f"patient {row}" for row in range(len(y))])
        make(3).fit(X, y, groups=[f"patient {row}" for row in range(len(y))])
