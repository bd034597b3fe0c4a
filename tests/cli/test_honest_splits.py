"""`compare` and `train` by group and in time: every split below the outer one is as honest as it is."""

import json
import re
import shlex

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, brier_score_loss
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit
from small_study import command
from support import thinned
from threadpoolctl import threadpool_limits

import adacc

FOLDS, ROUNDS, SEED = 3, 8, 2
METHODS = "adacc1,cgada,adamec-cal,adacc-forest,adaboost-threshold,lightgbm-threshold,hist-gradient-boosting-threshold"


def visits(n_patients=80, copies=5):
    """Patients whose visits are all alike."""
    rng = np.random.default_rng(7)
    ill = np.arange(n_patients) % 6 == 0
    frame = pd.DataFrame(rng.normal(size=(n_patients, 4)) + 0.6 * ill[:, None], columns=list("abcd"))
    frame["patient"] = [f"p{i:03d}" for i in range(n_patients)]
    frame["ill"] = np.where(ill, "yes", "no")
    frame = pd.concat([frame] * copies).sample(frac=1, random_state=1).reset_index(drop=True)
    frame["day"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    visits().to_csv(folder / "visits.csv", index=False)
    return folder


def compared(folder, *options):
    code, _, err = command(
        "compare", folder / "visits.csv", "--target", "ill", "--methods", METHODS, "--folds", FOLDS, "--rounds", ROUNDS,
        "--seed", SEED, "--jobs", 1, "--quiet", "--json", folder / "figures.json", *options,
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads((folder / "figures.json").read_text())
    assert not any(line["failed"] for line in result["methods"])
    return result


@pytest.fixture(scope="module")
def by_group(folder):
    return compared(folder, "--group", "patient", "--drop", "day")


@pytest.fixture(scope="module")
def in_time(folder):
    return compared(folder, "--time", "day", "--drop", "patient")


def outer_by_group(frame):
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)
    return list(folds.split(frame, (frame["ill"] == "yes").astype(int), frame["patient"]))


def outer_in_time(frame):
    return list(TimeSeriesSplit(FOLDS).split(frame))  # a row a day, in order


def by_hand(name, frame, outer, inner):
    """Balanced accuracy and Brier score of each part, from the public classifiers and other libraries alone.

    `inner(rows, n_folds, seed)` gives the folds of training rows, numbered within these.
    """
    X, y = frame[list("abcd")], (frame["ill"] == "yes").to_numpy().astype(int)
    found = []
    for number, (train, test) in enumerate(outer):
        with threadpool_limits(1):
            label, probability = ANSWERS[name](X.iloc[train], y[train], X.iloc[test], train, SEED + number, inner)
        found.append((balanced_accuracy_score(y[test], label), brier_score_loss(y[test], probability)))
    return np.array(found).T


def of_model(make):
    def answer(X, y, X_test, rows, seed, inner):
        model = make(seed).fit(X, y)
        return model.predict(X_test), model.predict_proba(X_test)[:, 1]

    return answer


def of_forest(X, y, X_test, rows, seed, inner):
    model = adacc.AdaCCForestClassifier(random_state=seed, pos_label=1, **inner.forest(rows)).fit(
        X, y, groups=inner.groups(rows)
    )
    return model.predict(X_test), model.predict_proba(X_test)[:, 1]


def of_threshold(make, n_folds, score=lambda model, X: model.decision_function(X)):
    def answer(X, y, X_test, rows, seed, inner):
        held_out, labels = [], []
        for train, test in inner.folds(rows, y, n_folds, seed):
            model = make(seed).fit(X.iloc[train], y[train])
            held_out.append(score(model, X.iloc[test]))
            labels.append(y[test])
        held_out, labels = np.concatenate(held_out), np.concatenate(labels)
        levels = np.unique(held_out)
        tries = sorted((levels[:-1] + levels[1:]) / 2, key=abs)
        threshold = max(tries, key=lambda at: round(balanced_accuracy_score(labels, held_out > at), 12))
        model = make(seed).fit(X, y)
        return score(model, X_test) > threshold, model.predict_proba(X_test)[:, 1]

    return answer


def gradient_booster(seed):
    return HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False, random_state=seed)


def light(seed):
    return lightgbm.LGBMClassifier(
        n_estimators=ROUNDS, deterministic=True, force_col_wise=True, n_jobs=1, random_state=seed, verbose=-1
    )


def searched(model):
    return lambda seed: adacc.CostSearchCV(model(n_estimators=ROUNDS, pos_label=1), cv="training")


ANSWERS = {
    "adacc1": of_model(lambda seed: adacc.AdaCC1Classifier(n_estimators=ROUNDS, pos_label=1)),
    "cgada": of_model(searched(adacc.CGAdaClassifier)),
    "adamec-cal": of_model(
        lambda seed: adacc.CostSearchCV(
            adacc.BoostingClassifier("adamec-cal", n_estimators=ROUNDS, pos_label=1), scoring="f1", cv="training"
        )
    ),
    "adacc-forest": of_forest,
    "adaboost-threshold": of_threshold(lambda seed: adacc.AdaBoostClassifier(n_estimators=ROUNDS), 5),
    "lightgbm-threshold": of_threshold(light, 3, lambda model, X: model.predict(X, raw_score=True)),
    "hist-gradient-boosting-threshold": of_threshold(gradient_booster, 3),
}


class ByGroup:
    def __init__(self, frame):
        self.patient = frame["patient"].to_numpy()

    def groups(self, rows):
        return self.patient[rows]

    def forest(self, rows):
        return {}

    def folds(self, rows, y, n_folds, seed):
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed).split(y, y, self.patient[rows])


