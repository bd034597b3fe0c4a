"""Shape functions of a model, and the exact contributions to the score of one row.

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
print("Largest mean absolute contributions:")
print(explanation.importance().nlargest(5).round(2).to_string())

ShapeDisplay.from_estimator(model, X, max_features=6).plot().figure_.savefig(folder / "shape_functions.png")
uncertain = int(np.abs(model.decision_function(X)).argmin())
WaterfallDisplay.from_estimator(model, X, row=uncertain, background=X).plot().figure_.savefig(folder / "waterfall.png")
predicted = model.predict(X.iloc[[uncertain]])[0]
print(f"\nRow {uncertain}, with the score nearest to 0, is {y[uncertain]}; the model predicts {predicted}.")
