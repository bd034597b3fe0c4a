"""Columns that changed since training: another kind is an error, levels that training has not seen are a warning."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

import adacc
from adacc import UnseenCategoryWarning
from adacc.estimators.unseen_categories import unseen_ignored

GOLDEN = Path(__file__).parent / "golden"
NAMES = "ignore:X does not have valid feature names"


def table(n=120):
    """The class depends on all columns, so that stumps split on all."""
    i = np.arange(n)
    frame = pd.DataFrame(
        {
            "age": 20 + i % 40,
            "town": np.array(["Ulm", "Kiel", "Bonn"])[i % 3],
            "member": i // 3 % 2 == 0,
            "grade": pd.Categorical(np.array([1, 2, 3, 4])[i // 2 % 4]),
        }
    )
    odds = (frame["town"] == "Ulm") * 1.0 + frame["member"] * 1.1 + (i // 2 % 4 == 2) * 1.2 + (frame["age"] > 40) * 1.3
    return frame, (odds > 2.2).to_numpy()


X, Y = table()
MODEL = adacc.AdaCC1Classifier(n_estimators=30).fit(X, Y)
FOREST = adacc.AdaCCForestClassifier(n_estimators=3, n_rounds=2, random_state=0).fit(X, Y)


def test_stumps_split_on_all_columns():
    assert {stump.feature for stump in MODEL.estimators_} == {0, 1, 2, 3}


def warned_of(ask, *given):
    """Texts of the warnings of unseen categories, each of which must point here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(*given)
    ours = [each for each in caught if each.category is UnseenCategoryWarning]
    assert {each.filename for each in ours} <= {__file__}
    return [str(each.message) for each in ours]


METHODS = ["predict", "predict_proba", "decision_function", "staged_predict", "staged_decision_function", "explain"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [MODEL, FOREST], ids=["stumps", "forest"])
def test_one_warning_names_columns_shares_and_examples(model, method):
    changed = X.assign(town=X["town"].str.upper(), grade=X["grade"].cat.add_categories(9))
    changed.loc[:29, "grade"] = 9
    (text,) = warned_of(lambda: np.size(list(getattr(model, method)(changed))) if "staged" in method else
                        getattr(model, method)(changed))  # fmt: skip
    assert "column 'town' in 120 of 120 rows (100.0%), such as 'BONN', 'KIEL', 'ULM'" in text
    assert "column 'grade' in 30 of 120 rows (25.0%), such as 9" in text
    assert "member" not in text
    with unseen_ignored():
        assert warned_of(model.predict, changed) == []


def test_what_wraps_a_model_warns_too():
    changed = X.assign(town="Atlantis")
    decision = adacc.CostDecision(FrozenEstimator(MODEL), {True: 5, False: 1}, cv=None).fit(X, Y)
    search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=5), [[1, 1]], cv="training").fit(X, Y)
    for ask in (decision.predict, decision.predict_proba, search.predict):
        (text,) = warned_of(ask, changed)
        assert "column 'town' in 120 of 120 rows (100.0%), such as 'Atlantis'" in text
    (text,) = warned_of(MODEL.score, changed, Y)
    assert "'Atlantis'" in text


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame.astype({"town": "category"}),
        lambda frame: frame.astype({"town": object}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("town").cast(pl.Categorical)),
        pa.Table.from_pandas,
        lambda frame: pa.Table.from_pandas(frame.astype({"town": "category"})),
        lambda frame: frame.astype(object).to_numpy(),
    ],
)
def test_whatever_x_comes_as(form):
    given = X.assign(grade=X["grade"].astype(int))
    assert warned_of(MODEL.predict, form(given)) == []
    np.testing.assert_array_equal(MODEL.decision_function(form(given)), MODEL.decision_function(X))
    given.loc[0, "town"] = "Atlantis"
    (text,) = warned_of(MODEL.predict, form(given))
    assert "in 1 of 120 rows (0.8%), such as 'Atlantis'" in text


def test_neither_missing_values_nor_labels_that_do_not_occur_are_unseen():
    gaps = X.assign(town=pd.Categorical(X["town"], [*X["town"].unique(), "Atlantis"]))
    gaps.loc[:9, "town"] = None
    assert warned_of(MODEL.predict, gaps) == []
    assert warned_of(FOREST.predict, gaps) == []


def test_a_column_that_no_stump_uses_needs_no_warning():
    alone = adacc.AdaCC1Classifier(n_estimators=1).fit(X, X["town"] == "Ulm")
    assert warned_of(alone.predict, X.assign(grade=7)) == []
    assert len(warned_of(alone.predict, X.assign(town="Atlantis"))) == 1


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("member", X["member"].astype(str), "'member' must hold booleans, as in training, but holds strings"),
        ("member", X["member"].map({True: "true", False: "false"}), "hold booleans, as in training, but holds strings"),
        ("member", X["member"] + 1, "'member' must hold booleans, as in training, but holds numbers, such as 2"),
        ("town", X["age"], "'town' must hold strings, as in training, but holds numbers"),
        ("town", pd.Categorical(X["age"]), "'town' must hold strings, as in training, but holds categories of numbers"),
        ("town", X["age"].astype(object), "'town' must hold strings, as in training, but holds numbers"),
        ("town", X["town"].astype(object).mask(X["age"] == 20, 3), "hold strings, as in .* holds numbers, such as 3"),
        ("town", X["member"], "'town' must hold strings, as in training, but holds booleans"),
        ("grade", X["grade"].astype(str), "'grade' must hold numbers, as in training, but holds strings"),
        ("grade", pd.Categorical(X["town"]), "'grade' must hold numbers, .* but holds categories of strings"),
        ("grade", X["member"], "'grade' must hold numbers, as in training, but holds booleans"),
        ("age", X["age"].astype(str), "'age' must hold numbers, as in training, but holds strings"),
        ("age", X["member"], "'age' must hold numbers, as in training, but holds booleans"),
        ("age", X["member"].astype(object), "'age' must hold numbers, as in .* holds booleans, such as True"),
        ("age", pd.Categorical(X["age"]), "'age' must hold numbers, as in training, but holds categories of numbers"),
    ],
)
@pytest.mark.parametrize("model", [MODEL, FOREST], ids=["stumps", "forest"])
def test_a_column_of_another_kind_is_an_error(model, column, values, message):
    with pytest.raises(ValueError, match=message + ".*; convert the column to"):
        model.predict(X.assign(**{column: values}))


