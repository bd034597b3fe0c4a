"""Tables against independent computations from the stored scores, and against the paper's own."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from imblearn.metrics import geometric_mean_score
from scipy import stats as scipy_stats
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score, recall_score, roc_auc_score
from small_study import FORMATS, all_tables_of, command, fake, plan
from statsmodels.stats.multitest import multipletests

from adacc.evaluation.baselines import label_of
from adacc.study.protocol import read_protocol
from adacc.study.store import Store, StudyError
from adacc.study.summary import MEASURES, Summary, read_summary, summarise
from adacc.study.tables import BEST, SECOND, Table, all_tables, render

METHODS = ["adaboost", "adacc1", "adacc2", "cgada", "csb1"]
SETS = [f"set_{letter}" for letter in "abcdefghi"]


def sketch(tmp_path, methods=METHODS, sets=SETS, failing=(), n_test=211, **changes):
    protocol = plan([tmp_path / f"{name}.csv" for name in sets], methods, **changes)
    store = Store(tmp_path / "results")
    fake(protocol, store, failing, n_test)
    return store


def tables_of(summary):
    return {table.name: table for table in all_tables(summary)}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return sketch(tmp_path_factory.mktemp("study"), sets=SETS[::-1], repeats=1, n_test=997)


@pytest.fixture(scope="module")
def tables(study):
    return tables_of(summarise(study))


@pytest.fixture(scope="module")
def by_part(study):
    """Every measure from the stored scores, by scikit-learn and imbalanced-learn, in percent."""
    rows = []
    for task in study.protocol().tasks():
        result = study.read(task)
        for series, scores in zip(result.series, result.scores, strict=True):
            y, said = result.y, scores > 0
            found = [
                balanced_accuracy_score(y, said), geometric_mean_score(y, said), recall_score(y, said),
                recall_score(y, said, pos_label=0), f1_score(y, said), roc_auc_score(y, scores),
            ]  # fmt: skip
            key = task.dataset, series.method, series.dialect, series.rounds
            found += [np.mean(found), average_precision_score(y, scores)]
            rows.append([*key, *(100 * value for value in found)])
    return pd.DataFrame(rows, columns=["dataset", "method", "dialect", "rounds", *MEASURES])


def scores_at(by_part, T):
    """Balanced accuracy by set and method, in the paper's dialect."""
    chosen = by_part[(by_part["rounds"] == T) & (by_part["dialect"] == "paper")]
    table = chosen.pivot_table(index="dataset", columns="method", values="balanced_accuracy")[METHODS]
    assert (np.diff(np.sort(table, axis=1), axis=1) > 1e-3).all(), "ties, which the oracles treat in other ways"
    return table


def numbers(table, label="AdaCC1", columns=slice(1, None)):
    return [cell for row in table.rows for cell in row[columns] if row[0] == label]


def test_means_and_deviations(tables, by_part):
    by_set = by_part.groupby(["method", "dialect", "rounds", "dataset"])
    means = by_set.mean().groupby(level=[0, 1, 2]).mean()
    spread = by_set.std(ddof=0).groupby(level=[0, 1, 2]).mean()
    labels = dict(zip([row[0] for row in tables["results-paper"].rows][::2], METHODS, strict=False))
    for dialect in ("paper", "authors"):
        rows = tables[f"results-{dialect}"].rows
        assert len(rows) == 2 * len(METHODS)
        for label, T, *cells, parts in rows:
            method = labels[label]
            key = method, dialect if method in ("adacc1", "csb1") else "paper", int(T)
            for measure, cell in zip(MEASURES, cells, strict=True):
                mean, deviation = map(float, cell.split(" ± "))
                assert mean == pytest.approx(means.loc[key, measure], abs=0.0052)
                assert deviation == pytest.approx(spread.loc[key, measure], abs=0.0052)
            assert parts == "9 × 2"
    assert tables["results-paper"].rows != tables["results-authors"].rows


