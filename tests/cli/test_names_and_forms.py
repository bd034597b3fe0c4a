"""Names that hold commas, spaces and quotes; text files of other forms; ids and labels as they stand in the file."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.cli.main import parser
from adacc.cli.options import format_names, names

SMALL = ["--methods", "adacc1", "--rounds", 3, "--folds", 2, "--quiet", "--jobs", 1]


def table(n=120):
    rng = np.random.default_rng(7)
    x = rng.normal(size=n)
    rare = x + rng.normal(size=n) / 2 > 1
    return pd.DataFrame({"x": x.round(3), "z": rng.normal(size=n).round(3), "ill": np.where(rare, "yes", "no")})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def done(*arguments):
    code, out, err = command(*arguments)
    assert code == 0, err
    return out, err


def pasted(line):
    """Run a command that was printed."""
    program, *arguments = shlex.split(line)
    assert program == "adacc"
    return done(*arguments)


ODD = ["amount, EUR", " age", 'a "quoted" name', "-minus", "plain"]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("a,b", ["a", "b"]),
        (" a , b,", ["a", "b"]),
        ('"amount, EUR",town', ["amount, EUR", "town"]),
        ('" age" , town', [" age", "town"]),
        ('"say ""hi"""', ['say "hi"']),
        (format_names(ODD), ODD),
    ],
)
def test_lists(text, due):
    assert names(text) == due
    assert names(text).resolve(due) == due


def test_a_list_that_is_a_column_is_that_column():
    assert names("amount, EUR").resolve(["amount, EUR", "amount"]) == ["amount, EUR"]
    assert names(" age,town").resolve([" age", "town"]) == [" age", "town"]
    assert names(" age,town").resolve(["age", "town"]) == ["age", "town"]


def test_a_quote_that_is_not_closed(here):
    code, _, err = command("train", "a.csv", "--target", "y", "--model", "m.adacc", "--drop", '"a,b')
    assert (code, "argument --drop: unclosed double quote in '\"a,b'" in err) == (2, True)


def test_odd_names_are_left_out_and_commands_can_be_pasted(here):
    frame = table().rename(columns={"ill": "is ill, or not"})
    for name in ODD:
        frame[name] = np.arange(len(frame)) % 5
    frame["is ill, or not"] = np.where(frame["is ill, or not"] == "yes", "-yes, sure", " no")
    frame.to_csv("my table.csv", index=False)
    of_all = ["--target", "is ill, or not", "--drop", format_names(ODD), "--positive=-yes, sure"]
    out, _ = done("compare", "my table.csv", *of_all, *SMALL)
    printed = out.rpartition("Next: ")[2].strip()
    out, _ = pasted(printed)
    model = adacc.load("my table.adacc")
    assert model.feature_names_in_.tolist() == ["x", "z"]
    assert model.classes_.tolist() == [" no", "-yes, sure"]
    predict, explain = (line for line in out.splitlines() if line.startswith("  adacc "))
    frame.to_csv("NEW.csv", index=False)
    pasted(predict)
    pasted(explain)
    due = model.predict(frame[["x", "z"]]).tolist()
    assert pd.read_csv("scores.csv")["prediction"].tolist() == due
    recorded = model.notes_["command"]
    assert parser().parse_args(shlex.split(recorded)[1:]).drop == ODD


def test_the_stored_command_trains_the_same_model(here):
    table().assign(ill=lambda t: t["ill"].replace("no", "no, never")).to_csv("t.csv", index=False)
    given = ["--target", "ill", "--method", "csb2", "--rounds", "9", "--seed", "3", "--model", "m.adacc"]
    done("train", "t.csv", *given, "--costs", '"no, never"=0.123456789012345678,yes=1234567.891')
    words = shlex.split(adacc.load("m.adacc").notes_["command"])
    before = Path("m.adacc").read_bytes()
    done(*words[1:])
    assert adacc.load("m.adacc").costs == {"no, never": 0.123456789012345678, "yes": 1234567.891}
    assert Path("m.adacc").read_bytes() == before


def test_labels_with_commas_have_costs(here):
    table().assign(ill=lambda t: t["ill"].replace("no", "no, never")).to_csv("t.csv", index=False)
    given = ["--target", "ill", "--method", "cgada", "--rounds", 3, "--model", "m.adacc"]
    done("train", "t.csv", *given, "--costs", '"no, never"=1,yes=7')
    assert adacc.load("m.adacc").costs == {"no, never": 1.0, "yes": 7.0}


def test_columns_that_are_refused_are_named_as_they_can_be_pasted(here):
    table().assign(**{"my, id": [f"c{j}" for j in range(120)], "b": np.nan}).to_csv("t.csv", index=False)
    code, _, err = command("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc")
    assert code == 2
    advice = err.partition("leave them out with ")[2].partition(", or mark an id column with ")
    for given in (advice[0], f"{advice[2].strip()} --drop b"):
        done("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc", *shlex.split(given))


def test_a_study_has_no_such_option(here):
    table().assign(day="2024-01-31", target=table()["ill"]).to_csv("t.csv", index=False)
    _, _, err = command("study", "run", "paper", "--out", "o", "--data", "t.csv", "--quiet", "--methods", "adacc1")
    assert "contains dates or times" in err
    assert "--drop" not in err


