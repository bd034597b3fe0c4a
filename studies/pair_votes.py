"""How the scores of pairs of classes are best combined: balanced accuracy and log loss of tanh(factor · margin).

python studies/pair_votes.py FOLDER

FOLDER has Parquet files with a column `target` of several classes. Three of scikit-learn's data sets are added; of the
digits, class k keeps (k + 1) / 10 of its rows. Three times three folds.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

import adacc

METHODS = "adacc1", "adacc2", "adaboost", "csb2"
FACTORS = 1, 2, 3, 4, 6, 10, 20
RESULTS = Path(__file__).resolve().parent / "results" / "pair_votes.csv"


def data_sets(folder):
    for file in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(file)
        yield file.stem, frame.drop(columns="target"), frame["target"].astype(str).to_numpy()
    for load in (load_iris, load_wine, load_digits):
        X, y = load(return_X_y=True)
        if load is load_digits:
            rank = pd.Series(y).groupby(y).cumcount().to_numpy()
            kept = rank < (np.bincount(y) * np.arange(1, 11) // 10)[y]
            X, y = X[kept], y[kept]
        yield load.__name__.removeprefix("load_"), pd.DataFrame(X).add_prefix("x"), y.astype(str)


def combinations_of(model, X):
    """Scores by class: of votes tanh(score), and of margins."""
    ensemble = model.fitted_model_.ensemble
    scores, codes = model.fitted_model_.scores(model._read_known(X)), ensemble.coding.codes
    margins = scores / ensemble.largest_scores()
    return {
        "tanh(score)": np.tanh(scores) @ codes,
        **{f"tanh({factor} margin)": np.tanh(factor * margins) @ codes for factor in FACTORS},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    records = []
    for name, X, y in data_sets(options.folder):
        for seed in range(3):
            for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
                for method in METHODS:
                    model = adacc.BoostingClassifier(method, multi_class="one_vs_one", random_state=0)
                    model.fit(X.iloc[train], y[train])
                    for votes, scores in combinations_of(model, X.iloc[test]).items():
                        predicted = model.classes_[scores.argmax(axis=1)]
                        p = np.clip(softmax(2.0 * scores, axis=1), 1e-9, 1.0)
                        accuracy = 100.0 * balanced_accuracy_score(y[test], predicted)
                        loss = log_loss(y[test], p, labels=model.classes_)
                        records.append((name, method, votes, accuracy, loss))
    columns = ["dataset", "method", "votes", "balanced_accuracy", "log_loss"]
    means = pd.DataFrame(records, columns=columns).groupby(columns[:3], sort=False).mean().round(4)
    means.to_csv(RESULTS)
    print(means.groupby(["votes", "method"], sort=False).mean().unstack().round(3).to_string())


if __name__ == "__main__":
    main()