class InTime:
    def __init__(self, frame):
        self.day = frame["day"].to_numpy()

    def groups(self, rows):
        return self.day[rows]

    def forest(self, rows):
        return {"tuning_cv": adacc.TimeSplit(3)}

    def folds(self, rows, y, n_folds, seed):
        return TimeSeriesSplit(n_folds).split(y)


@pytest.mark.parametrize(
    "name", thinned(METHODS.split(","), [name for name in METHODS.split(",") if "boosting" in name])
)
@pytest.mark.parametrize(
    ("fixture", "outer", "inner"), [("by_group", outer_by_group, ByGroup), ("in_time", outer_in_time, InTime)]
)
def test_figures_are_those_of_a_loop_by_hand(request, name, fixture, outer, inner):
    frame, result = visits(), request.getfixturevalue(fixture)
    (line,) = (line for line in result["methods"] if line["name"] == name)
    accuracy, brier = by_hand(name, frame, outer(frame), inner(frame))
    np.testing.assert_allclose(line["metrics"]["balanced_accuracy"]["by_fold"], accuracy, atol=1e-9)
    np.testing.assert_allclose(line["metrics"]["brier"]["by_fold"], brier, atol=1e-9)


def test_probabilities_and_thresholds_are_within_0_and_1_and_ascend(by_group):
    for line in by_group["methods"]:
        at = np.array(line["pooled"]["thresholds"]["at"])
        assert (np.diff(at) > 0.0).all()
        assert at[0] >= 0.0
        assert at[-1] <= np.nextafter(1.0, 2.0)
        assert all(0.0 <= each["predicted"] <= 1.0 for each in line["pooled"]["calibration"])
        recall = np.array(line["pooled"]["pr"]["recall"])
        assert (np.diff(recall) <= 0.0).all()  # a curve, without triangles


def test_seconds_have_no_interval_below_zero(by_group):
    assert all(line["metrics"]["seconds"]["low"] >= 0.0 for line in by_group["methods"])


class TestTrain:
    def out_of_bag(self, folder, *options):
        code, out, err = command(
            "train", folder / "visits.csv", "--target", "ill", "--method", "adacc-forest", "--rounds", 12,
            "--model", folder / "forest.adacc", *options,
        )  # fmt: skip
        assert (code, err) == (0, "")
        return float(re.search(r"Balanced accuracy on .* rows.*: ([\d.]+)%", out)[1]), out

    def test_a_forest_is_judged_by_groups_that_its_bags_have_not_seen(self, folder):
        alone, _ = self.out_of_bag(folder, "--drop", "patient,day", "--duplicates", "apart")
        together, out = self.out_of_bag(folder, "--group", "patient", "--drop", "day")
        assert alone > 97.0
        frame = visits()
        model = adacc.AdaCCForestClassifier(n_estimators=12, random_state=0, pos_label="yes")
        model.fit(frame[list("abcd")], frame["ill"], groups=frame["patient"])
        assert together == pytest.approx(100.0 * model.oob_balanced_accuracy_, abs=0.06)
        assert "out-of-bag rows, whole groups of 'patient'" in out
        assert adacc.load(folder / "forest.adacc").feature_names_in_.tolist() == list("abcd")

    def test_a_forest_in_time_is_judged_forward(self, folder):
        accuracy, out = self.out_of_bag(folder, "--time", "day", "--drop", "patient")
        frame = visits()
        model = adacc.AdaCCForestClassifier(
            n_estimators=12, random_state=0, pos_label="yes", tuning_cv=adacc.TimeSplit(3)
        )
        model.fit(frame[list("abcd")], frame["ill"], groups=frame["day"])
        assert accuracy == pytest.approx(100.0 * model.oob_balanced_accuracy_, abs=0.06)
        assert "held-out rows, later in 'day' than the training rows" in out

    @pytest.mark.parametrize(("option", "other"), [("--group", "--drop"), ("--time", "--drop")])
    def test_calibration_folds(self, folder, option, other):
        column = "patient" if option == "--group" else "day"
        dropped = "day" if option == "--group" else "patient"
        code, _, err = command(
            "train", folder / "visits.csv", "--target", "ill", "--method", "adacc2", "--rounds", 8, "--calibrate",
            "sigmoid", option, column, other, dropped, "--model", folder / "m.adacc",
        )  # fmt: skip
        assert (code, err) == (0, "")
        frame = visits()
        cv = 5 if option == "--group" else adacc.TimeSplit(5)
        model = adacc.AdaCC2Classifier(
            n_estimators=8, calibration="sigmoid", calibration_cv=cv, random_state=0, pos_label="yes"
        ).fit(frame[list("abcd")], frame["ill"], groups=frame[column])
        found = adacc.load(folder / "m.adacc").predict_proba(frame[list("abcd")])
        np.testing.assert_allclose(found, model.predict_proba(frame[list("abcd")]), atol=1e-12)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--group", "patient", "--time", "day"], "not by both: give only one of them"),
            (["--group", "ill"], "--target ill cannot also be given as --group or --time"),
            (["--group", "ward"], "'ward'"),
        ],
    )
    def test_what_cannot_be_is_refused(self, folder, options, message):
        code, _, err = command(
            "train", folder / "visits.csv", "--target", "ill", "--model", folder / "no.adacc", *options
        )
        assert code == 2
        assert message in err
        assert not (folder / "no.adacc").exists()

    def test_the_command_that_compare_suggests(self, folder, by_group):
        words = shlex.split(by_group["model"]["train_command"])
        assert words[words.index("--group") + 1] == "patient"
        assert words[words.index("--drop") + 1] == "day"
