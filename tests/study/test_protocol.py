"""A study as data: what is read, what is refused, and how it is said."""

import json
from dataclasses import replace
from importlib import resources

import pytest

from adacc.algorithms import METHODS
from adacc.datasets import CATALOGUE
from adacc.evaluation.baselines import BASELINES, label_of
from adacc.evaluation.fold_trainer import TrainingOptions
from adacc.study.protocol import IN_TWO_DIALECTS, StudyProtocol, Task, Variant, check, choose_methods, read_protocol

PAPER = read_protocol("paper")
FOREST = read_protocol("forest")
TEXT = (resources.files("adacc.study") / "paper.toml").read_text()


def test_the_papers_study_is_shipped_and_is_the_papers():
    assert (resources.files("adacc.study") / "paper.toml").is_file()
    assert set(PAPER.datasets) == set(CATALOGUE)
    assert len(PAPER.methods) == 18
    assert set(PAPER.methods) <= set(METHODS)
    later = {*FOREST.baselines, "logistic-regression", "ebm", "ebm-threshold", "sklearn-adaboost"} - {
        "lightgbm", "xgboost", "hist-gradient-boosting", "balanced-random-forest", "easy-ensemble"
    }  # fmt: skip
    assert set(PAPER.baselines) == set(BASELINES) - later
    assert (PAPER.repeats, PAPER.folds, PAPER.seed) == (10, 5, 0)
    assert PAPER.costs == tuple(round(0.1 * i, 1) for i in range(1, 11))
    in_tables = {name for names in PAPER.tables.values() for name in names}
    assert in_tables == {*PAPER.methods, *PAPER.baselines}


def test_the_forests_study_is_of_the_same_sets():
    assert (FOREST.datasets, FOREST.seed) == (PAPER.datasets, PAPER.seed)
    assert set(FOREST.tables["forest"]) == {*FOREST.methods, *FOREST.baselines, "ebm", "ebm-threshold"}


def test_a_study_survives_json():
    own = replace(PAPER, files={"mine": ("mine.csv", None)}, datasets=("mine",), max_bins=None)
    assert StudyProtocol.from_json(json.loads(json.dumps(own.to_json()))) == own
    assert StudyProtocol.from_json(json.loads(json.dumps(PAPER.to_json()))) == PAPER


def test_tasks_and_variants():
    small = replace(PAPER, datasets=("wilt", "skin"), repeats=3, folds=2, fewer_repeats={"skin": 2})
    tasks = small.tasks()
    assert len(tasks) == len(set(tasks)) == 12
    assert tasks[0] == Task("wilt", 0, 0)
    variants = list(small.variants())
    assert Variant("adacc1", "authors") in variants
    assert Variant("adacc2", "authors") not in variants
    assert len(variants) == len(METHODS) + len(IN_TWO_DIALECTS)
    assert [v.dialect for v in replace(small, dialects=("authors",)).variants()] == ["authors"] * len(METHODS)
    assert small.baselines_of(Task("wilt", 0, 1)) == list(PAPER.baselines)
    assert small.baselines_of(Task("wilt", 1, 0)) == ["smote-tree", "ros-tree", "rus-tree", "imblearn-rusboost"]
    assert small.baselines_of(Task("skin", 1, 0))
    assert small.baselines_of(Task("skin", 2, 0)) == []


