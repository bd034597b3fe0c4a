"""Displays of a study's results, and the command that draws the paper's figures."""

import numpy as np
import pandas as pd
import pytest
from small_study import command, fake, plan, write_files

from adacc.evaluation import statistics as stats
from adacc.evaluation.baselines import label_of
from adacc.inspect import CriticalDifferenceDisplay, LearningCurveDisplay, RankDisplay
from adacc.study.store import Store
from adacc.study.summary import summarise

METHODS = ["adaboost", "adacc1", "adacc2", "csb1"]

pytestmark = pytest.mark.usefixtures("matplotlib_stays_as_it_is")


@pytest.fixture
def store(tmp_path):
    protocol = plan(write_files(tmp_path), METHODS)
    store = Store(tmp_path / "study")
    fake(protocol, store)
    return store


def balanced_accuracy(summary, dialect, T, label):
    method = next(name for name in summary.protocol.methods if label_of(name) == label)
    frame = summary.frame
    of_dialect = frame["dialect"].isin([dialect] if method in ("adacc1", "csb1") else ["paper"])
    rows = frame[of_dialect & (frame["method"] == method) & (frame["rounds"] == T)]
    return rows.set_index("dataset")["balanced_accuracy"].sort_index()


@pytest.mark.parametrize("dialect", ["paper", "authors"])
def test_ranks_and_curves_are_those_of_the_summary(store, dialect):
    summary = summarise(store)
    ranks = RankDisplay.from_study(summary, 6, dialect)
    scores = pd.DataFrame({label: balanced_accuracy(summary, dialect, 6, label) for label in ranks.frame().columns})
    np.testing.assert_allclose(ranks.frame(), stats.ranks(scores.round(4)))
    assert ranks.frame().mean().is_monotonic_increasing
    gaps = CriticalDifferenceDisplay.from_study(summary, 6, dialect)
    assert gaps.frame()["mean_rank"].tolist() == pytest.approx(ranks.frame().mean().tolist())
    curves = LearningCurveDisplay.from_study(summary, dialect=dialect).frame()
    for (label, T), own in curves.groupby(["method", "round"]):
        assert own["balanced_accuracy"].item() == pytest.approx(balanced_accuracy(summary, dialect, T, label).mean())
    texts = [text.get_text() for text in ranks.plot().ax_.texts]
    assert texts == [f"{rank:g}" for rank in ranks.frame().to_numpy().ravel()]


@pytest.mark.thorough
@pytest.mark.compiled
def test_command_draws_all_figures(store, tmp_path, data_dir):
    out = tmp_path / "figures"
    code, said, _ = command(
        "figures", "paper", "--out", out, "--data-dir", data_dir("mammography", "car_eval_34"), "--quiet",
        "--datasets", "mammography,car_eval_34",
        "--study", store.folder,
    )  # fmt: skip
    assert code == 0
    names = {path.stem for path in out.iterdir()}
    assert {"toy-example", "boundaries", "importances-mammography", "cumulative", "in-training"} <= names
    assert {f"confidence-T{T}" for T in (25, 50, 100, 200)} <= names
    assert {"by-rounds-paper", "ranks-T6-authors", "critical-difference-T3-paper"} <= names
    for name in names:
        assert all((out / f"{name}{ending}").stat().st_size > 500 for ending in (".png", ".svg")), name
        assert len(pd.read_csv(out / f"{name}.csv")) > 0
    assert len(said.splitlines()) == len(names)
    training = pd.read_csv(out / "in-training.csv")
    assert training["method"].nunique() == 11
    assert training["round"].max() == 200


def test_command_says_what_is_wrong(tmp_path):
    code, _, said = command("figures", "paper", "--out", tmp_path, "--datasets", "mammografy", "--quiet")
    assert code == 2
    assert "mammography" in said
    code, _, said = command("figures", "paper", "--out", tmp_path, "--study", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere" in said
