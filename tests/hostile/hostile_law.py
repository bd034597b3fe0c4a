"""The law: every table works with sound results, or is refused by a sentence that says what is wrong with it."""

import linecache
import re
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import adacc

OURS = (Path(adacc.__file__).parent, Path(sklearn.__file__).parent)
"""Who may refuse: adacc, and scikit-learn's validation on its behalf."""

INTERNAL = re.compile(r"out of bounds|broadcast|zero-size|ufunc|reduction|singular|unhashable|internal", re.I)

TRIED = Counter()
"""Tables so far, by what became of them."""

REFUSED = Counter()
"""The reasons."""


class RefusalError(AssertionError):
    pass


def attempt(what, *args, **kwargs):
    """The result, or None where it was refused as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in (ConvergenceWarning, DataConversionWarning, adacc.UnseenCategoryWarning):
            warnings.simplefilter("ignore", known)
        warnings.filterwarnings("ignore", "X (does not have|has) (valid )?feature names")
        try:
            return what(*args, **kwargs)
        except (TypeError, ValueError) as error:
            check_refusal(error)
            REFUSED[re.sub(r"[-\d.]+|'.*'", "…", str(error))[:70]] += 1
            return None


def check_refusal(error):
    """It was raised by a statement that says so, not by an array operation somewhere below."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    deliberate = linecache.getline(frame.filename, frame.lineno).strip().startswith("raise")
    ours = any(Path(frame.filename).is_relative_to(folder) for folder in OURS)
    if not (deliberate and ours) or INTERNAL.search(str(error)) or len(str(error)) < 15:
        raise RefusalError(f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})") from error


def check_scores(model, n_rows, scores):
    many = len(model.classes_) > 2
    assert scores.shape == ((n_rows, len(model.classes_)) if many else (n_rows,))
    assert np.isfinite(scores).all()


def check_results(model, X, n_rows):
    """All that a fitted model says of X; whether it took X."""
    scores = attempt(model.decision_function, X)
    if scores is None:
        assert attempt(model.predict_proba, X) is None
        assert attempt(model.predict, X) is None
        assert attempt(lambda X: list(model.staged_predict(X)), X) is None
        return False
    check_scores(model, n_rows, scores)
    known = model.classes_.tolist()
    predicted = attempt(model.predict, X)
    assert predicted.shape == (n_rows,)
    assert all(label in known for label in predicted.tolist())
    chances = attempt(model.predict_proba, X)
    assert chances.shape == (n_rows, len(known))
    assert np.isfinite(chances).all()
    assert chances.min() >= 0.0
    assert chances.max() <= 1.0
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-9)
    staged = attempt(lambda X: list(model.staged_decision_function(X)), X)
    assert len(staged) == len(attempt(lambda X: list(model.staged_predict(X)), X)) == model.n_iter_
    for each in staged:
        check_scores(model, n_rows, each)
    explanation = attempt(model.explain, X)
    if explanation is not None:
        assert np.isfinite(explanation.contributions).all()
        if len(explanation.classes) == len(known):  # not of pairs of classes
            check_scores(model, n_rows, explanation.scores)
    return True


def check_model(model):
    importances = attempt(lambda: model.feature_importances_)
    assert importances.shape == (model.n_features_in_,)
    assert np.isfinite(importances).all()
    assert importances.min() >= 0.0
    assert importances.sum() <= 1.0 + 1e-9
    assert np.isfinite(model.fitted_model_.ensemble.factors).all()
    assert len(model.estimators_) == len(model.history_["alpha"]) >= model.n_iter_ >= 1


def judge(case):
    """Try a case; counts what became of it."""
    given = attempt_making(case)
    model = adacc.BoostingClassifier(case.method, **case.options)
    fitted = attempt(lambda: model.fit(**given))
    TRIED["to train on: worked" if fitted is not None else "to train on: refused"] += 1
    if fitted is None:
        assert not hasattr(model, "classes_")
        return
    check_model(model)
    X = given["X"]
    assert check_results(model, X, np.shape(X)[0])
    for other in case.to_predict():
        took = check_results(model, other, np.shape(other)[0])
        TRIED["to predict on: worked" if took else "to predict on: refused"] += 1


def attempt_making(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.training()
