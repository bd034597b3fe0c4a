"""Running a study: nothing is missing, a crash is a row, and what is there is not computed again."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from small_study import FEW, all_tables_of, plan, write_files

from adacc.datasets import CATALOGUE, TableError, UnknownSetError
from adacc.evaluation import baselines
from adacc.evaluation.fold_trainer import FoldTrainer
from adacc.study.protocol import Task
from adacc.study.run import Data, begin, check_sets, compute, load, run, split, work
from adacc.study.store import DamagedResultWarning, Store, StudyError
from adacc.study.summary import summarise
from adacc.study.tables import all_tables


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("data"))


def go(protocol, folder, **options):
    store = Store(folder)
    return store, list(run(protocol, store, executor="local", **options))


def stamps(store):
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(store.folder.glob("*/*.npz"))}


@pytest.mark.compiled
@pytest.mark.thorough
def test_all_methods_leave_no_hole(paths, tmp_path):
    """Every method of the paper's study, on two small sets."""
    protocol = plan(paths, rounds=(5, 10))
    store, done = go(protocol, tmp_path)
    assert {each.task for each in done} == set(protocol.tasks())
    due = {(*variant, T) for variant in protocol.variants() for T in (5, 10)}
    due |= {
        (name, "", T) for name in protocol.baselines for T in ((5, 10) if baselines.BASELINES[name].boosts else (1,))
    }
    for task in protocol.tasks():
        result = store.read(task)
        assert {(each.method, each.dialect, each.rounds) for each in result.series} == due
        assert len(result.series) == len(due)
        for series, scores in zip(result.series, result.scores, strict=True):
            if series.method == "imblearn-rusboost" and series.error:
                continue
            assert series.error is None, series.error
            assert np.isfinite(scores).all()
            assert len(series.measures) == 8
            assert np.isfinite(list(series.measures.values())).all()
            assert (series.cost in protocol.costs) == (series.cost is not None)
            # A new measure needs no fit.
            assert series.measures["balanced_accuracy"] == pytest.approx(
                balanced_accuracy_score(result.y, scores > 0), abs=1e-15
            )
            assert series.measures["auc"] == pytest.approx(roc_auc_score(result.y, scores), abs=1e-15)
    names = {table.name for table in all_tables(summarise(store))}
    assert {"results-paper", "beyond-authors", "ranks-T10-authors", "nemenyi-paper"} <= names


def test_parts_are_stratified_and_each_row_is_tested_once(paths):
    protocol = plan(paths, folds=4, repeats=2, seed=3)
    y = load("clinic", protocol.files["clinic"], None).target
    for repeat in (0, 1):
        parts = [split(protocol, Task("clinic", repeat, fold), y) for fold in range(4)]
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(len(y)))
        for train, test in parts:
            assert not set(train) & set(test)
            assert y[test].mean() == pytest.approx(y.mean(), abs=0.04)
    one, other = (split(protocol, Task("clinic", repeat, 0), y)[1] for repeat in (0, 1))
    assert not np.array_equal(one, other)


def test_a_crash_is_a_row_with_its_traceback(paths, tmp_path, monkeypatch):
    protocol = plan(paths, ["adaboost", "adacc1", "rus-tree", "ros-tree"], dialects=("paper",))
    sound, _ = go(protocol, tmp_path / "sound")

    really = FoldTrainer.predict

    def predict(self, method, dialect):
        if method == "adacc1":
            raise ZeroDivisionError("on purpose")
        return really(self, method, dialect)

    def nothing_to_say(fold):
        return lambda X: {1: np.full(len(X), np.nan)}

    monkeypatch.setattr(FoldTrainer, "predict", predict)
    faulty = replace(baselines.BASELINES["rus-tree"], fit_scorer=nothing_to_say)
    monkeypatch.setitem(baselines.BASELINES, "rus-tree", faulty)
    torn, done = go(protocol, tmp_path / "torn")
    assert all(each.failed == ["adacc1", "rus-tree"] for each in done)
    for task in protocol.tasks():
        before, after = sound.read(task), torn.read(task)
        keys = [(each.method, each.rounds) for each in after.series]
        assert keys == [(each.method, each.rounds) for each in before.series]
        for i, series in enumerate(after.series):
            if series.method == "adacc1":
                assert series.error.startswith("Traceback (most recent call last)")
                assert series.error.endswith("ZeroDivisionError: on purpose\n")
            elif series.method == "rus-tree":
                assert "y_score must not contain NaN" in series.error
            else:
                assert series.measures == before.series[i].measures
                assert series.error is None
                np.testing.assert_array_equal(after.scores[i], before.scores[i])
                continue
            assert series.measures == {}
            assert np.isnan(after.scores[i]).all()
    notes = [note for table in all_tables(summarise(torn)) for note in table.notes]
    assert "AdaCC1 failed in 4 folds; its means are over the other folds." in notes
    assert "RUS + D.T. failed in 4 folds; its means are over the other folds." in notes


