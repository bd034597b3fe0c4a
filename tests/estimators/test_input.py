"""Input as people have it: the same model whatever X came as, categories and gaps without the user's help."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

import adacc


def fit(X, y, **params):
    return adacc.AdaCC1Classifier(n_estimators=20, **params).fit(X, y)


def mixed_frame(n=300, seed=0):
    """Numbers, strings, categories, booleans; the target depends on all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(["Kiel", "Ulm", "Jena", "Bonn"], n),
            "grade": pd.Categorical(rng.choice(["c", "b", "a"], n), categories=["a", "b", "c", "never"]),
            "member": rng.random(n) < 0.5,
            "income": rng.normal(size=n),
        }
    )
    odds = (frame["town"] == "Ulm") * 1.5 + (frame["grade"] == "b") * 1.0 + frame["member"] * 0.8 + frame["income"]
    return frame, (odds + rng.normal(size=n) > 2.5).map({True: "yes", False: "no"}).to_numpy()


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
        lambda X: X.astype(np.int8),
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
        lambda X: pa.table({name: X[:, j] for j, name in enumerate("abc")}),
        lambda X: pd.DataFrame(X).astype("Int64"),
        lambda X: pd.DataFrame(X).astype(object),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_one_model_whatever_x_came_as(form):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(120, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 6, 120) > 9).astype(int)
    plain, other = fit(X, y), fit(form(X), y)
    assert other.estimators_ == plain.estimators_
    np.testing.assert_array_equal(other.decision_function(form(X)), plain.decision_function(X))


