"""Sentences and a table about whether the probabilities of a model are true."""

from __future__ import annotations

from typing import Any

from adacc.report.decision_text import figure, interval
from adacc.report.numbers import significant
from adacc.report.tables import Table, cell
from adacc.report.text import counted

LEVELS = {"true": "agree with these rows", "high": "are too high", "low": "are too low"}
SPREADS = {
    "extreme": "They are too extreme: those of likely rows are too high, those of unlikely rows too low",
    "moderate": "They are too close to each other: those of likely rows are too low, those of unlikely rows too high",
    "true": "Their spread agrees with these rows",
}


def verdict(check: dict[str, Any]) -> list[str]:
    """Whether the probabilities are true, in sentences.

    Examples
    --------
    >>> estimate = {"value": 120.3, "low": 101.2, "high": 139.4}
    >>> check = {"level": "true", "spread": None, "positives": 118, "expected": estimate}
    >>> found = verdict(check)
    >>> found[0].partition(" (")[0]
    'The probabilities agree with these rows: their sum is 120, and 118 rows are positive'
    >>> found[1]
    'The rows do not suffice to check their spread.'
    """
    expected = {name: significant(each, 3) for name, each in check["expected"].items()}
    sentences = [
        f"The probabilities {LEVELS[check['level']]}: their sum is {expected['value']}, and "
        f"{counted(check['positives'], 'row')} {'is' if check['positives'] == 1 else 'are'} positive "
        f"({expected['low']} to {expected['high']} are expected of true probabilities)."
    ]
    if check["spread"] is None:
        return [*sentences, "The rows do not suffice to check their spread."]
    slope = {name: f"{each:.2f}" for name, each in check["slope"].items()}
    return [
        *sentences,
        f"{SPREADS[check['spread']]} (slope {slope['value']}, 95% interval {slope['low']} to {slope['high']}; "
        "1 is right).",
    ]


def reliability(check: dict[str, Any]) -> Table:
    """Mean probability and share of positive rows, by bins of the probability."""
    rows = [
        {
            "label": f"{100 * each['mean_probability']:.1f}%",
            "cells": [
                cell(f"{each['rows']:,}", each["rows"]),
                cell(
                    figure("positive_rate", each["positive_rate"]["value"]),
                    each["positive_rate"]["value"],
                    interval("positive_rate", each["positive_rate"]),
                ),
            ],
        }
        for each in check["bins"]
    ]
    return {"heads": ["Mean probability", "Rows", "Positive rows"], "rows": rows}
