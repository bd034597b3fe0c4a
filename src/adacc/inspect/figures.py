"""The figures of the AdaCC paper, from models of this package."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from adacc import datasets
from adacc.algorithms import METHODS
from adacc.estimators.classifiers import BoostingClassifier
from adacc.estimators.search import CostSearchCV
from adacc.inspect.boundary import BoundaryDisplay
from adacc.inspect.confidence import ConfidenceDisplay
from adacc.inspect.curves import LearningCurveDisplay
from adacc.inspect.display import Display
from adacc.inspect.importance import ImportanceDisplay
from adacc.inspect.ranks import CriticalDifferenceDisplay, RankDisplay
from adacc.inspect.style import styled
from adacc.inspect.training import TrainingDisplay
from adacc.study.summary import Summary

LABELS = {name: method.label for name, method in METHODS.items()}
ROUNDS = [25, 50, 100, 200]
COMPARED = (
    "adaboost", "adacc1", "adacc2", "cgada", "adacost", "csb1", "csb2", "adac1", "adac2", "adac3", "rareboost",
)  # fmt: skip
CUMULATIVE = ("adacc1", "adacc2", "adan-cc1", "adan-cc2")
IN_BOUNDARIES = (*COMPARED[:3], "adamec", "adamec-cal", "cgada", "cgada-cal", *COMPARED[4:])


class Figure(NamedTuple):
    """A figure: file name, title, display and the function that draws it."""

    name: str
    title: str
    display: Display
    draw: Callable[[], Display]


class Fitted(NamedTuple):
    """Fitted models of a method by number of rounds, with costs tuned for each."""

    by_rounds: dict[int, Any]

    @property
    def last(self) -> Any:
        return self.by_rounds[max(self.by_rounds)]


def fit_tuned(method: str, X: Any, y: Any, rounds: Sequence[int], n_jobs: int | None = None) -> Fitted:
    """Fit a method to all rows; costs, if it has any, are tuned by F1 on these rows."""
    model = BoostingClassifier(method, n_estimators=max(rounds), pos_label=1, n_jobs=n_jobs, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if METHODS[method].rule.uses_costs:
            search = CostSearchCV(model, cv="training", rounds=list(rounds)).fit(X, y)
            return Fitted({T: best.estimator for T, best in search.best_by_rounds_.items()})
        fitted = model.fit(X, y)
    return Fitted(dict.fromkeys(rounds, fitted))


def toy_figures() -> Iterator[Figure]:
    """Decision boundaries on the toy sets, after five rounds."""
    for name, title, methods, n_rare, n_common in (
        ("toy-example", "AdaBoost and AdaCC on 5 + 20 points", ("adaboost", "adacc1", "adacc2"), 5, 20),
        ("boundaries", "All methods on 10 + 30 points", IN_BOUNDARIES, 10, 30),
    ):
        X, y = datasets.make_toy(n_rare, n_common)
        models = {LABELS[method]: fit_tuned(method, X, y, [5]).last for method in methods}
        display = BoundaryDisplay.from_estimators(models, X, y)
        yield Figure(name, title, display, display.plot)


def set_figures(
    names: Sequence[str],
    data_dir: str | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[str], object] = str,
) -> Iterator[Figure]:
    """Figures of means over data sets, and of the importances on mammography if it is among them."""
    training, cumulative = [], []
    confidence: dict[int, list[ConfidenceDisplay]] = {T: [] for T in ROUNDS}
    for name in names:
        frame, target = datasets.load(name, data_dir, paper_columns=True)
        y = target.to_numpy()
        fitted = {
            method: fit_tuned(method, frame, y, ROUNDS, n_jobs) for method in dict.fromkeys((*COMPARED, *CUMULATIVE))
        }
        last = {LABELS[method]: each.last for method, each in fitted.items()}
        training.append(TrainingDisplay.from_estimators({LABELS[m]: last[LABELS[m]] for m in COMPARED}))
        cumulative.append(TrainingDisplay.from_estimators({LABELS[m]: last[LABELS[m]] for m in CUMULATIVE}))
        for T in ROUNDS:
            models = {LABELS[method]: fitted[method].by_rounds[T] for method in COMPARED}
            confidence[T].append(ConfidenceDisplay.from_estimators(models, frame, y, T))
        if name == "mammography":
            shares = ImportanceDisplay.from_estimators({LABELS[m]: last[LABELS[m]] for m in COMPARED})
            yield Figure("importances-mammography", "Feature importance on mammography", shares, shares.plot)
        on_progress(name)
    over = f"mean over {len(names)} sets"
    both = TrainingDisplay.mean_of(cumulative)
    yield Figure(
        "cumulative", f"Cumulative against non-cumulative costs, {over}", both, lambda: both.plot(["tpr", "tnr"])
    )
    during = TrainingDisplay.mean_of(training)
    yield Figure(
        "in-training", f"In-training behaviour, {over}", during,
        lambda: during.plot(["rare_weight", "alpha", "balanced_error"], log=["alpha"]),
    )  # fmt: skip
    for T in ROUNDS:
        display = ConfidenceDisplay.mean_of(confidence[T])
        yield Figure(f"confidence-T{T}", f"Confidence after {T} rounds, {over}", display, display.plot)


def study_figures(summary: Summary) -> Iterator[Figure]:
    """Ranks and learning curves from the results of a study."""
    for dialect in summary.protocol.dialects:
        curves = LearningCurveDisplay.from_study(summary, dialect=dialect)
        yield Figure(f"by-rounds-{dialect}", "Balanced accuracy by rounds", curves, curves.plot)
        for T in summary.protocol.rounds:
            ranks = RankDisplay.from_study(summary, T, dialect)
            yield Figure(f"ranks-T{T}-{dialect}", f"Ranks, T = {T}", ranks, ranks.plot)
            gaps = CriticalDifferenceDisplay.from_study(summary, T, dialect)
            yield Figure(f"critical-difference-T{T}-{dialect}", f"Mean ranks, T = {T}", gaps, gaps.plot)


def save(figure: Figure, folder: Path) -> list[Path]:
    """Write a figure as PNG and SVG, and its data as CSV."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.name}.{ending}" for ending in ("png", "svg", "csv")]
    drawn = figure.draw()
    try:
        with styled():
            drawn.figure_.suptitle(figure.title)
            drawn.figure_.savefig(paths[0])
            drawn.figure_.savefig(paths[1], metadata={"Date": None})
    finally:
        plt.close(drawn.figure_)  # pyplot keeps figures otherwise
    figure.display.frame().to_csv(paths[2], float_format="%.5g")  # type: ignore[attr-defined]
    return paths
