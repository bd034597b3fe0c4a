"""The result in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adacc.report.measures import gap, shown, significant

Method = dict[str, Any]
EQUAL = 0.0005
"""A smaller difference would be printed as 0.0 points."""


MOST_NAMED, MOST_SIGNS = 5, 60
"""Names in a row, and signs of one, that a sentence bears."""


def quoted(label: object) -> str:
    """A label as the user wrote it, in quotation marks; a very long one is cut."""
    text = "".join(sign if sign.isprintable() else " " for sign in str(label))
    return f"‘{text if len(text) <= MOST_SIGNS else text[: MOST_SIGNS - 1] + '…'}’"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"])
    ('A', 'A and B', 'A, B and C')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(45211, "row")
    ('1 row', '45,211 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(rounds: int, bags: int | None) -> str:
    """How much there is of a model: rounds of boosting, or of a forest the trees of all bags.

    Examples
    --------
    >>> size(100, None), size(730, 100)
    ('100 rounds', '730 trees on 100 bags')
    """
    return counted(rounds, "round") if bags is None else f"{counted(rounds, 'tree')} on {counted(bags, 'bag')}"


def finished(result: dict[str, Any]) -> list[Method]:
    """The methods that have figures, best first."""
    return [method for method in result["methods"] if method["metrics"]]


def mean(method: Method, metric: str) -> float | None:
    """The mean of a measure of a method, None where it is not defined."""
    return (method["metrics"].get(metric) or {}).get("mean")


def summary(result: dict[str, Any]) -> list[str]:
    """Who wins, by how much, and whether that is real; then the rest, in a second paragraph."""
    done = finished(result)
    if not done:
        return ["No method finished, so there is nothing to compare."]
    best, others = done[0], done[1:]
    metric, positive = result["protocol"]["metric"], quoted(result["data"]["positive"])
    more = (
        best_of_the_others(best, others, metric),
        who_is_as_good(others),
        what_it_counts(best, positive),
        "All figures are of rows that the model had not seen when it was fitted.",
    )
    first = f"{what_it_does(best, positive)} {who_is_next(others, metric)}"
    return [first, " ".join(sentence for sentence in more if sentence)]


def what_it_does(best: Method, positive: str) -> str:
    """The winner's decisions, per hundred rows."""
    tpr, tnr = mean(best, "tpr"), mean(best, "tnr")
    if tpr is None or tnr is None:
        return f"{best['label']} comes first."
    alarms = per_hundred(1 - tnr)
    return (
        f"{best['label']} catches {per_hundred(tpr)} of 100 rows of {positive} "
        f"and raises {alarms} false alarm{'' if alarms == '1' else 's'} per 100 others."
    )


def what_it_counts(best: Method, positive: str) -> str:
    """The winner's decisions, as counts."""
    counts = (best.get("pooled") or {}).get("default")
    if not counts:
        return ""
    alarms = counts["caught"] + counts["alarms"]
    right = f"of its {counted(alarms, 'alarm')} {counts['caught']:,} were right" if alarms else "it raised no alarm"
    rows = counted(counts["caught"] + counts["missed"], "row")
    return f"Of {rows} of {positive} it missed {counts['missed']:,}; {right}."


def per_hundred(share: float) -> str:
    """A share as so many of a hundred, finer where it is near nothing or all.

    Examples
    --------
    >>> per_hundred(0.834), per_hundred(0.004), per_hundred(0.9962), per_hundred(1.0)
    ('83', '0.4', '99.6', '100')
    """
    value = 100 * share
    text = f"{value:.1f}" if min(value, 100 - value) < 2 else f"{value:.0f}"
    return text.removesuffix(".0")


def who_is_next(others: list[Method], metric: str) -> str:
    """The runner-up."""
    if not others:
        return "No other method was tried to the end, so there is nothing to compare it with."
    return f"It is {distance(others[0], metric)}."


def best_of_the_others(best: Method, others: list[Method], metric: str) -> str:
    """The best on the other side, adacc's own methods or the baselines, unless it is the runner-up."""
    rival = next((method for method in others if method["own"] != best["own"]), None)
    if rival is None or rival is others[0]:
        return ""
    side = "Of the baselines" if best["own"] else "Of adacc’s own methods"
    return f"{side} {rival['label']} comes closest: {best['label']} is {distance(rival, metric)}."


def distance(method: Method, metric: str) -> str:
    """How far the best is ahead of a method, and whether that is chance."""
    versus = method["versus_best"] or {}
    difference = versus.get("difference")
    if difference is None:
        return f"ahead of {method['label']}"
    if abs(difference) < EQUAL:
        return f"level with {method['label']}"
    return f"ahead of {method['label']} by {gap(metric, difference)}, {chance(versus)}"


