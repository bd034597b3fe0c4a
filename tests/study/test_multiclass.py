"""The study on more than two classes: scikit-learn finds the same figures, and what is there is not computed again."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as resampled
from imblearn.under_sampling import RandomUnderSampler
from scipy.stats import rankdata, wilcoxon
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from small_study import command

import adacc
from adacc.study import multiclass_run
from adacc.study.folder import DamagedResultWarning
from adacc.study.multiclass_protocol import MulticlassProtocol, label, read_multiclass_protocol
from adacc.study.multiclass_run import MulticlassStore
from adacc.study.multiclass_tables import MulticlassSummary, all_tables

METHODS = ["logistic-regression", "adacc1:one_vs_rest"]
MEASURES = ["balanced_accuracy", "gmean", "macro_f1", "auc"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A directory of two sets: three classes with a category, and four classes."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(3)
    for name, counts in {"fruit": [50, 25, 12], "stones": [30, 30, 20, 8]}.items():
        y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        frame = pd.DataFrame(rng.normal(size=(len(y), 3)) + 0.8 * y[:, None] * [1.0, -0.5, 0.3], columns=list("abc"))
        frame["target"] = np.array(["kiwi", "apple", "pear", "fig"])[y]
        if name == "fruit":
            frame["colour"] = np.where(rng.random(len(y)) < 0.3 + 0.2 * y, "red", "green")
            frame.to_csv(folder / "fruit.csv", index=False)
        else:
            frame.to_parquet(folder / "stones.parquet")
    (folder / "notes.txt").write_text("not a table")
    return folder


def arguments(data, out, *more, methods=METHODS):
    run = ["study", "run", "classes", "--quiet", "--data-dir", data, "--out", out, "--methods", ",".join(methods)]
    return [*run, "--repeats", 2, "--executor", "local", *more]


def tables_of(folder, *options):
    code, out, err = command("study", "tables", folder, *options)
    assert (code, err) == (0, "")
    return out


def stamps(folder):
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(folder.glob("*/*.npz"))}


@pytest.fixture(scope="module")
def done(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("done") / "results"
    code, out, err = command(*arguments(data, folder))
    assert (code, out, err) == (0, f"12 of 12 folds are done. Next: adacc study tables {folder}\n", "")
    return folder


def directly(X, y, make):
    """Measures of the pooled test rows of three folds, averaged over two repeats, in per cent."""
    splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y))
    found = []
    for repeat in (splits[:3], splits[3:]):
        predicted, probabilities = np.empty_like(y), np.empty((len(y), len(set(y))))
        for number, (train, test) in enumerate(repeat):
            model = make(number).fit(X.iloc[train], y[train])
            predicted[test], probabilities[test] = model.predict(X.iloc[test]), model.predict_proba(X.iloc[test])
        recalls = recall_score(y, predicted, average=None)
        found.append(
            [
                balanced_accuracy_score(y, predicted),
                np.prod(recalls) ** (1 / len(recalls)),
                f1_score(y, predicted, average="macro"),
                roc_auc_score(y, probabilities, multi_class="ovo"),
            ]
        )
    return 100 * np.mean(found, axis=0)


@pytest.mark.compiled
def test_figures_are_those_of_scikit_learn_on_the_same_splits(data, done, tmp_path):
    tables_of(done, "--out", tmp_path, "--format", "csv")
    sets = {"fruit": pd.read_csv(data / "fruit.csv"), "stones": pd.read_parquet(data / "stones.parquet")}
    for name, X in sets.items():
        found = pd.read_csv(tmp_path / "sets" / f"{name}.csv").set_index("method")
        y = np.unique(X.pop("target"), return_inverse=True)[1]
        assert found["classes"].tolist() == [y.max() + 1] * 2
        assert (found["seconds"] > 0).all()
        numbers = X if name == "stones" else pd.get_dummies(X, dtype=float)
        weighted = LogisticRegression(class_weight="balanced", max_iter=1000)
        due = directly(numbers, y, lambda seed, model=weighted: make_pipeline(StandardScaler(), model))
        np.testing.assert_allclose(found.loc[METHODS[0], MEASURES].astype(float), due, atol=1e-4)
        X = X.astype({"colour": "category"}) if name == "fruit" else X
        due = directly(X, y, lambda seed: adacc.AdaCC1Classifier(multi_class="one_vs_rest", random_state=seed))
        np.testing.assert_allclose(found.loc[METHODS[1], MEASURES].astype(float), due, atol=1e-4)


def test_the_number_of_the_fold_is_the_seed(data, tmp_path):
    run = arguments(data, tmp_path, "--datasets", "stones", methods=["rus-tree"])
    assert command(*run)[0] == 0
    tables_of(tmp_path, "--out", tmp_path / "csv")
    found = pd.read_csv(tmp_path / "csv" / "sets" / "stones.csv").loc[0, MEASURES].astype(float)
    X = pd.read_parquet(data / "stones.parquet")
    y = np.unique(X.pop("target"), return_inverse=True)[1]

    def make(seed):
        return resampled(RandomUnderSampler(random_state=seed), DecisionTreeClassifier(random_state=seed))

    np.testing.assert_allclose(found, directly(X, y, make), atol=1e-4)


def test_the_written_means_give_the_same_tables(done, tmp_path):
    paths = tables_of(done, "--out", tmp_path).split()
    assert [path.rpartition("/")[2] for path in paths] == [
        "plan.json", "fruit.csv", "stones.csv", "means.txt", "wilcoxon.txt", "sets.txt"
    ]  # fmt: skip
    assert tables_of(tmp_path) == tables_of(done)
    assert str(done) not in (tmp_path / "plan.json").read_text()
    assert tables_of(done, "--only", "sets", "--format", "csv").startswith("Set,classes,Logistic regression,")


def test_an_interrupted_run_continues_where_it_stopped(data, done, tmp_path, monkeypatch):
    predict, calls = multiclass_run.predict, []

    def interrupted(method, fold):
        calls.append(method)
        if len(calls) == 8:  # in the fourth fold
            raise KeyboardInterrupt
        return predict(method, fold)

    monkeypatch.setattr(multiclass_run, "predict", interrupted)
    code, _, err = command(*arguments(data, tmp_path))
    assert code == 130
    assert "at 3 of 12 folds; run the same command to continue" in err
    before = stamps(tmp_path)
    assert len(before) == 3
    assert "3 of 12 folds are done" in command("study", "status", tmp_path)[1]
    assert "no set of" in command("study", "tables", tmp_path)[2]
    calls[:] = ["of the second run"] * 8
    assert command(*arguments(data, tmp_path))[0] == 0
    assert len(calls) == 8 + 2 * 9
    assert before.items() <= stamps(tmp_path).items()
    without_seconds = [line.split()[:-1] for line in tables_of(tmp_path, "--only", "means").splitlines()]
    assert without_seconds == [line.split()[:-1] for line in tables_of(done, "--only", "means").splitlines()]
    assert tables_of(tmp_path, "--only", "sets") == tables_of(done, "--only", "sets")


def test_a_damaged_fold_is_computed_again_in_worker_processes(data, done, tmp_path):
    run = [*arguments(data, tmp_path, "--datasets", "stones", methods=METHODS[:1])]
    assert command(*run)[0] == 0
    before, path = stamps(tmp_path), tmp_path / "stones" / "repeat01-fold2.npz"
    path.write_bytes(path.read_bytes()[:300])
    run[run.index("local")] = "process"
    _, _, err = command(*run, "--jobs", 2)
    assert DamagedResultWarning.__name__ in err or "is damaged" in err
    assert {path for path, stamp in stamps(tmp_path).items() if before[path] != stamp} == {path}
    in_both = [tables_of(folder, "--only", "sets", "--format", "csv").splitlines()[-1] for folder in (tmp_path, done)]
    assert in_both[1].startswith(in_both[0])  # the same value, followed by that of the other method


def test_sets_and_repeats_may_be_added_and_nothing_else_may_change(data, done, tmp_path):
    small = arguments(data, tmp_path, "--datasets", "stones")
    small[small.index("--repeats") + 1] = 1
    assert command(*small)[0] == 0
    before = stamps(tmp_path)
    assert command(*arguments(data, tmp_path))[0] == 0
    assert before.items() <= stamps(tmp_path).items()
    assert tables_of(tmp_path, "--only", "sets") == tables_of(done, "--only", "sets")
    other = tmp_path / "data"
    other.mkdir()
    pd.read_csv(data / "fruit.csv").iloc[1:].to_csv(other / "fruit.csv", index=False)
    for run, said in [
        (arguments(data, tmp_path, "--folds", 2), "folds: 3 there, 2 now"),
        (arguments(data, tmp_path, methods=METHODS[:1]), "methods differ in adacc1:one_vs_rest"),
        (arguments(other, tmp_path), "the classes of fruit have other numbers of rows"),
        (["study", "run", "forest", "--quiet", "--out", tmp_path], "a study has no entry 'problem'"),
    ]:
        code, _, err = command(*run)
        assert code == 2
        assert said in err
    # The order of the methods is that of the folder.
    assert command(*arguments(data, tmp_path, methods=METHODS[::-1]))[0] == 0
    assert MulticlassStore(tmp_path).protocol().methods == tuple(METHODS)


def test_a_failure_is_recorded_and_named(data, tmp_path, monkeypatch):
    predict = multiclass_run.predict

    def failing(method, fold):
        if method == METHODS[1] and fold.seed == 1:
            raise ZeroDivisionError("on purpose")
        return predict(method, fold)

    monkeypatch.setattr(multiclass_run, "predict", failing)
    code, _, err = command(*arguments(data, tmp_path))
    assert (code, err.count("adacc1:one_vs_rest failed in 4 folds")) == (0, 1)
    store = MulticlassStore(tmp_path)
    task = next(task for task in store.protocol().tasks() if task.fold == 1)
    result = store.read(task)
    assert result.series[1]["error"].endswith("ZeroDivisionError: on purpose\n")
    assert (result.predicted[1] == -1).all()
    assert np.isnan(result.probabilities[1]).all()
    text = tables_of(tmp_path)
    assert "AdaCC1, rest failed in 4 folds" in text
    assert "Wilcoxon" not in text  # one method is left to rank


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "needs data sets: give --data-dir"),
        ("--data-dir nosuch", "the directory of the data sets must exist, got 'nosuch'"),
        ("--data-dir empty", "empty has no data sets: files that end with .csv"),
        ("--data-dir two", "two/t.csv: target column 'target' must have more than two values, got 2: a, b"),
        ("--data-dir two --datasets s", "two has no data set 's': it has t"),
        ("--data-dir twice", "twice has two files of the data set t: t.csv, t.tsv"),
        ("--data-dir few", "folds must be at most 1, the number of rows of class 'c' of t, got 3"),
        ("--data few/t.csv:kind", "has no column 'kind' to predict"),
        ("--data-dir few --rounds 5", "--rounds does not apply to a study on more than two classes"),
        ("--data-dir few --folds 1", "folds must be a whole number of at least 2, got 1"),
        ("--data-dir few --methods adacc", "method 'adacc' is unknown: did you mean"),
        ("--data-dir few --methods lightgbm-tuned", "method 'lightgbm-tuned' supports two classes only"),
        ("--data-dir few --methods adacc1:pairs", "such as 'adacc1:one_vs_one', 'adacc1:one_vs_rest', 'adacc1:joint'"),
        ("--data-dir few --methods lightgbm:joint", "methods of adacc take a value of `multi_class` after a colon"),
    ],
)
def test_what_cannot_be_done_is_said_before_there_is_a_folder(tmp_path, monkeypatch, given, said):
    for name, labels in {"two": "aabb", "few": "aaabbbc", "twice": "aabbcc", "empty": ""}.items():
        (tmp_path / name).mkdir()
        text = "\n".join(["x,target", *(f"{i},{label}" for i, label in enumerate(labels))])
        for file in {"empty": [], "twice": ["t.csv", "t.tsv"]}.get(name, ["t.csv"]):
            (tmp_path / name / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    code, out, err = command("study", "run", "classes", "--quiet", "--out", "results", *given.split())
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: ")
    assert said in err
    assert not (tmp_path / "results").exists()


def test_a_copy_of_the_study_is_a_study_of_its_own(tmp_path, data):
    path = tmp_path / "mine.toml"
    path.write_text('problem = "multiclass"\nrepeats = 1\nfolds = 2\nseed = 4\nmethods = ["logistic-regression"]\n')
    assert read_multiclass_protocol(path) == MulticlassProtocol(1, 2, 4, ("logistic-regression",))
    run = ["study", "run", path, "--quiet", "--executor", "local", "--out", tmp_path / "results"]
    code, out, _ = command(*run, "--data", f"{data / 'stones.parquet'}:target")
    assert (code, out.partition(" folds")[0]) == (0, "2 of 2")
    path.write_text(path.read_text().replace("seed", "sead"))
    assert "a study of several classes has no entry 'sead'" in command(*run, "--data", data / "stones.parquet")[2]


def test_ranks_and_p_values_are_those_of_scipy():
    rng, methods = np.random.default_rng(0), ["adacc1", "adacc-forest", "lightgbm", "xgboost"]
    values = (60 + 5 * rng.normal(size=(9, 4)) + [0, 6, 2, 2]).round(4)
    sets = {f"set{i}": {"a": 9, "b": 8, "c": 7} for i in range(9)}
    plan = replace(read_multiclass_protocol("classes"), datasets=sets, methods=tuple(methods))
    frame = pd.DataFrame(
        {"dataset": name, "classes": 3, "method": method, "failed": 0, "seconds": 0.5, **dict.fromkeys(MEASURES, value)}
        for name, row in zip(sets, values, strict=True)
        for method, value in zip(methods, row, strict=True)
    )
    means, tests, by_set = all_tables(MulticlassSummary(plan, frame, []))
    ranks = rankdata(-values, axis=1).mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    assert [row[0] for row in means.rows] == [label(methods[i]) for i in order]
    assert [row[1] for row in means.rows] == [f"{values[:, i].mean():.2f}" for i in order]
    assert [row[5] for row in means.rows] == [f"{ranks[i]:.2f}" for i in order]
    assert tests.columns == ["Method", "against AdaCC forest", "against AdaCC1"]
    p = {j: wilcoxon(values[:, j], values[:, 1]).pvalue for j in (0, 2, 3)}
    corrected, largest = {}, 0.0
    for factor, j in zip((3, 2, 1), sorted(p, key=p.get), strict=True):  # Holm's step-down
        largest = corrected[j] = max(largest, min(1.0, factor * p[j]))
    assert [row[1] for row in tests.rows] == ["-" if j == 1 else f"{corrected[j]:.1e}" for j in range(4)]
    assert [row[2:] for row in by_set.rows] == [[f"{value:.1f}" for value in row] for row in values]


def test_the_plan_of_a_folder_is_checked(done, tmp_path):
    entries = json.loads((done / "plan.json").read_text())
    for change in ({"folds": "three"}, {"datasets": {"fruit": 3}}, {"methods": "adacc1"}, {"extra": 1}):
        (tmp_path / "plan.json").write_text(json.dumps({**entries, **change}))
        code, _, err = command("study", "tables", tmp_path)
        assert code == 2
        assert err.startswith(f"adacc: error: {tmp_path / 'plan.json'} cannot be read: ")