class TestTextFiles:
    def test_decimal_commas_from_training_to_answers(self, here):
        frame = table()
        frame.to_csv("points.csv", index=False)
        frame.to_csv("commas.csv", index=False, sep="|", decimal=",")
        form = ["--sep", "|", "--decimal", ","]
        code, _, err = command("train", "commas.csv", "--target", "ill", "--model", "m.adacc")
        assert (code, err.strip()[-12:]) == (2, "--decimal ,".rjust(12))
        out, _ = done("train", "commas.csv", "--target", "ill", "--rounds", 3, "--model", "commas.adacc", *form)
        assert "adacc predict commas.adacc NEW.csv --sep '|' --decimal , --proba" in out
        done("train", "points.csv", "--target", "ill", "--rounds", 3, "--model", "points.adacc")
        due = done("predict", "points.adacc", "points.csv", "--proba")
        assert done("predict", "commas.adacc", "commas.csv", "--proba", *form) == due
        for question in (["evaluate"], ["explain"]):
            same = [
                done(*question, "points.adacc", f"{name}.csv", *given)[0].partition("\n")[2]
                for name, given in (("points", []), ("commas", form))
            ]
            assert same[0] == same[1]
        out, _ = done("compare", "commas.csv", "--target", "ill", *SMALL, *form)
        assert "--sep '|' --decimal ," in out.rpartition("Next: ")[2]

    def test_a_tab_is_spelled_out(self, here):
        table().to_csv("t.csv", index=False, sep="\t")
        for given in ("tab", r"\t", "\t"):
            done("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc", "--sep", given)
            assert "--sep tab" in adacc.load("m.adacc").notes_["command"]


class TestIds:
    @pytest.fixture
    def model(self, here):
        table().assign(x=lambda t: (t["x"] * 9).astype(int)).to_csv("t.csv", index=False)
        done("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc")
        return "m.adacc"

    def ids(self, *given):
        return [line.split(",")[0] for line in done("predict", "m.adacc", *given)[0].splitlines()[1:]]

    def test_of_a_feature(self, model):
        due = pd.read_csv("t.csv", dtype=str)["x"].tolist()
        assert self.ids("t.csv", "--id", "x") == due

    def test_of_floats(self, model):
        frame = pd.read_csv("t.csv").assign(key=[np.nan, 79.5, *range(118)])
        frame.to_parquet("t.parquet")
        assert self.ids("t.parquet", "--id", "key") == ["", "79.5", *map(str, range(118))]
        done("predict", "m.adacc", "t.parquet", "--id", "key", "-o", "s.parquet")
        assert pd.read_parquet("s.parquet")["key"].equals(frame["key"])

    def test_of_texts_and_large_numbers(self, model):
        cells = ["NA", "null", "007", str(2**53 + 1), str(2**70 + 1), *map(str, range(115))]
        pd.read_csv("t.csv").assign(key=cells).to_csv("new.csv", index=False)
        assert self.ids("new.csv", "--id", "key") == cells


@pytest.mark.parametrize("memory", [[], ["--memory-limit", "4GB"]])
def test_an_index_is_named(here, memory):
    table().set_index(pd.Index(np.arange(120) % 50, name="customer")).to_parquet("t.parquet")
    given = ["train", "t.parquet", "--target", "ill", "--rounds", 2, "--model", "m.adacc", *memory]
    _, err = done(*given)
    assert err.startswith("adacc: t.parquet: 'customer' is the index of a pandas frame and is not used as a feature")
    assert done("predict", "m.adacc", "t.parquet")[1] == "adacc: ignored columns: ill, customer\n"
    assert done(*given, "--id", "customer")[1] == ""


def test_labels_come_out_as_they_stand(here):
    for label in ("007", "None", "true", "+1"):
        other = {"true": "false", "+1": "-1"}.get(label, "mild")
        cells = table()["ill"].map({"yes": label, "no": other})
        table().assign(ill=cells).to_csv("t.csv", index=False)
        done("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc")
        out, _ = done("predict", "m.adacc", "t.csv")
        assert set(out.split()[1:]) == {label, other}
        out, _ = done("evaluate", "m.adacc", "t.csv")
        assert f"actual {label}" in out


def test_a_missing_label_to_judge_by(here):
    table().to_csv("t.csv", index=False)
    done("train", "t.csv", "--target", "ill", "--rounds", 2, "--model", "m.adacc")
    table().assign(ill=lambda t: t["ill"].where(t.index != 4, "NA")).to_csv("t.csv", index=False)
    code, _, err = command("evaluate", "m.adacc", "t.csv")
    assert (code, "row 5, column 'ill' has no label" in err) == (2, True)


def test_a_sample_is_blamed_for_what_it_lacks(here):
    table().to_csv("t.csv", index=False)
    code, _, err = command("compare", "t.csv", "--target", "ill", *SMALL, "--folds", 5, "--max-rows", 20)
    assert code == 2
    assert "t.csv: the sample of 20 of 120 rows: column 'ill' has " in err
    assert ", or increase --max-rows" in err


def test_repeats_are_not_advised_where_splits_follow_time(here):
    frame = table()
    frame["ill"] = np.where(np.arange(120) % 6 == 0, "yes", "no")
    frame.assign(t=range(120)).to_csv("t.csv", index=False)
    shaky = "Treat them as estimates"
    for given, advised in ((["--time", "t"], False), (["--drop", "t"], True)):
        out = " ".join(done("compare", "t.csv", "--target", "ill", *SMALL, *given)[0].split())
        assert (shaky in out, "increase --repeats" in out) == (True, advised)