def test_more_repeats_and_sets_compute_only_what_is_new(paths, tmp_path):
    protocol = plan(paths[:1], ["adaboost", "ros-tree"], dialects=("paper",))
    store, done = go(protocol, tmp_path)
    assert len(done) == 2
    first = stamps(store)
    more = replace(plan(paths, ["adaboost", "ros-tree"], dialects=("paper",)), repeats=2)
    _, done = go(more, tmp_path)
    assert {each.task for each in done} == set(more.tasks()) - set(protocol.tasks())
    assert first.items() <= stamps(store).items()
    assert len(stamps(store)) == len(more.tasks())
    # The smaller study again: nothing to do, nothing forgotten.
    _, done = go(protocol, tmp_path)
    assert done == []
    assert store.protocol() == more
    # As if it had been one run.
    go(more, tmp_path / "at once")
    assert all_tables_of(tmp_path / "at once") == all_tables_of(tmp_path)


def test_another_study_is_refused_before_anything_is_computed(paths, tmp_path):
    protocol = plan(paths, ["adaboost"])
    store, _ = go(protocol, tmp_path)
    before = stamps(store)
    for other in (replace(protocol, folds=3), replace(protocol, rounds=(4,)), plan(paths, ["adacc1"])):
        with pytest.raises(StudyError, match=r"holds another study\. (folds|rounds|methods)"):
            go(other, tmp_path)
    assert stamps(store) == before


def test_a_damaged_part_is_computed_again(paths, tmp_path):
    protocol = plan(paths, ["adaboost", "ros-tree"], dialects=("paper",))
    store, _ = go(protocol, tmp_path)
    tables, before = all_tables_of(tmp_path), stamps(store)
    task = protocol.tasks()[1]
    content = store.path(task).read_bytes()
    store.path(task).write_bytes(content[:500] + b"oops" + content[504:])
    with pytest.warns(DamagedResultWarning, match="clinic, repeat 0, fold 1 is damaged; it is kept as"):
        _, done = go(protocol, tmp_path)
    assert [each.task for each in done] == [task]
    changed = {path for path, stamp in stamps(store).items() if before[path] != stamp}
    assert changed == {store.path(task)}
    assert all_tables_of(tmp_path) == tables


def test_what_another_run_has_done_meanwhile_is_not_computed(paths, tmp_path):
    protocol = plan(paths, ["adaboost"])
    store = Store(tmp_path)
    tasks = begin(protocol, store)
    go(protocol, tmp_path)
    before = stamps(store)
    assert [each.seconds for each in run(protocol, store, tasks, executor="local")] == [0.0] * len(tasks)
    assert stamps(store) == before


def test_the_seed_decides(paths):
    protocol = plan(paths, ["rusboost", "rus-tree"])
    data, task = load("clinic", protocol.files["clinic"], None), Task("clinic", 0, 0)
    one, again = compute(protocol, task, data), compute(protocol, task, data)
    other = compute(replace(protocol, seed=1), task, data)
    np.testing.assert_array_equal(one.scores, again.scores)
    np.testing.assert_array_equal(one.rows, again.rows)
    assert not np.array_equal(one.rows, other.rows)


@pytest.mark.parametrize(
    ("text", "target", "error", "said"),
    [
        ("a,ill\n1,y\n2,n\n3,n\n", "ill", ValueError, "folds must be at most 1, the number of minority rows of mine"),
        ("a,ill\n1,y\n2,n\n3,n\n", "il", TableError, "has no column 'il' to predict; did you mean 'ill'?"),
        ("a,ill\n1,y\n2,n\ninf,n\n4,y\n", "ill", TableError, "column 'a' has infinite values"),
        ("", "ill", TableError, "mine.csv is empty"),
        (None, "ill", TableError, "mine.csv does not exist"),
    ],
)
def test_data_that_will_not_do_are_refused_before_there_is_a_plan(tmp_path, text, target, error, said):
    path = tmp_path / "mine.csv"
    if text is not None:
        path.write_text(text)
    protocol = replace(plan([], ["adaboost"]), datasets=("mine",), files={"mine": (str(path), target)})
    load.cache_clear()
    with pytest.raises(error, match=said.replace("?", r"\?")):
        begin(protocol, Store(tmp_path / "results"))
    assert not (tmp_path / "results").exists()


def test_sets_are_known_and_large_enough():
    with pytest.raises(UnknownSetError, match="did you mean 'wilt'"):
        check_sets(replace(plan([], ["adaboost"]), datasets=("wlit",)))
    with pytest.raises(ValueError, match="folds must be at most 73, the number of minority rows of ozone_level"):
        check_sets(replace(plan([], ["adaboost"]), datasets=("wilt", "ozone_level"), folds=74))
    check_sets(replace(plan([], ["adaboost"]), datasets=tuple(CATALOGUE)))


@pytest.mark.compiled
def test_sets_of_the_paper(tmp_path, data_dir):
    names = ("car_eval_34", "wilt")
    protocol = plan([], FEW, datasets=names, files={}, rounds=(5, 10))
    store, done = go(protocol, tmp_path, data_dir=str(data_dir(*names)))
    assert len(done) == 4
    assert not any(each.failed for each in done)
    frame = summarise(store).frame
    at = frame[(frame["rounds"] == 10) & (frame["dialect"] == "paper")].set_index(["dataset", "method"])
    for name in names:  # what the paper is about
        assert at.loc[(name, "adacc1"), "balanced_accuracy"] > at.loc[(name, "adaboost"), "balanced_accuracy"] + 10


def test_larger_sets_are_more_work(paths):
    assert work(Task("skin", 0, 0)) > work(Task("wilt", 0, 0)) > 0
    assert work(Task("mine", 0, 0)) > 0
    assert isinstance(load("clinic", (str(paths[0]), "ill"), None), Data)
