"""Costs by row, monotonic constraints, calibration and a decision rule in one model."""

import io

import dask.dataframe as dd
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.distributed import DaskBoostingClassifier
from adacc.estimators.base import restore
from adacc.export import to_onnx

METHODS = ["cgada", "csb2", "adac2"]
RULES = {"fn=amount, fp=3": True, "recall>=0.8": False}
"""Whether the rule names the column of the costs."""


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"debt": rng.normal(size=600), "income": rng.normal(size=600), "age": rng.normal(size=600)})
    risk = np.sin(3 * X["debt"]) + X["debt"] - 0.7 * X["income"] + rng.normal(size=600)
    return X.round(3), (risk > 2.0).astype(int).to_numpy(), rng.gamma(2.0, 2.0, 600).round(2)


def fitted(loans, method, rule, **changes):
    X, y, amount = loans
    given = {"n_estimators": 25, "monotonic_cst": {"debt": 1, "income": -1}, "calibration": "sigmoid", "decision": rule}
    model = adacc.BoostingClassifier(method, random_state=0, pos_label=1, **{**given, **changes})
    return model.fit(X, y, sample_cost=amount)


def is_monotonic(scores, sign):
    return bool((sign * np.diff(scores, axis=1) >= -1e-9).all())


def sweep(model, X, column):
    """Scores of some rows as one column rises; by row."""
    rows = X[:40].loc[np.repeat(np.arange(40), 50)].assign(**{column: np.tile(np.linspace(-4, 4, 50), 40)})
    return model.decision_function(rows).reshape(40, 50)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", METHODS)
def test_all_options_hold_at_once(loans, tmp_path, method, rule):
    X, y, amount = loans
    model = fitted(loans, method, rule)
    for column, sign in (("debt", 1), ("income", -1)):
        assert is_monotonic(sweep(model, X, column), sign)
    free = fitted(loans, method, rule, monotonic_cst=None)
    assert not is_monotonic(sweep(free, X, "debt"), 1)  # the constraint had something to do
    same_costs = adacc.BoostingClassifier(method, random_state=0, pos_label=1)
    same_costs.set_params(**model.get_params(deep=False)).fit(X, y)
    assert np.abs(same_costs.decision_function(X) - model.decision_function(X)).max() > 1e-3  # and so had the costs
    labels = model.predict(X, columns=amount if RULES[rule] else None)
    p = np.round(model.predict_proba(X)[:, 1], 12)
    if RULES[rule]:
        np.testing.assert_array_equal(labels, (p * amount >= (1 - p) * 3).astype(int))
    else:
        scores = np.round(model.decision_function(X), 10)
        np.testing.assert_array_equal(labels, (scores >= model.decision_.threshold).astype(int))
    assert 0 < labels.sum() < len(labels)
    for where, others in labels_elsewhere(model, X, amount, rule, tmp_path).items():
        np.testing.assert_array_equal(others, labels, err_msg=where)
    loaded = adacc.load(tmp_path / "m.adacc")
    assert loaded.monotonic_cst == {"debt": 1, "income": -1}
    assert loaded.decision_ == model.decision_


def labels_elsewhere(model, X, amount, rule, tmp_path):
    """From a loaded file, the command line, ONNX and Dask."""
    model.save(tmp_path / "m.adacc")
    table = X.assign(amount=amount)
    table.to_csv(tmp_path / "x.csv", index=False)
    code, out, err = command("predict", tmp_path / "m.adacc", tmp_path / "x.csv")
    assert code == 0, err
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    given = {"X": X.to_numpy(), **({"amount": amount[:, None]} if RULES[rule] else {})}
    on_dask = restore(DaskBoostingClassifier(**model.get_params(deep=False)), model.fitted_model_)
    rows = table if RULES[rule] else X
    return {
        "file": adacc.load(tmp_path / "m.adacc").predict(rows),
        "command": pd.read_csv(io.StringIO(out))["prediction"].to_numpy(),
        "onnx": session.run(["label"], given)[0],
        "dask": on_dask.predict(dd.from_pandas(rows, npartitions=3)).compute(),
    }
