"""Sentences about the result of a comparison, for the report and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adacc.evaluation.measures import gap, shown, signed_difference
from adacc.report.numbers import percent, significant

Method = dict[str, Any]
EQUAL = 1e-9  # smaller differences come from rounding
NAMES_MAX, LABEL_LENGTH_MAX = 5, 60  # names listed in a sentence, and characters of a label, before they are cut


def quoted(label: object) -> str:
    """A label in quotation marks, cut if it is very long."""
    text = "".join(char if char.isprintable() else " " for char in str(label))
    return f"‘{text if len(text) <= LABEL_LENGTH_MAX else text[: LABEL_LENGTH_MAX - 1] + '…'}’"


def listed(names: Sequence[str]) -> str:
    """Names joined with commas and "and".

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"])
    ('A', 'A and B', 'A, B and C')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural if needed.

    Examples
    --------
    >>> counted(1, "row"), counted(45211, "row")
    ('1 row', '45,211 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(rounds: int, bags: int | None) -> str:
    """The size of a model: its boosting rounds, or the trees and bags of a forest.

    Examples
    --------
    >>> size(100, None), size(730, 100)
    ('100 rounds', '730 trees on 100 bags')
    """
    return counted(rounds, "round") if bags is None else f"{counted(rounds, 'tree')} on {counted(bags, 'bag')}"


def finished(result: dict[str, Any]) -> list[Method]:
    """The methods that ran without failure, best first."""
    return [method for method in result["methods"] if method["metrics"]]


def mean(method: Method, metric: str) -> float | None:
    """The mean of a measure of a method; None if undefined."""
    return (method["metrics"].get(metric) or {}).get("mean")


def summary(result: dict[str, Any]) -> list[str]:
    """Two paragraphs: the best method and its lead over the second; then the other comparisons and the counts."""
    positive = quoted(result["data"].get("positive"))
    return compose(result, lambda best: rates_of_best(best, positive), lambda best: counts_of_best(best, positive))


def compose(result: dict[str, Any], of_rates: Callable[[Method], str], of_counts: Callable[[Method], str]) -> list[str]:
    """The two paragraphs of a summary, with sentences about the rates and the counts of the best method."""
    done = finished(result)
    if not done:
        return ["No method finished, so there is nothing to compare."]
    best, others = done[0], done[1:]
    metric = result["protocol"]["metric"]
    more = (
        closest_rival(best, others, metric),
        not_significantly_different(others),
        rank_and_significance(others, metric),
        of_counts(best),
        "All measures are on test rows that the model was not fitted on.",
    )
    first = f"{of_rates(best)} {lead_over_second(best, others, metric)}"
    return [first, " ".join(sentence for sentence in more if sentence)]


def rates_of_best(best: Method, positive: str) -> str:
    """True and false positives of the best method, per hundred rows."""
    tpr, tnr = mean(best, "tpr"), mean(best, "tnr")
    if tpr is None or tnr is None:
        return f"{best['label']} is the best method."
    alarms = per_hundred(1 - tnr)
    return (
        f"{best['label']} is the best method: it finds {per_hundred(tpr)} of 100 rows of {positive} (true positives) "
        f"and raises {alarms} false alarm{'' if alarms == '1' else 's'} per 100 other rows (false positives)."
    )


def counts_of_best(best: Method, positive: str) -> str:
    """The confusion counts of the best method."""
    counts = (best.get("pooled") or {}).get("default")
    if not counts:
        return ""
    rows = counted(counts["true_positives"] + counts["false_negatives"], "row")
    alarms = counted(counts["false_positives"], "false alarm")
    return f"In all, it found {counts['true_positives']:,} of {rows} of {positive} and raised {alarms}."


def per_hundred(share: float) -> str:
    """A share in per cent, with decimals near 0 and 100, which only 0 and 1 are.

    Examples
    --------
    >>> per_hundred(0.834), per_hundred(0.004), per_hundred(0.9962), per_hundred(0.9996), per_hundred(1.0)
    ('83', '0.4', '99.6', '99.96', '100')
    """
    return percent(share, 1 if min(share, 1 - share) < 0.02 else 0).removesuffix(".0")


def lead_over_second(best: Method, others: list[Method], metric: str) -> str:
    """The lead of the best method over the second, and whether a baseline is ahead of the methods of adacc."""
    if not others:
        return "No other method finished, so there is nothing to compare it with."
    ahead = f"is {lead(others[0], metric)}."
    if best["own"] or not any(method["own"] for method in others):
        return f"It {ahead}"
    rival = f" {others[0]['label']} is the best method of adacc." if others[0]["own"] else ""
    return f"A baseline won: it {ahead}{rival}"


def closest_rival(best: Method, others: list[Method], metric: str) -> str:
    """The best baseline if an adacc method leads, and vice versa; empty if it is the second."""
    rival = next((method for method in others if method["own"] != best["own"]), None)
    if rival is None or rival is others[0]:
        return ""
    side = "baseline" if best["own"] else "method of adacc"
    return f"The best {side} is {rival['label']}: {best['label']} is {lead(rival, metric)}."


def lead(method: Method, metric: str) -> str:
    """The lead of the best method over another, and whether it is significant."""
    versus = method["versus_best"] or {}
    difference = versus.get("difference")
    if difference is None:
        return f"ahead of {method['label']}"
    if abs(difference) < EQUAL:
        return f"equal to {method['label']}"
    return f"ahead of {method['label']} by {gap(metric, difference)}, {significance(versus)}"


def rank_and_significance(others: list[Method], metric: str) -> str:
    """Why a method is significantly different from the best and another one, ranked lower, is not; empty if none is."""
    tested = [method for method in others if (method["versus_best"] or {}).get("p") is not None]
    for i, first in enumerate(tested):
        later = next((each for each in tested[i + 1 :] if is_like_best(each)), None)
        if not is_like_best(first) and later is not None:
            return (
                f"{first['label']} is significantly different from the best and {later['label']}, which ranks lower, "
                f"is not, since its difference varies more over the folds: the 95% intervals of the differences are "
                f"{difference_interval(first, metric)} and {difference_interval(later, metric)}."
            )
    return ""


def difference_interval(method: Method, metric: str) -> str:
    """The interval of the difference from the best, which Holm's correction does not widen; empty if there is none.

    Examples
    --------
    >>> difference_interval({"versus_best": {"low": -0.031, "high": 0.004}}, "balanced_accuracy")
    '−3.1 to +0.4'
    """
    versus = method["versus_best"] or {}
    if versus.get("low") is None:
        return ""
    return f"{signed_difference(metric, versus['low'])} to {signed_difference(metric, versus['high'])}"


def significance(versus: dict[str, Any]) -> str:
    r"""Whether a difference is significant.

    Examples
    --------
    >>> significance({"p": 0.2, "significant": False}), significance({"p": 0.0001, "significant": True})
    ('not a significant difference (p\xa0=\xa00.20)', 'a significant difference (p\xa0<\xa00.001)')
    >>> significance({"p": None, "significant": False, "folds": 1})
    'which cannot be tested with one fold'
    """
    if versus["p"] is None:
        return f"which cannot be tested {'with one fold' if versus['folds'] < 2 else 'as it is the same in all folds'}"
    return f"{'a' if versus['significant'] else 'not a'} significant difference ({p_value(versus['p'])})"


def p_value(p: float) -> str:
    r"""A p-value, with non-breaking spaces.

    Examples
    --------
    >>> p_value(0.0001), p_value(0.0123), p_value(0.25)
    ('p\xa0<\xa00.001', 'p\xa0=\xa00.012', 'p\xa0=\xa00.25')
    """
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return text.replace(" ", "\xa0")


def is_like_best(method: Method) -> bool:
    """Whether a method is not significantly different from the best."""
    versus = method["versus_best"]
    return versus is not None and versus["p"] is not None and not versus["significant"]


def not_significantly_different(others: list[Method]) -> str:
    """The methods that are not significantly different from the best; empty if there is at most one."""
    names = [method["label"] for method in others if is_like_best(method)]
    if len(names) < 2:
        return ""
    many = len(names) > NAMES_MAX
    subject = f"{len(names)} of the {len(others)} other methods (marked ≈)" if many else listed(names)
    return f"{subject} are not significantly different from the best (p\xa0≥\xa00.05)."


def headline(result: dict[str, Any]) -> list[dict[str, str]]:
    """The main measures of the best method, for the head of the report."""
    done = finished(result)
    if not done:
        return []
    best, positive = done[0], quoted(result["data"]["positive"])
    tnr = mean(best, "tnr")
    figures = [
        (shown("tpr", mean(best, "tpr")), f"TPR: rows of {positive} found"),
        (shown("tnr", None if tnr is None else 1 - tnr), "false positive rate: other rows with a false alarm"),
        (shown("precision", mean(best, "precision")), "precision: alarms that are right"),
        (shown("auc", mean(best, "auc")), "AUC: area under the ROC curve"),
    ]
    return [{"figure": figure, "text": text} for figure, text in figures]


def about_data(data: dict[str, Any]) -> list[str]:
    """Number of rows and columns, missing values, constant columns and duplicate rows."""
    used, columns = data["rows_used"], data["columns"]
    rows = counted(used, "row") if used == data["rows"] else f"{used:,} of {counted(data['rows'], 'row')}"
    kinds = {"number": "numeric", "category": "categorical", "boolean": "boolean"}
    counts = [(sum(column["kind"] == kind for column in columns), word) for kind, word in kinds.items()]
    of_kinds = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    text = [f"{rows} used, {counted(len(columns), 'feature')}" + (f": {of_kinds}." if of_kinds else ".")]
    if data["dropped"]:
        text.append(f"Not used as features: {listed([quoted(name) for name in data['dropped']])}.")
    incomplete = sum(bool(column["missing"]) for column in columns)
    with_missing = f"{counted(incomplete, 'column')} {_inflected(incomplete, 'has', 'have')} missing values."
    text.append(with_missing if incomplete else "There are no missing values.")
    constant = [quoted(column["name"]) for column in columns if column["distinct"] in (0, 1)]
    if constant:
        rest = [f"{len(constant) - NAMES_MAX} more"] if len(constant) > NAMES_MAX else []
        text.append(f"Constant column{_inflected(len(constant), '', 's')}: {listed([*constant[:NAMES_MAX], *rest])}.")
    return [*text, about_duplicates(data["duplicates"], "another" if "classes" in data else "the other")]


def about_duplicates(duplicates: dict[str, Any], other: str = "the other") -> str:
    """Counts of duplicate rows; `other` goes before "class"."""
    rows, across, against = (duplicates[key] for key in ("rows", "across_folds", "contradicting"))
    if not rows:
        return "There are no duplicate rows."
    text = f"{counted(rows, 'row')} {_inflected(rows, 'is a duplicate', 'are duplicates')} of an earlier row"
    if duplicates["together"]:
        text += "; the folds keep equal rows together"
    if across:
        text += (
            f"; {counted(across, 'test row')} {_inflected(across, 'has', 'have')} a duplicate among the training rows"
        )
    if against:
        text += f"; {counted(against, 'row')} {_inflected(against, 'has', 'have')} a duplicate of {other} class"
    return f"{text}."


def _inflected(number: int, singular: str, plural: str) -> str:
    return singular if number == 1 else plural


def class_counts(data: dict[str, Any]) -> list[str]:
    """Both classes with their number of rows."""
    positives, used = data["positives"], data["rows_used"]
    odds = f", 1 to {significant((used - positives) / positives, 2)}" if positives else ""
    return [
        f"{quoted(data['positive'])}: {counted(positives, 'row')} ({share(positives, used)}{odds})",
        f"{quoted(data['negative'])}: {counted(used - positives, 'row')}",
    ]


def share(part: int, whole: int) -> str:
    """A share in per cent.

    Examples
    --------
    >>> share(5289, 45211), share(3, 100000), share(0, 0)
    ('11.7%', '0.003%', '–')
    """
    if not whole:
        return "–"
    value = 100 * part / whole
    return f"{percent(part / whole, 1)}%" if value >= 1 or not value else f"{significant(value, 2)}%"
