"""Every method by its name. To add one:

1. write its rule (copy `AdaBoost` in ``adaboost.py`` and override what differs);
2. add a line to `METHODS` below, with its label;
3. add a small class to ``estimators/classifiers.py``;
4. transcribe it a second time, slowly, in ``tests/naive.py``: the tests then compare the two round by round.

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
    """A rule and what surrounds it: which rows the learner sees, what is done with the scores.

    Attributes
    ----------
    label : str
        The method's name in tables and figures.
    calibration : str or None
        The default of the option.
    decides_by_probability : bool
        Whether a calibrated model decides by its probabilities, as the papers of CGAda and AdaMEC have it. All others
        decide by their votes, calibrated or not: of a rare class even the surest rows may be less likely than not.
    """

    rule: type[Rule]
    label: str
    sampler: str | None = None
    calibration: str | None = None
    decides_by_probability: bool = False

    def options(self) -> dict[str, Any]:
        """Names of the options the method takes, each with its default."""
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


OF_THEIR_OWN = {"adacc-forest": "AdaCCForestClassifier"}
"""Methods that are no rule for the loop, and the classifier that each is."""


def find(method: str | Rule) -> tuple[str, Method]:
    """The method of a name, or one made of a rule object; the error for an unknown name offers the nearest ones."""
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
    """That a name is none of the known methods, with the nearest or all of them."""
    if method in OF_THEIR_OWN:
        return ValueError(f"method {method!r} is a classifier of its own: {OF_THEIR_OWN[method]}")
    known = list(known)
    hint = suggestion(method, known) or f"known are {', '.join(known)}"
    return ValueError(f"method {method!r} is unknown: {hint}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question that offers the nearest of the known names; empty where none is near.

    Examples
    --------
    >>> suggestion("addac2", METHODS)
    "did you mean 'adac2' or 'adacc2' or 'adac3'?"
    """
    near = get_close_matches(name.lower(), list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def resolve_options(method: str | Rule, given: Mapping[str, Any]) -> tuple[Method, Rule, dict[str, Any]]:
    """Method, rule and options for what a user gave, None meaning the method's default.

    An option that the method does not have is an error that names the methods which do.
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
