"""The catalogue of methods: estimators, comparison, study, reports, command line and docs all read it.

To add a method: write its rule, add an entry here, a small class to ``estimators/classifiers.py``, and the formula a
second time to ``tests/naive.py``. CONTRIBUTING.md walks through an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from adacc.algorithms.adaboost import AdaBoost, AdaMEC, CGAda
from adacc.algorithms.adac import AdaC1, AdaC2, AdaC3
from adacc.algorithms.adacc import AdaCC1, AdaCC2, AdaNCC1, AdaNCC2
from adacc.algorithms.adacost import AdaCost
from adacc.algorithms.base import Rule
from adacc.algorithms.csb import CSB1, CSB2
from adacc.algorithms.rareboost import RareBoost
from adacc.algorithms.smoteboost import SMOTEBoost


@dataclass(frozen=True)
class Method:
    """An entry of the catalogue."""

    rule: type[Rule]  # the formulas
    label: str  # the method's name in tables, charts and reports
    estimator: str  # name of its scikit-learn class; a name, so that nothing is imported upward
    summary: str  # one line that says how it differs from the others
    reference: str  # authors and year
    sampler: str | None = None  # how rows are drawn each round; a key of `SAMPLER_OPTIONS`
    calibration: str | None = None  # default of the option `calibration`
    # Whether a calibrated model decides by its probabilities, as in the papers of CGAda and AdaMEC. All others decide
    # by their votes, calibrated or not: even the most certain rows of a rare class may have a probability below ½.
    decides_by_probability: bool = False

    def options(self) -> dict[str, Any]:
        """The options of the method with their defaults."""
        defaults: dict[str, Any] = {field.name: field.default for field in fields(self.rule)}
        if self.rule.uses_costs:
            defaults["costs"] = "balanced"
        # The published calibrated methods are calibrated on the training scores.
        defaults |= {
            "calibration": self.calibration,
            "calibration_cv": None if self.calibration is None else "training",
        }
        return defaults | SAMPLER_OPTIONS.get(self.sampler or "", {})

    @property
    def costs(self) -> str:
        """Where the costs come from: "given" by the user, "learned" by the method, or "none"."""
        return "given" if self.rule.uses_costs else "learned" if self.rule.costs_follow else "none"


SAMPLER_OPTIONS: dict[str, dict[str, Any]] = {
    "under-sample": {"sampling_ratio": 1.0},
    "smote": {"n_synthetic": 100, "k_neighbors": 5},
}

METHODS: dict[str, Method] = {
    "adaboost": Method(AdaBoost, "AdaBoost", "AdaBoostClassifier",
        "all errors cost the same", "Freund & Schapire 1997; Zhu et al. 2009"),
    "cgada": Method(CGAda, "CGAda", "CGAdaClassifier",
        "AdaBoost from cost-weighted initial weights", "Landesa-Vázquez & Alba-Castro 2012",
        decides_by_probability=True),
    "adamec": Method(AdaMEC, "AdaMEC", "AdaMECClassifier",
        "AdaBoost, then the decision of minimum expected cost", "Ting 2000; Nikolaou et al. 2016",
        decides_by_probability=True),
    "csb1": Method(CSB1, "CSB1", "CSB1Classifier", "weights times cost, with a constant step", "Ting 2000"),
    "csb2": Method(CSB2, "CSB2", "CSB2Classifier", "weights times cost, with AdaBoost's step", "Ting 2000"),
    "adacost": Method(AdaCost, "AdaCost", "AdaCostClassifier",
        "costs adjust the exponent, upwards for errors and downwards for correct predictions", "Fan et al. 1999"),
    "adac1": Method(AdaC1, "AdaC1", "AdaC1Classifier", "the cost inside the exponent", "Sun et al. 2007"),
    "adac2": Method(AdaC2, "AdaC2", "AdaC2Classifier", "the cost outside the exponent", "Sun et al. 2007"),
    "adac3": Method(AdaC3, "AdaC3", "AdaC3Classifier",
        "the cost inside the exponent and outside it", "Sun et al. 2007"),
    "rareboost": Method(RareBoost, "RareBoost", "RareBoostClassifier",
        "positive and negative predictions vote with different strength", "Joshi et al. 2001"),
    "adacc1": Method(AdaCC1, "AdaCC1", "AdaCC1Classifier",
        "the class that is misclassified more gets the higher cost, inside the exponent", "Iosifidis et al. 2022"),
    "adacc2": Method(AdaCC2, "AdaCC2", "AdaCC2Classifier",
        "the class that is misclassified more gets the higher cost, outside the exponent", "Iosifidis et al. 2022"),
    "adan-cc1": Method(AdaNCC1, "AdaN-CC1", "AdaNCC1Classifier",
        "AdaCC1 with costs from the current weak learner alone", "Iosifidis et al. 2022"),
    "adan-cc2": Method(AdaNCC2, "AdaN-CC2", "AdaNCC2Classifier",
        "AdaCC2 with costs from the current weak learner alone", "Iosifidis et al. 2022"),
    "adamec-cal": Method(AdaMEC, "AdaMEC-Cal.", "AdaMECClassifier",
        "AdaBoost, then the decision of minimum expected cost; calibrated", "Ting 2000; Nikolaou et al. 2016",
        calibration="sigmoid", decides_by_probability=True),
    "cgada-cal": Method(CGAda, "CGAda-Cal.", "CGAdaClassifier",
        "AdaBoost from cost-weighted initial weights; calibrated", "Landesa-Vázquez & Alba-Castro 2012",
        calibration="sigmoid", decides_by_probability=True),
    "rusboost": Method(AdaBoost, "RUSBoost (adacc)", "RUSBoostClassifier",
        "each round's learner sees the rare rows and a fresh draw of the others", "Seiffert et al. 2010",
        sampler="under-sample"),
    "smoteboost": Method(SMOTEBoost, "SMOTEBoost", "SMOTEBoostClassifier",
        "each round's learner sees fresh synthetic rows of the rarer classes", "Chawla et al. 2003", sampler="smote"),
}  # fmt: skip
"""The methods that boost once on all rows, by name."""

FORESTS: dict[str, Method] = {
    "adacc-forest": Method(AdaCC2, "AdaCC forest", "AdaCCForestClassifier",
        "AdaCC2, gradient boosting and logistic regression on bags of rows", "adacc itself"),
}  # fmt: skip
"""Methods that boost on many bags of rows."""

CATALOG = METHODS | FORESTS

ESTIMATORS = ("BoostingClassifier", *dict.fromkeys(method.estimator for method in CATALOG.values()))
"""Names of all estimator classes, in the order of the catalogue."""


def methods() -> list[str]:
    """The names of all methods, as `BoostingClassifier` takes them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import adacc
    >>> adacc.methods()[:3]
    ['adaboost', 'cgada', 'adamec']
    """
    return list(METHODS)


def find(method: str | Rule) -> tuple[str, Method]:
    """The method of a name, or one made of a rule object; the error for an unknown name suggests similar ones."""
    if isinstance(method, Rule):
        known = (each for each in METHODS.values() if each.rule is type(method) and each.sampler is None)
        name = type(method).__name__
        return name, next(known, Method(type(method), name, "BoostingClassifier", "a rule of your own", ""))
    if not isinstance(method, str):
        raise TypeError(f"method must be a name or a Rule, got {type(method).__name__}: {method!r}")
    if method not in METHODS:
        raise unknown(method, METHODS)
    return method, METHODS[method]


def unknown(method: str, known: Iterable[str]) -> ValueError:
    """The error for a name that is none of the known methods; it suggests similar ones, or lists all."""
    if method in FORESTS:
        return ValueError(f"method {method!r} has a classifier of its own: {FORESTS[method].estimator}")
    known = list(known)
    hint = suggestion(method, known) or f"known are {', '.join(known)}"
    return ValueError(f"method {method!r} is unknown: {hint}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question that suggests the known names most similar to `name`; empty if none is similar.

    Examples
    --------
    >>> suggestion("addac2", METHODS)
    "did you mean 'adac2' or 'adacc2' or 'adac3'?"
    """
    similar = get_close_matches(name.lower(), list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, similar))}?" if similar else ""


def resolve_options(method: str | Rule, given: Mapping[str, Any]) -> tuple[Method, Rule, dict[str, Any]]:
    """Method, rule and options, from the options given by the user; None stands for the default of the method.

    An option of other methods is an error that names these methods.
    """
    name, found = find(method)
    options = found.options()
    if isinstance(method, Rule):
        options |= {field.name: getattr(method, field.name) for field in fields(method)}
    for option, value in given.items():
        if value is None:
            continue
        if option not in options:
            others = [other for other, entry in METHODS.items() if option in entry.options()]
            raise ValueError(
                f"{name} has no option {option!r} (given {value!r}); it belongs to {', '.join(others)}. "
                f"{name} takes {', '.join(options)}"
            )
        options[option] = value
    rule = found.rule(**{field.name: options[field.name] for field in fields(found.rule)})
    return found, rule, options
