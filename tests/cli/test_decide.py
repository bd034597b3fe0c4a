"""`adacc decide`, and rules in train, predict and evaluate; the same labels from Python, files, ONNX and Dask."""

import io
import json

import dask.dataframe as dd
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.distributed import DaskBoostingClassifier
from adacc.estimators import decision_tuning
from adacc.estimators.base import restore
from adacc.export import to_onnx

RULES = ["recall>=0.8", "precision>=0.6", "alerts<=100/1000", "f1", "tuned cost=[[0, 1], [5, 0]]", "threshold=0.2",
         "score=0.1", "top=25", "cost=[[0, 1], [5, 0]]", "fn=amount, fp=3"]  # fmt: skip


SETS = ("abalone", "thyroid_sick", "wilt", "mammography", "sick_euthyroid")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(decision_tuning, "N_RESAMPLES", 5)


@pytest.fixture
def table(tmp_path):
    """Training rows and new rows, with a column of amounts and one of times."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(900, 3)), columns=["a", "b", "c"])
    frame["amount"] = rng.gamma(2.0, 30.0, 900).round(2)
    frame["when"] = pd.date_range("2024-03-01", periods=900, freq="h").astype(str)
    frame["label"] = np.where(rng.random(900) < 1 / (1 + np.exp(2.5 - 2 * frame["a"])), "fraud", "fine")
    frame[:600].to_csv(tmp_path / "train.csv", index=False)
    frame[600:].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path, frame


def run(*arguments):
    code, out, err = command(*arguments)
    assert code == 0, err
    return out, err


def predicted(folder, model, *options):
    out, err = run("predict", folder / model, folder / "new.csv", *options)
    return pd.read_csv(io.StringIO(out))["prediction"].to_numpy(), err


def train_booster(folder, *options):
    """Train AdaCC1 on the table, without its times."""
    given = ("--target", "label", "--drop", "when", "--method", "adacc1", "--model", folder / "m.adacc")
    return run("train", folder / "train.csv", *given, *options)


def test_train_decide_predict_and_evaluate(table):
    folder, frame = table
    out, _ = train_booster(folder, "--decide", "recall>=0.9")
    model = adacc.load(folder / "m.adacc")
    assert model.decision_.rule == "recall>=0.9"
    assert "decision: recall>=0.9, measured on 600 held-out rows" in out
    labels, err = predicted(folder, "m.adacc")
    assert f"adacc: decision rule: {model.decision_}\n" in err
    new = frame[600:]
    np.testing.assert_array_equal(labels, model.predict(new[["a", "b", "c", "amount"]]))
    out, _ = run("decide", folder / "m.adacc")
    assert out.startswith("decision: recall>=0.9, measured on")
    out, _ = run("decide", folder / "m.adacc", "--rule", "alerts<=50/1000", "-o", folder / "n.adacc")
    assert adacc.load(folder / "m.adacc").decision_.rule == "recall>=0.9"
    other = adacc.load(folder / "n.adacc")
    assert (other.decision_.rule, other.decision_.report.rows) == ("alerts<=50/1000", "held-out")
    assert other.notes_ == model.notes_
    out, err = run("evaluate", folder / "n.adacc", folder / "new.csv", "--json", folder / "e.json")
    result = json.loads((folder / "e.json").read_text())
    alert = other.predict(new[["a", "b", "c", "amount"]]) == "fraud"
    assert result["decision"] == "alerts<=50/1000"
    assert result["confusion"]["true_positives"] == int((alert & (new["label"] == "fraud")).sum())
    assert "decision rule: alerts<=50/1000" in err
    by_threshold, err = predicted(folder, "n.adacc", "--threshold", "0.5")
    assert "decision rule" not in err
    assert (by_threshold == "fraud").sum() != alert.sum()
    run("decide", folder / "n.adacc", "--rule", "none")
    assert adacc.load(folder / "n.adacc").decision_ is None


@pytest.mark.filterwarnings("ignore")
def test_evaluate_shows_what_the_rule_states(table):
    """On the rows that tuned the rule, it achieves just what it states; on others, what can be counted."""
    folder, _ = table
    train = ("train", folder / "train.csv", "--target", "label", "--drop", "when,amount", "--rounds", "6")
    run(*train, "--model", folder / "m.adacc", "--calibrate", "sigmoid")
    for rule in [*RULES, "fbeta=2"]:
        run("decide", folder / "m.adacc", folder / "new.csv", "--rule", rule)
        out, _ = run("evaluate", folder / "m.adacc", folder / "new.csv", "--json", folder / "e.json")
        check = json.loads((folder / "e.json").read_text())["decision_check"]
        report = adacc.load(folder / "m.adacc").decision_.report
        if rule == "top=25":  # it depends on the number of rows, and states nothing
            assert check is report is None
            continue
        assert (check["rows"], check["n_rows"], check["n_positive"]) == (report.rows, report.n_rows, report.n_positive)
        assert check["measures"].keys() == report.achieved.keys()
        for name, each in check["measures"].items():
            assert each["stated"] == report.achieved[name]._asdict()
            assert each["achieved"] == pytest.approx(each["stated"]["value"], abs=1e-12), (rule, name)
            assert each["within"] == (each["stated"]["low"] <= each["achieved"] <= each["stated"]["high"])
        recall = check["measures"]["recall"]
        shown = "recall {:.1%} [{:.1%}, {:.1%}]".format(
            recall["achieved"], recall["stated"]["low"], recall["stated"]["high"]
        )
        assert f"decision {adacc.load(folder / 'm.adacc').decision_.rule} on these rows, in brackets" in out
        assert shown in out


def test_evaluate_counts_what_other_rows_achieve(table):
    folder, frame = table
    train_booster(folder, "--rounds", "6", "--decide", "tuned fn=amount, fp=20")
    new = frame[600:].assign(label=np.where(np.arange(len(frame) - 600) % 3 == 0, "fraud", "fine"))  # at random
    new.to_csv(folder / "odd.csv", index=False)
    out, _ = run("evaluate", folder / "m.adacc", folder / "odd.csv", "--json", folder / "e.json")
    measures = json.loads((folder / "e.json").read_text())["decision_check"]["measures"]
    alert = adacc.load(folder / "m.adacc").predict(new[["a", "b", "c", "amount"]]) == "fraud"
    fraud = (new["label"] == "fraud").to_numpy()
    assert measures["alerts_per_1000"]["achieved"] == pytest.approx(1000 * alert.mean())
    assert measures["precision"]["achieved"] == pytest.approx(fraud[alert].mean())
    cost = np.where(fraud & ~alert, new["amount"], 0.0) + np.where(~fraud & alert, 20.0, 0.0)
    assert measures["mean_cost"]["achieved"] == pytest.approx(cost.mean())
    assert measures["recall"]["within"] is False  # labels at random
    assert "(outside)" in out
    for option in (["--threshold", "0.4"], []):
        if not option:
            run("decide", folder / "m.adacc", "--rule", "none")
        run("evaluate", folder / "m.adacc", folder / "odd.csv", "--json", folder / "e.json", *option)
        assert json.loads((folder / "e.json").read_text())["decision_check"] is None


def test_a_table_tunes_the_rule_and_may_have_the_costs(table):
    folder, frame = table
    train = ("train", folder / "train.csv", "--target", "label", "--drop", "when,amount")
    run(*train, "--method", "adacc-forest", "--rounds", "6", "--model", folder / "m.adacc")
    new, features = frame[600:], ["a", "b", "c"]
    out, _ = run("decide", folder / "m.adacc", folder / "new.csv", "--rule", "tuned fn=amount, fp=20")
    model = adacc.load(folder / "m.adacc")
    python = adacc.load(folder / "m.adacc").set_decision(
        "tuned fn=amount, fp=20", new[features], new["label"], columns=new["amount"]
    )
    assert repr(model.decision_) == repr(python.decision_)
    assert "mean cost of a row" in out
    labels, _ = predicted(folder, "m.adacc")
    np.testing.assert_array_equal(labels, python.predict(new[[*features, "amount"]]))
    run("decide", folder / "m.adacc", "--rule", "top=2 per day of when")
    labels, _ = predicted(folder, "m.adacc")
    assert (pd.Series(labels == "fraud").groupby(new["when"].str[:10].to_numpy()).sum() == 2).all()
    run("evaluate", folder / "m.adacc", folder / "new.csv", "--json", folder / "e.json")
    confusion = json.loads((folder / "e.json").read_text())["confusion"]
    assert confusion["true_positives"] + confusion["false_positives"] == 2 * new["when"].str[:10].nunique()


@pytest.mark.parametrize(("method", "calibration"), [("adacc-forest", "auto"), ("adaboost", "sigmoid")])
def test_a_cost_column_calibrates(table, method, calibration):
    """The forest is calibrated by default; other methods are calibrated for the rule, and a note says so."""
    folder, frame = table
    options = ("--drop", "when", "--cost-column", "amount", "--alarm-cost", "20", "--rounds", "20", "--method", method)
    _, err = run("train", folder / "train.csv", "--target", "label", *options, "--model", folder / "m.adacc")
    note = "the decision rule needs calibrated probabilities: --calibrate sigmoid"
    assert (note in err) == (calibration == "sigmoid")
    assert "not calibrated" not in err
    model = adacc.load(folder / "m.adacc")
    assert (model.decision_.rule, model.calibration) == ("fn=amount, fp=20", calibration)
    assert model.fitted_model_.calibrator is not None
    new = frame[600:]
    p = model.predict_proba(new[["a", "b", "c", "amount"]])[:, 1]
    labels, _ = predicted(folder, "m.adacc")
    np.testing.assert_array_equal(labels == "fraud", p * new["amount"] >= (1 - p) * 20)


def test_commands_say_what_is_wrong(table):
    folder, _ = table
    train = (
        "train",
        folder / "train.csv",
        "--target",
        "label",
        "--model",
        folder / "m.adacc",
        "--rounds",
        "3",
        "--method",
        "adacc1",
    )
    run(*train, "--drop", "when")
    for arguments, message in [
        ((*train, "--decide", "recall>0.9"), 'must use >= for "at least": recall>=0.9'),
        ((*train, "--decide", "fn=sum, fp=1"), "no column 'sum'"),
        ((*train, "--decide", "f1", "--cost-column", "a", "--alarm-cost", "1"), "are two rules; give one of them"),
        ((*train, "--cost-column", "amount"), "--cost-column and --alarm-cost must be given together"),
        ((*train, "--alarm-cost", "0", "--cost-column", "amount"), "must be a number above 0, got '0'"),
        ((*train, "--drop", "amount", "--decide", "tuned fn=amount, fp=2"), "for which 'amount' must be a feature"),
        (
            ("decide", folder / "m.adacc", "--rule", "cost=[[0, 1], [9, 0]]"),
            "are not calibrated: train it with --calibrate sigmoid, or put 'tuned' before the rule",
        ),
        ((*train, "--memory-limit", "1GB", "--decide", "fn=5, fp=1"), "needs calibrated probabilities, for which"),
        (("decide", folder / "m.adacc", "--rule", "f1"), "give DATA, labelled rows that it was not trained on"),
        (("decide", folder / "m.adacc", folder / "new.csv"), "DATA and --output need a --rule"),
        (("decide", folder / "m.adacc", "--rule", "top=3", "--target", "a"), "--target and --group need DATA"),
        (("decide", folder / "m.adacc", folder / "new.csv", "--rule", "f1", "--target", "z"), "no column 'z'"),
    ]:
        code, _, err = command(*arguments)
        assert (code, message in err) == (2, True), err
        assert "internal" not in err


def test_out_of_core_training_takes_rules_without_tuning(table):
    folder, frame = table
    frame.drop(columns="when").to_parquet(folder / "all.parquet")
    train = ("train", folder / "all.parquet", "--target", "label", "--memory-limit", "2GB", "--rounds", "5")
    run(*train, "--decide", "threshold=0.3", "--model", folder / "m.adacc")
    assert adacc.load(folder / "m.adacc").decision_.rule == "threshold=0.3"
    code, _, err = command(*train, "--decide", "f1", "--model", folder / "n.adacc")
    assert (code, "needs all rows in memory" in err, "adacc decide MODEL DATA" in err) == (2, True, True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["booster", "forest"])
@pytest.mark.parametrize(
    ("name", "n_rows"),
    [
        ("abalone", 3000),
        ("thyroid_sick", 3000),
        *(pytest.param(name, None, marks=pytest.mark.thorough) for name in SETS),
    ],
)
def test_the_same_labels_everywhere(load_table, name, n_rows, kind, tmp_path):
    """From Python, a loaded file, the command line, ONNX and Dask."""
    X, y = load_table(name)
    X, y = X[:n_rows].reset_index(drop=True), y[:n_rows]
    amount = np.random.default_rng(0).gamma(2.0, 2.0, len(y))
    if kind == "booster":
        model = adacc.BoostingClassifier("adacc1", n_estimators=30, calibration="isotonic", random_state=0)
    else:
        model = adacc.AdaCCForestClassifier(n_estimators=6, calibration="sigmoid", random_state=0)
    model.fit(X[::2], y[::2])
    table = X.assign(amount=amount)
    table.to_parquet(tmp_path / "x.parquet")
    for rule in RULES:
        model.set_decision(rule)
        has_cost = "amount" in rule
        labels = model.predict(table if has_cost else X)
        model.save(tmp_path / "m.adacc")
        loaded = adacc.load(tmp_path / "m.adacc")
        np.testing.assert_array_equal(loaded.predict(X, columns=amount if has_cost else None), labels)
        out, _ = run("predict", tmp_path / "m.adacc", tmp_path / "x.parquet")
        np.testing.assert_array_equal(pd.read_csv(io.StringIO(out))["prediction"], labels, err_msg=rule)
        session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
        given = onnx_input(session, X, amount)
        np.testing.assert_array_equal(session.run(["label"], given)[0], labels, err_msg=rule)
        if kind == "booster":
            on_dask = restore(DaskBoostingClassifier(**model.get_params(deep=False)), model.fitted_model_)
            parts = dd.from_pandas(table if has_cost else X, npartitions=3)
            if model.decision_.spec.is_ranked:
                with pytest.raises(ValueError, match="ranks all rows, but a Dask collection is predicted by partition"):
                    on_dask.predict(parts)
            else:
                np.testing.assert_array_equal(on_dask.predict(parts).compute(), labels, err_msg=rule)


def onnx_input(session, X, amount):
    """One matrix, or one input for each column."""
    names = [each.name for each in session.get_inputs()]
    given = {"amount": amount[:, None]} if "amount" in names else {}
    if "X" in names:
        return given | {"X": X.to_numpy(dtype=np.float64)}
    for name in X:
        column = X[name]
        numeric = column.dtype.kind in "fiub"
        values = (
            column.to_numpy(dtype=np.float64) if numeric else column.astype(object).fillna("").to_numpy(dtype=object)
        )
        given[name] = values[:, None]
    return given


def test_costs_in_text_are_amounts_and_errors_name_the_row(table, monkeypatch):
    monkeypatch.chdir(table[0])
    train = ("train", "train.csv", "--target", "label", "--positive", "fraud", "--drop", "when,amount", "--method")
    train = (*train, "adacc1", "--rounds", "10", "--folds", "0", "--calibrate", "sigmoid")
    code, out, _ = command(*train, "--cost-column", "amount", "--alarm-cost", "20", "--model", "costs.adacc")
    assert code == 0
    assert "training recall without the rule" in out
    new = pd.read_csv("new.csv")
    plain = command("predict", "costs.adacc", "new.csv")[1]
    new.assign(amount=[f"${each:,.2f}" for each in new["amount"]]).to_csv("dollars.csv", index=False)
    assert command("predict", "costs.adacc", "dollars.csv")[1] == plain
    new.assign(amount=new["amount"].where(new.index != 3, -1.0)).to_csv("negative.csv", index=False)
    assert "must be finite and not negative, got -1.0 in row 4" in command("predict", "costs.adacc", "negative.csv")[2]
    new.assign(amount=new["amount"].astype(str).where(new.index != 3, "much")).to_csv("text.csv", index=False)
    assert "must be numbers, got 'much' in row 4" in command("predict", "costs.adacc", "text.csv")[2]


def test_a_share_of_alerts_is_corrected():
    with pytest.raises(ValueError, match=r"alerts<=20/1000$"):
        adacc.model.decision_spec.read_decision("alerts<=2%")
