"""The tables of the paper, and further ones, from the summary of a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from adacc.evaluation import measures
from adacc.evaluation import statistics as stats
from adacc.evaluation.baselines import label_of
from adacc.study.summary import NO_ROUNDS, SetSummary, Summary, read_summary, write_summary

__all__ = ["Table", "all_tables", "read_summary", "render", "write_all"]

REFERENCES = ("adacc-forest", "adacc1", "adacc2")
RANKED_BY = "balanced_accuracy"
BEST, SECOND = 1, 2


@dataclass(frozen=True)
class Table:
    """A table of text cells, with marks on the best and second best values."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[str]]
    n_labels: int = 1  # number of label columns
    marks: dict[tuple[int, int], int] = field(default_factory=dict)  # BEST or SECOND by (row, column)
    notes: list[str] = field(default_factory=list)  # notes below the table


def all_tables(summary: Summary) -> list[Table]:
    """All tables of a study, for each dialect."""
    return list(_tables(summary))


def _tables(summary: Summary) -> Iterator[Table]:
    protocol = summary.protocol
    for dialect in protocol.dialects:
        ending = "" if len(protocol.dialects) == 1 else f"-{dialect}"
        for name, methods in summary.groups.items():
            found = summary.in_dialect(methods, dialect)
            if found:
                yield _means(summary, found, f"{name}{ending}", f"{TITLES.get(name, name)}{_dialect_note(ending)}")
        compared = summary.compared(dialect)
        ranked = summary.in_dialect(next(iter(summary.groups.values())), dialect)
        left_out = [label_of(each[0]) for each in ranked if each not in compared]
        notes = [f"Left out, since they lack a value on some set: {', '.join(left_out)}."] if left_out else []
        for table in _comparisons(summary, compared, ending):
            yield replace(table, notes=[*table.notes, *notes])


def _comparisons(summary: Summary, methods: list[tuple[str, str]], ending: str) -> Iterator[Table]:
    """Ranks, and tests on them."""
    rounds = list(summary.protocol.rounds)
    if len(methods) < 2:
        return
    for T in rounds:
        yield _ranks(summary, methods, T, f"ranks-T{T}{ending}", _dialect_note(ending))
    if len(summary.sets) > 1:
        yield _friedman(summary, methods, rounds, f"friedman{ending}", _dialect_note(ending))
        for correction in (stats.holm, stats.bonferroni):
            yield _rank_tests(summary, methods, rounds, correction, ending)
        yield _wilcoxon(summary, methods, rounds, ending)
        yield _bootstrap(summary, methods, rounds[-1], ending)
        yield _nemenyi(summary, methods, rounds, ending)


TITLES = {
    "results": "Means over the sets, ± standard deviation over the folds of a set",
    "non-cumulative": "Cumulative against non-cumulative costs",
    "non-cost-sensitive": "AdaCC against resampling",
    "beyond": "Methods beyond the paper",
    "forest": "The AdaCC forest and other methods, ± standard deviation over the folds of a set",
}


def _dialect_note(ending: str) -> str:
    return {"": "", "-paper": " (formulas as printed)", "-authors": " (formulas of the authors' code)"}[ending]


def _means(summary: Summary, methods: list[tuple[str, str]], name: str, title: str) -> Table:
    """The paper's main table: a row for each method and number of rounds."""
    protocol, frame = summary.protocol, summary.frame.set_index(["method", "dialect"])
    names, rows, values, notes = summary.measures, [], [], []
    for method, dialect in methods:
        of_method = frame.loc[[(method, dialect)]]
        for T, chosen in of_method.groupby("rounds"):
            mean, spread = chosen[names].mean(), chosen[[f"{each}_std" for each in names]].mean()
            cells = ["-" if np.isnan(m) else f"{m:.2f} ± {s:.2f}" for m, s in zip(mean, spread, strict=True)]
            n_folds = f"{len(chosen)} × {_count_range(chosen['parts'])}"
            rows.append([label_of(method), str(T), *cells, n_folds])
            values.append((protocol.rounds[-1] if method in NO_ROUNDS else T, mean.to_numpy().round(2)))
        failed = int(of_method["failed"].sum() / of_method["rounds"].nunique())
        if failed:
            notes.append(f"{label_of(method)} failed in {failed} folds; its means are over the other folds.")
    columns = ["Method", "T", *(measures.MEASURES[name].short for name in names), "sets × folds"]
    return Table(name, title, columns, rows, 2, _mark(values), [*notes, *unfinished_note(summary.unfinished)])


