"""Whether what decision rules achieve on unseen rows lies within their intervals, on ten of the paper's data sets.

python studies/decision_intervals.py FOLDER [--rows 3000] [--seeds 1]

Each model is trained on some rows of a data set, its rules are tuned on its out-of-bag or held-out rows, and the other
rows show what they achieve. The table has, by rule, the number of data sets on which the measure of the rule is within
the 95 % interval, and the mean width of the interval.
"""

import argparse
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import adacc
from adacc.metrics import confusion

SETS = (
    "adult", "bank", "coil_2000", "credit", "electricity", "letter_img", "mammography", "pen_digits", "phoneme",
    "webpage",
)  # fmt: skip
MAX_TEST_ROWS = 20_000
RULES = {
    "recall>=0.9": "recall",
    "precision>=0.5": "precision",
    "alerts<=50/1000": "alerts_per_1000",
    "f1": "fbeta",
    "fbeta=2": "fbeta",
    "tuned cost=[[0, 1], [10, 0]]": "mean_cost",
    "tuned fn=10, fp=1": "mean_cost",
    "cost=[[0, 1], [10, 0]]": "mean_cost",
    "fn=10, fp=1": "mean_cost",
    "threshold=0.2": "precision",
    "score=0": "recall",
}


def achieved(measure, rule, y, predicted):
    """The measure on unseen rows, computed from the confusion matrix."""
    (_, fp), (fn, tp) = confusion(y, predicted, labels=[0, 1]).tolist()
    beta = 2.0 if "=2" in rule else 1.0
    return {
        "recall": tp / (tp + fn),
        "precision": tp / (tp + fp) if tp + fp else np.nan,
        "alerts_per_1000": 1000 * (tp + fp) / len(y),
        "fbeta": (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp),
        "mean_cost": (10 * fn + fp) / len(y),
    }[measure]


def models(seed):
    yield "forest", adacc.AdaCCForestClassifier(random_state=seed, calibration="sigmoid", pos_label=1)
    yield "AdaCC1", adacc.AdaCC1Classifier(random_state=seed, calibration="sigmoid", pos_label=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    inside, width, outside = defaultdict(list), defaultdict(list), []
    for name in SETS:
        frame = pd.read_parquet(options.folder / f"{name}.parquet")
        X, y = frame.drop(columns="target"), frame["target"].to_numpy()
        for seed in range(options.seeds):
            parts = train_test_split(X, y, train_size=options.rows, stratify=y, random_state=seed)
            X_train, X_test, y_train, y_test = parts
            X_test, y_test = X_test[:MAX_TEST_ROWS], y_test[:MAX_TEST_ROWS]
            for label, model in models(seed):
                model.fit(X_train, y_train)
                for rule, measure in RULES.items():
                    model.set_decision(rule)
                    stated = model.decision_.report.achieved[measure]
                    found = achieved(measure, rule, y_test, model.predict(X_test))
                    within = stated.low <= found <= stated.high
                    inside[label, rule].append(within)
                    width[label, rule].append(stated.high - stated.low)
                    if not within:
                        interval = f"{stated.value:.3f} [{stated.low:.3f}, {stated.high:.3f}]"
                        outside.append(f"{label:7} {name:12} {rule:30} {interval}, unseen rows {found:.3f}")
            print(name, seed, flush=True)
    for (label, rule), each in inside.items():
        print(f"{label:7} {rule:30} {sum(each):3} of {len(each):3}   mean width {np.mean(width[label, rule]):.3f}")
    print("\noutside:", *outside, sep="\n")


if __name__ == "__main__":
    main()
