"""The tables of the paper, and some more, from a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from adacc.study import stats
from adacc.study.summary import MEASURES, Summary, read_summary, write_summary

__all__ = ["Table", "all_tables", "read_summary", "render", "write_all"]

NAMES = ("Bal. acc.", "Gmean", "TPR", "TNR", "F1", "AUC", "OPM")
OURS = ("adacc1", "adacc2")
RANKED_BY = "balanced_accuracy"
BEST, SECOND = 1, 2


@dataclass(frozen=True)
class Table:
    """Cells as text, with a mark on the best and the second best where that means something.

    Attributes
    ----------
    n_labels : int
        Columns that say what a row is.
    marks : dict
        BEST or SECOND of (row, column).
    notes : list of str
        What a reader must know.
    """

    name: str
    title: str
    columns: list[str]
    rows: list[list[str]]
    n_labels: int = 1
    marks: dict[tuple[int, int], int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def all_tables(summary: Summary) -> list[Table]:
    """Every table that the methods of the study allow, for each dialect."""
    return list(_tables(summary))


def _tables(summary: Summary) -> Iterator[Table]:
    protocol = summary.protocol
    groups = protocol.tables or {"results": [*protocol.methods, *protocol.baselines]}
    for dialect in protocol.dialects:
        ending = "" if len(protocol.dialects) == 1 else f"-{dialect}"
        for name, methods in groups.items():
            found = _in_dialect(summary, methods, dialect)
            if found:
                yield _means(summary, found, f"{name}{ending}", f"{TITLES.get(name, name)}{_said(ending)}")
        compared = _in_dialect(summary, next(iter(groups.values())), dialect)
        if len(compared) < 2:
            continue
        rounds = [T for T in protocol.rounds if not summary.by_set(compared, T, RANKED_BY).isna().to_numpy().any()]
        for T in rounds:
            yield _ranks(summary, compared, T, f"ranks-T{T}{ending}", _said(ending))
        if rounds and len(summary.sets) > 1:
            yield _friedman(summary, compared, rounds, f"friedman{ending}", _said(ending))
            for correction in (stats.holm, stats.bonferroni):
                yield _rank_tests(summary, compared, rounds, correction, ending)
            yield _wilcoxon(summary, compared, rounds, ending)
            yield _bootstrap(summary, compared, rounds[-1], ending)
            yield _nemenyi(summary, compared, rounds, ending)


TITLES = {
    "results": "Means over the sets, ± standard deviation over the parts of a set",
    "non-cumulative": "Cumulative against non-cumulative costs",
    "non-cost-sensitive": "AdaCC against resampling",
    "beyond": "Beyond the paper: what a practitioner would use today",
}


def _said(ending: str) -> str:
    return {"": "", "-paper": " (formulas as printed)", "-authors": " (formulas of the authors' code)"}[ending]


def _in_dialect(summary: Summary, methods: Sequence[str], dialect: str) -> list[tuple[str, str]]:
    """The methods that there are results of, in a dialect or in the one form that they have."""
    known = set(zip(summary.frame["method"], summary.frame["dialect"], strict=True))
    forms = [[(method, form) for form in (dialect, *summary.protocol.dialects, "")] for method in methods]
    found = [next((key for key in each if key in known), None) for each in forms]
    return [key for key in found if key is not None]


def _label(summary: Summary, method: str) -> str:
    return summary.protocol.label(method)


def _means(summary: Summary, methods: list[tuple[str, str]], name: str, title: str) -> Table:
    """The paper's main table: a row for each method and number of rounds."""
    frame = summary.frame.set_index(["method", "dialect"])
    rows, values, notes = [], [], []
    for method, dialect in methods:
        of_method = frame.loc[[(method, dialect)]]
        for T, chosen in of_method.groupby("rounds"):
            mean, spread = chosen[list(MEASURES)].mean(), chosen[[f"{each}_std" for each in MEASURES]].mean()
            cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(mean, spread, strict=True)]
            parts = f"{len(chosen)} × {_few(chosen['parts'])}"
            rows.append([_label(summary, method), str(T), *cells, parts])
            values.append((T, mean.to_numpy()))
        failed = int(of_method["failed"].sum() / of_method["rounds"].nunique())
        if failed:
            notes.append(f"{_label(summary, method)} failed in {failed} parts; its means are over the others.")
    columns = ["Method", "T", *NAMES, "sets × parts"]
    return Table(name, title, columns, rows, 2, _mark(values), [*notes, *_unfinished(summary)])


