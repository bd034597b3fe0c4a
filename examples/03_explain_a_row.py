"""What a model has learnt, and why it says what it says of one row: exact, not estimated.

Writes shape_functions.png and waterfall.png into the folder given (default: here).
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer

import adacc
from adacc.inspect import ShapeDisplay, WaterfallDisplay

mpl.use("Agg")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(y == 0, "malignant", "benign")
model = adacc.AdaCC1Classifier(n_estimators=100).fit(X, y)

explanation = model.explain(X, background=X)
gap = np.abs(explanation.contributions.sum(axis=1) + explanation.intercept - model.decision_function(X)).max()
print(f"Contributions add up to the score of every row; the largest gap is {gap:.0e}.\n")
print("What moves the score most, on average:")
print(explanation.importance().nlargest(5).round(2).to_string())

ShapeDisplay.from_estimator(model, X, max_features=6).plot().figure_.savefig(folder / "shape_functions.png")
doubtful = int(np.abs(model.decision_function(X)).argmin())
WaterfallDisplay.from_estimator(model, X, row=doubtful, background=X).plot().figure_.savefig(folder / "waterfall.png")
print(f"\nRow {doubtful}, the most doubtful, is {y[doubtful]}; the model says {model.predict(X.iloc[[doubtful]])[0]}.")