@pytest.mark.parametrize("form", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_in_frames_of_other_libraries_as_well(form):
    for changed in (X.assign(town=X["age"]), X.assign(town=pd.Categorical(X["age"])), X.assign(member=X["town"])):
        with pytest.raises(ValueError, match=r"must hold (strings|booleans), as in training, but holds (numbers|str)"):
            MODEL.predict(form(changed.assign(grade=1)))


@pytest.mark.filterwarnings(NAMES)
def test_an_array_has_kinds_by_its_cells():
    cells = X.astype(object).to_numpy()
    np.testing.assert_array_equal(MODEL.predict(cells), MODEL.predict(X))
    for column, value, message in ((1, 5, "column 1 must hold strings"), (2, "True", "column 2 must hold booleans")):
        changed = cells.copy()
        changed[:, column] = value
        with pytest.raises(ValueError, match=message):
            MODEL.predict(changed)
    with pytest.raises(ValueError, match="column 1 must hold strings, as in training, but holds numbers"):
        MODEL.predict(np.ones((3, 4)))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("age", X["age"].astype(float)),
        ("age", X["age"].astype("Int64")),
        ("age", X["age"].astype(object)),
        ("town", X["town"].astype("category")),
        ("town", X["town"].astype("string")),
        ("town", X["town"].astype(object)),
        ("member", X["member"].astype("boolean")),
        ("member", X["member"].astype(object)),
        ("member", X["member"].astype(int)),
        ("member", X["member"].astype(float)),
        ("member", X["member"].astype("category")),
        ("grade", X["grade"].astype(int)),
        ("grade", X["grade"].astype(float)),
    ],
)
def test_what_may_differ(column, values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = MODEL.decision_function(X.assign(**{column: values}))
    np.testing.assert_array_equal(answers, MODEL.decision_function(X))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.Series(pd.NA, X.index, dtype="string"), pd.Categorical([])])
def test_a_column_without_a_value_is_of_any_kind(gap):
    for column in X:
        gone = pd.Categorical([None] * len(X), [1, 2]) if isinstance(gap, pd.Categorical) else gap
        assert warned_of(MODEL.predict, X.assign(**{column: gone})) == []


def test_a_column_that_had_no_value_in_training_may_have_any():
    model = adacc.AdaCCForestClassifier(n_estimators=2, random_state=0)
    model.fit(X.assign(town=pd.Categorical([None] * len(X))), Y)
    for values in (X["town"], X["age"], X["member"]):
        (text,) = warned_of(model.predict, X.assign(town=values))
        assert "column 'town' in 120 of 120 rows" in text


def test_adacc_does_not_warn_of_its_own_folds():
    rare = X.assign(town=X["town"].mask(X.index == 7, "Jena").mask(X.index == 8, "Halle"))
    seen, others = rare.drop(index=[7]), rare.loc[[7, *range(20, 60)]]

    def fit_all():
        adacc.CostSearchCV(
            adacc.CGAdaClassifier(n_estimators=3), [[1, 1]], cv=KFold(60), scoring="balanced_accuracy"
        ).fit(rare, Y)
        adacc.CostDecision(adacc.AdaCC1Classifier(n_estimators=5), cv=20).fit(rare, Y)
        adacc.AdaCC1Classifier(n_estimators=5, calibration="sigmoid", calibration_cv=20).fit(rare, Y)
        adacc.AdaCC1Classifier(n_estimators=5, n_iter_no_change=2).fit(
            seen, Y[seen.index], X_val=others, y_val=Y[others.index]
        )

    assert warned_of(fit_all) == []


def test_files_of_format_1_say_of_which_kind_columns_were():
    model = adacc.load(GOLDEN / "format-1-frame.adacc")
    features = model.fitted_model_.ensemble.models.bin_mapper.features
    row = {
        name: feature.values[0] if feature.categorical else 0.0
        for name, feature in zip(model.feature_names_in_, features, strict=True)
    }
    frame = pd.DataFrame([row] * 4)
    assert warned_of(model.predict, frame) == []
    by_kind = {type(value): name for name, value in row.items()}
    with pytest.raises(ValueError, match=f"column '{by_kind[str]}' must hold strings, as in training"):
        model.predict(frame.assign(**{by_kind[str]: 1}))
    with pytest.raises(ValueError, match=f"column '{by_kind[bool]}' must hold booleans, as in training"):
        model.predict(frame.assign(**{by_kind[bool]: "True"}))
    (text,) = warned_of(model.predict_proba, frame.assign(**{by_kind[str]: ["never seen", *frame[by_kind[str]][1:]]}))
    assert f"column '{by_kind[str]}' in 1 of 4 rows (25.0%), such as 'never seen'" in text