def _few(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"


def _mark(values: list[tuple[int, np.ndarray]]) -> dict[tuple[int, int], int]:
    """Best and second of each measure, among the rows of the same number of rounds (1: none, with the largest)."""
    most = max((T for T, _ in values), default=1)
    marks = {}
    for T in {T for T, _ in values} - {1}:
        rows = [i for i, (own, _) in enumerate(values) if own == T or (own == 1 and most == T)]
        for column in range(len(MEASURES)):
            order = sorted(rows, key=lambda i: -values[i][1][column])
            marks.update({(i, column + 2): mark for i, mark in zip(order, (BEST, SECOND), strict=False)})
    return marks


def _ranks(summary: Summary, methods: list[tuple[str, str]], T: int, name: str, said: str) -> Table:
    ranks = stats.ranks(_rounded(summary, methods, T))
    rows = [[each, *(f"{rank:g}" for rank in of_set)] for each, of_set in zip(summary.sets, ranks, strict=True)]
    marks = {(i, j + 1): BEST for i, j in zip(*np.nonzero(ranks == ranks.min(axis=1, keepdims=True)), strict=True)}
    mean, winners = ranks.mean(axis=0), (ranks == 1.0).sum(axis=0)
    order = np.argsort(mean, kind="stable")
    marks |= {(len(rows), int(order[0]) + 1): BEST, (len(rows), int(order[1]) + 1): SECOND}
    rows += [["avg.", *(f"{value:.2f}" for value in mean)], ["winner", *map(str, winners)]]
    columns = ["Set", *(_label(summary, method) for method, _ in methods)]
    title = f"Ranks by balanced accuracy, T = {T}{said}"
    return Table(name, title, columns, rows, 1, marks, _unfinished(summary))


def _rounded(summary: Summary, methods: list[tuple[str, str]], T: int) -> np.ndarray:
    """Balanced accuracy by set; equal but for rounding is equal, so that ties are ties."""
    return summary.by_set(methods, T, RANKED_BY).to_numpy().round(4)


def _friedman(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], name: str, said: str) -> Table:
    rows = []
    for T in rounds:
        test = stats.friedman(stats.ranks(_rounded(summary, methods, T)))
        rows.append([str(T), f"{test.chi_square:.1f}", _p(test.p_value), f"{test.f_statistic:.1f}", _p(test.f_p_value)])
    columns = ["T", "chi²", "p", "F (Iman-Davenport)", "p of F"]
    title = f"Friedman's test that all {len(methods)} methods rank alike{said}"
    return Table(name, title, columns, rows, notes=_unfinished(summary))


Correction = Callable[[np.ndarray], np.ndarray]


def _rank_tests(
    summary: Summary, methods: list[tuple[str, str]], rounds: list[int], correction: Correction, ending: str
) -> Table:
    how = correction.__name__

    def p_values(T: int, against: int) -> np.ndarray:
        return correction(stats.rank_tests(stats.ranks(_rounded(summary, methods, T)), against))

    title = f"p-values of mean ranks against AdaCC's, {how.capitalize()}-corrected{_said(ending)}"
    notes = ["Two-sided z tests on mean ranks; the paper prints Holm's correction and calls it Bonferroni's."]
    return _against_ours(summary, methods, rounds, p_values, f"significance-{how}{ending}", title, notes)


def _wilcoxon(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], ending: str) -> Table:
    def p_values(T: int, against: int) -> np.ndarray:
        return stats.holm(stats.wilcoxon_tests(_rounded(summary, methods, T), against))

    title = f"p-values of Wilcoxon's signed-rank test against AdaCC, Holm-corrected{_said(ending)}"
    return _against_ours(summary, methods, rounds, p_values, f"wilcoxon{ending}", title, [])


def _against_ours(
    summary: Summary, methods: list[tuple[str, str]], rounds: list[int],
    p_values: Callable[[int, int], np.ndarray], name: str, title: str, notes: list[str],
) -> Table:  # fmt: skip
    """A row for each method, a column for each of AdaCC1 and AdaCC2 and number of rounds."""
    names = [method for method, _ in methods]
    ours = [method for method in OURS if method in names] or names[:1]
    columns, found = ["Method"], []
    for mine in ours:
        for T in rounds:
            columns.append(f"{_label(summary, mine)}, T = {T}")
            found.append(p_values(T, names.index(mine)))
    rows = [[_label(summary, names[i]), *(_p(column[i]) for column in found)] for i in range(len(names))]
    return Table(name, title, columns, rows, notes=[*notes, *_unfinished(summary)])


def _p(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1e}"


def _bootstrap(summary: Summary, methods: list[tuple[str, str]], T: int, ending: str) -> Table:
    values, rows = _rounded(summary, methods, T), []
    names = [method for method, _ in methods]
    ours = [method for method in OURS if method in names] or names[:1]
    for i, method in enumerate(names):
        cells = []
        for mine in ours:
            difference = values[:, names.index(mine)] - values[:, i]
            low, high = stats.bootstrap(difference)
            cells.append("-" if mine == method else f"{difference.mean():+.2f} [{low:+.2f}, {high:+.2f}]")
        rows.append([_label(summary, method), *cells])
    columns = ["Method", *(f"{_label(summary, mine)} is better by" for mine in ours)]
    title = f"Difference in balanced accuracy, T = {T}, with 95 % bootstrap intervals over the sets{_said(ending)}"
    return Table(f"bootstrap{ending}", title, columns, rows, notes=_unfinished(summary))


