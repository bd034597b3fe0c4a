"""Cumulative gains, lift, and alerts against recall and precision, from scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.estimates import Array, Estimate, Groups, effective_rows, share

TOP_SHARES = (0.01, 0.05, 0.1, 0.2)
"""Shares of the rows in the table of gains and lift."""

ALERTS_PER_1000 = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Capacities in the table of alerts."""

CURVE_POINTS = 100
"""Number of points of a curve that are evenly spaced, and of those that are evenly spaced on a logarithmic scale."""


@dataclass(frozen=True)
class TopRows:
    """What the rows of the highest scores contain; of equal scores, a random choice on average."""

    share: float  # share of all rows
    rows: float
    alerts_per_1000: float
    alerts_per_day: float | None
    recall: Estimate
    precision: Estimate
    lift: Estimate  # precision divided by the share of positive rows

    @classmethod
    def of(
        cls,
        n_alerts: float,
        n_found: float,
        n_rows: int,
        n_positive: int,
        days: int | None,
        effective: tuple[float | None, float | None] = (None, None),  # rows for the recall and the precision
    ) -> TopRows:
        precision = share(n_found, n_alerts, effective[1])
        return cls(
            share=n_alerts / n_rows,
            rows=n_alerts,
            alerts_per_1000=1000 * n_alerts / n_rows,
            alerts_per_day=None if days is None else n_alerts / days,
            recall=share(n_found, n_positive, effective[0]),
            precision=precision,
            lift=precision.times(n_rows / n_positive) if n_positive else Estimate(None, None, None),
        )


class RankingCurve:
    """Number of positive rows among the rows of the highest scores."""

    def __init__(
        self, scores: Array, is_positive: NDArray[np.bool_], days: int | None = None, groups: Groups = None
    ) -> None:
        level = np.unique(-scores, return_inverse=True)[1]
        self._level, self._is_positive, self._groups = level, is_positive, groups
        self._rows = np.concatenate([[0], np.cumsum(np.bincount(level))])
        self._found = np.concatenate([[0.0], np.cumsum(np.bincount(level, is_positive))])
        self._days = days

    @property
    def n_rows(self) -> int:
        return int(self._rows[-1])

    @property
    def n_positive(self) -> int:
        return int(self._found[-1])

    def top(self, n_alerts: float) -> TopRows:
        """What the `n_alerts` rows of the highest scores contain."""
        found = float(np.interp(n_alerts, self._rows, self._found))
        return TopRows.of(n_alerts, found, self.n_rows, self.n_positive, self._days, self._effective(n_alerts))

    def _effective(self, n_alerts: float) -> tuple[float | None, float | None]:
        if self._groups is None:
            return None, None
        # Rows of equal scores, of which only some are among the first, count in part.
        taken = np.clip((n_alerts - self._rows[:-1]) / np.diff(self._rows), 0.0, 1.0)[self._level]
        found = taken * self._is_positive
        return effective_rows(found, self._is_positive, self._groups), effective_rows(found, taken, self._groups)

    def gains(self) -> list[TopRows]:
        """The table of gains and lift."""
        return [self.top(each * self.n_rows) for each in TOP_SHARES]

    def capacities(self) -> list[TopRows]:
        """The table of alerts; capacities of less than one row are left out."""
        return [self.top(n) for each in ALERTS_PER_1000 if (n := each * self.n_rows / 1000) >= 1]

    def curve(self) -> dict[str, list[float]]:
        """Share of the rows, recall and precision at some numbers of alerts; the last is all rows."""
        n = self.n_rows
        even, small = np.linspace(0, n, CURVE_POINTS + 1)[1:], np.geomspace(1, n, CURVE_POINTS)
        rows = np.unique(np.maximum(np.round([*even, *small, n]), 1))
        found = np.interp(rows, self._rows, self._found)
        return {
            "share": (rows / n).tolist(),
            "recall": (found / max(self.n_positive, 1)).tolist(),
            "precision": (found / rows).tolist(),
        }