def test_best_and_second_are_marked_among_equal_rounds(tables):
    table = tables["results-paper"]
    for T in ("3", "6"):
        rows = [i for i, row in enumerate(table.rows) if row[1] == T]
        for column in range(2, 9):
            values = {i: float(table.rows[i][column].split()[0]) for i in rows}
            levels = sorted(set(values.values()), reverse=True)
            for i in rows:
                due = {levels[0]: BEST, levels[1]: SECOND}.get(values[i])
                assert table.marks.get((i, column)) == due


def test_ranks_their_means_and_winners(tables, by_part):
    for T in (3, 6):
        values = scores_at(by_part, T)
        due = scipy_stats.rankdata(-values, axis=1)
        *rows, average, winner = tables[f"ranks-T{T}-paper"].rows
        assert [row[0] for row in rows] == list(values.index)
        np.testing.assert_array_equal([list(map(float, row[1:])) for row in rows], due)
        assert average == ["avg.", *(f"{mean:.2f}" for mean in due.mean(axis=0))]
        assert winner == ["winner", *(str(count) for count in (due == 1).sum(axis=0))]


def test_friedman_is_scipys(tables, by_part):
    for row, T in zip(tables["friedman-paper"].rows, (3, 6), strict=True):
        values = scores_at(by_part, T)
        chi_square, p_value = scipy_stats.friedmanchisquare(*values.to_numpy().T)
        n, k = values.shape
        f = (n - 1) * chi_square / (n * (k - 1) - chi_square)
        f_p = scipy_stats.f.sf(f, k - 1, (k - 1) * (n - 1))
        assert row == [str(T), f"{chi_square:.1f}", f"{p_value:.1e}", f"{f:.1f}", f"{f_p:.1e}"]


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_tests_on_ranks_are_corrected_as_statsmodels_does(tables, by_part, correction):
    table = tables[f"significance-{correction}-paper"]
    assert table.columns[1:] == ["AdaCC1, T = 3", "AdaCC1, T = 6", "AdaCC2, T = 3", "AdaCC2, T = 6"]
    columns = [(mine, T) for mine in (1, 2) for T in (3, 6)]
    for j, (mine, T) in enumerate(columns, start=1):
        ranks = scipy_stats.rankdata(-scores_at(by_part, T), axis=1).mean(axis=0)
        z = (ranks - ranks[mine]) / np.sqrt(5 * 6 / (6 * 9))
        others = [i for i in range(5) if i != mine]
        due = multipletests(2 * scipy_stats.norm.sf(abs(z[others])), method=correction)[1]
        assert [table.rows[i][j] for i in others] == [f"{value:.1e}" for value in due]
        assert table.rows[mine][j] == "-"


def test_wilcoxon_is_that_of_scikit_posthocs(tables, by_part):
    for T, column in ((3, 1), (6, 2)):
        every_pair = scikit_posthocs.posthoc_wilcoxon(scores_at(by_part, T).T.to_numpy()).to_numpy()
        others = [0, 2, 3, 4]
        due = multipletests(every_pair[1, others], method="holm")[1]
        assert [tables["wilcoxon-paper"].rows[i][column] for i in others] == [f"{value:.1e}" for value in due]


def test_nemenyi_is_that_of_scikit_posthocs(tables, by_part):
    for T in (3, 6):
        values = scores_at(by_part, T)
        p_values = scikit_posthocs.posthoc_nemenyi_friedman(values.to_numpy()).to_numpy()
        names = [label_of(method) for method in METHODS]
        rows = [row for row in tables["nemenyi-paper"].rows if row[0] == str(T)]
        order = [names.index(row[1]) for row in rows]
        assert [float(row[2]) for row in rows] == sorted(float(row[2]) for row in rows)
        for place, row in enumerate(rows):
            alike = [names[j] for j in order[place + 1 :] if p_values[order[place], j] > 0.05]
            assert row[-1] == (", ".join(alike) or "-")
        assert 0 < (p_values < 0.05).sum() < 20, "all differ, or none"


