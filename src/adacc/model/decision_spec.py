"""Decision rules as text and as plain data: what is asked for, before a threshold is tuned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.model.cost_matrix import read_cost_matrix

FORMS = (
    "recall>=0.9",
    "precision>=0.5",
    "alerts<=20/1000",
    "top=50",
    "top=50 per day of COLUMN",
    "f1",
    "fbeta=2",
    "threshold=0.3",
    "score=0",
    "cost=[[0, 1], [20, 0]]",
    'cost={"fraud": 20, "fine": 1}',
    "fn=COLUMN, fp=5",
)
"""One example of every rule; "tuned" may precede the rules with costs."""

TUNED = ("recall", "precision", "alerts", "fbeta")
"""Rules whose threshold is always tuned."""

NAME = r'"(?:[^"]|"")*"|[^,]+'


@dataclass(frozen=True)
class DecisionSpec:
    """A decision rule.

    Attributes
    ----------
    kind : {"recall", "precision", "alerts", "top", "fbeta", "threshold", "score", "cost", "row_cost"}
        What the rule asks for.
    value : float
        Its number: the least recall or precision, the largest number of alerts, beta, or the threshold.
    per : float
        "alerts": the number of rows to which `value` refers.
    day_of : str or None
        "top": the column of times by whose days the rows are ranked; None if all rows of a batch are.
    costs : mapping, array or tuple
        "cost": the costs as `read_cost_matrix` takes them; a tuple of tuples after `for_classes`.
    fn, fp : float or str
        "row_cost": cost of a false negative and of a false positive; a str is the name of a column.
    tuned : bool
        Whether the threshold of a rule with costs is that of the lowest cost on tuning rows. Otherwise the expected
        cost is minimized, which needs calibrated probabilities.
    """

    kind: str
    value: float = 0.0
    per: float = 1000.0
    day_of: str | None = None
    costs: Any = None
    fn: float | str = 1.0
    fp: float | str = 1.0
    tuned: bool = False

    def __str__(self) -> str:
        prefix = "tuned " if self.tuned else ""
        if self.kind == "cost":
            return f"{prefix}cost={json.dumps(_plain(self.costs))}"
        if self.kind == "row_cost":
            return f"{prefix}fn={_quoted(self.fn)}, fp={_quoted(self.fp)}"
        if self.kind == "fbeta":
            return "f1" if self.value == 1.0 else f"fbeta={_exact(self.value)}"
        sign = {"recall": ">=", "precision": ">=", "alerts": "<="}.get(self.kind, "=")
        suffix = f"/{_exact(self.per)}" if self.kind == "alerts" else ""
        suffix += f" per day of {_quoted(self.day_of)}" if self.day_of is not None else ""
        return f"{self.kind}{sign}{_exact(self.value)}{suffix}"

    @property
    def needs_tuning(self) -> bool:
        """Whether the rule has a threshold that is tuned."""
        return self.tuned or self.kind in TUNED

    @property
    def is_ranked(self) -> bool:
        """Whether a prediction depends on the other rows of the batch."""
        return self.kind == "top"

    @property
    def by_probability(self) -> bool:
        """Whether the rule needs the probabilities; all others need only a ranking."""
        return self.kind in ("threshold", "row_cost") or (self.kind == "cost" and not self.tuned)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that predictions need besides the scores."""
        names = (self.fn, self.fp) if self.kind == "row_cost" else (self.day_of,)
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))

    def for_classes(self, classes: NDArray[Any]) -> DecisionSpec:
        """The rule for these classes, with the costs as a matrix; raises an error if it does not suit them."""
        if len(classes) > 2 and (self.kind != "cost" or self.tuned):
            raise ValueError(
                f"Only binary classification is supported. The decision {str(self)!r} needs two classes, got "
                f"{len(classes)}; cost=... without 'tuned' works for more"
            )
        if self.kind != "cost":
            return self
        given = self.costs
        if isinstance(given, Mapping):
            by_text = {str(label): label for label in classes.tolist()}
            given = {by_text.get(key, key) if isinstance(key, str) else key: cost for key, cost in given.items()}
        matrix = read_cost_matrix(given, classes)
        return replace(self, costs=tuple(map(tuple, matrix.tolist())))


def read_decision(given: Any) -> DecisionSpec:
    """A rule from its text, or from the cost matrix of minimum expected cost.

    Examples
    --------
    >>> read_decision("recall >= 0.90").value
    0.9
    >>> str(read_decision('fn=amount,fp=5')), read_decision("fn=amount, fp=5").columns
    ('fn=amount, fp=5', ('amount',))
    >>> read_decision("recall>0.9")
    Traceback (most recent call last):
    ...
    ValueError: the decision 'recall>0.9' must use >= for "at least": recall>=0.9
    """
    if isinstance(given, DecisionSpec):
        return given
    if isinstance(given, Mapping | list | tuple | np.ndarray) or hasattr(given, "keys"):
        return DecisionSpec("cost", costs=given)
    if not isinstance(given, str):
        raise TypeError(f"the decision must be a text such as 'recall>=0.9', or a cost matrix, got {given!r:.80}")
    text = given.strip()
    tuned, rest = text.startswith("tuned "), text.removeprefix("tuned ").strip()
    for pattern, make in _PARSERS:
        match = re.fullmatch(pattern, rest)
        if match is not None:
            spec = make(match, text)
            if tuned and spec.kind not in ("cost", "row_cost"):
                raise _invalid(text, "'tuned' belongs to rules with costs; the others are tuned or have no threshold")
            return replace(spec, tuned=tuned)
    raise _invalid(text, _hint(rest))


