"""`adacc evaluate` with its decision report: figures as counted by hand, files, and wrong input."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.evaluation import estimates
from adacc.report.numbers import significant

FEATURES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models without and with a rule, and a table of last year with today's decisions, amounts, days and regions."""
    folder = tmp_path_factory.mktemp("decisions")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1500, 3)), columns=FEATURES)
    fraud = rng.random(1500) < 1 / (1 + np.exp(2.5 - 2 * frame["a"]))
    frame["amount"] = rng.gamma(2.0, 30.0, 1500).round(2)
    frame["day"] = pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(1500) % 180, unit="D")
    frame["region"] = rng.choice(["north", "south"], 1500)
    frame["flagged"] = np.where(frame["b"] + 2 * fraud > 1.5, "yes", "no")
    frame["label"] = np.where(fraud, "fraud", "fine")
    frame[:700].to_csv(folder / "train.csv", index=False)
    frame[700:].to_csv(folder / "new.csv", index=False)
    frame[700:].to_parquet(folder / "new.parquet")
    frame[700:].assign(amount=frame["amount"].astype(str).str.replace(".", ",")).to_csv(
        folder / "komma.csv", index=False, sep=";"
    )
    train = ["train", folder / "train.csv", "--target", "label", "--drop", "amount,day,region,flagged", "--method",
             "adacc1", "--rounds", 20]  # fmt: skip
    assert command(*train, "--model", folder / "plain.adacc")[0] == 0
    assert command(*train, "--decide", "recall>=0.8", "--model", folder / "recall.adacc")[0] == 0
    assert command(*train, "--decide", "cost=[[0, 3], [40, 0]]", "--model", folder / "cost.adacc")[0] == 0
    return folder


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(estimates, "N_RESAMPLES", 20)


def evaluated(folder, *options, model="recall.adacc", data="new.csv"):
    code, out, err = command("evaluate", folder / model, folder / data, *options, "--json", folder / "e.json")
    assert code == 0, err
    return json.loads((folder / "e.json").read_text()), out


def decided(folder, model="recall.adacc"):
    """The table, the true classes and the alerts of the model."""
    frame = pd.read_csv(folder / "new.csv")
    alert = adacc.load(folder / model).predict(frame[FEATURES]) == "fraud"
    return frame, (frame["label"] == "fraud").to_numpy(), alert


OPTIONS = ["--subgroup", "region", "--time", "day", "--baseline-column", "flagged"]
COSTS = ["--cost-column", "amount", "--alarm-cost", 4]


def test_json_has_what_is_counted(folder):
    result, out = evaluated(folder, *OPTIONS, *COSTS)
    frame, y, alert = decided(folder)
    found, today = result["assessment"], (frame["flagged"] == "yes").to_numpy()
    assert found["confusion"]["true_positives"] == (y & alert).sum() == result["confusion"]["true_positives"]
    for name, key in (("recall", "tpr"), ("precision", "precision"), ("true_negative_rate", "tnr"), ("auc", "auc")):
        assert found["figures"][name]["value"] == pytest.approx(result["measures"][key])
    policies = {each["name"]: each for each in found["policies"]}
    for name, decision in (("rule", alert), ("today", today), ("nothing", ~y & y), ("always", y | ~y)):
        cost = frame["amount"][y & ~decision].sum() + 4 * (~y & decision).sum()
        assert policies[name]["cost"] == pytest.approx(cost)
        assert policies[name]["alerts"] == decision.sum()
    north = (frame["region"] == "north").to_numpy()
    group = found["subgroups"]["region"][0]
    assert (group["name"], group["rows"], group["alerts"]) == ("north", north.sum(), (north & alert).sum())
    months = frame["day"].str[:7].value_counts().to_dict()
    assert {each["figures"]["name"]: each["figures"]["rows"] for each in found["periods"]["periods"]} == months
    assert result["decision_rule"]["rule"] == "recall>=0.8"
    stated = adacc.load(folder / "recall.adacc").decision_.report.achieved["recall"]
    assert result["decision_rule"]["stated"]["achieved"]["recall"] == pytest.approx(stated._asdict())
    for text in ("today's decisions", "doing nothing", "north", "2024-03", "the rule saves", "by chance"):
        assert text in out