def test_bootstrap_intervals_are_about_the_mean_difference(tables, by_part):
    values = scores_at(by_part, 6).to_numpy()
    for i, row in enumerate(tables["bootstrap-paper"].rows):
        if i == 1:
            assert row[1] == "-"
            continue
        difference = values[:, 1] - values[:, i]
        mean, low, high = map(float, re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", row[1]).groups())
        assert mean == pytest.approx(difference.mean(), abs=0.006)
        margin = 1.96 * difference.std() / np.sqrt(len(difference))
        assert (low, high) == pytest.approx((mean - margin, mean + margin), abs=0.3 * margin)


def test_csv_files_give_the_same_tables(study, tmp_path):
    due = all_tables_of(study.folder)
    code, out, _ = command("study", "tables", study.folder, "--out", tmp_path / "a", "--format", "markdown")
    assert code == 0
    written = [line for line in out.splitlines() if line]
    assert all(str(tmp_path / "a") in line for line in written)
    assert {f"{name}.csv" for name in SETS} == {path.name for path in (tmp_path / "a" / "sets").iterdir()}
    assert all_tables_of(tmp_path / "a") == due
    # To the last bit, so that no mean over sets is rounded otherwise.
    one, other = summarise(study).frame, read_summary(tmp_path / "a").frame
    pd.testing.assert_frame_equal(one, other, check_exact=True, check_dtype=False)
    files = [Path(line).read_text().rstrip("\n") for line in written if line.endswith(".md")]
    assert "\n\n".join(files) + "\n" == due["markdown"]
    command("study", "tables", tmp_path / "a", "--out", tmp_path / "b")
    for path in (tmp_path / "a" / "sets").iterdir():
        assert (tmp_path / "b" / "sets" / path.name).read_bytes() == path.read_bytes()


def test_results_go_before_csv_files_of_the_same_folder(tmp_path):
    """Else the tables of a study that goes on would for ever be the first ones; and a set may be called `sets`."""
    store = sketch(tmp_path, sets=["sets", "other"], dialects=("paper",))
    before = all_tables_of(store.folder)
    assert command("study", "tables", store.folder, "--out", store.folder)[0] == 0
    assert all_tables_of(store.folder) == before
    fake(replace(store.protocol(), repeats=2), store)
    assert "2 × 4" in all_tables_of(store.folder)["text"]


def test_csv_files_of_sets_that_are_not_in_the_plan_do_not_count(tmp_path):
    store = sketch(tmp_path, sets=["007", "nan"], dialects=("paper",))
    due = all_tables_of(store.folder)
    command("study", "tables", store.folder, "--out", tmp_path / "out")
    old = tmp_path / "out" / "sets" / "old.csv"
    old.write_text((tmp_path / "out" / "sets" / "007.csv").read_text().replace("007,", "old,"))
    assert read_summary(tmp_path / "out").sets == ["007", "nan"]
    assert all_tables_of(tmp_path / "out") == due


def test_failures_are_counted_and_the_others_go_on(tmp_path):
    whole = tables_of(summarise(sketch(tmp_path / "whole", sets=SETS[:3], dialects=("paper",))))
    store = sketch(tmp_path / "torn", sets=SETS[:3], dialects=("paper",), failing=[("csb1", "set_b")])
    torn = tables_of(summarise(store))
    table = torn["results"]
    assert table.notes == ["CSB1 failed in 2 folds; its means are over the other folds."]
    assert [row for row in table.rows if row[0] != "CSB1"] == [row for row in whole["results"].rows if row[0] != "CSB1"]
    assert all("nan" not in render(each, form) for each in torn.values() for form in FORMATS)
    assert "CSB1" not in torn["ranks-T3"].columns
    assert torn["ranks-T3"].notes == ["Left out, since they lack a value on some set: CSB1."]
    assert torn["friedman"].title == "Friedman's test that all 4 methods have the same mean rank"


def test_a_method_that_always_fails_has_a_dash(tmp_path):
    failing = [("csb1", name) for name in SETS[:2]]
    store = sketch(tmp_path, sets=SETS[:2], dialects=("paper",), failing=failing)
    table = tables_of(summarise(store))["results"]
    at = [i for i, row in enumerate(table.rows) if row[0] == "CSB1"]
    assert [table.rows[i][2:9] for i in at] == [["-"] * 7] * 2
    assert not any(i in at for i, _ in table.marks)
    assert sorted({mark for (_, column), mark in table.marks.items() if column == 2}) == [BEST, SECOND]
    frame = pd.read_csv(io.StringIO(render(table, "csv")))
    assert frame.loc[frame["Method"] == "CSB1", "Bal. acc."].isna().all()
    assert command("study", "tables", store.folder, "--out", tmp_path / "out")[0] == 0
    assert all_tables_of(tmp_path / "out") == all_tables_of(store.folder)


def test_methods_without_rounds_rank_beside_each_number_of_rounds(tmp_path):
    store = sketch(tmp_path, methods=["adacc1", "smote-tree"], sets=SETS[:4], dialects=("paper",), tables={})
    found = tables_of(summarise(store))
    assert [row[1] for row in found["results"].rows] == ["3", "6", "1"]
    assert {"ranks-T3", "ranks-T6", "friedman", "wilcoxon"} <= set(found)
    assert found["ranks-T3"].columns == ["Set", "AdaCC1", "SMOTE + D.T."]
    marks = found["results"].marks
    assert {marks[1, 2], marks[2, 2]} == {BEST, SECOND}  # the tree beside the largest number of rounds
    assert marks[0, 2] == BEST


def test_unfinished_sets_are_left_out_and_named(tmp_path):
    store = sketch(tmp_path, sets=SETS[:3], dialects=("paper",))
    store.path(store.protocol().tasks()[-1]).unlink()
    for table in all_tables(summarise(store)):
        assert "Left out, since they are not complete: set_c." in table.notes
    assert summarise(store).sets == ["set_a", "set_b"]
    for path in store.folder.glob("*/*.npz"):
        path.unlink()
    with pytest.raises(StudyError, match=r"is complete yet; see `adacc study status "):
        summarise(store)


def test_one_set_or_one_method_will_do(tmp_path):
    one_set = tables_of(summarise(sketch(tmp_path / "set", sets=SETS[:1], dialects=("paper",))))
    assert {"results", "ranks-T3", "ranks-T6"} == set(one_set) - {"non-cumulative", "non-cost-sensitive", "beyond"}
    one_method = sketch(tmp_path / "method", methods=["csb1"], sets=SETS[:3], dialects=("paper",))
    assert set(tables_of(summarise(one_method))) == {"results"}


NASTY = Table(
    "nasty", "All of 5 % & more, R² ± {x}", ["Set", "T", "a_b | c"],
    [[r"x_1 & 50% #$^~\{|<b>*", "25", "1.50 ± 0.25"], ["y", "200", "-"], ["z", "50", "2.00 ± 0.10"]], 2,
    {(0, 2): SECOND, (2, 2): BEST}, ["100 % | sure_ly"],
)  # fmt: skip


def every_table(tables):
    return [*tables.values(), NASTY]


def test_latex_is_balanced_and_escaped(tables):
    for table in every_table(tables):
        text = render(table, "latex")
        depth = 0
        for sign in re.sub(r"\\[{}]", "", text):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            assert depth >= 0
        assert depth == 0
        assert re.sub(r"\\\$", "", text).count("$") % 2 == 0
        plain = re.sub(r"\\begin\{tabular\}\{[lr]+\}|\$\^2\$|\\\\\n|\\\\$", "", text, flags=re.M)
        assert not re.search(r"(?<!\\)[%_#~]|±|×|²", plain)
        rows = text.split("\\hline\n")[2].splitlines()
        assert len(rows) == len(table.rows)
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(table.columns) - 1}
    assert r"x\_1 \& 50\% \#\$\textasciicircum{}\textasciitilde{}\textbackslash{}\{|$<$b$>$*" in text
    assert r"\begin{tabular}{lrr}" in text