def test_read_only_memory():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), np.tile([0, 0, 1], 20)
    for array in (X, y):
        array.setflags(write=False)
    before = X.copy()
    fit(X, y).predict(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("method", ["adacc1", "adac2", "rareboost", "smoteboost"])
def test_categories_are_what_one_hot_stumps_would_be(method):
    frame, y = mixed_frame()
    hot = make_column_transformer((OneHotEncoder(), ["town", "grade", "member"]), remainder="passthrough")
    encoded = hot.fit_transform(frame)
    native = adacc.BoostingClassifier(method, n_estimators=25, random_state=0)
    if method == "smoteboost":  # its synthetic rows differ, so only that it works is compared
        assert native.fit(frame, y).score(frame, y) > 0.6
        return
    native.fit(frame, y)
    one_hot = adacc.BoostingClassifier(method, n_estimators=25).fit(encoded, y)
    np.testing.assert_allclose(native.estimator_errors_, one_hot.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(native.decision_function(frame), one_hot.decision_function(encoded), rtol=1e-9)


def test_pandas_polars_and_arrow_frames_agree():
    frame, y = mixed_frame()
    one = fit(frame, y)
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        model = fit(other, y)
        assert model.estimators_ == one.estimators_
        np.testing.assert_array_equal(model.predict(other), one.predict(frame))
    assert {"Ulm", "b"} & {stump.category for stump in one.estimators_}


def test_an_array_of_objects_at_predict_time():
    frame, y = mixed_frame()
    model = fit(frame, y)
    with pytest.warns(UserWarning, match="feature names"):
        predicted = model.predict(frame.to_numpy())
    np.testing.assert_array_equal(predicted, model.predict(frame))


def test_categories_unseen_in_training_are_like_any_other_category():
    frame, y = mixed_frame()
    model = fit(frame, y)
    stranger = frame.assign(town="Atlantis")
    scores = model.decision_function(stranger)
    assert np.isfinite(scores).all()
    elsewhere = [model.decision_function(frame.assign(town=town)) for town in frame["town"].unique()]
    used = {stump.category for stump in model.estimators_ if stump.feature == 1}
    unused = [town for town in frame["town"].unique() if town not in used]
    if unused:
        np.testing.assert_array_equal(scores, model.decision_function(frame.assign(town=unused[0])))
    assert not all(np.array_equal(scores, other) for other in elsewhere)


def test_missing_is_a_branch_of_its_own():
    """Whether a value is there tells the class; its size tells nothing."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 0, 0, 1], 50)
    X = rng.normal(size=(200, 2))
    X[y == 1, 0] = np.nan
    model = fit(X, y)
    assert model.n_iter_ == 1
    assert (model.predict(X) == y).all()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    frame["c"] = np.where(y == 1, None, rng.choice(["u", "v"], 200))
    assert (fit(frame[["b", "c"]], y).predict(frame[["b", "c"]]) == y).all()


def test_missing_at_predict_time_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.tile([0, 0, 1], 30)
    X[:, 0] += 2 * y
    model = fit(X, y)
    assert np.isfinite(model.predict_proba(np.full((3, 2), np.nan))).all()


def test_sparse_cells_that_are_not_stored_are_zeros():
    rng = np.random.default_rng(5)
    dense = rng.integers(0, 3, size=(150, 6)) * (rng.random((150, 6)) < 0.3) - 1.0 * (rng.random((150, 6)) < 0.1)
    dense[rng.random((150, 6)) < 0.05] = np.nan
    y = (np.nan_to_num(dense[:, 0]) + rng.random(150) > 1.2).astype(int)
    one, other = fit(dense, y), fit(sparse.csr_array(dense), y)
    assert one.estimators_ == other.estimators_
    np.testing.assert_array_equal(one.predict(dense), other.predict(sparse.csc_array(dense)))


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [3, 2], [1.0, 0.0]])
def test_labels_of_any_kind(rare, labels):
    X, y = rare
    named = np.array(labels)[y]
    model = fit(X, named)
    assert set(model.predict(X)) == set(labels)
    flip = 1 if model.classes_[1] == labels[1] else -1
    np.testing.assert_allclose(model.decision_function(X), flip * fit(X, y).decision_function(X))


def test_labels_as_series():
    frame, y = mixed_frame()
    for series in (pd.Series(y), pd.Series(y, dtype="category"), pl.Series(y)):
        assert fit(frame, series).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("max_bins", [2, 255, 300, None])
def test_more_bins_than_a_byte_holds(max_bins):
    X = np.random.default_rng(0).permutation(600)[:, None].astype(float)
    y = (X[:, 0] % 200 > 100).astype(int)
    model = fit(X, y, max_bins=max_bins)
    assert len({stump.threshold for stump in model.estimators_}) <= (max_bins or 600)
    assert model.score(X, y) > 0.5


def test_many_categories():
    rng = np.random.default_rng(0)
    names = np.array([f"id{i:04d}" for i in range(400)])
    frame = pd.DataFrame({"id": rng.choice(names, 2000), "x": rng.normal(size=2000)})
    y = frame["id"].isin(names[:40]).to_numpy() ^ (rng.random(2000) < 0.02)
    model = adacc.AdaCC2Classifier(n_estimators=80).fit(frame, y)
    caught = {stump.category for stump in model.estimators_ if stump.feature == 0 and stump.left}
    assert len(caught) > 30
    assert caught <= set(names[:40])


def test_every_way_of_saying_missing():
    """NaN, None, pandas' NA in nullable columns, polars' null: one model."""
    rng = np.random.default_rng(6)
    number, label = rng.integers(0, 9, 200).astype(float), rng.choice(["u", "v", "w"], 200).astype(object)
    flag = rng.random(200) < 0.5
    y = ((number > 5) & flag) | (label == "w") & (rng.random(200) < 0.6)
    gaps = [rng.random(200) < 0.2 for _ in range(3)]
    columns = {"number": number, "label": label, "flag": flag}
    cells = {
        name: [None if gap else value for value, gap in zip(values.tolist(), gaps[j], strict=True)]
        for j, (name, values) in enumerate(columns.items())
    }
    plain = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    plain["number"] = plain["number"].astype(float)
    nullable = plain.astype({"number": "Int64", "label": "string", "flag": "boolean"})
    category = nullable.astype({"label": "category"})
    arrow = nullable.convert_dtypes(dtype_backend="pyarrow")
    models = [fit(frame, y) for frame in (plain, nullable, category, arrow, pl.DataFrame(cells), pa.table(cells))]
    assert None in {stump.category for stump in models[0].estimators_ if stump.threshold is None}
    for model in models[1:]:
        assert model.estimators_ == models[0].estimators_
    np.testing.assert_array_equal(models[1].predict(nullable), models[0].predict(plain))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(models[1].predict(nullable.to_numpy()), models[0].predict(plain))


def test_columns_of_nulls_are_numbers():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.random(60) < 0.3
    plain = fit(pd.DataFrame({"empty": np.full(60, np.nan), "x": x}), y)
    nulls = pd.Series([None] * 60, dtype=pd.ArrowDtype(pa.null()))
    frames = pl.DataFrame({"empty": [None] * 60, "x": x}), pa.table({"empty": pa.nulls(60), "x": x})
    for frame in (*frames, pd.DataFrame({"empty": nulls, "x": x})):
        assert fit(frame, y).estimators_ == plain.estimators_
        np.testing.assert_array_equal(plain.predict(frame), plain.predict(pd.DataFrame({"empty": np.nan, "x": x})))


def test_pandas_columns_of_arrow_dictionaries_are_categories():
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], 90).tolist()
    y = (np.array(town) == "Kiel") ^ (rng.random(90) < 0.1)
    encoded = pd.Series(
        pa.array([*town[:-1], None]).dictionary_encode(), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    )
    plain, frame = pd.DataFrame({"town": [*town[:-1], None]}), pd.DataFrame({"town": encoded})
    model = fit(plain, y)
    assert fit(frame, y).estimators_ == model.estimators_
    np.testing.assert_array_equal(model.predict(frame), model.predict(plain))


def test_decimals_are_numbers():
    from decimal import Decimal

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"price": [Decimal(int(v)) / 4 for v in rng.integers(0, 40, 100)]})
    y = frame["price"].astype(float).to_numpy() + rng.normal(size=100) > 7
    assert fit(frame, y).estimators_ == fit(frame.astype(float), y).estimators_


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_scale_of_weights_does_not_matter(scale, rare):
    X, y = rare
    weight = np.random.default_rng(0).random(len(y))
    for method in ("adacc1", "cgada", "adac2"):
        one = adacc.BoostingClassifier(method, n_estimators=10).fit(X, y, sample_weight=weight)
        other = adacc.BoostingClassifier(method, n_estimators=10).fit(X, y, sample_weight=weight * scale)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("multi_class", ["one_vs_one", "one_vs_rest", "joint"])
def test_classes_of_small_weight_keep_their_votes(multi_class):
    """A pair of classes that weighs less than one row of the third one, as old rows with half-life weights do."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X, weight = (y + rng.random(120) / 2)[:, None], np.where(y == 0, 1000.0, 1e-3)
    model = adacc.AdaCC1Classifier(n_estimators=5, multi_class=multi_class).fit(X, y, sample_weight=weight)
    assert [(model.predict(X)[y == k] == k).mean() for k in range(3)] == [1.0, 1.0, 1.0]
    plain = adacc.AdaCC1Classifier(n_estimators=5, multi_class=multi_class).fit(X, y)
    if multi_class == "one_vs_one":  # a pair of classes is told apart whatever the third one weighs
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X))


