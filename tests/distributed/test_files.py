"""Fits from Parquet tables, some rows at a time: the model of a fit in memory, in a memory of fixed size."""

import json
import os
import re
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import DETERMINISTIC, thinned

from adacc import AdaCC1Classifier, BoostingClassifier, CGAdaClassifier, CostSearchCV
from adacc.data.binning import NumericBins
from adacc.distributed import files, fit_parquet, memory
from adacc.distributed.memory import read_size
from adacc.tables import TableError, read_frame, read_labels

OTHERS = ("two", "three", "number", "weight")
ROUNDS = 12


def make(n=900, seed=0):
    """Columns of every kind, with gaps."""
    rng = np.random.default_rng(seed)
    three = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) + three,
            "whole": rng.integers(0, 30, n) + 3 * three,
            "mostly": np.where(rng.random(n) < 0.9, 0.0, rng.normal(size=n) + three),
            "town": np.where(rng.random(n) < 0.2, None, rng.choice(["Bonn", "Köln", "NA"], n)),
            "category": pd.Categorical(rng.choice(list("abcd"), n)),
            "coded": pd.Categorical(rng.integers(0, 5, n) + three),
            "flag": rng.random(n) < 0.3 + 0.2 * three,
            "gaps": pd.array(np.where(rng.random(n) < 0.2, None, rng.random(n) < 0.3 * three), dtype="boolean"),
            "words": rng.choice(["True", "False"], n),
            "nothing": [None] * n,
        }
    )
    frame.loc[::7, "a"] = np.nan
    frame["two"] = np.where(three == 2, "rare", "common")
    frame["three"] = np.array(["low", "middle", "high"])[three]
    frame["number"] = three
    frame["weight"] = rng.integers(0, 4, n) / 2
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    make().to_parquet(folder / "all.parquet", row_group_size=210)
    return folder


@pytest.fixture
def few_at_a_time(monkeypatch):
    """Pieces of 97 rows, shards of two of them."""
    monkeypatch.setattr(memory, "ROWS", 97)
    monkeypatch.setattr(memory, "MAX_ROWS_PER_SHARD", 200)


def in_memory(estimator, path, target="two", weight=None):
    frame = read_frame(path, keep=[name for name in OTHERS if name != target], target=target)
    X, y = frame.drop(columns=[*OTHERS]), read_labels(frame, target)
    return estimator.fit(X, y, sample_weight=None if weight is None else frame[weight].to_numpy()), X


def on_disk(estimator, path, target="two", weight=None, **options):
    drop = [name for name in OTHERS if name not in (target, weight)]
    return fit_parquet(
        estimator, path, target, drop=drop, sample_weight=weight, **{"memory_limit": "16GB", **options}
    )  # fmt: skip


def assert_same(found, local, X=None):
    assert found.classes_.tolist() == local.classes_.tolist()
    assert found.get_params() == local.get_params()
    assert found.estimators_ == local.estimators_
    assert found.feature_names_in_.tolist() == local.feature_names_in_.tolist()
    np.testing.assert_allclose(
        found.fitted_model_.ensemble.votes, local.fitted_model_.ensemble.votes, rtol=1e-12, atol=1e-12
    )
    assert found.history_.keys() == local.history_.keys()
    for name in local.history_:
        np.testing.assert_allclose(found.history_[name], local.history_[name], rtol=1e-11, atol=1e-12, err_msg=name)
    features = zip(
        found.fitted_model_.ensemble.models.bin_mapper.features,
        local.fitted_model_.ensemble.models.bin_mapper.features,
        strict=True,
    )
    for one, other in features:
        if isinstance(other, NumericBins):
            np.testing.assert_array_equal(one.thresholds, other.thresholds)
        else:
            assert one == other
    if X is not None:
        np.testing.assert_allclose(found.predict_proba(X), local.predict_proba(X), rtol=1e-9, atol=1e-12)
        assert found.predict(X).tolist() == local.predict(X).tolist()