def _count_range(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"


def _mark(values: list[tuple[int, np.ndarray]]) -> dict[tuple[int, int], int]:
    """Marks of the best and second best value of each measure among rows with the same number of rounds."""
    marks = {}
    for T in {T for T, _ in values}:
        rows = [i for i, (own, _) in enumerate(values) if own == T]
        for column in range(len(values[0][1])):
            best = best_two(np.array([values[i][1][column] for i in rows]))
            marks.update({(rows[at], column + 2): mark for at, mark in best.items()})
    return marks


def best_two(values: np.ndarray) -> dict[int, int]:
    """Marks by index of the largest and second largest value; ties are all marked."""
    levels = np.unique(values[~np.isnan(values)])[::-1].tolist()
    marks = dict(zip(levels, (BEST, SECOND), strict=False))
    return {at: marks[value] for at, value in enumerate(values.tolist()) if value in marks}


def _ranks(summary: Summary, methods: list[tuple[str, str]], T: int, name: str, note: str) -> Table:
    ranks = stats.ranks(_scores(summary, methods, T))
    rows = [[each, *(f"{rank:g}" for rank in of_set)] for each, of_set in zip(summary.sets, ranks, strict=True)]
    best = ranks == ranks.min(axis=1, keepdims=True)
    marks = {(i, j + 1): BEST for i, j in zip(*np.nonzero(best), strict=True)}
    # Ties share the win of a set, as in the paper.
    mean, winners = ranks.mean(axis=0), (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    marks |= {(len(rows), j + 1): mark for j, mark in best_two(-mean.round(2)).items()}
    rows += [["avg.", *(f"{value:.2f}" for value in mean)], ["winner", *(f"{value:.3g}" for value in winners)]]
    columns = ["Set", *(label_of(method) for method, _ in methods)]
    title = f"Ranks by balanced accuracy, T = {T}{note}"
    return Table(name, title, columns, rows, 1, marks, unfinished_note(summary.unfinished))


def _scores(summary: Summary, methods: list[tuple[str, str]], T: int) -> np.ndarray:
    return summary.by_set(methods, T, RANKED_BY).to_numpy()


def _friedman(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], name: str, note: str) -> Table:
    rows = []
    for T in rounds:
        test = stats.friedman(stats.ranks(_scores(summary, methods, T)))
        rows.append(
            [str(T), f"{test.chi_square:.1f}", p_text(test.p_value), f"{test.f_statistic:.1f}", p_text(test.f_p_value)]
        )
    columns = ["T", "chi²", "p", "F (Iman-Davenport)", "p of F"]
    title = f"Friedman's test that all {len(methods)} methods have the same mean rank{note}"
    return Table(name, title, columns, rows, notes=unfinished_note(summary.unfinished))


Correction = Callable[[np.ndarray], np.ndarray]


def _rank_tests(
    summary: Summary, methods: list[tuple[str, str]], rounds: list[int], correction: Correction, ending: str
) -> Table:
    name = correction.__name__

    def p_values(T: int, against: int) -> np.ndarray:
        return correction(stats.rank_tests(stats.ranks(_scores(summary, methods, T)), against))

    title = f"p-values of mean ranks against AdaCC's, {name.capitalize()}-corrected{_dialect_note(ending)}"
    notes = ["Two-sided z-tests on mean ranks. The paper prints Holm's correction under the name of Bonferroni's."]
    return _against_adacc(summary, methods, rounds, p_values, f"significance-{name}{ending}", title, notes)


def _wilcoxon(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], ending: str) -> Table:
    def p_values(T: int, against: int) -> np.ndarray:
        return stats.holm(stats.wilcoxon_tests(_scores(summary, methods, T), against))

    title = f"p-values of Wilcoxon's signed-rank test against AdaCC, Holm-corrected{_dialect_note(ending)}"
    return _against_adacc(summary, methods, rounds, p_values, f"wilcoxon{ending}", title, [])


