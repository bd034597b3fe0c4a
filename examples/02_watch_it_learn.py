"""Why AdaCC finds more rare rows: training history and decision boundaries.

Writes watch_it_learn.png and decision_boundaries.png into the folder given (default: here).
"""

import sys
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import adacc
from adacc.datasets import make_toy
from adacc.inspect import BoundaryDisplay, TrainingDisplay

mpl.use("Agg")
ROUNDS, WINDOW = 200, 15
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

X, digit = load_digits(return_X_y=True)
X_train, _, y_train, _ = train_test_split(X, digit == 8, stratify=digit, random_state=0)
models = {
    "AdaBoost": adacc.AdaBoostClassifier(n_estimators=ROUNDS),
    "AdaCC1": adacc.AdaCC1Classifier(n_estimators=ROUNDS),
    "AdaCC2": adacc.AdaCC2Classifier(n_estimators=ROUNDS),
    "AdaN-CC1": adacc.AdaNCC1Classifier(n_estimators=ROUNDS),
}
display = TrainingDisplay.from_estimators({name: model.fit(X_train, y_train) for name, model in models.items()})
rounds = display.frame().set_index("round").groupby("method", sort=False)[["tpr", "balanced_error"]]
smooth = TrainingDisplay(rounds.rolling(WINDOW, center=True, min_periods=1).median().reset_index())
figure = smooth.plot(["tpr", "balanced_error"]).figure_
figure.suptitle(f"Training history, rolling median over {WINDOW} rounds")
figure.savefig(folder / "watch_it_learn.png")

X, y = make_toy(5, 20)
models = {
    name: adacc.BoostingClassifier(name.lower(), n_estimators=5).fit(X, y) for name in ("AdaBoost", "AdaCC1", "AdaCC2")
}
BoundaryDisplay.from_estimators(models, X, y).plot().figure_.savefig(folder / "decision_boundaries.png")

last = display.frame().query("round == 25")[["method", "rare_weight", "tpr", "tnr", "balanced_error"]]
print(
    f"After 25 rounds on {len(y_train)} digits, {y_train.sum()} of them an 8:\n{last.round(3).to_string(index=False)}"
)
