"""Models written to files: they come back as they were, and no file does more than become a model or be refused."""

import json
import os
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from golden_models import GOLDEN, MODELS, from_json
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from support import thinned

import adacc
from adacc.algorithms.adacc import AdaCC1
from adacc.algorithms.catalog import ESTIMATORS
from adacc.estimators.loading import loads
from adacc.estimators.saving import pack
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError

RNG = np.random.default_rng(5)
N = 60
NUMBERS = RNG.normal(size=(N, 3))
NUMBERS[::7, 1] = np.nan
TWO, THREE = np.arange(N) % 4 == 0, np.arange(N) % 5 % 3
NUMBERS[:, 0] += TWO
NUMBERS[:, 2] += THREE
FRAME = pd.DataFrame(
    {
        "number": NUMBERS[:, 0],
        "gaps": NUMBERS[:, 1],
        "text": [("a", "b", "ü", None)[(i // 2 + TWO[i]) % 4] for i in range(N)],
        "flag": [bool((i // 3 + TWO[i]) % 2) for i in range(N)],
        "mixed": np.array([(1, "1", 2.5, None)[(i + THREE[i]) % 4] for i in range(N)], dtype=object),
        "coded": pd.Categorical([(7, 8, 9)[(i + 2 * TWO[i]) % 3] for i in range(N)]),
    }
)
DATA = {"two": (NUMBERS, TWO), "three": (NUMBERS, THREE), "frame": (FRAME, np.where(TWO, "rare", "common"))}


def saved(model, tmp_path, **options):
    model.save(tmp_path / "m.adacc", **options)
    return adacc.load(tmp_path / "m.adacc")


def exactly(value):
    """What tells 1, 1.0, True and NumPy's own apart."""
    if isinstance(value, dict):
        return [(exactly(key), exactly(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exactly(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.dtype, [exactly(item) for item in value.tolist()]
    return type(value), value


def answer(model, question, *args):
    """An answer in full detail, or the error that is given instead."""
    try:
        return question(model, *args)
    except ValueError as error:
        return str(error)


def curves(model):
    functions = model.shape_functions()
    return [vars(curve) for curve in functions], functions.intercept


QUESTIONS = {
    "class": lambda model, X: type(model).__name__,
    "parameters": lambda model, X: exactly(model.get_params()),
    "classes": lambda model, X: exactly(model.classes_),
    "columns": lambda model, X: (model.n_features_in_, exactly(getattr(model, "feature_names_in_", None))),
    "rounds": lambda model, X: (model.n_iter_, list(model.history_)),
    "history": lambda model, X: list(model.history_.values()),
    "weights": lambda model, X: [model.estimator_weights_, model.estimator_errors_],
    "decision_function": lambda model, X: model.decision_function(X),
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "staged": lambda model, X: list(model.staged_decision_function(X)) + list(model.staged_predict(X)),
    "explain": lambda model, X: list(vars(model.explain(X, background=X)).values())[:3],
    "shape_functions": lambda model, X: curves(model),
    "importances": lambda model, X: model.feature_importances_,
    "stumps": lambda model, X: [exactly(tuple(stump)) for stump in model.estimators_],
}


def assert_same(one, other, X):
    for name, question in QUESTIONS.items():
        np.testing.assert_equal(answer(other, question, X), answer(one, question, X), err_msg=name)


def rows(method, data):
    X, y = DATA[data]
    if method != "smoteboost":
        return X, y
    return (X[["number", "flag", "coded"]] if data == "frame" else np.nan_to_num(X)), y  # it takes no gaps


def fitted(method, data, **options):
    X, y = rows(method, data)
    return adacc.BoostingClassifier(method, n_estimators=6, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("method", adacc.methods())
def test_a_model_comes_back_as_it_was(method, data, tmp_path):
    model = fitted(method, data)
    assert_same(model, saved(model, tmp_path), rows(method, data)[0])


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_a_calibrated_model_comes_back_as_it_was(method, calibration, data, tmp_path):
    model = fitted(method, data, calibration=calibration, calibration_cv=2)
    assert_same(model, saved(model, tmp_path), rows(method, data)[0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_class_comes_back(name, tmp_path):
    model = getattr(adacc, name)(n_estimators=2, random_state=1).fit(np.nan_to_num(NUMBERS), TWO)
    assert type(saved(model, tmp_path)) is type(model)


def test_every_public_class_can_be_saved():
    public = {name for name in adacc.__all__ if name.endswith("Classifier")}
    assert public == set(ESTIMATORS)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 7]),
        np.array([-1, 1], dtype=np.int8),
        np.array([0, 1], dtype=">u4"),
        np.array([0.0, 1.0]),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([False, True]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype="<U30"),
        np.array(["no", "yes"], dtype=object),
        np.array([np.str_("no"), np.str_("yes")], dtype=object),
    ],
    ids=lambda labels: f"{labels.dtype.str}-{type(labels[0]).__name__}",
)
def test_labels_keep_their_types(labels, tmp_path):
    y = labels[TWO.astype(int)]
    model = adacc.CGAdaClassifier(costs={labels[0]: 1, labels[1]: 2.5}, pos_label=labels[1], n_estimators=3)
    again = saved(model.fit(NUMBERS, y), tmp_path)
    assert exactly(again.classes_) == exactly(model.classes_)
    assert exactly(again.predict(NUMBERS)) == exactly(model.predict(NUMBERS))
    assert exactly(again.get_params()) == exactly(model.get_params())


@pytest.mark.parametrize("positive", [False, True])
def test_ties_go_where_they_went(positive, tmp_path):
    model = adacc.AdaCC1Classifier(n_estimators=1, pos_label=positive).fit(NUMBERS, TWO)
    again = saved(model, tmp_path)
    assert again.classes_[again.fitted_model_.ensemble.classes(np.zeros(1))].tolist() == [not positive]


def test_categories_keep_their_types(tmp_path):
    again = saved(fitted("adacc1", "frame"), tmp_path)
    kept = [getattr(feature, "values", None) for feature in again.fitted_model_.ensemble.models.bin_mapper.features]
    assert exactly(kept[2:]) == exactly([("a", "b", "ü", None), (False, True), (2.5, 1, "1", None), (7, 8, 9)])


@pytest.mark.parametrize(
    "costs",
    ["balanced", {False: 1, True: np.float32(2.0)}, [1, 2.0], (np.int64(1), 3), np.array([1, 2]), np.array([0.1, 1])],
    ids=repr,
)
def test_parameters_keep_their_types(costs, tmp_path):
    model = adacc.AdaMECClassifier(costs=costs, n_estimators=np.int64(3), max_bins=None, verbose=False)
    again = saved(model.fit(NUMBERS, TWO), tmp_path)
    assert exactly(again.get_params()) == exactly(model.get_params())


@pytest.mark.parametrize(
    ("name", "value"), [("learning_rate", np.inf), ("pos_label", float("nan")), ("verbose", -np.inf)]
)
def test_numbers_that_json_lacks(name, value, tmp_path):
    model = adacc.AdaCC1Classifier(n_estimators=1).fit(NUMBERS, TWO).set_params(**{name: value})
    np.testing.assert_equal(saved(model, tmp_path).get_params(), model.get_params())


def test_a_model_of_sparse_columns_comes_back(tmp_path):
    X = sparse.csr_array(np.where(NUMBERS > 0.5, NUMBERS, 0.0))
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, TWO)
    assert_same(model, saved(model, tmp_path), X)


@pytest.mark.parametrize("method", ["adacc2", "rareboost", "rusboost", "csb1"])
def test_warm_start_goes_on_after_loading(method, tmp_path):
    for data in DATA:
        model = fitted(method, data, warm_start=True)
        again = saved(model, tmp_path)
        for each in (model, again):
            each.set_params(n_estimators=9).fit(*DATA[data])
        assert_same(model, again, DATA[data][0])
    with pytest.raises(ValueError, match="warm_start needs the same criterion"):
        again.set_params(criterion="entropy").fit(*DATA[data])


def test_early_stopping_and_its_seed_come_back(tmp_path):
    model = adacc.AdaCC1Classifier(n_estimators=30, n_iter_no_change=3, random_state=3, warm_start=True)
    again = saved(model.fit(NUMBERS, TWO), tmp_path)
    assert "validation_balanced_accuracy" in again.history_
    assert_same(model, again, NUMBERS)
    assert_same(model.fit(NUMBERS, TWO), again.fit(NUMBERS, TWO), NUMBERS)


def test_what_a_search_finds_can_be_saved(tmp_path):
    search = adacc.CostSearchCV(adacc.CGAdaClassifier(), rounds=[2, 5], cv="training").fit(*DATA["frame"])
    assert_same(search.best_estimator_, saved(search.best_estimator_, tmp_path), FRAME)


def test_notes_are_kept(tmp_path):
    model = adacc.AdaCC1Classifier(n_estimators=1).fit(NUMBERS, TWO)
    assert saved(model, tmp_path).notes_ == {}
    notes = {"target": "ü", "labels": ["yes", 1, 2.5, True, None], "deep": {"er": {}}}
    assert exactly(saved(model, tmp_path, notes=notes).notes_) == exactly(notes)
    for bad in ([], {1: 2}, {"x": (1, 2)}, {"x": np.nan}, {"x": object()}, {"x": np.int64(1)}, "text"):
        with pytest.raises(TypeError, match="notes must be a dict that JSON can represent"):
            model.save(tmp_path / "bad.adacc", notes=bad)
    deep = {}
    for _ in range(40):
        deep = {"er": deep}
    with pytest.raises(ValueError, match=r"cannot be saved to a model file: .* more than 32 levels deep"):
        model.save(tmp_path / "bad.adacc", notes=deep)
    assert os.listdir(tmp_path) == ["m.adacc"]


def test_equal_models_are_equal_files(tmp_path):
    for name in ("one", "other"):
        fitted("cgada", "frame", calibration="isotonic").save(tmp_path / name, notes={"a": 1})
    adacc.load(tmp_path / "one").save(tmp_path / "again", notes={"a": 1})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes() == (tmp_path / "again").read_bytes()


class Own(adacc.AdaCC1Classifier):
    pass


def test_what_cannot_be_saved_is_refused(tmp_path):
    tree = DecisionTreeClassifier(max_depth=1)
    intervals = pd.DataFrame({"age": pd.cut(NUMBERS[:, 0], 3)})
    two = {"n_estimators": 2}
    refused = [
        (adacc.AdaCC1Classifier(), None, NotFittedError, "not fitted"),
        (adacc.AdaCC1Classifier(estimator=tree, **two), NUMBERS[:, :1], ValueError, "use pickle, joblib or skops"),
        (adacc.BoostingClassifier(AdaCC1(), **two), NUMBERS, TypeError, "the parameter 'method' cannot be saved"),
        (Own(**two), NUMBERS, TypeError, "classifiers of adacc only, got Own"),
        (adacc.AdaCC1Classifier(random_state=np.random.RandomState(0), **two), NUMBERS, TypeError, "'random_state'"),
        (adacc.CGAdaClassifier(costs=pd.Series([1, 2]), **two), NUMBERS, TypeError, "'costs' cannot be saved"),
        (adacc.AdaCC1Classifier(random_state=0, pos_label=True, **two), intervals, TypeError, "column 'age'.*Interval"),
    ]
    for model, X, kind, message in refused:
        if X is not None:
            model.fit(X, TWO)
        with pytest.raises(kind, match=message):
            model.save(tmp_path / "m.adacc")
    stumps = adacc.AdaCC1Classifier(**two).fit(NUMBERS, TWO)
    for bad, message in [({"estimator": tree}, "native stumps"), ({"pos_label": 2**64}, "numbers of up to 64 bits")]:
        with pytest.raises((TypeError, ValueError), match=message):
            stumps.set_params(**bad).save(tmp_path / "m.adacc")
        stumps.set_params(estimator=None)
    assert os.listdir(tmp_path) == []


GOLDEN_MODELS = sorted(path.stem for path in GOLDEN.glob("*.adacc"))


def test_there_are_golden_models():
    assert {"format-1-frame", "format-1-isotonic", *MODELS} == set(GOLDEN_MODELS)


@pytest.mark.parametrize("name", GOLDEN_MODELS)
def test_golden_files_of_all_formats_load(name):
    model = adacc.load(GOLDEN / f"{name}.adacc")
    expected = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    X = from_json(expected["rows"])
    estimator, _, arguments = expected["model"].partition("(")
    due = getattr(adacc, estimator)(**eval(f"dict({arguments}"))
    if isinstance(due, adacc.AdaCCForestClassifier):
        due.set_params(min_samples_leaf=1, max_features="2sqrt")  # the defaults when the files were written
        due.calibration = None if due.calibration == "auto" else due.calibration
    elif len(model.classes_) > 2:
        due.set_params(multi_class="joint")  # likewise
    assert repr(model) == repr(due)
    assert model.predict(X).tolist() == expected["predict"]
    # The sums of votes are the same on every machine; logarithms and exponentials need not be.
    rtol = 0.0 if model.fitted_model_.multipliers is None else 1e-12
    np.testing.assert_allclose(model.decision_function(X), expected["decision_function"], rtol=rtol)
    np.testing.assert_allclose(model.predict_proba(X), expected["predict_proba"], rtol=1e-12)
    assert model.history_["class_recall"][-1].tolist() == expected["class_recall"]
    assert model.notes_ == expected["notes"]


@pytest.mark.parametrize("name", [name for name in GOLDEN_MODELS if "warm-start" in name])
def test_warm_start_continues_from_golden_files(name):
    training = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))["training"]
    X, y = from_json(training["X"]), training["y"]
    resumed = adacc.load(GOLDEN / f"{name}.adacc").set_params(n_estimators=9).fit(X, y)
    straight = clone(resumed).fit(X, y)
    np.testing.assert_allclose(resumed.decision_function(X), straight.decision_function(X), rtol=1e-9)


# From here on: files that nobody should have written.

MODEL = fitted("cgada", "frame", calibration="isotonic", n_iter_no_change=9)
WITH_LABELS = FRAME.to_numpy(dtype=object)
NO_LABELS = adacc.AdaMECClassifier(n_estimators=6, calibration="sigmoid", calibration_cv=2).fit(NUMBERS, THREE)
HOSTS = {"categories": (MODEL, WITH_LABELS, DATA["frame"]), "numbers": (NO_LABELS, NUMBERS, DATA["three"])}
WHOLE = pack(NO_LABELS, {})


def packed(change, host="categories"):
    """A sealed file of a model, the document and arrays of which were changed."""
    document, arrays = archive.unpack(pack(HOSTS[host][0], {"note": [1]}))
    change(document, arrays)
    return archive.pack(document, arrays)


def load_content(content, tmp_path):
    path = tmp_path / "hostile.adacc"
    path.write_bytes(content)
    return adacc.load(path)


def entry(name, value):
    return lambda document, arrays: document.update({name: value})


def without(name):
    return lambda document, arrays: (document if name in document else arrays).pop(name)


def parameter(name, value):
    return lambda document, arrays: document["parameters"].update({name: value})


def array(name, value):
    return lambda document, arrays: arrays.update({name: np.asarray(value)})


def element(name, value, at=0):
    def change(document, arrays):
        arrays[name][np.unravel_index(at, arrays[name].shape)] = value

    return change


def cut_off(name):
    return lambda document, arrays: arrays.update({name: arrays[name][:-1]})


def sizes(of_total):
    return lambda document, arrays: arrays.update(n_thresholds=np.array(of_total(len(arrays["thresholds"]))))


def labels(*values, dtype="|O"):
    return entry("classes", {"array": list(values), "dtype": dtype})


def category(*values, feature=2):
    return entry("categories", [[feature, list(values)]])


HOSTILE = {
    "a class of another library": (entry("class", "sklearn.tree.DecisionTreeClassifier"), "'class' must be one of"),
    "a function as class": (entry("class", "os.system"), "'class' must be one of"),
    "the base class": (entry("class", "BaseBoosting"), "'class' must be one of"),
    "a number as class": (entry("class", 3), "'class' must be of type str, got 3"),
    "no class": (without("class"), "model.json has no 'class'"),
    "no history": (without("history_alpha"), "there is no history_alpha.npy"),
    "an unknown entry": (entry("run", "rm -rf /"), "format 2 has no field 'run'"),
    "an unknown array": (array("extra", [1.0]), r"format 2 has no field 'extra\.npy'"),
    "an unknown parameter": (
        parameter("cost", 1),
        "BoostingClassifier has no parameter 'cost'; a later adacc may have written",
    ),
    "a weak learner": (parameter("estimator", "DecisionTreeClassifier"), "'estimator' must be None"),
    "an odd parameter": (parameter("verbose", {"eval": "1"}), "the parameter 'verbose' has an invalid value"),
    "an odd float": (parameter("verbose", {"float": "1"}), "'verbose' has an invalid value"),
    "an odd pair": (parameter("costs", {"dict": [[1]]}), "'costs' has an invalid value"),
    "a list as key": (parameter("costs", {"dict": [[[1], 2]]}), "'costs' must be a list of strings, numbers"),
    "a huge number": (parameter("verbose", 2**64), "'verbose' has an invalid value"),
    "a dtype of objects": (parameter("costs", {"array": [[1]], "dtype": "|O"}), "'costs' cannot be of dtype"),
    "a dtype that is code": (parameter("costs", {"array": [1], "dtype": "O,O"}), "'costs' cannot be of dtype 'O,O'"),
    "a dtype of times": (parameter("costs", {"array": [1], "dtype": "<M8"}), "'costs' cannot be of dtype"),
    "an overflow": (parameter("costs", {"array": [-1], "dtype": "|u1"}), "'costs' cannot be of dtype"),
    "a float overflow": (parameter("costs", {"array": [1e99], "dtype": "<f4"}), "'costs' cannot be of dtype"),
    "strings as numbers": (parameter("costs", {"array": ["1"], "dtype": "<i8"}), "'costs' cannot be of dtype"),
    "truths as numbers": (parameter("costs", {"array": [True], "dtype": "<i8"}), "'costs' cannot be of dtype"),
    "a list as number": (parameter("costs", {"array": [[1]], "dtype": "<i8"}), "'costs' cannot be of dtype"),
    "endless strings": (parameter("costs", {"array": ["", ""], "dtype": "<U9999999"}), "'costs' cannot be of dtype"),
    "no array of classes": (entry("classes", {"dict": []}), "'classes' must be an array of 2 to 256 labels"),
    "one class": (labels("a"), "'classes' must be an array of 2 to 256 labels"),
    "many classes": (labels(*range(257)), "'classes' must be an array of 2 to 256 labels"),
    "equal classes": (labels("a", "a"), "'classes' must be distinct labels"),
    "no label": (labels("a", None), "'classes' must be distinct labels without missing values"),
    "NaN as label": (labels("a", {"float": "nan"}), "'classes' must be distinct labels without missing values"),
    "classes cut short": (labels("aa", "ab", dtype="<U1"), "cannot be of dtype '<U1'"),
    "a third class": (labels("a", "b", "c"), r"must have the shape \(\d, 3"),
    "a feature more": (entry("n_features", 7), "'n_features' is 7, but n_thresholds.npy has 6 features"),
    "a true number": (entry("n_features", True), "'n_features' must be of type int, got True"),
    "no features": (
        lambda d, a: (d.update(n_features=0), a.update(n_thresholds=np.empty(0, int))),
        "'n_features' is 0",
    ),
    "a name less": (entry("feature_names", ["a"]), "'feature_names' must be 6 strings"),
    "numbers as names": (entry("feature_names", [1] * 6), "'feature_names' must be 6 strings"),
    "a category twice": (category("a", "a"), "categories of feature 2 must be distinct"),
    "missing first": (category(None, "a"), "None must be the last"),
    "a list as category": (category(["a"]), "must be a list of strings, numbers, booleans or None"),
    "categories of no feature": (category("a", feature=6), "must list features"),
    "categories of feature -1": (category("a", feature=-1), "must list features"),
    "categories of feature true": (category("a", feature=True), "must list features"),
    "categories of a number": (category("a", feature=0), "must list features without thresholds"),
    "categories twice": (entry("categories", [[2, ["a"]], [2, ["b"]]]), "must list features"),
    "a threshold of NaN": (element("thresholds", np.nan), "thresholds.npy must hold finite numbers"),
    "an infinite threshold": (element("thresholds", np.inf), "thresholds.npy must hold finite numbers"),
    "a threshold too high": (element("thresholds", 1e300), "the thresholds of feature 0 must be strictly"),
    "a threshold less": (cut_off("thresholds"), r"thresholds\.npy has \d+ elements"),
    "negative sizes": (sizes(lambda total: [-1, total, 1, 0, 0, 0]), r"thresholds\.npy has \d+ elements"),
    "sizes that wrap around": (sizes(lambda total: [2**62] * 4 + [total, 0]), r"thresholds\.npy has \d+ elements"),
    "floats as sizes": (array("n_thresholds", [0.0] * 6), "n_thresholds.npy must be of dtype int64, got float64"),
    "a feature that is not there": (element("stump_feature", 6), "stump_feature.npy must hold numbers from -1 to 5"),
    "a feature of -2": (element("stump_feature", -2), "stump_feature.npy must hold numbers from -1 to 5"),
    "a feature far away": (element("stump_feature", 2**31 - 1), "stump_feature.npy must hold numbers from -1 to 5"),
    "a cut that is not there": (
        element("stump_cut", 2**32 - 1),
        "stump_cut.npy must hold indices of existing thresholds",
    ),
    "a class that is not there": (element("stump_left", 2), "stump_left.npy must hold class numbers from 0 to 1"),
    "a class on the right": (element("stump_right", 255), "stump_right.npy must hold class numbers"),
    "a class of missing": (element("stump_missing", 2), "stump_missing.npy must hold class numbers"),
    "a round less": (cut_off("stump_cut"), r"stump_cut.npy must have the shape"),
    "no rounds": (array("stump_feature", np.empty(0, np.int32)), "must hold at least one round"),
    "a vote of NaN": (element("votes", np.nan), "votes.npy must hold finite numbers"),
    "an infinite vote": (element("votes", -np.inf), "votes.npy must hold finite numbers"),
    "votes less": (cut_off("votes"), "votes.npy must have the shape"),
    "votes turned": (array("votes", np.zeros((2, 6))), r"votes.npy must have the shape \(\d, 2\), got \(2, 6\)"),
    "votes in a cube": (lambda d, a: a.update(votes=a["votes"][..., None]), r"votes.npy must have the shape \(\d, 2\)"),
    "a decision of NaN": (element("decision", np.nan), "decision.npy must hold finite numbers"),
    "a negative factor": (element("factors", -1.0), "factors.npy must not hold negative numbers"),
    "an infinite factor": (element("factors", np.inf), "factors.npy must hold finite numbers"),
    "flat factors": (
        lambda d, a: a.update(factors=a["factors"][:, 0, 0]),
        r"factors.npy must have the shape \(\d, 2, 2",
    ),
    "history cut off": (cut_off("history_bound"), "history_bound.npy must have the shape"),
    "a vote for each of five": (array("history_alpha", np.zeros((6, 5))), "history_alpha.npy must have the shape"),
    "a tie for nobody": (entry("tie_class", 2), "'tie_class' must be from 0 to 1, got 2"),
    "a negative tie": (entry("tie_class", -1), "'tie_class' must be from 0 to 1, got -1"),
    "perhaps finished": (entry("finished", 1), "'finished' must be of type bool, got 1"),
    "training as a list": (entry("training", []), "'training' must be of type dict or str or NoneType"),
    "an odd seed": (entry("seed", -1), "'seed' must be from 0 to"),
    "an odd calibration": (entry("calibration", "beta"), "'calibration' must be 'sigmoid', 'isotonic' or null"),
    "another calibration": (entry("calibration", "sigmoid"), "there is no sigmoid.npy"),
    "no calibration": (entry("calibration", None), r"has no field '(isotonic_|multipliers)"),
    "calibration upside down": (element("isotonic_scores", 1e9), "scores of an isotonic curve must be strictly"),
    "calibration above 1": (element("isotonic_values", 1.1), "its values from 0 to 1"),
    "no points": (
        lambda d, a: a.update(isotonic_sizes=np.array([0]), isotonic_scores=np.empty(0), isotonic_values=np.empty(0)),
        "scores of an isotonic curve must be strictly",
    ),
    "two curves": (array("isotonic_sizes", [1, 1]), r"isotonic_sizes.npy must have the shape \(1\)"),
    "notes of a list": (entry("notes", []), "'notes' must be of type dict"),
    "versions of a list": (entry("versions", []), "'versions' must be of type dict"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_file_is_refused_and_named(fault, tmp_path):
    change, message = HOSTILE[fault]
    load_content(WHOLE, tmp_path)  # so that all modules are there that reading takes
    modules = set(sys.modules)
    with pytest.raises(ModelFileError, match=message) as raised:
        load_content(packed(change), tmp_path)
    assert str(raised.value).startswith(str(tmp_path / "hostile.adacc: "))
    assert set(sys.modules) == modules
    assert os.listdir(tmp_path) == ["hostile.adacc"]


def test_sigmoids_are_checked_too(tmp_path):
    for change in (element("sigmoid", np.nan), cut_off("sigmoid"), element("multipliers", np.inf)):
        with pytest.raises(ModelFileError, match=r"sigmoid\.npy must|multipliers\.npy must"):
            load_content(packed(change, "numbers"), tmp_path)


def test_faults_of_the_file_itself_are_named(tmp_path):
    whole = packed(lambda document, arrays: None)
    for content in (whole[:-30], whole.replace(b'"tie_class": 0', b'"tie_class": 1'), b"", b"PK\x03\x04"):
        with pytest.raises(ModelFileError, match=r"hostile\.adacc: "):
            load_content(content, tmp_path)
    later = whole.replace(b'"format_version": 2', b'"format_version": 3')
    with pytest.raises(ModelFileError, match="damaged"):  # without a checksum to match
        load_content(later, tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        adacc.load(tmp_path / "nowhere.adacc")


def test_parameters_that_a_file_lacks_have_their_defaults(tmp_path):
    def change(document, arrays):
        del document["parameters"]["verbose"]

    assert load_content(packed(change), tmp_path).verbose == 0


def use(model, X):
    """Everything that reads what came from the file; in plain Python no index out of range goes unnoticed."""
    repr(model)
    with np.errstate(all="ignore"):
        for name in ("decision_function", "predict", "predict_proba", "staged", "importances", "stumps"):
            try:
                QUESTIONS[name](model, X)
            except ValueError as error:
                if "as in training" not in str(error):  # an edited category may be of another kind than the column
                    raise
        for name in ("explain", "shape_functions"):
            answer(model, QUESTIONS[name], X)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.integers() | st.floats() | st.sampled_from(["", "a", "<i8"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["float", "tuple", "dict", "scalar", "array", "dtype"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(node, path=()):
    """All places within a document."""
    yield path
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, child in inside:
        yield from places(child, (*path, name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=75)
@given(data=st.data())
def test_an_edited_document_is_refused_or_a_model(host, data):
    def change(document, arrays):
        *path, last = data.draw(st.sampled_from([path for path in places(document) if path]))
        node = document
        for name in path:
            node = node[name]
        node[last] = data.draw(JSON)

    try:
        content = packed(change, host)
    except ValueError:  # NaN, which JSON does not have
        return
    use_if_it_loads(content, HOSTS[host][1])


def use_if_it_loads(content, X):
    try:
        model = loads(content)
    except ModelFileError:
        return None
    use(model, X)
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=75)
@given(data=st.data())
def test_an_edited_array_is_refused_or_of_a_model_that_predicts_and_learns(host, data):
    def change(document, arrays):
        name = data.draw(st.sampled_from(sorted(arrays)))
        edited = arrays[name].ravel().copy()
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(edited) - 1))
            if edited.dtype.kind == "f":
                edited[at] = data.draw(st.floats() | st.sampled_from(edited.tolist()))
            else:
                limits = np.iinfo(edited.dtype)
                edited[at] = data.draw(st.integers(max(limits.min, -3), 9) | st.integers(limits.min, limits.max))
        resized = edited[: data.draw(st.integers(0, len(edited)))]
        arrays[name] = data.draw(st.sampled_from([edited.reshape(arrays[name].shape)] * 9 + [edited, resized]))

    _, X, training = HOSTS[host]
    model = use_if_it_loads(packed(change, host), X)
    if model is not None:
        model.set_params(warm_start=True, n_estimators=model.n_iter_ + 1, n_iter_no_change=None)
        with np.errstate(all="ignore"), suppress(ValueError, ZeroDivisionError, np.linalg.LinAlgError):
            model.fit(*training)


@given(data=st.data())
def test_a_damaged_file_is_refused_or_unharmed(data):
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    model = use_if_it_loads(bytes(content), NUMBERS)
    if model is not None:
        np.testing.assert_array_equal(model.decision_function(NUMBERS), NO_LABELS.decision_function(NUMBERS))