def methods_on_targets():
    """In `make test` each method that takes a way of its own through the engine, with two classes or with three."""
    for method in DETERMINISTIC:
        for target in ("two", "three"):
            in_short = method in (
                ("adaboost", "csb2", "cgada-cal") if target == "two" else ("adac2", "rareboost", "adacc1")
            )
            yield pytest.param(method, target, marks=[] if in_short else [pytest.mark.thorough])


@pytest.mark.parametrize(("method", "target"), [*methods_on_targets()])
def test_the_model_is_that_of_memory(folder, few_at_a_time, method, target):
    estimator = BoostingClassifier(method, n_estimators=ROUNDS)
    local, X = in_memory(estimator, folder / "all.parquet", target)
    found = on_disk(estimator, folder / "all.parquet", target)
    assert type(found) is BoostingClassifier
    assert_same(found, local, X)


@pytest.mark.parametrize("method", ["adacc2", "rareboost"])
def test_monotonic_constraints(folder, few_at_a_time, method):
    free = on_disk(BoostingClassifier(method, n_estimators=ROUNDS), folder / "all.parquet", "two")
    estimator = BoostingClassifier(method, n_estimators=ROUNDS, monotonic_cst={"a": -1, "whole": 1})
    local, X = in_memory(estimator, folder / "all.parquet", "two", "weight")
    found = on_disk(estimator, folder / "all.parquet", "two", "weight")
    assert_same(found, local, X)
    assert found.estimators_ != free.estimators_
    for wrong, message in (
        ({"town": 1}, "must be 0 for categorical features, got 1 for feature 'town'"),
        ({"weight": 1}, "must name columns of X, got 'weight'"),
    ):
        with pytest.raises(ValueError, match=message):
            on_disk(estimator.set_params(monotonic_cst=wrong), folder / "all.parquet", "two", "weight")
    with pytest.raises(ValueError, match="must be None for more than two classes"):
        on_disk(estimator.set_params(monotonic_cst={"a": 1}), folder / "all.parquet", "three")


@pytest.mark.parametrize("options", [{}, {"calibration": "sigmoid", "calibration_cv": "training"}])
def test_a_search_ignores_labels_of_rows_without_weight(tmp_path, few_at_a_time, options):
    frame = make(300)[["a", "whole", "two", "weight"]]
    frame.loc[::5, ["two", "weight"]] = ["unknown", 0.0]
    used = frame[frame["weight"] > 0]
    search = CostSearchCV(CGAdaClassifier(n_estimators=4, **options), cv="training")
    local = search.fit(used[["a", "whole"]], used["two"], sample_weight=used["weight"])
    frame.to_parquet(tmp_path / "t.parquet")
    found = fit_parquet(search, tmp_path / "t.parquet", "two", sample_weight="weight", memory_limit="16GB")
    assert found.classes_.tolist() == ["common", "rare"]
    assert found.costs == local.best_costs_


def test_a_search_keeps_monotonic_constraints(folder, few_at_a_time):
    booster = CGAdaClassifier(n_estimators=ROUNDS, monotonic_cst={"a": -1})
    search = CostSearchCV(booster, costs=[[1, 0.5], [0.5, 1]], cv="training")
    local, X = in_memory(search, folder / "all.parquet")
    assert_same(on_disk(search, folder / "all.parquet"), local.best_estimator_, X)
    assert local.best_estimator_.fitted_model_.training["learner"]["monotonic_cst"][0] == -1


@pytest.mark.parametrize(
    "options", [{"calibration": "isotonic", "calibration_cv": "training"}, {"dialect": "authors"}, {"max_bins": 8}]
)
def test_options_count(folder, few_at_a_time, options):
    estimator = AdaCC1Classifier(n_estimators=ROUNDS, **options)
    local, X = in_memory(estimator, folder / "all.parquet", "number")
    assert_same(on_disk(estimator, folder / "all.parquet", "number"), local, X)


