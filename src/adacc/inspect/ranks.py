"""Critical-difference diagrams and heat maps of ranks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adacc.evaluation import statistics as stats
from adacc.evaluation.baselines import label_of
from adacc.inspect.display import Display
from adacc.inspect.style import styled
from adacc.study.summary import Summary


class CriticalDifferenceDisplay(Display):
    """The diagram of Demšar [2006]: methods on a line by mean rank, a bar over those that do not differ significantly.

    Parameters
    ----------
    names : list of str
        The methods.
    mean_ranks : array of shape (n_methods,)
        Mean ranks; 1 is the best.
    critical_difference : float
        Mean ranks that are further apart differ significantly.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.5], [0.7, 0.6, 0.5], [0.8, 0.9, 0.4], [0.8, 0.7, 0.6]]
    >>> display = CriticalDifferenceDisplay.from_scores(["a", "b", "c"], scores)
    >>> display.frame()
      method  mean_rank  groups
    0      a       1.25     (0)
    1      b       1.75  (0, 1)
    2      c       3.00     (1)
    """

    _arguments: ClassVar = {
        "names": "list of str\n    Names of the methods.",
        "significance": "float\n    Significance level of the test.",
        "title": "str\n    Title of the axes.",
    }

    def __init__(self, names: list[str], mean_ranks: ArrayLike, critical_difference: float) -> None:
        ranks = np.asarray(mean_ranks, dtype=np.float64)
        order = np.argsort(ranks, kind="stable")
        self.names = [names[i] for i in order]
        self.mean_ranks = ranks[order]
        self.critical_difference = critical_difference

    @classmethod
    def from_scores(cls, names: list[str], scores: ArrayLike, significance: float = 0.05) -> CriticalDifferenceDisplay:
        """Create the display from scores of shape (n_sets, n_methods); larger is better."""
        ranks = stats.ranks(scores)
        n_sets, n_methods = ranks.shape
        return cls(names, ranks.mean(axis=0), stats.critical_difference(n_sets, n_methods, significance))

    @classmethod
    def from_study(cls, summary: Summary, rounds: int, dialect: str = "paper") -> CriticalDifferenceDisplay:
        """Create the display from a study: the methods of its first table, by balanced accuracy."""
        scores = study_scores(summary, rounds, dialect)
        return cls.from_scores(list(scores.columns), scores)

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last position of every maximal run of methods that are not significantly different."""
        ranks = self.mean_ranks
        groups: list[tuple[int, int]] = []
        for first in range(len(ranks)):
            last = int(np.searchsorted(ranks, ranks[first] + self.critical_difference, side="left")) - 1
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups

    def frame(self) -> pd.DataFrame:
        """The methods from best to worst, with their groups."""
        member = [
            [str(g) for g, (first, last) in enumerate(self.groups) if first <= place <= last]
            for place in range(len(self.names))
        ]
        groups = [f"({', '.join(each)})" for each in member]
        return pd.DataFrame({"method": self.names, "mean_rank": self.mean_ranks, "groups": groups})

    def plot(self, ax: Any = None, title: str | None = None) -> CriticalDifferenceDisplay:
        """Draw the diagram, with the best method on the right."""
        n = len(self.names)
        n_right = (n + 1) // 2
        depth = 0.55 + 0.16 * len(self.groups)
        height = depth + 0.3 * n_right + 0.1
        with styled():
            axes = self._canvas(ax, (9, 0.8 * height + 0.8))
            axes.set(xlim=(n + 0.6, 0.4), ylim=(-height, 1.1))
            axes.axis("off")
            axes.hlines(0, 1, n, color="black", linewidth=1.2)
            for rank in range(1, n + 1):
                axes.vlines(rank, 0, 0.12, color="black", linewidth=1)
                axes.text(rank, 0.2, str(rank), ha="center", va="bottom")
            for place, (name, rank) in enumerate(zip(self.names, self.mean_ranks.tolist(), strict=True)):
                right = place < n_right
                level = -depth - 0.3 * (place if right else n - 1 - place)
                edge = 0.9 if right else n + 0.1
                axes.plot([rank, rank, edge], [0, level, level], color="black", linewidth=0.8)
                axes.text(edge, level, f" {name} ({rank:.2f}) ", ha="left" if right else "right", va="center")
            for g, (first, last) in enumerate(self.groups):
                ends = self.mean_ranks[first] - 0.05, self.mean_ranks[last] + 0.05
                axes.hlines(-0.2 - 0.16 * g, *ends, color="tab:red", linewidth=3)
            gap = self.critical_difference
            axes.hlines(0.75, n - gap, n, color="tab:red", linewidth=2)
            axes.text(n - gap / 2, 0.8, f"CD = {gap:.2f}", ha="center")
            if title is not None:
                axes.set_title(title)
        return self


class RankDisplay(Display):
    """A heat map of ranks: a row for each data set, a column for each method.

    Parameters
    ----------
    ranks : DataFrame
        Ranks; 1 is the best.
    """

    def __init__(self, ranks: pd.DataFrame) -> None:
        self.ranks = ranks

    @classmethod
    def from_scores(cls, scores: pd.DataFrame) -> RankDisplay:
        """From scores by set (rows) and method (columns), larger being better; columns by mean rank."""
        ranks = pd.DataFrame(stats.ranks(scores), index=scores.index, columns=scores.columns)
        return cls(ranks[ranks.mean().sort_values(kind="stable").index])

    @classmethod
    def from_study(cls, summary: Summary, rounds: int, dialect: str = "paper") -> RankDisplay:
        """Create the display from a study: the methods of its first table, by balanced accuracy."""
        return cls.from_scores(study_scores(summary, rounds, dialect))

    def frame(self) -> pd.DataFrame:
        """The rank of each method on each set."""
        return self.ranks

    def plot(self, ax: Any = None) -> RankDisplay:
        """Draw the heat map; the best ranks are dark."""
        n_sets, n_methods = self.ranks.shape
        with styled():
            axes = self._canvas(ax, (0.55 * n_methods + 1.8, 0.26 * n_sets + 1.2))
            axes.grid(False)
            axes.imshow(self.ranks, cmap="Blues_r", vmin=1, vmax=n_methods, aspect="auto")
            axes.set_xticks(range(n_methods), list(self.ranks.columns), rotation=45, ha="right", rotation_mode="anchor")
            axes.set_yticks(range(n_sets), list(self.ranks.index))
            axes.tick_params(length=0)
            for (i, j), rank in np.ndenumerate(self.ranks.to_numpy()):
                color = "white" if rank < 0.45 * n_methods else "black"
                axes.text(j, i, f"{rank:g}", ha="center", va="center", fontsize=7, color=color)
        return self


def study_scores(summary: Summary, rounds: int, dialect: str) -> pd.DataFrame:
    """Balanced accuracy by set and by the label of each method in a study's first table."""
    methods = summary.compared(dialect)
    table = summary.by_set(methods, rounds, "balanced_accuracy").round(4)
    return table.set_axis([label_of(method) for method, _ in methods], axis=1)
