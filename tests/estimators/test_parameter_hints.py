"""Parameters of other libraries: the error says what to do instead."""

import copy
import pickle
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import adacc

X = np.random.default_rng(0).normal(size=(60, 2))
y = np.arange(60) % 4 == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: adacc.AdaCCForestClassifier(class_weight="balanced"),
            "'class_weight': the forest balances",
        ),
        (lambda: adacc.AdaCCForestClassifier(is_unbalance=True), "'is_unbalance': .*pass sample_weight to fit"),
        (lambda: adacc.AdaCCForestClassifier(costs={0: 1, 1: 9}), "'costs': .*give a cost matrix as decision="),
        (lambda: adacc.AdaCCForestClassifier(100), "by name, such as n_estimators=..., got 100"),
        (lambda: adacc.AdaCC1Classifier(class_weight="balanced"), "'class_weight': .*costs='balanced'"),
        (lambda: adacc.AdaCC1Classifier(costs="balanced"), "'costs': this method takes none"),
        (
            lambda: adacc.AdaBoostClassifier(DecisionTreeClassifier()),
            "by name, such as estimator=..., got Dec",
        ),
        (lambda: adacc.AdaBoostClassifier(base_estimator=DecisionTreeClassifier()), "'base_estimator': use estimator="),
        (lambda: adacc.BoostingClassifier("cgada", 50), "by name, such as n_estimators=..., got 50"),
        (lambda: adacc.RUSBoostClassifier(sampling_strategy=0.5), "'sampling_strategy': RUSBoost.* sampling_ratio="),
    ],
)
def test_what_to_do_instead(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_the_advice_works():
    """What the errors say can be done."""
    weight = np.where(y, 3.0, 1.0)
    adacc.AdaCCForestClassifier(n_estimators=3).fit(X, y, sample_weight=weight)
    adacc.AdaCCForestClassifier(n_estimators=3, decision={True: 9, False: 1}).fit(X, y)
    adacc.CGAdaClassifier(n_estimators=3, costs="balanced").fit(X, y)
    adacc.AdaCC1Classifier(n_estimators=3, decision={True: 9, False: 1}, calibration="sigmoid").fit(X, y)
    adacc.AdaBoostClassifier(n_estimators=3, estimator=DecisionTreeClassifier(max_depth=1)).fit(X, y)


def test_set_params():
    with pytest.raises(ValueError, match="'class_weight': the forest balances"):
        adacc.AdaCCForestClassifier().set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        adacc.AdaCCForestClassifier().set_params(other=1)
    model = adacc.AdaBoostClassifier(estimator=DecisionTreeClassifier()).set_params(estimator__max_depth=3)
    assert model.estimator.max_depth == 3


def test_scikit_learns_ways_are_kept():
    class Own(adacc.AdaCC1Classifier):
        def __init__(self, n_estimators=7):
            super().__init__(n_estimators=n_estimators)

    assert Own(5).n_estimators == 5
    for model in (adacc.AdaCCForestClassifier(n_rounds=3), adacc.BoostingClassifier("cgada", n_estimators=3)):
        for again in (clone(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert again.get_params() == model.get_params()
        assert [*signature(type(model)).parameters] == [*signature(type(model).__init__).parameters][1:]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        adacc.AdaCC1Classifier(other=1)