def test_weights_are_a_column(folder, few_at_a_time):
    estimator = AdaCC1Classifier(n_estimators=ROUNDS)
    local, X = in_memory(estimator, folder / "all.parquet", weight="weight")
    found = on_disk(estimator, folder / "all.parquet", weight="weight")
    assert_same(found, local, X)
    assert found.history_["alpha"][0] != on_disk(estimator, folder / "all.parquet").history_["alpha"][0]


def test_bins_of_many_rows_are_of_the_same_draw(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MAX_ROWS_PER_SHARD", 70_000)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(140_000, 3)), columns=["x", "y", "z"])
    frame["rare"] = frame["x"] + rng.normal(size=len(frame)) > 2.5
    frame.to_parquet(tmp_path / "many.parquet")
    local = AdaCC1Classifier(n_estimators=5).fit(frame[["x", "y", "z"]], frame["rare"])
    assert_same(
        fit_parquet(AdaCC1Classifier(n_estimators=5), tmp_path / "many.parquet", "rare", memory_limit="16GB"), local
    )


def test_a_piece_may_lack_a_class_or_hold_equal_rows(tmp_path, few_at_a_time):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.integers(0, 6, 800), "z": rng.integers(0, 3, 800)})
    frame["y"] = np.where(frame["x"] + rng.integers(0, 3, 800) > 6, "rare", "common")
    frame.sort_values("y").to_parquet(tmp_path / "sorted.parquet", index=False)
    frame = frame.sort_values("y")
    local = AdaCC1Classifier(n_estimators=8).fit(frame[["x", "z"]], frame["y"])
    assert_same(
        fit_parquet(AdaCC1Classifier(n_estimators=8), tmp_path / "sorted.parquet", "y", memory_limit="16GB"), local
    )


def test_threads_change_no_bit(folder, few_at_a_time):
    one, two = (
        on_disk(AdaCC1Classifier(n_estimators=ROUNDS, n_jobs=n_jobs), folder / "all.parquet") for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.fitted_model_.ensemble.votes, two.fitted_model_.ensemble.votes)


@pytest.mark.parametrize("target", thinned(["two", "three"], ["two"]))
@pytest.mark.parametrize("method", thinned(["cgada", "cgada-cal", "adamec", "csb2"]))
def test_a_search_finds_the_same_costs(folder, few_at_a_time, method, target):
    search = CostSearchCV(BoostingClassifier(method, n_estimators=6), cv="training")
    local, X = in_memory(search, folder / "all.parquet", target)
    found = on_disk(search, folder / "all.parquet", target)
    assert_same(found, local.best_estimator_, X)


def test_a_folder_is_the_table_of_its_files(folder, tmp_path, few_at_a_time):
    frame = make()
    for number, rows in enumerate([slice(0, 100), slice(100, 100), slice(100, 650), slice(650, None)]):
        frame[rows].to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    blank = frame[:0].assign(town=pd.Series([], dtype=object))  # of which pandas says that it holds nothing
    blank.to_parquet(tmp_path / "part-9.parquet", index=False)
    (tmp_path / "_SUCCESS").write_text("")
    assert_same(on_disk(AdaCC1Classifier(n_estimators=5), tmp_path), in_memory(
        AdaCC1Classifier(n_estimators=5), folder / "all.parquet"
    )[0])  # fmt: skip
    pd.testing.assert_frame_equal(read_frame(tmp_path, keep=OTHERS), read_frame(folder / "all.parquet", keep=OTHERS))


def test_the_estimator_stays_as_it_is(folder):
    estimator = AdaCC1Classifier(n_estimators=2)
    before = dict(vars(estimator))
    on_disk(estimator, folder / "all.parquet")
    assert vars(estimator) == before


def test_progress_is_told(folder, few_at_a_time):
    told = []
    on_disk(AdaCC1Classifier(n_estimators=4), folder / "all.parquet", progress=lambda *said: told.append(said))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["reading labels", "finding bins", "counting values", "binning", "boosting"]
    for stage in stages:
        done, whole = zip(*((done, whole) for each, done, whole in told if each == stage), strict=True)
        assert list(done) == sorted(done)
        assert {*whole} == {done[-1]}