def _against_adacc(
    summary: Summary, methods: list[tuple[str, str]], rounds: list[int],
    p_values: Callable[[int, int], np.ndarray], name: str, title: str, notes: list[str],
) -> Table:  # fmt: skip
    """A row for each method, a column for each of AdaCC1 and AdaCC2 and number of rounds."""
    names = [method for method, _ in methods]
    compared_with = references(names)
    columns, p_columns = ["Method"], []
    for reference in compared_with:
        for T in rounds:
            columns.append(f"{label_of(reference)}, T = {T}")
            p_columns.append(p_values(T, names.index(reference)))
    rows = [[label_of(names[i]), *(p_text(column[i]) for column in p_columns)] for i in range(len(names))]
    return Table(name, title, columns, rows, notes=[*notes, *unfinished_note(summary.unfinished)])


def references(names: list[str]) -> list[str]:
    """The methods that others are compared with: those of AdaCC, or the first method."""
    return [method for method in REFERENCES if method in names] or names[:1]


def p_text(value: float) -> str:
    """A p-value as text; NaN is that of a method against itself."""
    return "-" if np.isnan(value) else f"{value:.1e}"


def _bootstrap(summary: Summary, methods: list[tuple[str, str]], T: int, ending: str) -> Table:
    values, rows = _scores(summary, methods, T), []
    names = [method for method, _ in methods]
    compared_with = references(names)
    for i, method in enumerate(names):
        cells = []
        for reference in compared_with:
            difference = values[:, names.index(reference)] - values[:, i]
            low, high = stats.bootstrap(difference)
            cells.append("-" if reference == method else f"{difference.mean():+.2f} [{low:+.2f}, {high:+.2f}]")
        rows.append([label_of(method), *cells])
    columns = ["Method", *(f"{label_of(reference)} is better by" for reference in compared_with)]
    title = (
        f"Difference in balanced accuracy, T = {T}, with 95 % bootstrap intervals over the sets{_dialect_note(ending)}"
    )
    return Table(f"bootstrap{ending}", title, columns, rows, notes=unfinished_note(summary.unfinished))


def _nemenyi(summary: Summary, methods: list[tuple[str, str]], rounds: list[int], ending: str) -> Table:
    """Mean ranks from best to worst, and the worse methods that are not significantly different."""
    gap = stats.critical_difference(len(summary.sets), len(methods))
    rows = []
    for T in rounds:
        mean = stats.ranks(_scores(summary, methods, T)).mean(axis=0)
        order = np.argsort(mean, kind="stable").tolist()
        for place, i in enumerate(order):
            equal = [label_of(methods[j][0]) for j in order[place + 1 :] if mean[j] - mean[i] < gap]
            bar = "-" * round(4 * mean[i])
            rows.append([str(T), label_of(methods[i][0]), f"{mean[i]:.2f}", f"{bar}o", ", ".join(equal) or "-"])
    title = f"Mean ranks; differences below {gap:.2f} are not significant (Nemenyi, 5 %){_dialect_note(ending)}"
    columns = ["T", "Method", "mean rank", "1 is best", "not significantly better than"]
    return Table(f"nemenyi{ending}", title, columns, rows, 2, notes=unfinished_note(summary.unfinished))