@pytest.mark.parametrize("data", ["new.parquet", "komma.csv"])
def test_other_files_give_the_same_figures(folder, data):
    due, _ = evaluated(folder, *OPTIONS, *COSTS)
    form = ["--sep", ";", "--decimal", ","] if data == "komma.csv" else []
    if form:  # the features have decimal points
        frame = pd.read_csv(folder / "komma.csv", sep=";")
        frame[FEATURES] = frame[FEATURES].astype(str).apply(lambda column: column.str.replace(".", ","))
        frame.to_csv(folder / "komma.csv", index=False, sep=";")
    found, _ = evaluated(folder, *OPTIONS, *COSTS, *form, data=data)
    assert found["assessment"] == due["assessment"]


def test_the_costs_of_the_rule_are_used_unless_others_are_given(folder):
    result, _ = evaluated(folder, model="cost.adacc")
    _, y, alert = decided(folder, "cost.adacc")
    policies = {each["name"]: each for each in result["assessment"]["policies"]}
    assert policies["rule"]["cost"] == 40 * (y & ~alert).sum() + 3 * (~y & alert).sum()
    assert policies["nothing"]["cost"] == 40 * y.sum()
    other, _ = evaluated(folder, *COSTS, model="cost.adacc")
    assert other["assessment"]["policies"][0]["cost"] != policies["rule"]["cost"]
    without, _ = evaluated(folder, model="plain.adacc")
    assert without["assessment"]["policies"] == []
    assert without["decision_rule"]["rule"] is None


def test_a_threshold_is_the_rule_that_is_reported(folder):
    result, out = evaluated(folder, "--threshold", 0.3)
    assert "95% interval" not in out
    assert result["decision_rule"]["rule"] == "threshold=0.3"
    assert "at least 0.3" in result["decision_rule"]["words"]
    p = adacc.load(folder / "recall.adacc").predict_proba(pd.read_csv(folder / "new.csv")[FEATURES])[:, 1]
    assert result["assessment"]["rule"]["rows"] == (p >= 0.3).sum()


def test_without_options_the_output_is_the_short_one(folder):
    code, out, _ = command("evaluate", folder / "recall.adacc", folder / "new.csv")
    assert code == 0
    assert "95% interval" not in out


def test_the_page_is_written_with_its_commands(folder):
    code, out, _ = command(
        "evaluate", folder / "recall.adacc", folder / "new.csv", *OPTIONS, *COSTS, "--report", folder / "r.html"
    )
    assert code == 0
    assert f"Report: {folder / 'r.html'}" in out
    page = (folder / "r.html").read_text()
    for text in ("Decisions about ‘fraud’ in new.csv", "adacc decide", "adacc predict", "--baseline-column flagged"):
        assert text in page


def test_altair_is_imported_for_the_page_only(folder):
    arguments = ["evaluate", str(folder / "recall.adacc"), str(folder / "new.csv"), *OPTIONS]
    script = f"import sys; from adacc.cli.main import main; main({arguments!r}); print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_the_page_has_the_mean_cost_that_the_rule_stated(folder):
    for options, has_row in (([], True), (COSTS, False)):  # other costs cannot be compared with those of the rule
        page = folder / "cost.html"
        assert command("evaluate", folder / "cost.adacc", folder / "new.csv", *options, "--report", page)[0] == 0
        assert ("Mean cost of a row" in page.read_text()) == has_row


