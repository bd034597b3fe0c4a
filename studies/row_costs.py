"""Compares methods by savings where every row has its own cost, and fills the marked sections of docs/row-costs.md.

    python studies/row_costs.py --data DIR --jobs 2   # DIR/credit.parquet: credit card clients in Taiwan
    python studies/row_costs.py                       # only the tables, from studies/results/row_costs.csv

A missed positive row costs its amount, an alarm a constant, right or wrong [Correa Bahnsen et al. 2014]. All methods
have one thread and the same folds; folds that the results have are not run again. Methods of empulse (pip install
empulse xgboost) are left out if it is absent.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from document import fill
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import adacc
from adacc.evaluation import statistics as stats
from adacc.metrics import naive_baseline, savings_score

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "row_costs.csv"
DOCUMENT = HERE.parent / "docs" / "row-costs.md"
FOLDS, REPEATS = 5, 2
REFERENCE = "AdaCC forest", "expected cost"
DEPTH = 3


@dataclass(frozen=True)
class Rows:
    """Features, labels (1: positive) and amounts of rows, and the cost of an alarm."""

    X: np.ndarray
    y: np.ndarray
    amount: np.ndarray
    alarm: float

    def take(self, rows: np.ndarray) -> Rows:
        return replace(self, X=self.X[rows], y=self.y[rows], amount=self.amount[rows])

    @property
    def costs(self) -> dict[str, Any]:
        return {"fn_cost": self.amount, "fp_cost": self.alarm, "tp_cost": self.alarm}

    @property
    def sample_cost(self) -> np.ndarray:
        """What the wrong prediction costs more than the right one: only differences of costs matter [Elkan 2001]."""
        return np.where(self.y == 1, np.maximum(self.amount - self.alarm, 0.0), self.alarm)


def credit(folder: Path) -> Rows:
    """30,000 credit card clients, 22 % of whom default; the amount is the credit limit (Taiwan dollars)."""
    frame = pd.read_parquet(folder / "credit.parquet")
    y = frame.pop("target").to_numpy()
    return Rows(frame.to_numpy(float), y, frame["LIMIT_BAL"].to_numpy(float), alarm=25_000.0)


def fraud(n_rows: int = 40_000, seed: int = 0) -> Rows:
    """Transactions, 1 % of them fraud, with log-normal amounts, which are larger for fraud.

    Fraud of two kinds shifts one of two features each, and a third one a little; it widens a fourth, and moves a fifth
    in the direction of the sign of a sixth. Four features are noise, and the logarithm of the amount is a feature.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.01).astype(int)
    amount = np.exp(rng.normal(4.0 + 0.4 * y, 1.3))
    X = rng.normal(size=(n_rows, 10))
    kind = rng.integers(2, size=n_rows)
    X[np.arange(n_rows), kind] += 2.0 * y
    X[:, 2] += 0.8 * y
    X[:, 3] *= 1.0 + 0.8 * y
    X[:, 4] += y * np.sign(X[:, 5])
    return Rows(np.column_stack([X, np.log(amount)]), y, amount, alarm=20.0)


class Fitted(NamedTuple):
    """A fitted model's own predictions and its probabilities of the positive class; None: not evaluated."""

    predict: Callable[[np.ndarray], np.ndarray] | None
    probability: Callable[[np.ndarray], np.ndarray] | None