def test_markdown_has_as_many_columns_in_every_row(tables):
    for table in every_table(tables):
        lines = [line for line in render(table, "markdown").splitlines() if line.startswith("|")]
        assert len(lines) == len(table.rows) + 2
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(table.columns) + 1}
    assert lines[1] == "|---|---:|---:|"
    assert "**2.00 ± 0.10**" in lines[-1]


def test_csv_is_plain(tables):
    for table in every_table(tables):
        rows = list(csv.reader(io.StringIO(render(table, "csv"))))
        assert len(rows) == len(table.rows) + 1
        assert len({len(row) for row in rows}) == 1
    assert rows == [
        ["Set", "T", "a_b | c", "a_b | c std"],
        [NASTY.rows[0][0], "25", "1.50", "0.25"],
        ["y", "200", "", ""],
        ["z", "50", "2.00", "0.10"],
    ]


def test_text_is_aligned(tables):
    assert render(NASTY, "text").splitlines() == [
        "All of 5 % & more, R² ± {x}",
        "",
        "Set                      T      a_b | c",
        "---------------------  ---  -------------",
        r"x_1 & 50% #$^~\{|<b>*   25  1.50 ± 0.25*",
        "y                      200            -",
        "z                       50  2.00 ± 0.10**",
        "** best, * second",
        "100 % | sure_ly",
    ]
    for table in tables.values():
        head, rule, *_ = render(table, "text").splitlines()[2:]
        ends = [match.end() for match in re.finditer("-+", rule)]
        for name, end, j in zip(table.columns, ends, range(len(ends)), strict=True):
            if j >= table.n_labels and table.rows[0][j][-1:].isdigit():
                assert head[:end].rstrip().endswith(name)


