"""Every file of --json is as its JSON Schema says, which allows no other keys."""

import json
from copy import deepcopy

import jsonschema
import numpy as np
import pytest
from json_files import check
from made_result import result
from small_study import command

import adacc
from adacc import schemas

CLAIMS = ["--target", "outcome", "--drop", "size,code", "--id", "claim"]
SIZES = ["--target", "size", "--drop", "outcome,code", "--id", "claim"]
FEW = ["--rounds", 4, "--folds", 3, "--jobs", 1, "--quiet"]


COMMANDS = {
    "compare two classes": ["compare", "old.csv", *CLAIMS, *FEW, "--methods", "adacc1,adacc-forest,lightgbm,cgada"],
    "compare, a baseline wins": ["compare", "old.csv", *CLAIMS, *FEW, "--methods", "lightgbm"],
    "compare three classes": ["compare", "old.csv", *SIZES, *FEW, "--methods", "adacc2,cgada,lightgbm-threshold"],
    "compare the digits": ["compare", *FEW, "--methods", "adacc1"],
    "train two classes": ["train", "old.csv", *CLAIMS, "--method", "cgada", "--rounds", 4, "--model", "m.adacc"],
    "train three classes": ["train", "old.csv", *SIZES, "--method", "cgada", "--rounds", 4, "--model", "m.adacc"],
    "train a forest": ["train", "old.csv", *CLAIMS, "--rounds", 4, "--model", "m.adacc"],
    "train with a rule": [
        "train", "old.csv", *CLAIMS, "--method", "adacc1", "--rounds", 4, "--decide", "f1", "--model", "m.adacc",
    ],
    "train with a cost": [
        "train", "old.csv", *CLAIMS, "--method", "adacc1", "--rounds", 4, "--cost-column", "amount", "--alarm-cost", 3,
        "--model", "m.adacc",
    ],
    "train without an estimate": [
        "train", "old.csv", *CLAIMS, "--method", "cgada", "--costs", "balanced", "--rounds", 4, "--folds", 0, "--model",
        "m.adacc",
    ],
    "train out of core": [
        "train", "old.parquet", *CLAIMS, "--method", "adacc1", "--rounds", 4, "--memory-limit", "4GB", "--model",
        "m.adacc",
    ],
    "evaluate two classes": ["evaluate", "outcome.adacc", "new.csv"],
    "evaluate three classes": ["evaluate", "size.adacc", "new.csv"],
    "compare by subgroups": ["compare", "old.csv", *CLAIMS, *FEW, "--methods", "adacc1", "--subgroup", "town"],
    "evaluate by subgroups": [
        "evaluate", "outcome.adacc", "new.csv", "--subgroup", "town", "--cost-column", "amount", "--alarm-cost", 3,
    ],
    "evaluate by a threshold": ["evaluate", "code.adacc", "new.csv", "--threshold", 0.2],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_files_are_as_the_schema_says(folder, tmp_path, monkeypatch, name):
    monkeypatch.chdir(folder)
    given = [tmp_path / each if each == "m.adacc" else each for each in COMMANDS[name]]
    code, _, err = command(*given, "--json", tmp_path / "found.json")
    assert code == 0, err
    found = json.loads((tmp_path / "found.json").read_text())
    check(given[0], found)
    assert found["schema"] == {"name": f"adacc-{given[0]}", "version": schemas.VERSIONS[given[0]]}
    assert (found["adacc"], found["command"].split()[:2]) == (adacc.__version__, ["adacc", given[0]])


def test_a_rule_that_is_applied(folder, tmp_path):
    model = tmp_path / "m.adacc"
    (model).write_bytes((folder / "forest.adacc").read_bytes())
    for rule in ("recall>=0.9", "top=20", "threshold=0.3", "tuned cost=[[0, 1], [20, 0]]"):
        assert command("decide", model, "--rule", rule)[0] == 0
        code, _, err = command("evaluate", model, folder / "new.csv", "--json", tmp_path / "found.json")
        assert code == 0, err
        check("evaluate", json.loads((tmp_path / "found.json").read_text()))


def test_rows_of_one_class_have_measures_that_are_null(folder, tmp_path):
    rows = (folder / "new.csv").read_text().splitlines(keepends=True)
    for label, model in (("fine", "outcome"), ("small", "size")):
        only = tmp_path / "only.csv"
        only.write_text("".join([rows[0], *(row for row in rows[1:] if f",{label}," in row)]))
        code, _, err = command("evaluate", folder / f"{model}.adacc", only, "--json", tmp_path / "found.json")
        assert code == 0, err
        found = json.loads((tmp_path / "found.json").read_text())
        check("evaluate", found)
        assert found["measures"]["balanced_accuracy"] is None


def test_the_comparison_of_python_is_that_of_the_command(rare):
    found = adacc.compare(*rare, methods=["adacc1", "adaboost"], folds=2, n_estimators=3)
    check("compare", found.result)


def test_the_reports_of_other_tests_show_a_result_as_it_is():
    check("compare", result())


def keys_in(schema):
    """The schema and all schemas in it."""
    yield schema
    for each in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(each, dict | list):
            yield from keys_in(each)


@pytest.mark.parametrize("name", schemas.VERSIONS)
def test_schemas_allow_no_other_keys(folder, name):
    schema = schemas.load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"adacc-{name}"
    assert schema["properties"]["schema"]["properties"]["version"] == {"const": schemas.VERSIONS[name]}
    objects = [each for each in keys_in(schema) if isinstance(each, dict) and each.get("type") == "object"]
    assert len(objects) > 2
    assert all("additionalProperties" in each for each in objects)
    assert not any(each["additionalProperties"] is True for each in objects)


def test_a_schema_that_lacks_a_key_is_noticed(folder, tmp_path):
    """So does a file that has one more, in any object."""
    code, _, _ = command("evaluate", folder / "size.adacc", folder / "new.csv", "--json", tmp_path / "found.json")
    assert code == 0
    found = json.loads((tmp_path / "found.json").read_text())
    for change in (lambda f: f.update(more=1), lambda f: f["measures"].update(more=1), lambda f: f.pop("rows")):
        other = deepcopy(found)
        change(other)
        with pytest.raises(jsonschema.ValidationError):
            check("evaluate", other)


def test_an_unknown_schema():
    with pytest.raises(ValueError, match="name must be one of compare, train, evaluate, got 'explain'"):
        schemas.load("explain")


def test_numbers_are_not_rounded(folder, tmp_path):
    """Percent signs are for people: files have fractions, as Python has."""
    command("evaluate", folder / "outcome.adacc", folder / "new.csv", "--json", tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    counts, measures = found["confusion"], found["measures"]
    tpr = counts["true_positives"] / (counts["true_positives"] + counts["false_negatives"])
    assert measures["tpr"] == pytest.approx(tpr, abs=1e-15)
    assert np.mean([measures["tpr"], measures["tnr"]]) == pytest.approx(measures["balanced_accuracy"], abs=1e-15)
