"""What the classifiers on Dask take and what they refuse, and what they answer."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from on_dask import assert_same_model, from_parts, in_chunks
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier
from support import thinned

import adacc
from adacc.distributed import (
    DaskAdaBoostClassifier,
    DaskAdaCC1Classifier,
    DaskAdaMECClassifier,
    DaskBoostingClassifier,
)

N = 200
SIZES = [60, 50, 70, 20]
ENDS = np.cumsum(SIZES)
RNG = np.random.default_rng(8)
Y = (RNG.random(N) < 0.3).astype(int)
X = RNG.normal(size=(N, 4)) + Y[:, None] * [1.0, 0.6, -0.4, 0.0]
X[RNG.random(N) < 0.1, 2] = np.nan
W = RNG.uniform(0.1, 2.0, N) * (RNG.random(N) < 0.8)
THREE = np.where(X[:, 0] > 1.5, "high", np.where(Y == 1, "rare", "common"))
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"], index=np.arange(N)[::-1] * 10)
FRAME["text"] = np.where(Y == 1, RNG.choice(["u", "v"], N), RNG.choice(["v", "w"], N))
FRAME.loc[RNG.random(N) < 0.1, "text"] = None
FRAME["kind"] = pd.Categorical(np.where(X[:, 1] > 0.4, "p", "q"), categories=["q", "p", "never"])
FRAME["flag"] = RNG.random(N) + 0.3 * Y > 0.7
FRAME["count"] = RNG.integers(4, size=N) + Y
LABELS = pd.Series(THREE, index=FRAME.index, name="label")


def cut(rows, sizes=SIZES):
    """A frame, series or array as pieces."""
    ends = np.cumsum(sizes)
    return [rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def on_dask(client, method="adacc1", n_estimators=4, **options):
    return DaskBoostingClassifier(method, n_estimators=n_estimators, client=client, **options)


def here(method="adacc1", n_estimators=4, **options):
    return adacc.BoostingClassifier(method, n_estimators=n_estimators, **options)


def refused(kind, *arguments, client=None, **options):
    """The one error that a fit ends with."""
    with pytest.raises(kind) as caught:
        on_dask(client, **options).fit(*arguments)
    assert type(caught.value) is kind
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


# What it takes.


LABELS_OF_ARRAYS = {"two": Y, "three": THREE, "bool": Y == 1, "float": Y * 2.0 - 1.0}
WEIGHTS = {"unweighted": None, "weighted": W}


@pytest.mark.parametrize("weights", thinned(WEIGHTS, ["unweighted"]))
@pytest.mark.parametrize("kind", thinned(LABELS_OF_ARRAYS, ["two", "float"]))
def test_arrays(two, kind, weights):
    labels, weight = LABELS_OF_ARRAYS[kind], WEIGHTS[weights]
    given = in_chunks(SIZES, X, labels) if weight is None else in_chunks(SIZES, X, labels, weight)
    found = on_dask(two).fit(*given)
    assert_same_model(found, here().fit(X, labels, sample_weight=weight))
    assert found.classes_.dtype == here().fit(X, labels).classes_.dtype


@pytest.mark.parametrize("weights", thinned(WEIGHTS, ["unweighted"]))
def test_frames(two, weights):
    """Text, categories, booleans, missing values; an index that is not sorted."""
    weight = WEIGHTS[weights]
    given = [from_parts(cut(FRAME)), from_parts(cut(LABELS))]
    if weight is not None:
        given.append(from_parts(cut(pd.Series(weight, index=FRAME.index))))
    found, local = on_dask(two, n_estimators=12).fit(*given), here(n_estimators=12).fit(FRAME, LABELS, weight)
    assert_same_model(found, local)
    assert found.feature_names_in_.tolist() == list(FRAME.columns)
    assert {stump.feature for stump in local.estimators_} & {4, 5, 6}, "no category was ever split on"


def test_a_column_of_another_kind_in_prediction_is_refused_by_name(two):
    found = on_dask(two).fit(from_parts(cut(FRAME)), from_parts(cut(LABELS)))
    column = FRAME.columns[4]
    changed = from_parts(cut(FRAME.assign(**{column: 7})))
    with pytest.raises(ValueError, match=f"column '{column}' must hold strings, as in training, but holds numbers"):
        found.predict(changed).compute()


def label_kinds():
    series = from_parts(cut(LABELS))
    return {
        "series": series,
        "column": series.to_frame(),
        "category": series.astype("category"),
        "array": da.from_array(THREE, chunks=(tuple(SIZES),)),
        "objects": da.from_array(THREE.astype(object), chunks=(tuple(SIZES),)),
        "column of an array": da.from_array(THREE.reshape(-1, 1), chunks=(tuple(SIZES), 1)),
    }


@pytest.mark.parametrize("kind", thinned(label_kinds(), ["column", "objects"]))
@pytest.mark.parametrize("rows", thinned(["frame", "array"], ["array"]))
def test_labels_of_any_kind_beside_rows_of_any_kind(two, rows, kind):
    given = from_parts(cut(FRAME)) if rows == "frame" else in_chunks(SIZES, X)[0]
    found = on_dask(two).fit(given, label_kinds()[kind])
    assert_same_model(found, here().fit(FRAME if rows == "frame" else X, THREE))


def unknown_sizes():
    frame = dd.from_pandas(FRAME[["a", "b", "c", "d"]].reset_index(drop=True), npartitions=4)
    dX, dy = in_chunks(SIZES, X, Y)
    kept = dX[:, 0] > -0.5
    return {
        "values of a frame": (frame.values, in_chunks([50] * 4, Y)[0], X, Y),
        "rows that were picked": (dX[kept], dy[kept], X[X[:, 0] > -0.5], Y[X[:, 0] > -0.5]),
        "a partition emptied": (dX[dX[:, 3] < 9.0], dy[dX[:, 3] < 9.0], X, Y),
    }


@pytest.mark.parametrize("how", thinned(unknown_sizes(), ["rows that were picked"]))
def test_partitions_of_unknown_size(two, how):
    given, labels, local_rows, local_labels = unknown_sizes()[how]
    assert np.isnan(given.shape[0])
    assert_same_model(on_dask(two).fit(given, labels), here().fit(local_rows, local_labels))


PARTITIONS = {
    "columns cut": lambda: (da.from_array(X, chunks=(tuple(SIZES), (1, 3))), in_chunks(SIZES, Y)[0]),
    "labels cut otherwise": lambda: (in_chunks(SIZES, X)[0], in_chunks([100, 1, 99], Y)[0]),
    "one empty": lambda: in_chunks([60, 0, 140], X, Y),
    "empty at both ends": lambda: in_chunks([0, 60, 140, 0], X, Y),
    "fortran": lambda: (in_chunks(SIZES, X)[0].map_blocks(np.asfortranarray), in_chunks(SIZES, Y)[0]),
    "float32": lambda: (in_chunks(SIZES, X.astype(np.float32))[0], in_chunks(SIZES, Y)[0]),
    "sparse": lambda: (in_chunks(SIZES, np.nan_to_num(X))[0].map_blocks(sparse.csr_array), in_chunks(SIZES, Y)[0]),
    "persisted": lambda: in_chunks(SIZES, X, Y),
}


@pytest.mark.parametrize("how", thinned(PARTITIONS, ["empty at both ends", "fortran", "float32"]))
def test_partitions_of_any_kind(two, how):
    given = PARTITIONS[how]()
    if how == "persisted":
        given = two.persist(given)
    local_rows = {"float32": X.astype(np.float32), "sparse": np.nan_to_num(X)}.get(how, X)
    assert_same_model(on_dask(two).fit(*given), here().fit(local_rows, Y))


def test_a_partition_of_one_class_and_one_that_does_not_count(two):
    order = np.argsort(Y, kind="stable")
    weight = np.repeat([1.0, 0.5, 0.0, 2.0], SIZES)
    found = on_dask(two).fit(*in_chunks(SIZES, X[order], Y[order], weight))
    assert_same_model(found, here().fit(X[order], Y[order], weight))


def test_weights_that_say_only_how_rows_compare(two):
    """Sums below the number of rows, and out of all reason."""
    for factor in (1e-9, 1e30):
        found = on_dask(two).fit(*in_chunks(SIZES, X, Y, W * factor))
        assert_same_model(found, here().fit(X, Y, W * factor))


def with_column(*parts):
    """The frame with one column more, which each partition makes its own way."""
    return [piece.assign(extra=part) for piece, part in zip(cut(FRAME), parts, strict=True)]


def sized(parts):
    return zip(SIZES, parts, strict=True)


NAN = np.nan
TEXT = "str" if pd.Series(["x"]).dtype == "str" else "string"  # to pandas 2 "str" is NumPy's, which writes None out
COLUMNS = {
    "whole and broken numbers": with_column(*(np.arange(n) % 3 + add for n, add in sized([0, 0.5, 1, 0]))),
    "missing and text": with_column(NAN, "x", None, "y"),
    "missing and numbers": with_column(NAN, 1.0, None, 2),
    "missing and booleans": with_column(NAN, True, False, None),
    "other categories": with_column(*(pd.Categorical(np.resize([*of], n)) for n, of in sized(["xy", "y", "zx", "w"]))),
    "categories and text": with_column(pd.Categorical(["x"] * 60), "x", "y", pd.Categorical(["y"] * 20)),
    "text that is missing": with_column(pd.array([None] * 60, dtype=TEXT), 1.0, None, 2),
    "a category of its own": with_column("x", "x", "x", "only here"),
}  # fmt: skip


@pytest.mark.parametrize(
    "how", thinned(COLUMNS, ["whole and broken numbers", "missing and numbers", "categories and text"])
)
def test_a_column_whose_type_differs_between_partitions(two, how):
    parts = [piece[["a", "extra"]] for piece in COLUMNS[how]]
    found = on_dask(two, "adaboost", n_estimators=8).fit(from_parts(parts), in_chunks(SIZES, Y)[0])
    whole = pd.concat([part.astype({"extra": object}) for part in parts])
    assert_same_model(found, here("adaboost", n_estimators=8).fit(whole, Y))
    features, local = (
        found.fitted_model_.ensemble.models.bin_mapper.features,
        here().fit(whole, Y).fitted_model_.ensemble.models.bin_mapper.features,
    )
    assert features[1].categorical == local[1].categorical
    if local[1].categorical:
        assert features[1].values == local[1].values


# What it refuses.


def test_a_column_of_numbers_here_and_text_there_is_refused(two):
    parts = with_column(1.0, NAN, "x", "y")
    message = refused(TypeError, from_parts(parts), in_chunks(SIZES, Y)[0], client=two)
    assert message == (
        "column 'extra' has numbers in partition 0 and categories in partition 2; convert it to one type"
    )


def test_other_columns_are_refused(two):
    parts = cut(FRAME)
    labels = in_chunks(SIZES, Y)[0]
    parts[2] = parts[2].rename(columns={"b": "z"})
    message = refused(ValueError, from_parts(parts), labels, client=two)
    assert message == "partition 2 has column 'z' where partition 0 has column 'b'"
    parts[2] = parts[2].drop(columns="z")
    message = refused(ValueError, from_parts(parts), labels, client=two)
    assert message == "partition 2 has 7 columns, but partition 0 has 8"


def lengths():
    dX, dy, dw = in_chunks(SIZES, X, Y, W)
    frame, series = from_parts(cut(FRAME)), from_parts(cut(LABELS))
    short = from_parts([*cut(LABELS)[:3], LABELS[180:199]])
    empty = from_parts([*cut(LABELS)[:3], LABELS[:0]])
    fewer = "; use one table, or repartition"
    return {
        "y, known": (dX, dy[:-1], None, "X has 200 rows, but y has 199"),
        "weights, known": (dX, dy, dw[1:], "X has 200 rows, but sample_weight has 199"),
        "y, unknown": (frame, short, None, "partition 3: X has 20 rows, but y has 19"),
        "a partition of y is empty": (frame, empty, None, "partition 3: X has 20 rows, but y has 0"),
        "a partition of X is empty": (
            from_parts([*cut(FRAME)[:3], FRAME[:0]]), series, None, "partition 3: X has 0 rows, but y has 20",
        ),
        "no rows of an array": (dX[dX[:, 0] > 99], dy, None, "partition 0: X has 0 rows, but y has 60"),
        "weights, unknown": (
            frame, series, from_parts([*cut(FRAME["count"])[:3], FRAME["count"][180:199]]),
            "partition 3: sample_weight must have one value for each of the 20 rows, got the shape (19,)",
        ),
        "partitions of y": (frame, dy.rechunk(100), None, "X has 4 partitions, but y has 2" + fewer),
        "partitions of X": (dX[dX[:, 0] > 0], dy.rechunk(200), None, "X has 4 partitions, but y has 1" + fewer),
        "partitions of weights": (
            frame, series, dw.rechunk(100), "X has 4 partitions, but sample_weight has 2" + fewer,
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    "which",
    thinned(lengths(), ["weights, known", "a partition of X is empty", "partitions of X", "partitions of weights"]),
)
def test_other_lengths_are_refused(two, which):
    *given, message = lengths()[which]
    assert refused(ValueError, *given, client=two) == message


def test_infinite_values_are_refused_with_their_place(two):
    bad = X.copy()
    bad[117, 3] = -np.inf
    labels = in_chunks(SIZES, Y)[0]
    message = "partition 2: column {} must be finite, got -inf in row 7; NaN stands for a missing value"
    assert refused(ValueError, in_chunks(SIZES, bad)[0], labels, client=two) == message.format(3)
    frame = from_parts(cut(FRAME.assign(d=bad[:, 3])))
    assert refused(ValueError, frame, labels, client=two) == message.format("'d'")


def labels_refused():
    mixed = [pd.Series(Y[:60]), pd.Series(THREE[60:110]), pd.Series(Y[110:180]), pd.Series(Y[180:])]
    return {
        "one class": (Y * 0, None, ValueError, "y must have from 2 to 256 classes, got only one class, 0"),
        "one class that counts": (
            Y, 1.0 * Y, ValueError,
            "y must have from 2 to 256 classes, got only one class, 1 among the rows of positive sample_weight",
        ),
        "missing": (np.where(X[:, 2] > 1, NAN, Y), None, ValueError, "partition 0: Input y contains NaN."),
        "missing text": (
            from_parts([*cut(LABELS)[:3], pd.Series(["common", None] * 10)]), None, ValueError,
            "partition 3: y must not have missing labels, got one in row 1; remove such rows",
        ),
        "mixed": (
            from_parts(mixed), None, TypeError,
            "y must have labels of one kind, but has text in some partitions and numbers in others",
        ),
        "mixed in one": (
            from_parts([*cut(LABELS)[:3], pd.Series(["common", 1] * 10, dtype=object)]), None, TypeError,
            "partition 3: y must have labels of one kind, got int, str",
        ),
        "negative weight": (
            Y, np.where(np.arange(N) == 130, -1.0, 1.0), ValueError,
            "partition 2: sample_weight must be not negative, got -1.0 in row 20",
        ),
        "missing weight": (
            Y, np.where(np.arange(N) == 61, NAN, 1.0), ValueError,
            "partition 1: sample_weight must be finite, got nan in row 1",
        ),
        "no weight": (Y, 0.0 * Y, ValueError, "sample_weight must not be zero for every row"),
    }  # fmt: skip


@pytest.mark.parametrize("which", labels_refused())
def test_labels_and_weights_that_are_refused(two, which):
    labels, weight, kind, message = labels_refused()[which]
    labels = in_chunks(SIZES, labels)[0] if isinstance(labels, np.ndarray) else labels
    given = [in_chunks(SIZES, X)[0], labels, *([] if weight is None else in_chunks(SIZES, weight))]
    assert refused(kind, *given, client=two) == message


def test_too_many_classes_are_refused(two):
    labels = da.arange(300, chunks=50)
    message = refused(ValueError, da.zeros((300, 2), chunks=(50, 2)), labels, client=two)
    assert message == "y must have from 2 to 256 classes, got 300 classes"


def test_no_rows_are_refused(two):
    empty = from_parts([piece[:0] for piece in cut(FRAME)]), from_parts([piece[:0] for piece in cut(LABELS)])
    assert refused(ValueError, *empty, client=two) == "there are no rows to fit on: every partition of y is empty"


def nobody_computes(shape):
    """Rows that must not be computed."""

    def refuse():
        raise AssertionError("work was begun")

    return da.from_delayed(delayed(refuse)(), shape, dtype=float)


PARAMETERS = {
    "estimator": {"estimator": DecisionTreeClassifier()},
    "n_iter_no_change": {"n_iter_no_change": 3},
    "warm_start": {"warm_start": True},
    "rusboost": {"method": "rusboost"},
    "smoteboost": {"method": "smoteboost"},
    "calibration_cv": {"calibration": "sigmoid", "calibration_cv": 3},
    "n_estimators": {"n_estimators": 0},
    "criterion": {"criterion": "best"},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_refused_before_any_work(name):
    """There is not even a client."""
    given = nobody_computes((10, 2)), nobody_computes((10,))
    assert name in refused(ValueError, *given, **PARAMETERS[name])


def test_without_a_client():
    message = refused(ValueError, *in_chunks(SIZES, X, Y))
    assert message.startswith("there is no Dask client; create one first, such as dask.distributed.Client(")
    message = refused(TypeError, *in_chunks(SIZES, X, Y), client="tcp://scheduler:8786")
    assert message == "client must be a dask.distributed.Client or None, got 'tcp://scheduler:8786'"


def test_the_client_made_last_is_taken(two):
    with two.as_current():
        found = DaskBoostingClassifier("adacc1", n_estimators=2).fit(*in_chunks(SIZES, X, Y))
    assert_same_model(found, here(n_estimators=2).fit(X, Y))


def test_what_is_no_dask_collection_is_refused(two):
    dX, dy = in_chunks(SIZES, X, Y)
    beside = "; use the class without Dask for data in memory"
    for given, message in (
        ((X, dy), "X must be a Dask array or frame, got ndarray" + beside),
        ((FRAME, dy), "X must be a Dask array or frame, got DataFrame" + beside),
        ((dX, Y), "y must be a Dask array or series, as X is, got ndarray"),
        ((dX, None), "y must be a Dask array or series, as X is, got NoneType"),
        ((dX, dy, W), "sample_weight must be a Dask array or series, as X is, got ndarray"),
        ((dX, from_parts(cut(FRAME))), "y must be a Dask array or series, as X is, got DataFrame"),
    ):
        assert refused(TypeError, *given, client=two) == message
    for given, message in (
        ((dX[:, 0], dy), "X must have two dimensions, got the shape (200,)"),
        ((dX, dX), "y must have one value for each row, got the shape (200, 4)"),
    ):
        assert refused(ValueError, *given, client=two) == message


def test_a_fit_that_fails_leaves_the_model_as_it_was(two):
    model = on_dask(two).fit(*in_chunks(SIZES, X, Y))
    before = pickle.dumps(model.to_local())
    with pytest.raises(ValueError, match="only one class"):
        model.fit(from_parts(cut(FRAME)), in_chunks(SIZES, Y * 0)[0])
    assert pickle.dumps(model.to_local()) == before
    model.fit(from_parts(cut(FRAME)), from_parts(cut(LABELS)))
    model.fit(*in_chunks(SIZES, X, Y))
    assert not hasattr(model, "feature_names_in_")


# What it answers.


QUESTIONS = ("predict", "predict_proba", "decision_function")


@pytest.fixture(scope="module")
def fitted(two):
    """On arrays (two classes) and on frames (three), each with the local model."""
    of_arrays = on_dask(two).fit(*in_chunks(SIZES, X, Y)), here().fit(X, Y)
    of_frames = on_dask(two).fit(from_parts(cut(FRAME)), from_parts(cut(LABELS))), here().fit(FRAME, LABELS)
    return {"array": of_arrays, "frame": of_frames}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_lazy(fitted, question):
    """Nothing is computed until it is asked for, neither here nor on the cluster."""
    answers = getattr(fitted["array"][0], question)(nobody_computes((10, 4)))
    with pytest.raises(AssertionError, match="work was begun"):
        answers.compute(scheduler="synchronous")


@pytest.mark.parametrize("question", thinned(QUESTIONS, ["decision_function"]))
def test_answers_of_arrays(two, fitted, question):
    model, local = fitted["array"]
    expected = getattr(local, question)(X)
    for rows in (in_chunks(SIZES, X)[0], in_chunks([0, 200], X)[0], da.from_array(X, chunks=(70, 2))):
        answers = getattr(model, question)(rows)
        assert (answers.shape, answers.dtype) == (expected.shape, expected.dtype)
        assert answers.chunks[0] == rows.chunks[0]
        computed = two.compute(answers).result()
        np.testing.assert_allclose(computed, expected, rtol=1e-12)
        assert computed.dtype == expected.dtype
    kept = in_chunks(SIZES, X)[0][in_chunks(SIZES, X)[0][:, 0] > 0]
    np.testing.assert_allclose(getattr(model, question)(kept).compute(), expected[X[:, 0] > 0], rtol=1e-12)
    nothing = kept[kept[:, 0] > 99]
    assert getattr(model, question)(nothing).compute().shape == (0, *expected.shape[1:])
    np.testing.assert_allclose(getattr(model, question)(X), expected, rtol=1e-12)  # rows in memory, at once


@pytest.mark.parametrize("question", thinned(QUESTIONS, ["decision_function"]))
def test_answers_of_frames_keep_the_index(two, fitted, question):
    model, local = fitted["frame"]
    expected = getattr(local, question)(FRAME)
    parts = [*cut(FRAME)[:2], FRAME[:0], *cut(FRAME)[2:]]
    answers = getattr(model, question)(from_parts(parts))
    computed = two.compute(answers).result()
    assert computed.index.tolist() == FRAME.index.tolist()
    if question == "predict":
        assert computed.tolist() == expected.tolist()
        assert answers.dtype == computed.dtype
    else:
        assert list(computed.columns) == list(answers.columns) == ["common", "high", "rare"]
        np.testing.assert_allclose(computed, expected, rtol=1e-12)
    nothing = getattr(model, question)(from_parts([FRAME[:0], FRAME[:0]])).compute()
    assert len(nothing) == 0
    pd.testing.assert_index_equal(nothing.index, FRAME.index[:0])


def test_answers_stand_beside_the_columns_of_a_frame(fitted):
    model, local = fitted["frame"]
    rows = from_parts(cut(FRAME))
    assert rows.assign(answer=model.predict(rows))["answer"].compute().tolist() == local.predict(FRAME).tolist()


def test_scores(two, fitted):
    model, local = fitted["frame"]
    rows, labels = from_parts(cut(FRAME)), from_parts(cut(LABELS))
    right = local.predict(FRAME)
    weights = from_parts(cut(pd.Series(W)))
    weighted = accuracy_score(LABELS, right, sample_weight=W)
    assert model.score(rows, labels) == pytest.approx(accuracy_score(LABELS, right), abs=1e-12)
    assert model.score(rows, labels, weights) == pytest.approx(weighted, abs=1e-12)
    assert model.score(FRAME, LABELS, W) == pytest.approx(weighted, abs=1e-12)
    model, local = fitted["array"]
    dX, dy, dw = in_chunks(SIZES, X, Y, W)
    assert model.score(dX, dy.rechunk(33), dw) == pytest.approx(local.score(X, Y, W), abs=1e-12)
    with pytest.raises(ValueError, match="X has 200 rows, but y has 199"):
        model.score(dX, dy[:-1])


def test_the_local_model_is_an_ordinary_one(fitted, tmp_path):
    model, _ = fitted["frame"]
    local = model.to_local()
    assert type(local) is adacc.BoostingClassifier
    assert local.get_params() == {name: value for name, value in model.get_params().items() if name != "client"}
    for again in (pickle.loads(pickle.dumps(local)), clone(local).fit(FRAME, LABELS)):
        np.testing.assert_allclose(again.predict_proba(FRAME), local.predict_proba(FRAME), rtol=1e-12)
    explained = local.explain(FRAME, background=FRAME)
    by_class = local.fitted_model_.ensemble.class_scores(explained.scores)  # pairs are explained
    np.testing.assert_allclose(by_class, local.decision_function(FRAME), rtol=1e-9, atol=1e-12)
    for name, saving in (("local", local), ("dask", model)):
        saving.save(tmp_path / name, notes={"from": name})
        loaded = adacc.load(tmp_path / name)
        assert type(loaded) is adacc.BoostingClassifier
        assert loaded.notes_ == {"from": name}
        assert loaded.predict(FRAME).tolist() == local.predict(FRAME).tolist()


def test_parameters_and_clones(two, fitted):
    model = DaskAdaMECClassifier(n_estimators=7, client=two)
    assert model.get_params()["client"] is two
    copy = clone(model)
    assert type(copy) is DaskAdaMECClassifier
    assert copy.client is two
    assert copy.get_params() == model.get_params()
    assert model.set_params(n_estimators=3, client=None).get_params()["client"] is None
    assert not hasattr(clone(fitted["array"][0]), "classes_")


def test_pickles_go_without_their_client(two, fitted):
    model, local = fitted["array"]
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is DaskBoostingClassifier
    assert again.client is None
    assert model.client is two
    assert again.predict(in_chunks(SIZES, X)[0]).compute().tolist() == local.predict(X).tolist()
    assert again.score(*in_chunks(SIZES, X, Y)) == pytest.approx(local.score(X, Y))


@pytest.mark.parametrize("kind", thinned([DaskAdaCC1Classifier, DaskAdaBoostClassifier], [DaskAdaBoostClassifier]))
def test_a_class_for_each_method(two, kind):
    found = kind(n_estimators=3, client=two).fit(*in_chunks(SIZES, X, Y))
    local = getattr(adacc, kind.__name__.removeprefix("Dask"))(n_estimators=3)
    assert type(found.to_local()) is type(local)
    assert_same_model(found, local.fit(X, Y))


def test_every_local_class_but_those_that_draw_rows_is_on_dask():
    local = {name for name in adacc.__all__ if name.endswith("Classifier")}
    there = {name.removeprefix("Dask") for name in adacc.distributed.__all__ if name.startswith("Dask")}
    assert local - there == {"RUSBoostClassifier", "SMOTEBoostClassifier", "AdaCCForestClassifier"}
    assert there <= local


def test_columns_that_are_missing_are_named_when_answers_are_computed(fitted):
    model, _ = fitted["frame"]
    with pytest.raises(ValueError, match="now missing:\n- kind"):
        model.predict(from_parts(cut(FRAME)).drop(columns="kind")).compute(scheduler="synchronous")


def test_rounds_are_reported(two, capsys):
    on_dask(two, n_estimators=4, verbose=2).fit(*in_chunks(SIZES, X, Y))
    lines = capsys.readouterr().err.splitlines()
    reports = [line for line in lines if line.startswith("DaskBoostingClassifier: round")]
    assert [line.split(",")[0].removeprefix("DaskBoostingClassifier: ") for line in reports] == [
        "round 2 of 4", "round 4 of 4",
    ]  # fmt: skip


def test_a_frame_read_from_files(two, tmp_path):
    """As one would have it: from Parquet, with the label among the columns."""
    table = FRAME.reset_index(drop=True).assign(label=LABELS.to_numpy())
    for p, part in enumerate(cut(table)):
        part.to_parquet(tmp_path / f"{p}.parquet")
    rows = dd.read_parquet(tmp_path)
    found = on_dask(two).fit(rows.drop(columns="label"), rows["label"])
    assert_same_model(found, here().fit(FRAME.reset_index(drop=True), LABELS))


def test_costs_by_row_are_refused():
    with pytest.raises(ValueError, match="sample_cost must be None in distributed and out-of-core training"):
        on_dask(None, "csb2").fit(None, None, sample_cost=np.ones(3))