# What will not do.


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("1XB", "memory_limit must be a number of bytes, or a size in kB, MB, GB or TB such as '1GB', got '1XB'"),
        ("GB", "got 'GB'"),
        ("", "got ''"),
        ("-1GB", "got '-1GB'"),
        (0, "got 0"),
        (True, "got True"),
        (None, "got None"),
        (1.5, "got 1.5"),
        ("10MB", r"the memory limit must be at least \d+MB for this table, got 10MB; \d+MB of it are used by Python"),
    ],
)
def test_limits_that_will_not_do(folder, size, said):
    with pytest.raises(ValueError, match=said):
        on_disk(AdaCC1Classifier(), folder / "all.parquet", memory_limit=size)


def test_the_least_that_would_do_does(folder):
    with pytest.raises(ValueError) as refused:
        on_disk(AdaCC1Classifier(n_estimators=2), folder / "all.parquet", memory_limit=1)
    least = int(re.search(r"at least (\d+)MB", str(refused.value))[1])
    on_disk(AdaCC1Classifier(n_estimators=2), folder / "all.parquet", memory_limit=f"{least + 20}MB")


def test_sizes():
    assert [read_size(each) for each in ("1GB", "1.5 gb", "2MiB", "7", 8)] == [10**9, 15 * 10**8, 2**21, 7, 8]


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (BoostingClassifier("rusboost"), "draw rows in each round"),
        (AdaCC1Classifier(warm_start=True), "warm_start must be False"),
        (AdaCC1Classifier(n_iter_no_change=3), "n_iter_no_change must be None"),
        (AdaCC1Classifier(calibration="sigmoid", calibration_cv=3), "calibration_cv must be 'training'"),
        (AdaCC1Classifier(max_bins=None), "max_bins must be an integer in out-of-core training"),
        (CostSearchCV(CGAdaClassifier(), cv=3), "cv must be 'training' in an out-of-core search, got 3"),
        (
            CostSearchCV(CGAdaClassifier(), rounds=[5], cv="training"),
            r"rounds must be None in an out-of-core search, got \[5\]",
        ),
        (CostSearchCV(AdaCC1Classifier(), cv="training"), "estimator must use a method with costs"),
        ("adacc1", "estimator must be a classifier of adacc or a CostSearchCV, got 'adacc1'"),
    ],
)
def test_estimators_that_will_not_do(folder, estimator, said):
    with pytest.raises((TypeError, ValueError), match=said):
        on_disk(estimator, folder / "all.parquet")


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"a": np.where(np.arange(300) == 200, np.inf, 1.0)}, TableError, "has infinite values, first in row 201"),
        ({"a": pd.date_range("2024-01-01", periods=300)}, TableError, "column 'a' contains dates or times"),
        ({"y": ["x"] * 299 + [None]}, ValueError, r"rows 292 to 300: y must not have missing labels, got"),
        ({"y": 1}, ValueError, "y must have from 2 to 256 classes, got only one class, 1"),
        ({"text": [f"t{i}" for i in range(300)]}, TableError, "column 'text' has more than 50 labels"),
        ({"weight": -1.0}, ValueError, "rows 1 to 97: sample_weight must be not negative"),
        ({"weight": 0.0}, ValueError, "sample_weight must not be zero for every row"),
    ],
)  # fmt: skip
def test_tables_that_will_not_do(tmp_path, few_at_a_time, monkeypatch, change, error, said):
    monkeypatch.setattr(files, "MAX_LABELS", 50)
    frame = pd.DataFrame({"a": np.arange(300) % 7, "y": np.arange(300) % 2, "weight": 1.0}).assign(**change)
    frame.to_parquet(tmp_path / "odd.parquet")
    with pytest.raises(error, match=said):
        fit_parquet(AdaCC1Classifier(), tmp_path / "odd.parquet", "y", sample_weight="weight", memory_limit="16GB")