def _nemenyi(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], ending: str) -> Table:
    """Mean ranks from best to worst, and with which of the worse ones each is on a par."""
    gap = stats.critical_difference(len(summary.sets), len(methods))
    rows = []
    for T in rounds:
        mean = stats.ranks(_rounded(summary, methods, T)).mean(axis=0)
        order = np.argsort(mean, kind="stable").tolist()
        for place, i in enumerate(order):
            equal = [_label(summary, methods[j][0]) for j in order[place + 1 :] if mean[j] - mean[i] < gap]
            bar = "-" * round(4 * mean[i])
            rows.append([str(T), _label(summary, methods[i][0]), f"{mean[i]:.2f}", f"{bar}o", ", ".join(equal) or "-"])
    title = f"Mean ranks; differences below {gap:.2f} are not significant (Nemenyi, 5 %){_said(ending)}"
    columns = ["T", "Method", "mean rank", "1 is best", "not worse by a significant difference"]
    return Table(f"nemenyi{ending}", title, columns, rows, 2, notes=_unfinished(summary))


def _unfinished(summary: Summary) -> list[str]:
    left_out = ", ".join(summary.unfinished)
    return [f"Not complete yet, and left out: {left_out}."] if left_out else []


def render(table: Table, form: str) -> str:
    """The table as text, csv, markdown or latex."""
    return {"text": _text, "csv": _csv, "markdown": _markdown, "latex": _latex}[form](table)


def _marked(table: Table, best: Callable[[str], str], second: Callable[[str], str]) -> list[list[str]]:
    how = {BEST: best, SECOND: second}
    return [
        [how[table.marks[i, j]](cell) if (i, j) in table.marks else cell for j, cell in enumerate(row)]
        for i, row in enumerate(table.rows)
    ]


def _text(table: Table) -> str:
    rows = _marked(table, "{}**".format, "{}* ".format)
    is_marked = {j for _, j in table.marks}
    rows = [
        [cell if j not in is_marked or cell.endswith(("*", "* ")) else f"{cell}  " for j, cell in enumerate(row)]
        for row in rows
    ]
    widths = [max(len(row[j]) for row in (table.columns, *rows)) for j in range(len(table.columns))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) if j < table.n_labels or not any(sign.isdigit() for sign in cell) else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    marks = ["** best, * second"] if BEST in table.marks.values() else []
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([table.title, "", line(table.columns), rule, *map(line, rows), *marks, *table.notes])


def _csv(table: Table) -> str:
    """Numbers plain: mean and deviation in columns of their own."""
    split = [j for j in range(len(table.columns)) if any(" ± " in row[j] for row in table.rows)]
    columns = [[name, f"{name} std"] if j in split else [name] for j, name in enumerate(table.columns)]
    rows = [[cell.split(" ± ") if j in split else [cell] for j, cell in enumerate(row)] for row in table.rows]
    flat = [[part for cell in row for part in cell] for row in (columns, *rows)]
    return pd.DataFrame(flat[1:], columns=flat[0]).to_csv(index=False).rstrip("\n")


def _markdown(table: Table) -> str:
    rows = _marked(table, "**{}**".format, "_{}_".format)
    head = [f"| {' | '.join(table.columns)} |", f"|{'|'.join(['---'] * len(table.columns))}|"]
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join([f"**{table.title}**", "", *head, *(f"| {' | '.join(row)} |" for row in rows), *notes])


def _latex(table: Table) -> str:
    def clean(cell: str) -> str:
        for plain, code in (("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("±", r"$\pm$"), ("²", "$^2$")):
            cell = cell.replace(plain, code)
        return cell

    rows = [[clean(cell) for cell in row] for row in table.rows]
    marked = _marked(
        Table(table.name, table.title, table.columns, rows, table.n_labels, table.marks),
        r"\textbf{{{}}}".format,
        r"\underline{{{}}}".format,
    )
    shape = "l" * table.n_labels + "r" * (len(table.columns) - table.n_labels)
    body = [rf"{' & '.join(row)} \\" for row in marked]
    return "\n".join(
        [
            r"\begin{table}", rf"\caption{{{clean(' '.join([table.title + '.', *table.notes]))}}}",
            rf"\begin{{tabular}}{{{shape}}}", r"\hline", rf"{' & '.join(map(clean, table.columns))} \\", r"\hline",
            *body, r"\hline", r"\end{tabular}", r"\end{table}",
        ]
    )  # fmt: skip


ENDINGS = {"text": "txt", "csv": "csv", "markdown": "md", "latex": "tex"}


def write_all(tables: list[Table], summary: Summary, form: str, folder: Path) -> list[Path]:
    """Each table as a file, and the summary they are made from."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = write_summary(summary, folder)
    for table in tables:
        paths.append(folder / f"{table.name}.{ENDINGS[form]}")
        paths[-1].write_text(render(table, form) + "\n")
    return paths