def positive(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: model.predict_proba(X)[:, 1]


def forest(rows: Rows) -> Fitted:
    model = adacc.AdaCCForestClassifier(calibration="sigmoid", random_state=0).fit(rows.X, rows.y)
    return Fitted(model.predict, positive(model))


def booster(method: str, by_row: bool, rows: Rows) -> Fitted:
    """A method of adacc on trees, with or without the costs of the rows, calibrated on held-out rows."""
    model = adacc.BoostingClassifier(method, max_depth=DEPTH, random_state=0)
    params = {"sample_cost": rows.sample_cost} if by_row else {}
    if method == "cgada":  # its own calibration is weighted by cost
        model.set_fit_request(sample_cost=True)
        calibrated = CalibratedClassifierCV(model, cv=3, ensemble=False).fit(rows.X, rows.y, **params)
        return Fitted(model.fit(rows.X, rows.y, **params).predict, positive(calibrated))
    model.set_params(calibration="sigmoid", calibration_cv=3).fit(rows.X, rows.y, **params)
    return Fitted(model.predict, positive(model))


def boosting() -> Any:
    return HistGradientBoostingClassifier(random_state=0)


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def plain(make: Callable[[], Any], rows: Rows) -> Fitted:
    return Fitted(None, positive(make().fit(rows.X, rows.y)))


def tuned(make: Callable[[], Any], rows: Rows) -> Fitted:
    """One threshold for all rows, of the largest savings on a quarter of the training rows, as in scikit-learn's
    example "Post-tuning the decision threshold for cost-sensitive learning".
    """
    scorer = make_scorer(savings_score, fp_cost=rows.alarm, tp_cost=rows.alarm, pos_label=1)
    scorer.set_score_request(fn_cost=True)
    model = TunedThresholdClassifierCV(make(), scoring=scorer, cv=0.75, refit=True, random_state=0)
    return Fitted(model.fit(rows.X, rows.y, fn_cost=rows.amount).predict, None)


def of_empulse(make: Callable[[], Any], rows: Rows) -> Fitted:
    scaler = StandardScaler().fit(rows.X)
    model = make().fit(scaler.transform(rows.X), rows.y, tn_cost=0.0, **rows.costs)
    return Fitted(
        lambda X: model.predict(scaler.transform(X)), lambda X: model.predict_proba(scaler.transform(X))[:, 1]
    )


METHODS: dict[str, Callable[[Rows], Fitted]] = {
    REFERENCE[0]: forest,
    **{f"{name} without costs": partial(booster, name, False) for name in ("adaboost", "adacc1")},
    **{name: partial(booster, name, True) for name in ("cgada", "csb1", "csb2", "adacost", "adac1", "adac2", "adac3")},
    "HistGradientBoosting": partial(plain, boosting),
    "HistGradientBoosting, tuned threshold": partial(tuned, boosting),
    "logistic regression": partial(plain, logistic),
    "logistic regression, tuned threshold": partial(tuned, logistic),
}

try:
    from empulse.models import CSBoostClassifier, CSForestClassifier, CSLogitClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier
except ImportError:
    pass
else:
    # The defaults of CSBoost save nothing on the fraud table: smaller trees and larger leaves are better there.
    METHODS |= {
        "CSBoost (empulse), XGBoost": partial(
            of_empulse, lambda: CSBoostClassifier(XGBClassifier(max_depth=3, learning_rate=0.1, n_jobs=1))
        ),
        "CSBoost (empulse), LightGBM": partial(
            of_empulse, lambda: CSBoostClassifier(LGBMClassifier(num_leaves=7, min_child_weight=0, verbose=-1))
        ),
        "CSLogit (empulse)": partial(of_empulse, lambda: CSLogitClassifier(C=100.0, l1_ratio=0.0)),
        "CSForest (empulse)": partial(
            of_empulse,
            lambda: CSForestClassifier(50, min_samples_leaf=10, combination="weighted_voting", random_state=0),
        ),
    }


def evaluate(name: str, rows: Rows, fold: int) -> list[dict[str, Any]]:
    """Savings of every method and decision on one fold."""
    sklearn.set_config(enable_metadata_routing=True)
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(rows.X, rows.y)
    train, test = list(folds)[fold]
    held_out, found = rows.take(test), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, fit in METHODS.items():
            began = time.process_time()
            fitted = fit(rows.take(train))
            seconds = time.process_time() - began
            decisions = {}
            if fitted.probability is not None:
                decisions["expected cost"] = fitted.probability(held_out.X) * held_out.amount > rows.alarm
            if fitted.predict is not None:
                decisions["own"] = fitted.predict(held_out.X)
            for decision, alarms in decisions.items():
                savings = savings_score(held_out.y, alarms.astype(int), pos_label=1, **held_out.costs)
                found.append(
                    {"table": name, "method": method, "decision": decision, "fold": fold, "savings": savings,
                     "alarms": alarms.mean(), "seconds": seconds}
                )  # fmt: skip
    return found


def run(tables: dict[str, Rows], n_jobs: int) -> None:
    """Add the folds that the results lack."""
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["table", "fold"])
    known = set(zip(done["table"], done["fold"], strict=True))
    missing = [(name, fold) for fold in range(FOLDS * REPEATS) for name in tables if (name, fold) not in known]
    with ProcessPoolExecutor(n_jobs) as workers:
        running = [workers.submit(evaluate, name, tables[name], fold) for name, fold in missing]
        for finished in as_completed(running):
            done = pd.concat([done, pd.DataFrame(finished.result())], ignore_index=True)
            ordered = done.sort_values(["table", "fold"], kind="stable")
            ordered.to_csv(RESULTS, index=False, float_format="%.5f")
    for name, rows in tables.items():
        baseline = naive_baseline(rows.y, pos_label=1, **rows.costs)
        print(f"{name}: savings over predicting always {baseline.prediction}")


def table_of(results: pd.DataFrame) -> str:
    """Mean savings by method and decision, and their difference to those of the reference."""
    savings = results.pivot_table("savings", "fold", ["method", "decision"])
    others = results.groupby(["method", "decision"])[["alarms", "seconds"]].mean()
    against = savings[REFERENCE].to_numpy()
    wilcoxon = stats.wilcoxon_tests(savings.to_numpy(), savings.columns.get_loc(REFERENCE))
    lines = [
        "| Method | decision | savings % | difference | p (t) | p (Wilcoxon) | alarms % | s |",
        f"|---|---|{'---:|' * 6}",
    ]
    for pair in savings.mean().sort_values(ascending=False, kind="stable").index:
        tested = stats.resampled_t_test(savings[pair].to_numpy() - against, 1 / (FOLDS - 1))
        p_value = wilcoxon[savings.columns.get_loc(pair)]
        compared = (
            ("", "", "")
            if pair == REFERENCE
            else (f"{100 * tested.mean:+.1f} ± {100 * tested.margin:.1f}", f"{tested.p_value:.3f}", f"{p_value:.3f}")
        )
        alarms, seconds = others.loc[pair]
        cells = [*pair, f"{100 * savings[pair].mean():.1f}", *compared, f"{100 * alarms:.1f}", f"{seconds:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of credit.parquet; None: only the tables")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.data is not None:
        run({"credit": credit(options.data), "fraud": fraud()}, options.jobs)
    results = pd.read_csv(RESULTS)
    fill(DOCUMENT, {name: table_of(results[results["table"] == name]) for name in ("credit", "fraud")})


if __name__ == "__main__":
    main()
