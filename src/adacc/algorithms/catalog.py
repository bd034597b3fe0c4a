"""The catalogue of methods. To add one:

1. write its rule (copy `AdaBoost` in ``adaboost.py`` and override what differs);
2. add a line to `METHODS` below, with its label;
3. add a small class to ``estimators/classifiers.py``;
4. write a naive implementation in ``tests/naive.py``: the tests compare the two round by round.

CONTRIBUTING.md walks through it with an example.
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
    """A rule with its sampler and the handling of its scores.

    Attributes
    ----------
    label : str
        Name in tables and figures.
    calibration : str or None
        Default of the option `calibration`.
    decides_by_probability : bool
        Whether a calibrated model predicts by its probabilities, as in the papers of CGAda and AdaMEC. All other
        methods predict by their votes: all rows of a rare class may have probabilities below 0.5.
    """

    rule: type[Rule]
    label: str
    sampler: str | None = None
    calibration: str | None = None
    decides_by_probability: bool = False

    def options(self) -> dict[str, Any]:
        """The options of the method with their defaults."""
        defaults: dict[str, Any] = {field.name: field.default for field in fields(self.rule)}
        if self.rule.uses_costs:
            defaults["costs"] = "balanced"
        defaults |= {"calibration": self.calibration, "calibration_cv": None}
        return defaults | SAMPLER_OPTIONS.get(self.sampler or "", {})


SAMPLER_OPTIONS: dict[str, dict[str, Any]] = {
    "under-sample": {"sampling_ratio": 1.0},
    "smote": {"n_synthetic": 100, "k_neighbors": 5},
}

METHODS: dict[str, Method] = {
    "adaboost": Method(AdaBoost, "AdaBoost"),
    "cgada": Method(CGAda, "CGAda", decides_by_probability=True),
    "adamec": Method(AdaMEC, "AdaMEC", decides_by_probability=True),
    "csb1": Method(CSB1, "CSB1"),
    "csb2": Method(CSB2, "CSB2"),
    "adacost": Method(AdaCost, "AdaCost"),
    "adac1": Method(AdaC1, "AdaC1"),
    "adac2": Method(AdaC2, "AdaC2"),
    "adac3": Method(AdaC3, "AdaC3"),
    "rareboost": Method(RareBoost, "RareBoost"),
    "adacc1": Method(AdaCC1, "AdaCC1"),
    "adacc2": Method(AdaCC2, "AdaCC2"),
    "adan-cc1": Method(AdaNCC1, "AdaN-CC1"),
    "adan-cc2": Method(AdaNCC2, "AdaN-CC2"),
    "adamec-cal": Method(AdaMEC, "AdaMEC-Cal.", calibration="sigmoid", decides_by_probability=True),
    "cgada-cal": Method(CGAda, "CGAda-Cal.", calibration="sigmoid", decides_by_probability=True),
    "rusboost": Method(AdaBoost, "RUSBoost (adacc)", sampler="under-sample"),
    "smoteboost": Method(SMOTEBoost, "SMOTEBoost", sampler="smote"),
}


def methods() -> list[str]:
    """Names of all methods, as `BoostingClassifier` takes them.

    Examples
    --------
    >>> import adacc
    >>> adacc.methods()[:3]
    ['adaboost', 'cgada', 'adamec']
    """
    return list(METHODS)


SEPARATE_CLASSIFIERS = {"adacc-forest": "AdaCCForestClassifier"}
"""Methods without a rule for the boosting loop, and their classifiers."""


def find(method: str | Rule) -> tuple[str, Method]:
    """The method of a name or of a rule object; the error for an unknown name suggests similar names."""
    if isinstance(method, Rule):
        known = (each for each in METHODS.values() if each.rule is type(method) and each.sampler is None)
        name = type(method).__name__
        return name, next(known, Method(type(method), name))
    if not isinstance(method, str):
        raise TypeError(f"method must be a name or a Rule, got {type(method).__name__}: {method!r}")
    if method not in METHODS:
        raise unknown(method, METHODS)
    return method, METHODS[method]


def unknown(method: str, known: Iterable[str]) -> ValueError:
    """Error for an unknown method, which suggests similar names or lists all."""
    if method in SEPARATE_CLASSIFIERS:
        return ValueError(f"method {method!r} has its own classifier: {SEPARATE_CLASSIFIERS[method]}")
    known = list(known)
    hint = suggestion(method, known) or f"known are {', '.join(known)}"
    return ValueError(f"method {method!r} is unknown: {hint}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question that suggests similar known names; empty if there are none.

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