def test_columns_and_forms_that_will_not_do(folder, tmp_path):
    with pytest.raises(TableError, match=r"has no column 'tow' to predict; did you mean 'town'\?"):
        fit_parquet(AdaCC1Classifier(), folder / "all.parquet", "tow", memory_limit="16GB")
    with pytest.raises(TableError, match="has no features; at least one column"):
        fit_parquet(
            AdaCC1Classifier(),
            folder / "all.parquet",
            "two",
            drop=[name for name in make(9) if name != "two"],
            memory_limit="16GB",
        )
    make(50).to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(TableError, match=r"all\.csv is not a Parquet table"):
        fit_parquet(AdaCC1Classifier(), tmp_path / "all.csv", "two", memory_limit="16GB")
    with pytest.raises(ValueError, match=r"nowhere is not a directory"):
        on_disk(AdaCC1Classifier(), folder / "all.parquet", folder=tmp_path / "nowhere")


# What is left behind, and how much memory is taken.


@pytest.mark.parametrize("stage", ["binning", "boosting", None])
def test_nothing_is_left_behind(folder, tmp_path, few_at_a_time, stage):
    def tell(now, *_):
        assert list(tmp_path.iterdir()) == []  # the files have no names
        if now == stage:
            raise KeyboardInterrupt

    estimator = AdaCC1Classifier(n_estimators=3)
    if stage is None:
        on_disk(estimator, folder / "all.parquet", folder=tmp_path, progress=tell)
    else:
        with pytest.raises(KeyboardInterrupt):
            on_disk(estimator, folder / "all.parquet", folder=tmp_path, progress=tell)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full(folder, tmp_path, few_at_a_time):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))  # as near to a full disk as one gets
    try:
        with pytest.raises(OSError, match=r"cannot write the binned rows: .*; free some space") as refused:
            on_disk(AdaCC1Classifier(), folder / "all.parquet", folder=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


WITHOUT_DASK = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
from adacc import AdaCC1Classifier
from adacc.distributed import fit_parquet
print(fit_parquet(AdaCC1Classifier(n_estimators=3), sys.argv[1], "two", drop=["three", "number"]).n_iter_)
"""


def test_dask_is_not_needed(folder):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK, folder / "all.parquet"], capture_output=True, text=True
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("3\n", "")


MEASURED = """
import json, sys
from pathlib import Path
from adacc import AdaCC1Classifier
from adacc.distributed import fit_parquet

def peak():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].removesuffix("kB")) * 1024

small, large, growth = sys.argv[1:]
fit_parquet(AdaCC1Classifier(n_estimators=5), small, "y", memory_limit="4GB")
before = peak()
model = fit_parquet(AdaCC1Classifier(n_estimators=5), large, "y", memory_limit=before + int(growth))
print(json.dumps([before, peak(), model.n_iter_]))
"""


@pytest.mark.thorough
@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is counted as Linux does")
def test_memory_stays_within_the_limit(tmp_path):
    """A table that is several times as large as what the process may grow by."""
    growth, n_batches = 170_000_000, 28
    rng = np.random.default_rng(0)
    schema = pa.schema([*((f"x{j}", pa.float64()) for j in range(10)), ("y", pa.bool_())])
    for name, n, n_rows in (("small", 1, 2_000), ("large", n_batches, 200_000)):
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", schema) as writer:
            for _ in range(n):
                X = rng.normal(size=(n_rows, 10))  # all rows differ, or they would be made one
                writer.write_table(pa.table([*X.T.copy(), X[:, 0] + X[:, 1] > 2.5], schema=schema))
    assert (tmp_path / "large.parquet").stat().st_size > 3 * growth
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path / "small.parquet", tmp_path / "large.parquet", str(growth)],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, peak, n_rounds = json.loads(done.stdout)
    assert n_rounds == 5
    assert peak < before + growth
