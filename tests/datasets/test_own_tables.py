"""The user's own files."""

import datetime
import gzip

import numpy as np
import pandas as pd
import pytest

from adacc import AdaCC1Classifier
from adacc.datasets import TableError, read_table

CSV = "size,colour,ok,target\n1.5,red,True,no\n,blue,False,no\n2,,True,yes\n0.1,red,,no\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


class TestReads:
    @pytest.mark.parametrize("kind", ["csv", "gz", "bom"])
    def test_csv(self, write, kind):
        content = {"csv": CSV.encode(), "gz": gzip.compress(CSV.encode()), "bom": b"\xef\xbb\xbf" + CSV.encode()}[kind]
        frame, target = read_table(write(content, "mine.csv.gz" if kind == "gz" else "mine.csv"))
        assert list(frame) == ["size", "colour", "ok"]
        assert frame["size"].isna().tolist() == [False, True, False, False]
        assert frame["colour"].cat.categories.tolist() == ["blue", "red"]
        assert frame["colour"].isna().tolist() == [False, False, True, False]
        assert frame["ok"].cat.categories.tolist() == ["False", "True"]
        assert target.tolist() == [0, 0, 1, 0]
        assert target.dtype == "int8"

    def test_numbers_to_the_last_bit(self, write):
        values = np.random.default_rng(0).normal(size=300) * 1e-5
        frame, _ = read_table(
            write("x,target\n" + "".join(f"{x!r},{j % 3 // 2}\n" for j, x in enumerate(values.tolist())))
        )
        np.testing.assert_array_equal(frame["x"], values)

    def test_named_target_and_which_is_rare(self, write):
        path = write("target,y\n1,5\n2,5\n3,7\n")
        assert read_table(path, target="y")[1].tolist() == [0, 0, 1]
        assert list(read_table(path, target="y")[0]) == ["target"]
        assert read_table(write("x,target\n1,7\n2,5\n3,5\n"))[1].tolist() == [1, 0, 0]
        assert read_table(write("x,target\n1,10\n2,9\n"))[1].tolist() == [1, 0]  # equally many: the larger number

    def test_parquet(self, tmp_path):
        given = pd.DataFrame(
            {
                "n": pd.array([1, None, 3], dtype="Int64"),
                "s": ["a", None, "b"],
                "c": pd.Categorical(["u", "v", None]),
                "b": [True, False, True],
                "target": pd.Categorical(["x", "y", "x"]),
            },
            index=[5, 6, 7],
        )
        given.to_parquet(tmp_path / "mine.parquet")
        frame, target = read_table(tmp_path / "mine.parquet")
        assert frame["n"].isna().tolist() == [False, True, False]
        assert frame.dtypes.astype(str).tolist()[1:] == ["category", "category", "bool"]
        assert frame.index.tolist() == target.index.tolist() == [0, 1, 2]
        assert target.tolist() == [0, 1, 0]

    def test_a_classifier_takes_it(self, write):
        frame, target = read_table(write(CSV + "3,green,,yes\n"))
        assert AdaCC1Classifier(n_estimators=3).fit(frame, target).predict(frame).shape == (5,)


class TestErrors:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "is empty"),
            ("x,target\n", "has no rows"),
            ("x,targets\n1,0\n", "no column 'target' to predict; did you mean 'targets'"),
            ("x,y\n1,0\n", "no column 'target' to predict; It has 'x', 'y'"),
            ("x;target\n1;0\n2;1\n", "separated by commas"),
            ("target\n0\n1\n", "no column but 'target'"),
            ("x,target\n1,0\n2,\n3,1\n", "'target'.* missing in 1 rows, first in row 2"),
            ("x,target\n1,0\n2,0\n", "two values, found 1: 0"),
            ("x,target\n1,a\n2,b\n3,c\n", "two values, found 3: a, b, c"),
            ("x,target\n" + "".join(f"1,{j}\n" for j in range(9)), r"found 9: 0, 1, 2, 3, 4, \.\.\."),
            ("x,target,target\n1,0,1\n", "2 columns called 'target'"),
            (",x,target\n0,1,0\n", "column 1 of 3 has no name"),
            ("x,target\n1,0,5\n2,1,5\n", "cannot be read as CSV"),
            ("x,target\n1,0\n2,1,5\n", "cannot be read as CSV"),
            ('x,target\n"1,0\n2,1\n', "cannot be read as CSV"),
            (b"x,target\n\xff\xfe,1\n1,0\n", "cannot be read as CSV"),
        ],
    )
    def test_csv(self, write, content, message):
        path = write(content)
        with pytest.raises(TableError, match=message) as caught:
            read_table(path)
        assert str(path) in str(caught.value)

    def test_files(self, write, tmp_path):
        with pytest.raises(TableError, match="does not exist"):
            read_table(tmp_path / "none.csv")
        with pytest.raises(TableError, match=r"end in \.csv, \.csv\.gz, \.parquet"):
            read_table(write(CSV, "mine.xlsx"))
        with pytest.raises(TableError, match="cannot be read as Parquet"):
            read_table(write(CSV, "mine.parquet"))
        with pytest.raises(TableError, match="cannot be read as CSV"):
            read_table(write(CSV, "mine.csv.gz"))
        with pytest.raises(TableError, match="cannot be read as CSV"):
            read_table(write(gzip.compress(CSV.encode() * 99)[:-30], "mine.csv.gz"))
        (tmp_path / "folder.csv").mkdir()
        with pytest.raises(TableError, match="is no file"):
            read_table(tmp_path / "folder.csv")

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([datetime.datetime(2020, 1, 1), None], "datetime"),
            ([datetime.date(2020, 1, 1), None], "date"),
            ([[1], [2, 3]], "mixed"),
            ([b"a", b"b"], "bytes"),
        ],
    )
    def test_kinds_of_features(self, tmp_path, values, kind):
        pd.DataFrame({"when": values, "target": [0, 1]}).to_parquet(tmp_path / "mine.parquet")
        with pytest.raises(TableError, match=f"column 'when' is of the kind '{kind}.*numbers, booleans, strings"):
            read_table(tmp_path / "mine.parquet")

    def test_lists_to_predict(self, tmp_path):
        pd.DataFrame({"x": [1, 2], "target": [[1], [2]]}).to_parquet(tmp_path / "mine.parquet")
        with pytest.raises(TableError, match=r"'target'.* must hold numbers, booleans or strings"):
            read_table(tmp_path / "mine.parquet")