def unfinished_note(unfinished: list[str]) -> list[str]:
    """A note on the sets that are left out of a table, if there are any."""
    left_out = ", ".join(unfinished)
    return [f"Left out, since they are not complete: {left_out}."] if left_out else []


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
    padded = [
        [f"{cell}  " if j in is_marked and (i, j) not in table.marks else cell for j, cell in enumerate(row)]
        for i, row in enumerate([*rows, table.columns])
    ]
    widths = [max(map(len, column)) for column in zip(*padded, strict=True)]
    to_left = [_is_text(table, j) for j in range(len(widths))]

    def line(cells: Sequence[str]) -> str:
        each = zip(cells, widths, to_left, strict=True)
        return "  ".join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in each).rstrip()

    *rows, head = padded
    marks = ["** best, * second"] if SECOND in table.marks.values() else ["** best"] if table.marks else []
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([table.title, "", line(head), rule, *map(line, rows), *marks, *table.notes])


def _is_text(table: Table, column: int) -> bool:
    """Whether a column holds text, which is aligned left; numbers are aligned right."""
    return any(NUMBER.match(row[column]) is None for row in table.rows)


NUMBER = re.compile(r"[-+]?\d|-?$")
"""The start of a number, or the sign of a missing value."""


def _csv(table: Table) -> str:
    """CSV with mean and standard deviation in separate columns."""
    split = [j for j in range(len(table.columns)) if any(" ± " in row[j] for row in table.rows)]
    columns = [[name, f"{name} std"] if j in split else [name] for j, name in enumerate(table.columns)]
    plain = [["" if cell == "-" else cell for cell in row] for row in table.rows]
    rows = [[[*cell.split(" ± "), ""][:2] if j in split else [cell] for j, cell in enumerate(row)] for row in plain]
    flat = [[value for cell in row for value in cell] for row in (columns, *rows)]
    return pd.DataFrame(flat[1:], columns=flat[0]).to_csv(index=False).rstrip("\n")


def _cleaned(table: Table, clean: Callable[[str], str]) -> Table:
    """The table with the special characters of a format escaped."""
    return replace(
        table,
        title=clean(table.title),
        columns=[clean(name) for name in table.columns],
        rows=[[clean(cell) for cell in row] for row in table.rows],
        notes=[clean(note) for note in table.notes],
    )


def _markdown(table: Table) -> str:
    clean = _cleaned(table, lambda text: re.sub(r"([\\|*<`])", r"\\\1", text))
    rows = _marked(clean, "**{}**".format, "_{}_".format)
    sides = ["---" if _is_text(table, j) else "---:" for j in range(len(table.columns))]
    head = [f"| {' | '.join(clean.columns)} |", f"|{'|'.join(sides)}|"]
    notes = [f"\n{note}" for note in clean.notes]
    return "\n".join([f"**{clean.title}**", "", *head, *(f"| {' | '.join(row)} |" for row in rows), *notes])


LATEX = {
    **{char: f"\\{char}" for char in "&%_#${}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
    "±": r"$\pm$", "×": r"$\times$", "²": "$^2$",
}  # fmt: skip
"""Special characters of LaTeX, and how to write them."""


def _latex(table: Table) -> str:
    clean = _cleaned(table, lambda text: "".join(LATEX.get(char, char) for char in text))
    shape = "".join("l" if _is_text(table, j) else "r" for j in range(len(table.columns)))
    body = [rf"{' & '.join(row)} \\" for row in _marked(clean, r"\textbf{{{}}}".format, r"\underline{{{}}}".format)]
    return "\n".join(
        [
            r"\begin{table}", rf"\caption{{{' '.join([clean.title + '.', *clean.notes])}}}",
            rf"\begin{{tabular}}{{{shape}}}", r"\hline", rf"{' & '.join(clean.columns)} \\", r"\hline",
            *body, r"\hline", r"\end{tabular}", r"\end{table}",
        ]
    )  # fmt: skip


ENDINGS = {"text": "txt", "csv": "csv", "markdown": "md", "latex": "tex"}


def write_all(tables: list[Table], summary: SetSummary, form: str, folder: Path) -> list[Path]:
    """Write each table to a file, and the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = write_summary(summary, folder)
    for table in tables:
        paths.append(folder / f"{table.name}.{ENDINGS[form]}")
        paths[-1].write_text(render(table, form) + "\n", encoding="utf-8")
    return paths