def test_methods_are_chosen_by_name():
    chosen = choose_methods(PAPER, ["lightgbm", "adacc1", "adacc1", "smote-tree"])
    assert chosen.methods == ("adacc1",)
    assert chosen.baselines == {"lightgbm": 1, "smote-tree": 10}
    assert choose_methods(replace(PAPER, methods=(), baselines={}), ["xgboost"]).baselines == {"xgboost": 10}
    with pytest.raises(ValueError, match="method 'adac' is unknown: did you mean 'adac3' or"):
        choose_methods(PAPER, ["adac"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("repeats = 10", "repeats = 0", "repeats must be a whole number of at least 1, got 0"),
        ("repeats = 10", "repeats = true", "repeats must be a whole number of at least 1, got True"),
        ("repeats = 10", "repeats = 10\nrepeat = 3", "a study has no entry 'repeat': did you mean 'repeats'"),
        ("repeats = 10\n", "", "the study lacks repeats"),
        ("folds = 5", "folds = 1", "folds must be a whole number of at least 2, got 1"),
        ("folds = 5", "folds = 'five'", "folds must be a whole number of at least 2, got 'five'"),
        ("seed = 0", "seed = -1", "seed must be a whole number of at least 0, got -1"),
        ("[25, 50, 100, 200]", "[50, 25]", "rounds must be ascending whole numbers of at least 1, got [50, 25]"),
        ("[25, 50, 100, 200]", "[true]", "rounds must be ascending whole numbers of at least 1, got [True]"),
        ("[25, 50, 100, 200]", "[]", "rounds must be ascending whole numbers of at least 1, got []"),
        ("[25, 50, 100, 200]", "25", "rounds must be a list, got 25"),
        ("costs = [0.1", "costs = [0.0", "costs must be numbers above 0 and at most 1, got [0.0, 0.2"),
        ("costs = [0.1", "costs = [nan", "costs must be numbers above 0 and at most 1, got [nan, 0.2"),
        ('"training"', '"test"', "tuned_on must be 'training' or 'validation', got 'test'"),
        ("max_bins = 255", "max_bins = 1", "max_bins must be a whole number of at least 2, or 'exact', got 1"),
        ('"gini"', '"twoing"', "criterion must be one of 'gini', 'entropy', 'error', got 'twoing'"),
        ('["paper", "authors"]', '["mine"]', "dialects must be 'paper' or 'authors' or both, got ['mine']"),
        ('["paper", "authors"]', '["paper", "paper"]', "dialects must be 'paper' or 'authors' or both"),
        ('"abalone", "adult"', '"abalone", "abalone"', "datasets must name each set once, got 'abalone' 2 times"),
        ('"abalone", "adult"', '"../abalone"', "names without dots and slashes, got '../abalone'"),
        ('"abalone", "adult"', '"plan.json"', "names without dots and slashes, got 'plan.json'"),
        ('"adaboost", "adacc1"', '"adaboost", "adac9"', "method 'adac9' is unknown: did you mean"),
        ('"adaboost", "adacc1"', '"adacc1", "adacc1"', "methods must name each method once, got 'adacc1' 2 times"),
        ('"adaboost", "adacc1"', "1", "method 1 is unknown; known are"),
        ("lightgbm = 1", "lihgtgbm = 1", "method 'lihgtgbm' is unknown: did you mean 'lightgbm' or"),
        ("lightgbm = 1", "lightgbm = 'once'", "baselines: lightgbm must be a whole number of at least 1, got 'once'"),
        ('"adac2", "adac3"', '"adac2", "adac33"', "method 'adac33' is unknown"),
        ("[baselines]", "[[baselines]]", "baselines must be a table, got"),
        ("[tables]", "[files]\nmine = 'mine.csv'\n[tables]", "files: mine must be a list of a file and the name"),
        ("repeats = 10", "repeats 10", "study 'mine.toml': Expected '='"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path, monkeypatch, old, new, said):
    assert old in TEXT
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ValueError) as caught:
        read_protocol("mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("study 'mine.toml': ")


def test_a_copy_with_other_values_is_a_study_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace("max_bins = 255", 'max_bins = "exact"').replace("repeats = 10", "repeats = 2"))
    assert read_protocol(path) == replace(PAPER, max_bins=None, repeats=2)


def test_no_such_study():
    for name in ("nosuch", "family", "../study/paper"):
        with pytest.raises(
            ValueError, match=r"study must be one of 'classes', 'forest', 'paper' or the path of a TOML file, got "
        ):
            read_protocol(name)


def test_nothing_to_do_is_refused():
    with pytest.raises(ValueError, match="datasets must name at least one set"):
        check(replace(PAPER, datasets=()))
    with pytest.raises(ValueError, match="methods must name at least one method"):
        check(replace(PAPER, methods=(), baselines={}))


def test_a_study_of_earlier_versions_has_a_table_of_methods(tmp_path):
    """Each with its label, which the registry has now."""
    path = tmp_path / "mine.toml"
    names = ", ".join(f'"{name}"' for name in FOREST.methods)
    text = (resources.files("adacc.study") / "forest.toml").read_text()
    table = "\n".join(["[methods]", *(f'{name} = "Mine"' for name in FOREST.methods)])
    path.write_text(text.replace(f"methods = [{names}]\n", "") + table)
    assert read_protocol(path) == FOREST
    assert [label_of(name) for name in FOREST.methods] == ["AdaCC1", "AdaCC2"]


def test_the_comparison_trains_as_the_paper():
    assert read_protocol("paper").training_options == TrainingOptions()