LARGE = np.array([2**60 + 1, 2**60 + 2, 1, 2], dtype=np.int64)
FORMS = {
    "int64": lambda x: x[:, None],
    "uint64": lambda x: x[:, None].astype(np.uint64),
    "columns": lambda x: np.asfortranarray(np.column_stack([np.arange(4), x])),
    "objects": lambda x: x[:, None].astype(object),
    "lists": lambda x: x[:, None].tolist(),
    "sparse": lambda x: sparse.csr_matrix(x[:, None]),
    "pandas": lambda x: pd.DataFrame({"id": x}),
    "pandas with gaps": lambda x: pd.DataFrame({"id": pd.array([*x.tolist()[:3], None], dtype="Int64")}),
    "pandas objects": lambda x: pd.DataFrame({"id": x.astype(object)}),
    "polars": lambda x: pl.DataFrame({"id": x}),
    "arrow": lambda x: pa.table({"id": x}),
}


@pytest.mark.parametrize("form", FORMS)
def test_integers_that_floats_merge_are_refused(form):
    y = [0, 1, 0, 1]
    make = FORMS[form]
    message = (
        r"column (0|1|'id') holds the integer -?115\d+; beyond 2\^53, .* merge neighbouring .* category .* smaller"
    )
    with pytest.raises(ValueError, match=message):
        adacc.AdaCC1Classifier(n_estimators=2).fit(make(LARGE), y)
    small = LARGE % 2**50
    model = adacc.AdaCC1Classifier(n_estimators=2).fit(make(small), y)
    for predict in (model.predict, model.decision_function, model.explain):
        with pytest.raises(ValueError, match=message):
            predict(make(LARGE))
        with pytest.raises(ValueError, match=message):
            predict(make(-LARGE if form != "uint64" else LARGE))