# What the paper prints.


def paper_summary(paper_table):
    """A summary whose ranks are the paper's printed ones."""
    protocol = replace(read_protocol("paper"), dialects=("paper",))
    names = {label_of(method): method for method in protocol.methods}
    parts = []
    for T in protocol.rounds:
        ranks = paper_table(f"ranks_T{T}").set_index("dataset").drop(index=["avg.", "winner"])
        ranks.index = ranks.index.str.replace(".", "").str.slice(0, 11)  # spelt in two ways
        long = ranks.rename(columns=names).stack().rename_axis(["dataset", "method"]).rename("rank").reset_index()
        parts.append(long.assign(dialect="paper", rounds=T, parts=50, failed=0))
    frame = pd.concat(parts, ignore_index=True)
    for measure in MEASURES:
        frame[measure], frame[f"{measure}_std"] = 100 - frame["rank"], 1.0
    return Summary(protocol, frame, [])


def test_the_papers_averages_and_winners_come_out_again(paper_table):
    tables = tables_of(paper_summary(paper_table))
    for T in (25, 50, 100, 200):
        found, printed = tables[f"ranks-T{T}"], paper_table(f"ranks_T{T}").set_index("dataset")
        assert found.columns[1:] == list(printed.columns)
        average, winner = found.rows[-2:]
        np.testing.assert_allclose(np.array(average[1:], dtype=float), printed.loc["avg."].astype(float), atol=0.0101)
        assert list(map(float, winner[1:])) == list(printed.loc["winner"].astype(float))


def test_the_papers_p_values_come_near(paper_table):
    """Most of all within a factor of two; of AdaCC1's at T = 200 only six of 13, but all within 3.5."""
    table = tables_of(paper_summary(paper_table))["significance-holm"]
    printed = paper_table("friedman_p_values").set_index("method")
    ratios = {}
    for column, name in enumerate(table.columns[1:], start=1):
        due = printed[name.replace(", T = ", "_T")]
        ratios[name] = [float(row[column]) / float(due[row[0]]) for row in table.rows
                        if row[column] != "-" and float(due[row[0]]) > 0]  # fmt: skip
    found = {row[0]: row[table.columns.index("AdaCC1, T = 200")] for row in table.rows}
    assert (found["AdaMEC-Cal."], found["CGAda"], found["CSB1"]) == ("7.2e-02", "2.8e-02", "1.6e-15")
    near = np.array(ratios["AdaCC1, T = 200"])
    assert ((near > 1 / 2) & (near < 2)).sum() == 6
    assert ((near > 1 / 3.5) & (near < 3.5)).all()
    every = np.concatenate(list(ratios.values()))
    assert ((every > 1 / 2) & (every < 2)).mean() > 2 / 3
