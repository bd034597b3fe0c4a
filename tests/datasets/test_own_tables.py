"""The user's own files in a study; tests/tables has all that may be in a file."""

import pandas as pd
import pytest

from adacc import AdaCC1Classifier, datasets, tables
from adacc.datasets import TableError, read_table

CSV = "size,colour,ok,target\n1.5,red,True,no\n,blue,False,no\n2,,True,yes\n0.1,red,,no\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


class TestReads:
    def test_csv(self, write):
        frame, target = read_table(write(CSV))
        assert list(frame) == ["size", "colour", "ok"]
        assert frame["size"].isna().tolist() == [False, True, False, False]
        assert frame["colour"].cat.categories.tolist() == ["blue", "red"]
        assert frame["colour"].isna().tolist() == [False, False, True, False]
        assert frame["ok"].cat.categories.tolist() == ["False", "True"]
        assert target.tolist() == [0, 0, 1, 0]
        assert target.dtype == "int8"

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
            ("x,y\n1,0\n", "no column 'target' to predict; it has 'x', 'y'"),
            ("x:target\n1:0\n2:1\n", "is the field separator another character"),
            ("target\n0\n1\n", "no column besides 'target'"),
            ("x,target\n1,0\n2,\n3,1\n", "'target' has missing labels in 1 rows, first in row 2"),
            ("x,target\n1,0\n2,0\n", "at least two classes"),
            ("x,target\n1,a\n2,b\n3,c\n", "two values, got 3: a, b, c"),
            ("x,target\n" + "".join(f"1,{j}\n" for j in range(9)), r"got 9: 0, 1, 2, 3, 4, \.\.\."),
        ],
    )
    def test_csv(self, write, content, message):
        path = write(content)
        with pytest.raises(TableError, match=message) as caught:
            read_table(path)
        assert str(path) in str(caught.value)

    def test_lists_to_predict(self, tmp_path):
        pd.DataFrame({"x": [1, 2], "target": [[1], [2]]}).to_parquet(tmp_path / "mine.parquet")
        with pytest.raises(TableError, match=r"'target'.* must contain numbers, booleans or strings"):
            read_table(tmp_path / "mine.parquet")

    def test_the_error_is_one(self):
        assert datasets.TableError is tables.TableError
