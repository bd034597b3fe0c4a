"""Which column is predicted, and which of its labels is to be found."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adacc.tables import find_label, read_frame, read_labels, read_target
from adacc.tables.chunks import Chunks
from adacc.tables.target import count_labels


def table(labels):
    return pd.DataFrame({"x": range(len(labels)), "ill": labels})


class TestWhichLabel:
    @pytest.mark.parametrize(
        ("labels", "positive", "other", "y"),
        [
            (["n", "n", "y"], "y", "n", [0, 0, 1]),
            ([7, 5, 5], 7, 5, [1, 0, 0]),
            ([10, 9], 10, 9, [1, 0]),  # equally many: the one that sorts last, as numbers do
            ([True, True, False], False, True, [0, 0, 1]),
            (["a", "b", "b", "c", "c"], "a", "other", [1, 0, 0, 0, 0]),
            (["a", "b", "b", "c"], "c", "other", [0, 0, 0, 1]),
            (pd.Categorical(["u", "v", "u"]), "v", "u", [0, 1, 0]),
        ],
    )
    def test_the_rarest(self, labels, positive, other, y):
        found = read_target(table(labels), "ill")
        assert (found.positive, found.other, found.y.tolist()) == (positive, other, y)
        assert type(found.positive) is type(positive)
        assert found.y.dtype == np.int8

    @pytest.mark.parametrize(
        ("labels", "given", "positive"),
        [
            ([0, 1, 1], "1", 1),
            ([0, 1, 1], "1.0", 1),
            ([0, 1, 1], 1, 1),
            ([0.0, 1.0, 1.0], "1", 1.0),
            ([0.5, 1.0, 1.0], "0.50", 0.5),
            ([False, True, True], "1", True),
            ([False, True, True], "true", True),
            ([False, True, True], "0", False),
            (["1", "1.0"], "1.0", "1.0"),
            (["a", "b", "c", "c"], "c", "c"),
        ],
    )
    def test_named(self, labels, given, positive):
        found = read_target(table(labels), "ill", given)
        assert found.positive == positive
        assert type(found.positive) is type(positive)
        assert found.y.tolist() == [int(label == positive) for label in labels]

    def test_counts(self):
        assert list(read_target(table(list("abbccc")), "ill").counts.items()) == [("c", 3), ("b", 2), ("a", 1)]

    @pytest.mark.parametrize("given", ["2", "yes", "", "inf"])
    def test_unknown(self, refused, given):
        said = refused(read_target, table([0, 1, 1]), "ill", given, "mine.csv")
        assert said == f"mine.csv: column 'ill' has no label {given!r}; its labels are '0', '1'"


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [["b", "a", "c"], [3, 1, 2], [1.0, 2.0], [1.5, 2.5], [True, False], list(range(100)), list(np.r_[:20] / 2)],
    )
    def test_as_they_are(self, labels):
        found = read_labels(table(labels), "ill")
        assert found.tolist() == labels
        assert found.dtype == (object if isinstance(labels[0], str) else np.array(labels).dtype)

    def test_of_files(self, write):
        text = read_frame(write("x,ill\n1,0\n2,?\n3,1\n"), target="ill")
        assert read_labels(text, "ill").tolist() == ["0", "?", "1"]
        codes = pa.table({"x": [1, 2], "ill": pa.array([7, 8]).dictionary_encode()})
        pq.write_table(codes, path := write("", "mine.parquet"))
        assert read_labels(read_frame(path, target="ill"), "ill").tolist() == [7, 8]


class TestLabelsOfText:
    def read(self, write, cells):
        frame = read_frame(write("x,ill\n" + "".join(f'{j},"{cell}"\n' for j, cell in enumerate(cells))), target="ill")
        return read_labels(frame, "ill", "mine.csv")

    @pytest.mark.parametrize(
        ("cells", "labels"),
        [
            (["007", "8"], ["007", "8"]),
            (["0", "1", " 1"], [0, 1, 1]),
            (["1.0", "0.0"], [1.0, 0.0]),
            (["1.50", "2"], ["1.50", "2"]),
            (["+1", "-1"], ["+1", "-1"]),
            (["True", "False"], [True, False]),
            (["true", "false"], ["true", "false"]),
            ([str(2**60), str(2**60 + 1)], [2**60, 2**60 + 1]),
            ([str(2**70), str(2**70 + 1)], [str(2**70), str(2**70 + 1)]),
        ],
    )
    def test_look_as_they_do_in_the_file(self, write, cells, labels):
        found = self.read(write, cells).tolist()
        assert found == labels
        assert list(map(type, found)) == list(map(type, labels))
        for cell in cells:
            assert find_label(cell, list(dict.fromkeys(labels))) == labels.index(found[cells.index(cell)])

    @pytest.mark.parametrize("word", ["None", "NA", "null", "n/a"])
    def test_words_for_missing_are_labels_among_text(self, write, refused, word):
        with pytest.warns(UserWarning, match=f"column 'ill': '{word}' in 2 rows is read as a label, because the other"):
            assert self.read(write, [word, "mild", "severe", word]).tolist() == [word, "mild", "severe", word]
        assert "has missing labels in 1 rows, first in row 2" in refused(self.read, write, ["0", word, "1"])
        assert "has missing labels in 1 rows, first in row 3" in refused(self.read, write, ["mild", "severe", ""])

    @pytest.mark.parametrize(("some", "other"), [("ok", "ok "), ("01", "1"), ("No", "no")])
    def test_labels_that_are_alike(self, write, tmp_path, some, other):
        said = f"column 'ill' has the labels {some!r} and {other!r}, which are different classes; if they mean"
        with pytest.warns(UserWarning, match=said):
            assert set(self.read(write, [some, other, "bad"])) == {some, other, "bad"}
        pd.DataFrame({"x": [1, 2], "ill": [some, other]}).to_parquet(tmp_path / "m.parquet")
        with pytest.warns(UserWarning, match=said):
            count_labels(Chunks(tmp_path / "m.parquet", target="ill"), "ill")

    @pytest.mark.parametrize(("kind", "labels"), [(pa.decimal128(5, 0), [0, 1]), (pa.decimal128(5, 1), [0.0, 1.0])])
    def test_decimals(self, write, kind, labels):
        column = pa.array([0, 1, 1]).cast(pa.decimal128(20, 0)).cast(kind)
        pq.write_table(pa.table({"x": [1, 2, 3], "ill": column}), path := write("", "mine.parquet"))
        found = read_labels(read_frame(path, target="ill"), "ill")
        assert (found.tolist(), found.dtype) == ([*labels, labels[1]], np.array(labels).dtype)
        counted, n_rows = count_labels(Chunks(path, target="ill"), "ill")
        assert (counted.tolist(), counted.dtype, n_rows.tolist()) == (labels, found.dtype, [1, 2])

    def test_numbers_are_found_to_the_last_digit(self):
        assert find_label(str(2**60 + 2), [2**60, 2**60 + 1]) is None


ESTIMATE = "looks continuous: it has"
MEND = "give another target column, or bin its values"


@pytest.mark.parametrize("read", [read_target, read_labels])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["y", None, "n", None], "has missing labels in 2 rows, first in row 2; remove these rows or fill them in"),
        ([1.0, np.nan], "has missing labels in 1 rows, first in row 2; remove these rows or fill them in"),
        (["y", "y"], "has the label 'y' in all rows; at least two classes are needed"),
        ([0, 0], "has the label 0 in all rows; at least two classes are needed"),
        ([[1], [2]], "must contain numbers, booleans or strings; give another target column"),
        (
            pd.to_datetime(["2024-01-01", "2024-01-02"]),
            "must contain numbers, booleans or strings; give another target column",
        ),
        (list(np.r_[:21] / 2), f"{ESTIMATE} 21 distinct values, such as 0.0; {MEND}"),
        (list(range(5, 106)), f"{ESTIMATE} 101 distinct values, such as 5; {MEND}"),
        (list(np.r_[:101.0]), f"{ESTIMATE} 101 distinct values, such as 0.0; {MEND}"),
        (
            [f"c{j}" for j in range(101)],
            "has 101 labels, but must have at most 100; give another target column, or merge labels",
        ),
    ],
)
def test_what_will_not_do(refused, read, labels, message):
    said = refused(read, table(labels), "ill", source="mine.csv")
    assert said == f"mine.csv: target column 'ill' {message}"


@pytest.mark.parametrize("read", [read_target, read_labels])
def test_no_such_column(refused, read):
    said = refused(read, table([0, 1]), "Ill ", source="-")
    assert said == "standard input has no column 'Ill ' to predict; did you mean 'ill'? It has 'x', 'ill'"