def test_a_column_is_read_as_in_compare(tmp_path):
    """Subgroups and days of local times, from columns that are features and columns that are not."""
    rng = np.random.default_rng(1)
    n = 400
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["label"] = np.where(frame["a"] + rng.normal(size=n) > 1.0, "yes", "no")
    frame["code"] = rng.choice(["01", "1", "2"], n)
    frame["town"] = rng.choice(["Bonn", "NA", "n/a", "", "Köln"], n)
    frame["price"] = [f"{each:.2f}".replace(".", ",") for each in rng.gamma(2.0, 30.0, n)]
    hours = pd.to_datetime("2024-01-01 22:00", utc=True) + pd.to_timedelta(np.arange(n), unit="h")
    frame["time"] = [each.isoformat() for each in hours.tz_convert("Asia/Tokyo")]
    data, columns = tmp_path / "t.csv", ("code", "town", "price")
    frame.to_csv(data, index=False, sep=";", decimal=",")
    report = [part for name in columns for part in ("--subgroup", name)]
    report += ["--time", "time", "--decimal", ",", "--json", tmp_path / "found.json"]
    evaluations, comparisons = [], []
    for dropped in ("code,town,price", "b"):
        train = ["train", data, "--target", "label", "--drop", dropped, "--time", "time", "--decimal", ","]
        model = ["--method", "adacc1", "--rounds", 3, "--folds", 0, "--model", tmp_path / "m.adacc"]
        assert command(*train, *model)[0] == 0
        assert command("evaluate", tmp_path / "m.adacc", data, *report)[0] == 0
        evaluations.append(json.loads((tmp_path / "found.json").read_text())["assessment"])
        compare = ["compare", data, "--target", "label", "--methods", "adaboost", "--rounds", 3, "--folds", 2]
        assert command(*compare, "--drop", dropped, "--jobs", 1, "--quiet", *report)[0] == 0
        comparisons.append(json.loads((tmp_path / "found.json").read_text())["decision"]["assessment"])
    for found in (*evaluations, *comparisons):
        names = {name: [each["name"] for each in found["subgroups"][name]] for name in columns}
        assert names["code"] == ["01", "1", "2"]
        assert names["town"] == ["Bonn", "Köln", "(missing)"]
        assert len(names["price"]) == 4
        assert names["price"][0].startswith("≤ ")
        assert found["periods"]["periods"][-1]["last_day"] == max(frame["time"])[:10] == "2024-01-18"
    for found in evaluations:  # a comparison in time order has no test rows among the first rows
        assert found["periods"]["periods"][0]["first_day"] == min(frame["time"])[:10] == "2024-01-02"


