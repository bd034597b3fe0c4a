"""What the measures are called, what they mean in a sentence, and how their values are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A measure: its name in sentences, at the head of a column, what it is, and how it is written."""

    label: str
    short: str
    about: str
    percent: bool = False
    low_is_good: bool = False

    @property
    def factor(self) -> float:
        """From the stored value to the one that is shown."""
        return 100.0 if self.percent else 1.0

    @property
    def unit(self) -> str:
        """What stands behind the value that is shown."""
        return "%" if self.percent else ""


MEASURES = {
    "balanced_accuracy": Measure(
        "Balanced accuracy", "Balanced accuracy", "mean of the shares of both classes that are told rightly", True
    ),
    "tpr": Measure("Recall", "Caught", "share of the positive rows that is caught (TPR)", True),
    "tnr": Measure("Specificity", "Left alone", "share of the other rows that is left alone (TNR)", True),
    "precision": Measure("Precision", "Precision", "share of the alarms that is right", True),
    "f1": Measure("F1", "F1", "harmonic mean of precision and recall"),
    "auc": Measure("ROC AUC", "ROC AUC", "how often a positive row scores above another"),
    "average_precision": Measure("Average precision", "Avg. prec.", "precision averaged over all shares caught"),
    "gmean": Measure("G-mean", "G‑mean", "geometric mean of the shares of both classes told rightly", True),
    "opm": Measure("OPM", "OPM", "mean of AUC, balanced accuracy, G-mean, F1, recall and specificity"),
    "brier": Measure("Brier score", "Brier", "mean squared error of the probabilities; low is good", low_is_good=True),
    "seconds": Measure("Seconds", "Seconds", "time to fit, and tune, one part; low is good", low_is_good=True),
}
MISSING = "–"


def shown(name: str, value: float | None) -> str:
    """A value of a measure in print.

    Examples
    --------
    >>> shown("tpr", 0.8342), shown("auc", 0.98765), shown("seconds", 12.3456), shown("f1", None)
    ('83.4%', '0.988', '12.35', '–')
    """
    if value is None:
        return MISSING
    if name == "seconds":
        return f"{value:.3f}" if value < 0.1 else f"{value:,.2f}"
    return f"{100 * value:.1f}%" if MEASURES[name].percent else f"{value:.3f}"


def spread(name: str, std: float | None) -> str:
    """The spread beside a value, without its unit: empty where there is none.

    Examples
    --------
    >>> spread("tpr", 0.0123), spread("auc", 0.0042), spread("auc", None)
    ('± 1.2', '± 0.004', '')
    """
    return "" if std is None else "± " + shown(name, std).removesuffix("%")


def gap(name: str, difference: float) -> str:
    """The size of a difference in words.

    Examples
    --------
    >>> gap("balanced_accuracy", -0.0123), gap("auc", 0.004)
    ('1.2 points of balanced accuracy', '0.004 of ROC AUC')
    """
    measure = MEASURES[name]
    label = measure.label if measure.label.isupper() or "AUC" in measure.label else measure.label.lower()
    if measure.percent:
        return f"{100 * abs(difference):.1f} points of {label}"
    return f"{shown(name, abs(difference))} of {label}"


def significant(value: float, digits: int) -> str:
    """A number with so many digits that count, a comma at the thousands, and a true minus.

    Examples
    --------
    >>> significant(0.012345, 3), significant(12345.6, 3), significant(-1.5, 3), significant(2, 3)
    ('0.0123', '12,346', '−1.5', '2')
    """
    if abs(value) >= 10 ** (digits - 1):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
        text = f"{value:.{digits + 4}f}".rstrip("0").rstrip(".") if "e" in text else text
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A contribution to a score.

    Examples
    --------
    >>> signed(0.314), signed(-1.5), signed(0.0)
    ('+0.31', '−1.50', '0.00')
    """
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"