def test_large_integers_may_be_categories():
    frame = pd.DataFrame({"id": pd.Categorical(np.tile(LARGE, 10))})
    model = adacc.AdaCC1Classifier(n_estimators=8).fit(frame, np.tile([0, 1, 0, 1], 10))
    assert model.predict(frame[:4]).tolist() == [0, 1, 0, 1]
    exact = np.array([2**53, -(2**53), 0, 1])[:, None]
    assert adacc.AdaCC1Classifier(n_estimators=2).fit(exact, [0, 1, 0, 1]).n_iter_ > 0


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_column_without_a_value_is_missing_whatever_its_type(gap):
    frame, y = mixed_frame()
    frame["age"] = frame["age"].astype(float).mask(frame["age"] > 70)
    frame["town"] = frame["town"].mask(frame["income"] > 1, None)
    model = fit(frame, y)
    row = frame.iloc[[0]].assign(age=None, town=None)
    expected = model.decision_function(row.astype({"age": float, "town": frame["town"].dtype}))
    np.testing.assert_array_equal(model.decision_function(frame.iloc[[0]].assign(age=gap, town=gap)), expected)
    np.testing.assert_array_equal(model.decision_function(pl.DataFrame(row.to_dict("list"))), expected)


@pytest.mark.parametrize("weight", [[0.1, 0.1, 2.0, 0.2], [1e-9] * 4, [1, 1, 1, 1], [30, 1, 50, 2]])
def test_the_largest_vote_is_by_the_number_of_rows_whatever_their_weights(weight):
    """The vote of a learner without errors says how many rows it was right about."""
    model = fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    weighted = adacc.AdaCC1Classifier().fit(np.arange(4.0)[:, None], [0, 0, 1, 1], sample_weight=weight)
    assert model.estimator_weights_[0] == pytest.approx(np.log(4) / 2)
    assert weighted.estimator_weights_[0] == pytest.approx(np.log(4) / 2)


def test_sparse_columns_of_pandas_are_columns():
    rng = np.random.default_rng(0)
    dense = pd.DataFrame({"a": np.where(rng.random(80) < 0.7, 0.0, rng.normal(size=80)), "b": rng.normal(size=80)})
    y = (dense["a"] + dense["b"] > 0.8).to_numpy()
    sparse_one = dense.assign(a=pd.arrays.SparseArray(dense["a"], fill_value=0.0))
    due = adacc.AdaCC1Classifier(n_estimators=4).fit(dense, y)
    found = adacc.AdaCC1Classifier(n_estimators=4).fit(sparse_one, y)
    np.testing.assert_array_equal(found.decision_function(sparse_one), due.decision_function(dense))
    np.testing.assert_array_equal(due.decision_function(sparse_one), due.decision_function(dense))
    assert isinstance(sparse_one["a"].dtype, pd.SparseDtype)  # the user's frame stays as it is
