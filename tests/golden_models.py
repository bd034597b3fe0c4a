"""Write the golden model files of tests/estimators/golden: `python tests/golden_models.py`.

A golden file shows what an earlier adacc has written, so that no file that exists is written again. To add one, add a
line to MODELS. Beside each file a JSON document has rows, the model's answers for them, and the training rows.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

import adacc
from adacc.model.serialization import archive

GOLDEN = Path(__file__).parent / "estimators" / "golden"

N_TRAINING, N_ASKED = 60, 12
WARM = {"n_estimators": 5, "warm_start": True, "random_state": 0}

MODELS = {
    "format-1-three-classes": (adacc.AdaCC2Classifier(n_estimators=8), "frame", "three"),
    "format-1-trees": (adacc.AdaCC1Classifier(n_estimators=6, max_depth=3, random_state=0), "frame", "two"),
    "format-1-forest": (
        adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=2, max_depth=3, random_state=0),
        "numbers",
        "two",
    ),
    "format-1-forest-three-classes": (
        adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=2, max_depth=3, calibration="sigmoid", random_state=0),
        "frame",
        "three",
    ),
    "format-1-sigmoid-cv": (
        adacc.AdaCC2Classifier(n_estimators=6, calibration="sigmoid", calibration_cv=3, random_state=0),
        "numbers",
        "two",
    ),
    "format-1-isotonic-votes": (adacc.AdaCC1Classifier(n_estimators=6, calibration="isotonic"), "numbers", "two"),
    "format-1-adamec-costs": (adacc.AdaMECClassifier(n_estimators=6, costs={"ok": 1, "fraud": 7.5}), "numbers", "two"),
    "format-1-early-stopping": (
        adacc.AdaCC1Classifier(n_estimators=10, n_iter_no_change=3, random_state=3),
        "numbers",
        "two",
    ),
    "format-1-warm-start-costs": (adacc.CGAdaClassifier(costs={"ok": 0.25, "fraud": 2}, **WARM), "numbers", "two"),
    "format-1-warm-start-trees": (adacc.AdaC2Classifier(max_depth=2, max_features=0.5, **WARM), "numbers", "three"),
    "format-1-warm-start-sampler": (adacc.BoostingClassifier("rusboost", sampling_ratio=0.5, **WARM), "frame", "two"),
    "format-1-warm-start-subsample": (
        adacc.AdaNCC1Classifier(subsample=0.5, rates="out-of-bag", max_bins=16, **WARM),
        "numbers",
        "two",
    ),
    "format-2-warm-start-costs": (adacc.CGAdaClassifier(costs={"ok": 0.25, "fraud": 2}, **WARM), "numbers", "two"),
    "format-2-warm-start-trees": (adacc.AdaC2Classifier(max_depth=2, max_features=0.5, **WARM), "numbers", "three"),
}


def table(n_rows, seed):
    """Rows as a frame, as numbers, and their labels."""
    rng = np.random.default_rng(seed)
    rare, third = np.arange(n_rows) % 4 == 0, np.arange(n_rows) % 5 % 3
    numbers = rng.normal(size=(n_rows, 3)).round(2)
    numbers[:, 0] += rare
    numbers[:, 2] += third
    numbers[::7, 1] = np.nan
    frame = pd.DataFrame(
        {
            "amount": numbers[:, 0],
            "gaps": numbers[:, 1],
            "text": [("a", "b", "ü", None)[(i // 2 + rare[i]) % 4] for i in range(n_rows)],
            "flag": [bool((i // 3 + third[i]) % 2) for i in range(n_rows)],
            "mixed": np.array([(1, "1", 2.5, None)[(i + third[i]) % 4] for i in range(n_rows)], dtype=object),
        }
    )
    labels = {"two": np.where(rare, "fraud", "ok"), "three": np.array(["high", "low", "mid"])[third]}
    return {"frame": frame, "numbers": numbers.round(2)}, labels


def as_json(X):
    """Rows that `from_json` reads again: None for NaN."""
    rows = X.to_dict("records") if isinstance(X, pd.DataFrame) else X.tolist()
    return json.loads(json.dumps(rows), parse_constant=lambda _: None)


def from_json(rows):
    """Rows as a model takes them: a frame, or an array of numbers."""
    return pd.DataFrame(rows) if isinstance(rows[0], dict) else np.array(rows, dtype=float)


def expected(model, training, asked):
    """What a golden model must answer for ever."""
    X = from_json(asked)
    return {
        "model": repr(model),
        "notes": {"labels": model.classes_.tolist()},
        "rows": asked,
        "predict": model.predict(X).tolist(),
        "decision_function": model.decision_function(X).tolist(),
        "predict_proba": model.predict_proba(X).tolist(),
        "class_recall": model.history_["class_recall"][-1].tolist(),
        "training": training,
    }


def write(name):
    assert name.startswith(f"format-{archive.VERSION}-")
    model, kind, labels = MODELS[name]
    (X, y), (asked, _) = table(N_TRAINING, seed=7), table(N_ASKED, seed=8)
    training = {"X": as_json(X[kind]), "y": y[labels].tolist()}
    model.fit(from_json(training["X"]), training["y"])
    answers = expected(model, training, as_json(asked[kind]))
    model.save(GOLDEN / f"{name}.adacc", notes=answers["notes"])
    (GOLDEN / f"{name}.json").write_text(json.dumps(answers, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    for each in MODELS:
        if not (GOLDEN / f"{each}.adacc").exists():
            write(each)