def chance(versus: dict[str, Any]) -> str:
    r"""Whether a difference may be chance.

    Examples
    --------
    >>> chance({"p": 0.2, "significant": False}), chance({"p": 0.0001, "significant": True})
    ('which may be chance (p\xa0=\xa00.20)', 'more than chance explains (p\xa0<\xa00.001)')
    >>> chance({"p": None, "significant": False})
    'and whether that is chance cannot be said from so few parts'
    """
    if versus["p"] is None:
        return "and whether that is chance cannot be said from so few parts"
    verdict = "more than chance explains" if versus["significant"] else "which may be chance"
    return f"{verdict} ({p_value(versus['p'])})"


def p_value(p: float) -> str:
    r"""A p-value that no line end breaks.

    Examples
    --------
    >>> p_value(0.0001), p_value(0.0123), p_value(0.25)
    ('p\xa0<\xa00.001', 'p\xa0=\xa00.012', 'p\xa0=\xa00.25')
    """
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return text.replace(" ", "\xa0")


def as_good(method: Method) -> bool:
    """Whether a method cannot be told from the best."""
    versus = method["versus_best"]
    return versus is not None and versus["p"] is not None and not versus["significant"]


def who_is_as_good(others: list[Method]) -> str:
    """The methods that cannot be told from the best, where there are more than the runner-up."""
    names = [method["label"] for method in others if as_good(method)]
    if len(names) < 2:
        return ""
    if len(names) > 5:
        return f"{len(names)} of the {len(others)} other methods cannot be told from the best; the ranking marks them."
    return f"{listed(names)} cannot be told from the best."


def headline(result: dict[str, Any]) -> list[dict[str, str]]:
    """The winner's figures, for the eye."""
    done = finished(result)
    if not done:
        return []
    best, positive = done[0], quoted(result["data"]["positive"])
    tnr = mean(best, "tnr")
    figures = [
        (shown("tpr", mean(best, "tpr")), f"of {positive} caught"),
        (shown("tnr", None if tnr is None else 1 - tnr), "of the others raise a false alarm"),
        (shown("precision", mean(best, "precision")), "of the alarms are right"),
        (shown("auc", mean(best, "auc")), "area under the ROC curve"),
    ]
    return [{"figure": figure, "text": text} for figure, text in figures]


def about_data(data: dict[str, Any]) -> list[str]:
    """The size of the table, its columns, gaps and repeated rows."""
    used, columns = data["rows_used"], data["columns"]
    rows = counted(used, "row") if used == data["rows"] else f"{used:,} of {counted(data['rows'], 'row')}"
    kinds = {"number": "numeric", "category": "categorical", "boolean": "boolean"}
    counts = [(sum(column["kind"] == kind for column in columns), word) for kind, word in kinds.items()]
    of_kinds = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    text = [f"{rows} used, {counted(len(columns), 'feature')}" + (f": {of_kinds}." if of_kinds else ".")]
    if data["dropped"]:
        text.append(f"Not used as features: {listed([quoted(name) for name in data['dropped']])}.")
    gaps = sum(bool(column["missing"]) for column in columns)
    of_gaps = f"{counted(gaps, 'column')} {_are(gaps, 'has', 'have')} missing values."
    text.append(of_gaps if gaps else "No value is missing.")
    constant = [quoted(column["name"]) for column in columns if column["distinct"] in (0, 1)]
    if constant:
        shown = (
            constant if len(constant) <= MOST_NAMED else [*constant[:MOST_NAMED], f"{len(constant) - MOST_NAMED} more"]
        )
        text.append(f"{_are(len(constant), 'One column has', 'Columns with')} one value only: {listed(shown)}.")
    return [*text, about_duplicates(data["duplicates"])]


def about_duplicates(duplicates: dict[str, Any]) -> str:
    """Rows that are equal in all features."""
    rows, across, against = (duplicates[key] for key in ("rows", "across_folds", "contradicting"))
    if not rows:
        return "No two rows are equal in all features."
    text = f"{counted(rows, 'row')} {_are(rows)} equal to an earlier one in all features"
    if across:
        text += f"; {counted(across, 'test row')} {_are(across, 'has', 'have')} an equal row among those trained on"
    if against:
        text += f"; {counted(against, 'row')} {_are(against)} equal to one of the other class"
    return f"{text}."


def _are(number: int, one: str = "is", many: str = "are") -> str:
    return one if number == 1 else many


def class_counts(data: dict[str, Any]) -> list[str]:
    """Both classes with their rows, for the two ends of a bar."""
    positives, used = data["positives"], data["rows_used"]
    odds = f", 1 to {significant((used - positives) / positives, 2)}" if positives else ""
    return [
        f"{quoted(data['positive'])}: {counted(positives, 'row')} ({share(positives, used)}{odds})",
        f"{quoted(data['negative'])}: {counted(used - positives, 'row')}",
    ]


def share(part: int, whole: int) -> str:
    """A part of a whole.

    Examples
    --------
    >>> share(5289, 45211), share(3, 100000), share(0, 0)
    ('11.7%', '0.003%', '–')
    """
    if not whole:
        return "–"
    value = 100 * part / whole
    return f"{value:.1f}%" if value >= 1 or not value else f"{significant(value, 2)}%"
