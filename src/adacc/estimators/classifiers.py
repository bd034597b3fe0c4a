"""One classifier per boosting method, and `BoostingClassifier`, which takes the method as a parameter."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from adacc.algorithms import Rule
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.parameters import parameters


@parameters
class BoostingClassifier(BaseBoosting):
    """Boosting classifier with any method, chosen by name.

    The options of the methods (`costs` to `k_neighbors`, `dialect`, `calibration`) are None by default, which selects
    the default of the method. An option that the method does not have is an error.

    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import BoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostingClassifier(method="cgada", costs={0: 5, 1: 1}, n_estimators=20).fit(X, y)
    >>> model.n_iter_
    20
    >>> model.history_["class_recall"][-1].round(2)
    array([1.  , 0.98])
    """

    method: str | Rule = field(default="adacc1", kw_only=False)
    dialect: str | None = None  # type: ignore[assignment]
    costs: Any = None
    alpha: str | None = None
    costs_on: str | None = None
    sampling_ratio: float | None = None
    n_synthetic: int | None = None
    k_neighbors: int | None = None


@parameters
class AdaCC1Classifier(BaseBoosting):
    """{summary}

    It needs no cost matrix: in each round the costs are computed from the error rates of the ensemble so far
    [Iosifidis, Papadopoulos, Rosenhahn & Ntoutsi 2022].

    {parameters}

    {example}
    """

    alpha: str = "error"

    _method = "adacc1"
    _example = ("n_estimators=50", 0.96)


@parameters
class AdaCC2Classifier(BaseBoosting):
    """{summary}

    It differs from `AdaCC1Classifier` in that the cost multiplies the weight, outside the exponent.

    {parameters}

    {example}
    """

    alpha: str = "error"

    _method = "adacc2"
    _example = ("n_estimators=50", 0.96)


@parameters
class AdaNCC1Classifier(BaseBoosting):
    """{summary}

    The non-cumulative variant of AdaCC1, for ablation: its costs come from the current round only.

    {parameters}

    {example}
    """

    alpha: str = "error"

    _method = "adan-cc1"
    _example = ("n_estimators=50", 0.95)


@parameters
class AdaNCC2Classifier(BaseBoosting):
    """{summary}

    The non-cumulative variant of AdaCC2, for ablation: its costs come from the current round only.

    {parameters}

    {example}
    """

    alpha: str = "error"

    _method = "adan-cc2"
    _example = ("n_estimators=50", 0.92)


@parameters
class AdaBoostClassifier(BaseBoosting):
    """{summary}

    Freund & Schapire 1997. More than two classes are boosted in pairs by default; ``multi_class="joint"`` is SAMME
    [Zhu et al. 2009].

    {parameters}

    {example}
    """

    _method = "adaboost"
    _example = ("n_estimators=50", 0.85)


@parameters
class CGAdaClassifier(BaseBoosting):
    """{summary}

    Landesa-Vázquez & Alba-Castro 2012.

    {parameters}

    {example}
    """

    costs: Any = "balanced"

    _method = "cgada"
    _example = ("n_estimators=50", 0.96)


@parameters
class AdaMECClassifier(BaseBoosting):
    """{summary}

    Ting 2000; calibrated as in Nikolaou et al. 2016.

    {parameters}

    {example}
    """

    costs: Any = "balanced"

    _method = "adamec"
    _example = ("costs=[1, 1.2], n_estimators=50", 0.95)


@parameters
class AdaCostClassifier(BaseBoosting):
    """{summary}

    Fan et al. 1999, with β₂.

    {parameters}

    {example}
    """

    costs: Any = "balanced"
    alpha: str = "error"

    _method = "adacost"
    _example = ("costs=[1, 1.2], n_estimators=50", 0.9)


@parameters
class CSB1Classifier(BaseBoosting):
    """{summary}

    Ting 2000.

    {parameters}

    {example}
    """

    costs: Any = "balanced"
    costs_on: str = "all"

    _method = "csb1"
    _example = ("costs=[1, 1.2], n_estimators=50", 0.74)


@parameters
class CSB2Classifier(BaseBoosting):
    """{summary}

    Ting 2000.

    {parameters}

    {example}
    """

    costs: Any = "balanced"
    costs_on: str = "all"

    _method = "csb2"
    _example = ("costs=[1, 1.05], n_estimators=50", 0.96)


@parameters
class AdaC1Classifier(BaseBoosting):
    """{summary}

    Sun et al. 2007.

    {parameters}

    {example}
    """

    costs: Any = "balanced"

    _method = "adac1"
    _example = ("costs=[1, 1.05], n_estimators=50", 0.89)


@parameters
class AdaC2Classifier(BaseBoosting):
    """{summary}

    Sun et al. 2007.

    {parameters}

    {example}
    """

    costs: Any = "balanced"

    _method = "adac2"
    _example = ("costs=[1, 1.05], n_estimators=50", 0.95)


@parameters
class AdaC3Classifier(BaseBoosting):
    """{summary}

    Sun et al. 2007.

    {parameters}

    {example}
    """

    costs: Any = "balanced"

    _method = "adac3"
    _example = ("costs=[1, 1.05], n_estimators=50", 0.95)


@parameters
class RareBoostClassifier(BaseBoosting):
    """{summary}

    Joshi, Kumar & Agarwal 2001.

    {parameters}

    {example}
    """

    _method = "rareboost"
    _example = ("n_estimators=50", 0.98)


@parameters
class RUSBoostClassifier(BaseBoosting):
    """{summary}

    Seiffert et al. 2010. The weak learner is fitted on a balanced sample; votes and weights are computed on all rows.
    Boosting stops when the weak learner is no better than chance on all rows, which often happens within a few rounds
    for stumps.

    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from adacc import RUSBoostClassifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> model = RUSBoostClassifier(random_state=0, n_estimators=50).fit(X, digit == 8)
    >>> bool(balanced_accuracy_score(digit == 8, model.predict(X)) > 0.6)
    True
    """

    sampling_ratio: float = 1.0

    _method = "rusboost"


@parameters
class SMOTEBoostClassifier(BaseBoosting):
    """{summary}

    Chawla et al. 2003; imbalanced-learn generates the synthetic rows (``pip install 'adacc[resampling]'``). Votes and
    weights are computed on the real rows. With ``dialect="authors"`` the synthetic rows stay in the training set for
    all later rounds, votes and weights are computed on real and synthetic rows, and each predicted class has its own
    vote, as in the public code that matches the SMOTEBoost results of the AdaCC paper. The rare class then grows from
    round to round, and its recall increases.

    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from adacc import SMOTEBoostClassifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> model = SMOTEBoostClassifier(random_state=0, n_estimators=50).fit(X, digit == 8)
    >>> bool(balanced_accuracy_score(digit == 8, model.predict(X)) > 0.8)
    True
    """

    n_synthetic: int = 100
    k_neighbors: int = 5

    _method = "smoteboost"