WRONG = [
    (["--baseline-column", "region"], "'region' must hold labels of the target ('fraud', 'fine'), yes and no, or 1"),
    (["--baseline-column", "flaged"], "has no column 'flaged'; did you mean 'flagged'?"),
    (["--subgroup", "zone"], "has no column 'zone'"),
    (["--subgroup", "one"], "the subgroup column 'one' must have at least two values, got '1' in all rows"),
    (["--time", "region"], "the column 'region' must hold dates, times"),
    (["--cost-column", "amount"], "--cost-column and --alarm-cost must be given together"),
    (["--cost-column", "region", "--alarm-cost", "2"], "the costs in column 'region' must be numbers"),
    (["--report", "x.html", "--json", "x.html"], "--report and --json must be different files"),
    (["--model-card", "nowhere/x.md"], "directory nowhere does not exist"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_wrong_input(folder, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    pd.read_csv(folder / "new.csv").assign(one=1).to_csv("new.csv", index=False)
    code, _, err = command("evaluate", folder / "recall.adacc", "new.csv", *options)
    assert code == 2
    assert said in err
    assert [each.name for each in tmp_path.iterdir()] == ["new.csv"]


def test_the_column_of_today_may_have_labels_words_or_numbers(folder, tmp_path):
    frame = pd.read_csv(folder / "new.csv")
    due, _ = evaluated(folder, "--baseline-column", "flagged")
    for yes, no in (("fraud", "fine"), (1, 0), (True, False), ("Y", "N"), (1.0, 0.0)):
        frame["flagged"] = np.where(pd.read_csv(folder / "new.csv")["flagged"] == "yes", yes, no)
        for ending in ("csv", "parquet"):
            getattr(frame, f"to_{ending}")(tmp_path / f"t.{ending}", index=False)
            found, _ = evaluated(folder, "--baseline-column", "flagged", data=tmp_path / f"t.{ending}")
            assert found["assessment"]["policies"] == due["assessment"]["policies"]


def test_a_baseline_that_is_a_feature_is_named(folder):
    code, _, err = command(
        "evaluate", folder / "recall.adacc", folder / "new.csv", "--subgroup", "region", "--baseline-column", "a"
    )
    assert code == 2
    assert "column 'a' of --baseline-column is a feature of the model" in err


def test_figures_of_training_rows_are_called_optimistic(folder):
    """Of the same rows, of some of them, of new ones; and where the model stores no fingerprints."""
    options = ["--report", folder / "s.html", "--model-card", folder / "s.md", "--json", folder / "e.json"]
    model = folder / "recall.adacc"
    for data, said in (("train.csv", "all rows, or nearly all, are training rows of the model"), ("new.csv", "")):
        code, _, err = command("evaluate", model, folder / data, *options)
        assert code == 0
        assert ("the figures are optimistic" in err) == bool(said)
        result = json.loads((folder / "e.json").read_text())
        assert result["training_rows"] == (1.0 if said else 0.0)
        for text in ((folder / "s.html").read_text(), (folder / "s.md").read_text()):
            assert said in text
            assert ("none was found among the training rows" in text) != bool(said)
    code, _, err = command("decide", model, folder / "train.csv", "--rule", "f1", "-o", folder / "f1.adacc")
    assert (code, "the rule is tuned on scores that are optimistic" in err) == (0, True)
    adacc.load(model).save(folder / "bare.adacc", notes={"target": "label"})
    assert evaluated(folder, model="bare.adacc", data="train.csv")[0]["training_rows"] is None


@pytest.fixture(scope="module")
def patients(folder, tmp_path_factory):
    """The table with each row four times, as visits of one patient."""
    frame = pd.read_csv(folder / "new.csv")
    repeated = pd.concat([frame.assign(patient=[f"p{k}" for k in range(len(frame))])] * 4)
    repeated.to_csv(folder / "visits.csv", index=False)
    return "visits.csv"


def test_groups_have_their_own_intervals(folder, patients):
    """Copies of rows in a group are no new information."""
    options = ["--subgroup", "region", "--cost-column", "amount", "--alarm-cost", 5, "--baseline-column", "flagged"]
    once = evaluated(folder, *options)[0]
    four, said = evaluated(folder, *options, "--group", "patient", data=patients)
    alone = evaluated(folder, *options, data=patients)[0]
    assert (once["assessment"]["groups"], four["assessment"]["groups"]) == (None, 800)
    assert "the intervals are those of 800 groups" in said
    for name in ("recall", "precision", "alerts_per_1000"):
        widths = [
            each["assessment"]["figures"][name]["high"] - each["assessment"]["figures"][name]["low"]
            for each in (once, four, alone)
        ]
        assert widths[1] == pytest.approx(widths[0], rel=0.02)
        assert widths[2] < 0.6 * widths[0]
    slopes = [each["calibration"]["slope"] for each in (once, four)]
    assert slopes[1]["value"] == pytest.approx(slopes[0]["value"])
    assert slopes[1]["high"] == pytest.approx(slopes[0]["high"], rel=0.1)
    assert [each["p"] for each in four["assessment"]["tests"]] == pytest.approx(
        [each["p"] for each in once["assessment"]["tests"]], abs=0.02
    )


def test_page_and_card_tell_of_groups_and_probabilities(folder, patients):
    options = ["--group", "patient", "--report", folder / "g.html", "--model-card", folder / "g.md"]
    result, said = evaluated(folder, *options, data=patients)
    sentence = f"their sum is {significant(result['calibration']['expected']['value'], 3)}, and "
    for text in ((folder / "g.html").read_text(), (folder / "g.md").read_text(), said):
        assert sentence in " ".join(text.split())
        assert "800" in text
    assert "The model is not calibrated" in " ".join(said.split())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nobody", "nobody"),
        ("holes", "column 'holes' must have the group of every row, got a missing value in row 3"),
        ("one", "column 'one' must have at least two groups, got 'a' in all rows"),
    ],
)
def test_columns_that_are_no_groups(folder, column, message):
    frame = pd.read_csv(folder / "new.csv")
    frame.assign(one="a", holes=["x", "y", None] + ["z"] * (len(frame) - 3)).to_csv(folder / "odd.csv", index=False)
    code, _, err = command("evaluate", folder / "recall.adacc", folder / "odd.csv", "--group", column)
    assert code == 2
    assert message in err


def test_several_classes_have_no_decision_report(folder, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "kind": np.repeat(["a", "b", "c"], 30)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.adacc"
    command("train", tmp_path / "t.csv", "--target", "kind", "--method", "adacc1", "--rounds", 3, "--model", model)
    for option in (["--report", tmp_path / "r.html"], ["--subgroup", "x"], ["--baseline-column", "x"]):
        code, _, err = command("evaluate", model, tmp_path / "t.csv", *option)
        assert code == 2
        assert f"{option[0]} needs a model of two classes" in err
