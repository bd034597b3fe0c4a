"""The committed results of the paper's study: no hole, and what the documents say of them is so."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adacc.evaluation.baselines import label_of
from adacc.evaluation.statistics import ranks
from adacc.study import multiclass_tables
from adacc.study.multiclass_protocol import read_multiclass_protocol
from adacc.study.protocol import read_protocol
from adacc.study.summary import read_summary
from adacc.study.tables import render

RESULTS = Path(__file__).parents[2] / "studies" / "results"
CLOSE = ("AdaBoost", "AdaCC1", "AdaCC2", "AdaMEC", "AdaMEC-Cal.", "CGAda", "CGAda-Cal.", "RareBoost", "CSB2", "AdaC2")


@pytest.fixture(scope="module")
def summary():
    return read_summary(RESULTS)


def test_every_set_method_dialect_and_number_of_rounds_is_there(summary):
    protocol = read_protocol("paper")
    assert not summary.unfinished
    assert summary.sets == sorted(protocol.datasets)
    own = summary.frame[summary.frame["method"].isin(protocol.methods)]
    kept_rows = (own["method"] == "smoteboost") & (own["dialect"] == "authors")
    assert (own["parts"] == np.where(kept_rows, 5, 50)).all()  # of this one repeat, as docs/reproduction.md says
    assert (own["failed"] == 0).all()
    keys = set(zip(own["dataset"], own["method"], own["dialect"], own["rounds"], strict=True))
    assert keys == {
        (name, *variant, T) for name in summary.sets for variant in protocol.variants() for T in protocol.rounds
    }
    assert own[["balanced_accuracy", "auc", "opm"]].notna().all(axis=None)


@pytest.mark.parametrize("T", [25, 50, 100, 200])
@pytest.mark.parametrize("dialect", ["paper", "authors"])
def test_adacc_has_the_two_best_mean_ranks(summary, dialect, T):
    methods = summary.compared(dialect)
    assert len(methods) == 14
    mean = ranks(summary.by_set(methods, T, "balanced_accuracy")).mean(axis=0)
    best = sorted(zip(mean, (method for method, _ in methods), strict=True))[:2]
    assert {method for _, method in best} == {"adacc1", "adacc2"}


def test_means_are_as_near_the_papers_as_the_documents_say(summary, paper_table):
    table = paper_table("results").set_index(["method", "T"])["balanced_accuracy"]
    differences = {}
    for dialect in ("paper", "authors"):
        for T in summary.protocol.rounds:
            means = summary.by_set(summary.compared(dialect), T, "balanced_accuracy").mean()
            for (method, _), mean in means.items():
                differences[dialect, label_of(method), T] = mean - table[label_of(method), T]
    for name in {name for _, name, _ in differences}:
        least = min(abs(differences[dialect, name, 200]) for dialect in ("paper", "authors"))
        assert least <= (1.0 if name in CLOSE else 2.5), name
    in_authors = [abs(value) for (dialect, *_), value in differences.items() if dialect == "authors"]
    assert sum(value <= 1.0 for value in in_authors) == 55
    assert len(in_authors) == 56


def test_smoteboost_in_the_authors_dialect_is_as_near_the_papers_row_as_the_document_says(summary, paper_table):
    table = paper_table("results_non_cost_sensitive").set_index(["method", "T"]).loc["SMOTEBoost"]
    away = {}
    for dialect in ("paper", "authors"):
        for T in summary.protocol.rounds:
            mean = summary.by_set([("smoteboost", dialect)], T, "balanced_accuracy").mean().item()
            away[dialect, T] = mean - table.loc[T, "balanced_accuracy"]
    assert max(away["paper", T] for T in summary.protocol.rounds) < -6.9
    for T, limit in {25: 0.5, 50: 1.2, 100: 2.0, 200: 2.5}.items():
        assert 0.0 < away["authors", T] < limit


def test_the_study_of_several_classes_has_no_hole_and_the_document_shows_it():
    summary = multiclass_tables.read_summary(RESULTS / "classes")
    assert not summary.unfinished
    assert summary.protocol == replace(read_multiclass_protocol("classes"), datasets=summary.protocol.datasets)
    assert len(summary.sets) == 9
    for measure in multiclass_tables.MEASURES:
        assert summary.by_set(measure).shape == (9, 14)
        assert summary.by_set(measure).notna().all(axis=None)
    assert (summary.frame["failed"] == 0).all()
    means, tests, _ = multiclass_tables.all_tables(summary)
    text = (RESULTS.parents[1] / "docs" / "classes.md").read_text()
    assert render(means, "markdown") in text
    assert render(tests, "markdown") in text
    assert means.rows[0][0] == "AdaCC forest"
    assert min(float(p) for row in tests.rows for p in row[1:] if p != "-") > 0.05  # as the document says
