"""Numbers as text."""

from __future__ import annotations


def significant(value: float, digits: int) -> str:
    """A number with `digits` significant digits, thousands separators and a minus sign (U+2212).

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


def percent(share: float, digits: int) -> str:
    """A share in per cent, without the sign. Only shares of 0 and 1 are 0 and 100: others get up to four more digits.

    Examples
    --------
    >>> percent(0.8342, 1), percent(0.99961, 1), percent(0.00002, 1), percent(1.0, 1), percent(0.0, 0)
    ('83.4', '99.96', '0.002', '100.0', '0')
    """
    for more in range(5):
        text = f"{100 * share:.{digits + more}f}"
        if 0.0 < float(text) < 100.0:
            return text
    return f"{100 * share:.{digits}f}"


def signed(value: float) -> str:
    """A contribution to a score, with its sign and two decimals.

    Examples
    --------
    >>> signed(0.314), signed(-1.5), signed(0.0)
    ('+0.31', '−1.50', '0.00')
    """
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"