def _invalid(text: str, reason: str) -> ValueError:
    return ValueError(f"the decision {text!r:.80} {reason}")


def _hint(text: str) -> str:
    match = re.fullmatch(r"(recall|precision|alerts)\s*(<=|>=|>|<|=)\s*(.*)", text)
    if match is None:
        return f"is not a rule; the rules are {'; '.join(FORMS)}"
    name, _, rest = match.groups()
    if name == "alerts":
        given = re.match(r"([0-9]+(?:\.[0-9]+)?)\s*(%?)", rest)
        n_alerts = 20.0 if given is None else float(given[1]) * (10.0 if given[2] else 1.0)
        return f'must use <= and a number of rows, for "at most": alerts<={n_alerts:g}/1000'
    return f'must use >= for "at least": {name}>={rest}'


def _number(text: str, rule: str, least: float, most: float, above: bool = False, whole: bool = False) -> float:
    kind = "a whole number" if whole else "a number"
    bounds = f"from {least:g} to {most:g}" if most < inf else f"of at least {least:g}"
    wanted = (
        f"{kind} {'above ' + format(least, 'g') + (f' and up to {most:g}' if most < inf else '') if above else bounds}"
    )
    try:
        value = float(text)
    except ValueError:
        raise _invalid(rule, f"must have {wanted}, got {text.strip()!r:.40}") from None
    inside = (value > least if above else value >= least) and value <= most and isfinite(value)
    if not inside or (whole and not value.is_integer()):
        raise _invalid(rule, f"must have {wanted}, got {text.strip()}")
    return value


def _rate(match: re.Match[str], rule: str) -> DecisionSpec:
    return DecisionSpec(match[1], _number(match[2], rule, 0.0, 1.0, above=True))


def _alerts(match: re.Match[str], rule: str) -> DecisionSpec:
    per = _number(match[2], rule, 1.0, inf, whole=True)
    return DecisionSpec("alerts", _number(match[1], rule, 0.0, per, above=True), per)


def _top(match: re.Match[str], rule: str) -> DecisionSpec:
    day_of = None if match[2] is None else _unquoted(match[2])
    return DecisionSpec("top", _number(match[1], rule, 1.0, inf, whole=True), day_of=day_of)


def _costs(match: re.Match[str], rule: str) -> DecisionSpec:
    try:
        costs = json.loads(match[1])
    except ValueError:
        costs = None
    if not isinstance(costs, dict | list):
        raise _invalid(rule, "must have a matrix in JSON, such as [[0, 1], [20, 0]] (rows are true classes), or costs "
                             'by label, such as {"fraud": 20, "fine": 1}')  # fmt: skip
    return DecisionSpec("cost", costs=costs)


def _row_costs(match: re.Match[str], rule: str) -> DecisionSpec:
    found = {match[1]: match[2], match[3]: match[4]}
    if set(found) != {"fn", "fp"}:
        raise _invalid(rule, "must have the cost of a false negative and of a false positive: fn=COLUMN, fp=5")
    costs: dict[str, Any] = {name: _cost_or_column(text.strip(), rule) for name, text in found.items()}
    if costs["fn"] == 0.0 or costs["fp"] == 0.0:
        raise _invalid(rule, "must have costs above 0")
    return DecisionSpec("row_cost", **costs)


def _cost_or_column(text: str, rule: str) -> float | str:
    if text.startswith('"'):
        return _unquoted(text)
    try:
        float(text)
    except ValueError:
        return text
    return _number(text, rule, 0.0, inf)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _exact(value: float) -> str:
    """A number as text that has the same value."""
    return repr(float(value)).removesuffix(".0")


def _quoted(value: float | str) -> str:
    if not isinstance(value, str):
        return _exact(value)
    try:
        float(value)
    except ValueError:
        if not {",", '"'} & set(value) and value == value.strip():
            return value
    return '"' + value.replace('"', '""') + '"'


def _plain(costs: Any) -> Any:
    """Costs as JSON has them; pairs of labels as text."""
    if isinstance(costs, Mapping):
        return {str(key): cost for key, cost in costs.items()}
    return np.asarray(costs).tolist()


_PARSERS: tuple[tuple[str, Callable[[re.Match[str], str], DecisionSpec]], ...] = (
    (r"(recall|precision)\s*>=([^<>=]*)", _rate),
    (r"alerts\s*<=([^<>=/]*)/([^<>=/]*)", _alerts),
    (rf"top\s*=\s*([^\s]*)(?:\s+per\s+day\s+of\s+({NAME}))?", _top),
    (r"f1", lambda *_: DecisionSpec("fbeta", 1.0)),
    (r"fbeta\s*=(.*)", lambda match, rule: DecisionSpec("fbeta", _number(match[1], rule, 0.0, inf, above=True))),
    (r"threshold\s*=(.*)", lambda match, rule: DecisionSpec("threshold", _number(match[1], rule, 0.0, 1.0))),
    (r"score\s*=(.*)", lambda match, rule: DecisionSpec("score", _number(match[1], rule, -1e300, 1e300))),
    (r"cost\s*=(.*)", _costs),
    (rf"(fn|fp)\s*=\s*({NAME})\s*,\s*(fn|fp)\s*=\s*({NAME})", _row_costs),
)
"""Pattern and reader of each rule."""
