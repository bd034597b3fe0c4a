"""Files of every form become the same frame, and what is wrong with one is said in a line."""

import datetime
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adacc.tables import TableError, kinds_of, open_batches, open_table, read_frame
from adacc.tables.chunks import Chunks

CSV = "size,colour,ok,n\n1.5,red,True,1\n,blue,False,2\n2,,True,3\n0.1,red,,4\n"
DAYS = ["2024-01-31", "2024-01-31 12:00:01", "31.1.2024", "1/31/2024 12:00", "12:30", "1/31/20", "31.01.20"]
DAYS += ["01-Jan-20", "5 January 2020", "Jan 5 2020", "1-2-20 10:30"]
BELOW = "write a number, or leave missing cells empty"


def as_parquet(table):
    pq.write_table(table, buffer := io.BytesIO())
    return buffer.getvalue()


def as_arrow(table, writer=pa.ipc.new_file):
    with writer(buffer := io.BytesIO(), table.schema) as file:
        file.write_table(table)
    return buffer.getvalue()


TABLE = pa.table(
    {
        "size": [1.5, None, 2.0, 0.1],
        "colour": pa.array(["red", "blue", None, "red"]).dictionary_encode(),
        "ok": [True, False, True, None],
        "n": [1, 2, 3, 4],
    }
)
FORMS = {
    "mine.csv": CSV.encode(),
    "bom.csv": b"\xef\xbb\xbf" + CSV.encode(),
    "crlf.csv": CSV.replace("\n", "\r\n").encode(),
    "blank.csv": b"\n" + CSV.replace("\n", "\n\n").encode(),
    "semicolons.csv": CSV.replace(",", ";").encode(),
    "tabs.csv": CSV.replace(",", "\t").encode(),
    "mine.tsv": CSV.replace(",", "\t").encode(),
    "MINE.CSV.GZ": gzip.compress(CSV.encode(), mtime=0),
    "mine.tsv.gz": gzip.compress(CSV.replace(",", "\t").encode(), mtime=0),
    "mine.parquet": as_parquet(TABLE),
    "mine.arrow": as_arrow(TABLE),
    "mine.feather": as_arrow(TABLE),
    "stream.arrow": as_arrow(TABLE, pa.ipc.new_stream),
}


def check_is_table(frame):
    assert frame.dtypes.astype(str).to_dict() == {
        "size": "float64",
        "colour": "category",
        "ok": "category",
        "n": "int64",
    }
    np.testing.assert_array_equal(frame["size"], [1.5, np.nan, 2.0, 0.1])
    assert frame["colour"].cat.categories.tolist() == ["blue", "red"]
    assert frame["colour"].isna().tolist() == [False, False, True, False]
    assert frame["ok"].cat.categories.tolist() == ["False", "True"]
    assert frame["n"].tolist() == [1, 2, 3, 4]


class TestForms:
    @pytest.mark.parametrize("name", FORMS)
    def test_files(self, write, name):
        check_is_table(read_frame(write(FORMS[name], name)))

    @pytest.mark.parametrize("name", FORMS)
    def test_standard_input(self, piped, name):
        piped(FORMS[name])
        check_is_table(read_frame("-"))

    def test_a_stream_without_peek(self, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
        check_is_table(read_frame("-"))


class TestColumns:
    def test_numbers_to_the_last_bit(self, write):
        values = np.random.default_rng(0).normal(size=300) * 1e-5
        frame = read_frame(write("x\n" + "".join(f"{x!r}\n" for x in values.tolist())))
        np.testing.assert_array_equal(frame["x"], values)

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            ("1 2 -3", [1, 2, -3]),
            ("1e3 .5 +2.", [1000.0, 0.5, 2.0]),
            ("True false TRUE", [True, False, True]),
            ("NA n/a NaN", [np.nan, np.nan, np.nan]),
            ("1 NULL 3", [1.0, np.nan, 3.0]),
        ],
    )
    def test_of_text(self, write, cells, values):
        column = read_frame(write("y,x\n" + "".join(f"0,{cell}\n" for cell in cells.split())))["x"]
        assert column.dtype == np.array(values).dtype
        np.testing.assert_array_equal(column, values)

    @pytest.mark.parametrize(
        "cells", [["0", "1", "2", "3+"], ["1", "a", "b"], ["3.10.12", "3.11.4"], ["yes", "no"], ['"a\nb"', '"c,d"']]
    )
    def test_labels_that_have_digits(self, write, cells):
        frame = read_frame(write("y,x\n" + "".join(f"0,{cell}\n" for cell in cells)))
        assert frame["x"].cat.categories.tolist() == sorted(cell.strip('"') for cell in cells)

    @pytest.mark.parametrize(
        ("given", "kind", "values"),
        [
            (pa.array([1, None], pa.decimal128(5, 2)), "float64", [1.0, np.nan]),
            (pa.array(np.array([0.5, 2], np.float16)), "float16", [0.5, 2.0]),
            (pa.array([1, None]), "float64", [1.0, np.nan]),
            (pa.array([True, False]), "bool", [True, False]),
            (pa.nulls(2), "float64", [np.nan, np.nan]),
            (pa.array(["b", "a"], pa.string_view()), "category", ["b", "a"]),
            (pa.array(["NA", "b"]), "category", [np.nan, "b"]),
            (pa.array(["30", "abc"]), "category", ["30", "abc"]),  # text by its type, not by mistake
            (pa.array([10, 9]).dictionary_encode(), "category", ["10", "9"]),
        ],
    )
    def test_of_types(self, write, given, kind, values):
        column = read_frame(write(as_arrow(pa.table({"x": given})), "m.arrow"))["x"]
        assert column.dtype == kind
        assert column.astype(object).fillna("-").tolist() == pd.Series(values, dtype=object).fillna("-").tolist()

    @pytest.mark.parametrize("name", ["customer", None])
    def test_a_stored_index_is_no_column(self, tmp_path, name):
        path, column = tmp_path / "mine.parquet", name or "__index_level_0__"
        pd.DataFrame({"x": [1, 2]}, index=pd.Index([5, 6], name=name)).to_parquet(path)
        for read in (read_frame, Chunks):
            with pytest.warns(UserWarning, match=f"mine.parquet: '{column}' is the index of a pandas frame and is not"):
                found = read(path)
            assert list(found if read is read_frame else found.kinds) == ["x"]
        assert read_frame(path, drop=[column]).index.tolist() == [0, 1]
        assert list(read_frame(path, keep=[column])) == ["x", column]

    @pytest.mark.parametrize("index", [None, pd.RangeIndex(2, 6, 2)])
    def test_a_range_is_no_index(self, tmp_path, index, recwarn):
        pd.DataFrame({"x": [1, 2]}, index=index).to_parquet(tmp_path / "mine.parquet")
        assert list(read_frame(tmp_path / "mine.parquet")) == ["x"]
        assert len(recwarn) == 0

    def test_the_index_that_pandas_writes_to_csv(self, write):
        frame = pd.DataFrame({"x": [1, 2]})
        again = pd.read_csv(io.StringIO(frame.to_csv()))
        for written in (frame, again):
            with pytest.warns(UserWarning, match=r"'Unnamed: 0.* not used as a feature"):
                assert list(read_frame(write(written.to_csv()))) == ["x"]
        assert read_frame(write(frame.to_csv()), keep=["Unnamed: 0"])["Unnamed: 0"].tolist() == [0, 1]

    def test_a_row_fits_in_however_many_columns_there_are(self, write, monkeypatch):
        monkeypatch.setattr("adacc.tables.text.BLOCK", 1000)
        cells = [f"0.{j:0100d}1" for j in range(50)]
        text = "".join(f"{','.join(line)}\n" for line in ([f"x{j}" for j in range(50)], cells, cells))
        assert read_frame(write(text)).shape == (2, 50)


class TestAmounts:
    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (["$12.30", "-$1,200.50", "$0", ""], [12.3, -1200.5, 0.0, np.nan]),
            (["12 €", "€3", "7"], [12.0, 3.0, 7.0]),
            (["45%", "100 %", ".5%", "NA"], [45.0, 100.0, 0.5, np.nan]),
        ],
    )
    def test_are_numbers(self, write, cells, values):
        path = write("y,x\n" + "".join(f'0,"{cell}"\n' for cell in cells))
        np.testing.assert_array_equal(read_frame(path)["x"], values)
        (batch,) = open_batches(path, {"x": "number"})
        np.testing.assert_array_equal(batch["x"], values)

    def test_of_several_units(self, write, refused):
        said = refused(read_frame, write("x\n$5\n€5\n"))
        assert said.startswith("mine.csv: column 'x' contains amounts in several units, such as '$5' and '€5'; convert")

    def test_with_mistakes(self, write, refused):
        said = refused(read_frame, write("x\n$5\n$7\nfree\n"))
        assert said == f"mine.csv: row 3, column 'x': 'free' is not a number; {BELOW}"


class TestSeparators:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("age;amount, EUR;town\n30;1;Bonn\n41;2;Kiel\n", ["age", "amount, EUR", "town"]),
            ("age;amount, EUR;town\n30;1;Bonn, Rhein\n41;2;Kiel, Meer\n", ["age", "amount, EUR", "town"]),
            ('a,"b;c;d;e",f\n1,2,3\n', ["a", "b;c;d;e", "f"]),
            ("a,note; remark\n1,2\n", ["a", "note; remark"]),
            ("a|b,c\n1|2\n", ["a", "b,c"]),
            ("a;b\n1;2\n", ["a", "b"]),
            ("a, b\n", ["a", " b"]),
        ],
    )
    def test_are_found(self, write, piped, text, names):
        assert open_table(write(text)).names == names
        piped(text)
        assert open_table("-").names == names

    def test_are_given(self, write):
        path = write("a b,c\n1 2\n")
        assert open_table(path, separator=" ").names == ["a", "b,c"]

    def test_rows_are_not_lost_by_looking_at_them(self, write, piped):
        text = "x,y\n" + "".join(f"{j},{j % 3}\n" for j in range(5000))
        for source in (write(text), write(gzip.compress(text.encode()), "m.csv.gz"), "-"):
            piped(text)
            assert read_frame(source)["x"].tolist() == list(range(5000))

    @pytest.mark.parametrize("source", ["file", "input"])
    def test_decimal_commas(self, write, piped, source):
        text = "x;n;town\n1,5;1;a\n-2;2;b\n,25;3;1.5\n"
        path = write(text) if source == "file" else "-"
        piped(text)
        frame = read_frame(open_table(path, decimal=","))
        assert frame["x"].tolist() == [1.5, -2.0, 0.25]
        assert frame.dtypes.astype(str).tolist() == ["float64", "int64", "category"]
        piped(text)
        (batch,) = open_batches(open_table(path, decimal=","), {"x": "number", "n": "number", "town": "category"})
        pd.testing.assert_frame_equal(batch, frame.astype({"n": float}))

    def test_a_point_is_no_decimal_comma(self, write, refused):
        path = write("x;y\n1,5;0\n1.5;1\n")
        assert "row 2, column 'x': '1.5' is not a number; write numbers with a decimal comma and no point" in refused(
            read_frame, open_table(path, decimal=",")
        )
        batches = open_batches(open_table(path, decimal=","), {"x": "number"})
        assert "row 2, column 'x': '1.5' must be a number" in refused(list, batches)

    def test_are_for_text(self, write, refused):
        path = write(as_parquet(TABLE), "m.parquet")
        assert "m.parquet is not a text file; a separator" in refused(open_table, path, decimal=",")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("large", [2**53 + 1, -(2**60), 2**63 + 3])
def test_integers_that_floats_merge_are_refused(tmp_path, ending, large):
    """Ids of 64 bits would be rounded, in training and in prediction."""
    dtype = "uint64" if large > 2**63 else "int64"
    frame, path = pd.DataFrame({"n": [2**53, -(2**53)], "x": np.array([large, 1], dtype)}), tmp_path / f"m.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    message = (
        rf"m\.{ending}: column 'x' contains integers beyond 2\^53, such as -?[0-9]{{16,}}, .*text .*smaller numbers"
    )
    with pytest.raises(TableError, match=message) as refused:
        read_frame(path)
    assert refused.value.columns == ("x",)
    with pytest.raises(TableError, match=message):
        list(open_batches(path, {"n": "number", "x": "number"}))
    assert read_frame(path, categorical=["x"])["x"].tolist() == [str(large), "1"]
    assert read_frame(path, drop=["x"])["n"].tolist() == [2**53, -(2**53)]
    floats = frame.astype({"x": float}).assign(x=[2.0**60 + 0.5e10, 0.5])  # those are as they are
    floats.to_csv(path, index=False) if ending == "csv" else floats.to_parquet(path)
    assert read_frame(path)["x"].max() > 2**60


class TestDropAndKeep:
    TEXT = "id,when,x,y\n7,2024-01-31,1,2\n,2024-02-01,3,4\n8,2024-02-02,5,n?\n"

    def test_drop(self, write):
        assert list(read_frame(write(self.TEXT), drop=["when", "y"])) == ["id", "x"]

    def test_keep(self, write):
        frame = read_frame(write(self.TEXT), keep=["when", "id"], target="y")
        assert frame["when"].max() == pd.Timestamp(2024, 2, 2)
        assert frame["id"].tolist() == [7, pd.NA, 8]
        assert frame["y"].tolist() == ["2", "4", "n?"]

    def test_what_is_not_looked_at_need_not_be_usable(self, write):
        table = pa.table({"x": [1], "list": [[1]], "bytes": [b"a"]})
        assert list(read_frame(write(as_parquet(table), "m.parquet"), drop=["list"], keep=["bytes"])) == ["x", "bytes"]
        assert list(read_frame(write(b"x,name\n1,\xff\n"), drop=["name"])) == ["x"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"drop": ["When"]}, "mine.csv has no column 'When'; did you mean 'when'? It has 'id', 'when', 'x', 'y'"),
            ({"keep": ["z"]}, "mine.csv has no column 'z'; it has 'id', 'when', 'x', 'y'"),
            (
                {"target": "yy"},
                "mine.csv has no column 'yy' to predict; did you mean 'y'? It has 'id', 'when', 'x', 'y'",
            ),
            (
                {"drop": ["id"], "keep": ["id"]},
                "mine.csv: column 'id' is both dropped and used; remove it from one of the two",
            ),
        ],
    )
    def test_errors(self, write, refused, arguments, message):
        assert refused(read_frame, write(self.TEXT), **arguments) == message

    def test_other_separators(self, write, refused):
        said = refused(read_frame, write("x|y\n1 2\n"), target="y")
        assert said == "mine.csv: row 1 has 1 cell, but must have 2: '1 2'; fix this row"


@pytest.mark.parametrize("again", [True, False], ids=["file", "input"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is empty; the first line must contain the column names"),
        ("\n \n", " is empty; the first line must contain the column names"),
        ("x,y\n", " has no rows, only column names"),
        ("x,y\n\n", " has no rows, only column names"),
        ("x,y,y\n1,0,1\n", " has 2 columns named 'y'; column names must be unique"),
        ("x,y,\n0,1,0\n", ": column 3 of 3 has no name; name it or remove it"),
        ("x,y\n1,0\n\n2,1,5\n", ": row 2 has 3 cells, but must have 2: '2,1,5'; fix this row"),
        ("x,y\n1,0\n2\n", ": row 2 has 1 cell, but must have 2: '2'; fix this row"),
        ('x,y\n"1,0\n2,1\n', ": row 1 has 1 cell, but must have 2; is a quotation mark not closed?"),
        (
            'x,y\n"' + "1,0\n" * 3_000_000 + '",2\n3,4\n',
            " has a row that is longer than a block; is a quotation mark not closed?",
        ),
        ('"x,y\n1,2\n', " cannot be read as CSV: unexpected end of data; is it CSV?"),
        (
            b"x,y\n1,a\n2,caf\xe9\n",
            ": row 2, column 'y' contains the byte 0xe9, which is not UTF-8; save the file as UTF-8",
        ),
        (
            b"x,caf\xe9\n1,2\n",
            ": the column names contain the byte 0xe9, which is not UTF-8; save the file as UTF-8",
        ),
        ("x,y\n".encode("utf-16"), " is not CSV: its first bytes are those of UTF-16 text: save the file as UTF-8"),
        (
            b"PK\x03\x04\x00",
            " is not CSV: its first bytes are those of a zip archive or a spreadsheet: save the table as CSV",
        ),
        ("x,y\n1,0\n-inf,2\n", ": column 'x' has infinite values, first in row 2; leave such cells empty"),
        ("x,y\n1,0\n2,1e999\n", ": column 'y' has infinite values, first in row 2; leave such cells empty"),
        ("age,y\n30,0\n41,1\nabc,2\n", f": row 3, column 'age': 'abc' is not a number; {BELOW}"),
        ("age,y\n30,0\n,1\n?,2\n", f": row 3, column 'age': '?' is not a number; {BELOW}"),
        (
            "age\n" + "".join(f"{j}\n" for j in range(30)) + "1O\n",
            f": row 31, column 'age': '1O' is not a number; {BELOW}",
        ),
        (
            "x;y\n1;0\n1,5;2\n",
            ": row 2, column 'x': '1,5' is not a number; write numbers with a decimal point and no comma, or read the "
            "table with a decimal comma",
        ),
        *(
            (
                f"x,day\n1,{day}\n2,{day}\n",
                ": column 'day' contains dates or times; convert it to numbers, such as days since an event, "
                "or leave it out",
            )
            for day in DAYS
        ),
    ],
)
def test_text_that_will_not_do(write, piped, refused, content, message, again):
    if again:
        assert refused(read_frame, write(content)) == f"mine.csv{message}"
    else:
        piped(content)
        assert refused(read_frame, "-") == f"standard input{message}"


class TestFiles:
    def test_no_file(self, write, tmp_path, refused):
        write(CSV, "people.csv")
        assert refused(read_frame, tmp_path / "poeple.csv") == ("poeple.csv does not exist; did you mean 'people.csv'?")
        assert refused(read_frame, tmp_path / "x.parquet") == "x.parquet does not exist; check the path"
        assert refused(read_frame, tmp_path / "no" / "x.csv") == "no/x.csv does not exist; check the path"
        assert refused(read_frame, tmp_path).endswith(" is a directory without .parquet files; give the path of a file")

    def test_home(self, write, tmp_path, monkeypatch):
        write(CSV)
        monkeypatch.setenv("HOME", str(tmp_path))
        check_is_table(read_frame("~/mine.csv"))

    def test_endings(self, write, refused):
        assert refused(read_frame, write(CSV, "mine.xlsx")) == (
            "mine.xlsx: the file name must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .arrow, .feather"
        )

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            (
                "m.csv",
                FORMS["mine.parquet"],
                "is not CSV: its first bytes are those of a Parquet file: rename it to end in",
            ),
            (
                "m.csv",
                FORMS["mine.arrow"],
                "is not CSV: its first bytes are those of an Arrow file: rename it to end in",
            ),
            (
                "m.csv",
                FORMS["stream.arrow"],
                "is not CSV: its first bytes are those of an Arrow stream: rename it to end",
            ),
            (
                "m.csv",
                FORMS["MINE.CSV.GZ"],
                "is not CSV: its first bytes are those of a gzip file: rename it to end in .gz",
            ),
            ("m.csv.gz", CSV.encode(), "is not a gzip file; remove .gz from its name"),
            (
                "m.csv.gz",
                FORMS["MINE.CSV.GZ"][:-9],
                "is truncated or damaged: decompression failed; download or compress it again",
            ),
            (
                "m.csv.gz",
                gzip.compress(CSV.encode() + np.random.default_rng(0).bytes(10**6), mtime=0)[: -(10**5)],
                "is truncated or damaged: decompression failed; download or compress it again",
            ),
            ("m.parquet", FORMS["mine.parquet"][:-9], "cannot be read as Parquet: Parquet magic bytes not found"),
            ("m.parquet", CSV.encode(), "cannot be read as Parquet: Parquet magic bytes not found"),
            ("m.arrow", FORMS["mine.arrow"][:-9], "cannot be read as Arrow: "),
            ("m.arrow", FORMS["stream.arrow"][:-300], "cannot be read as Arrow: "),
            ("m.feather", CSV.encode(), "cannot be read as Arrow: "),
        ],
    )
    def test_content(self, write, refused, name, content, message):
        said = refused(read_frame, write(content, name))
        assert said.startswith(f"{name} {message}")
        assert "CSV" in said or "gz" in said or said.endswith("; it may be truncated or damaged")

    def test_permission(self, write, refused, monkeypatch):
        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        path = write(CSV)
        monkeypatch.setattr("pathlib.Path.open", refuse)
        assert refused(read_frame, path) == "Permission denied: mine.csv"

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (datetime.datetime(2020, 1, 1), "column 'z' contains dates or times; convert it to numbers"),
            (datetime.date(2020, 1, 1), "column 'z' contains dates or times; convert it to numbers"),
            (datetime.timedelta(1), "column 'z' contains dates or times; convert it to numbers"),
            ([1], "column 'z' has the type 'list<element: int64>'; features must be numbers, booleans, strings or"),
            (b"a", "column 'z' has the type 'binary'; features must be numbers, booleans, strings or categories: "),
        ],
    )
    def test_types(self, write, refused, value, message):
        said = refused(read_frame, write(as_parquet(pa.table({"x": [1, 2], "z": [value, None]})), "m.parquet"))
        assert said.startswith(f"m.parquet: {message}")
        assert "leave it out" in said

    def test_names_of_typed_columns(self, write, refused):
        twice = pa.table([[1], [2]], names=["x", "x"])
        assert (
            refused(read_frame, write(as_arrow(twice), "m.arrow"))
            == "m.arrow has 2 columns named 'x'; column names must be unique"
        )

    def test_it_is_an_error_of_value(self):
        assert issubclass(TableError, ValueError)


class TestCategorical:
    TEXT = "zip,n,y\n007,1,a\n7,2,b\n,3,a\nNA,4,b\n"

    def test_codes_of_text_keep_their_zeros(self, write):
        frame = read_frame(write(self.TEXT), target="y", categorical=["zip"])
        assert frame["zip"].cat.categories.tolist() == ["007", "7"]
        assert frame["zip"].isna().tolist() == [False, False, True, True]
        assert frame["n"].tolist() == [1, 2, 3, 4]
        assert kinds_of(frame[["zip", "n"]]) == {"zip": "integer category", "n": "number"}

    @pytest.mark.parametrize(
        ("values", "labels"),
        [
            ([3, 1, 3], ["1", "3"]),
            ([3.0, None, 1.0], ["1", "3"]),  # integers with missing values, as pandas stores them
            ([0.5, 1.0, 0.5], ["0.5", "1"]),
            (["b", "a", None], ["a", "b"]),
            ([True, False, True], ["False", "True"]),
        ],
    )
    def test_codes_of_types(self, write, values, labels):
        path = write(as_parquet(pa.table({"x": values})), "m.parquet")
        frame = read_frame(path, categorical=["x"])
        assert frame["x"].cat.categories.tolist() == labels
        chunks = Chunks(path, categorical=["x"])
        assert pd.concat(chunks.frames(["x"]))["x"].tolist() == frame["x"].tolist()
        chunks.note_labels({"x": set(labels)})
        assert chunks.kinds == kinds_of(frame)

    def test_new_rows_have_the_same_labels_in_every_format(self, write):
        sources = [
            write("x\n3\n1\n\n", "m.csv"),
            *(
                write(as_parquet(pa.table({"x": values})), f"{i}.parquet")
                for i, values in enumerate([[3, 1, None], [3.0, 1.0, None], ["3", "1", None]])
            ),
        ]
        for source in sources:
            (batch,) = open_batches(source, {"x": "integer category"})
            assert batch["x"].astype(object).where(batch["x"].notna(), None).tolist() == ["3", "1", None]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"categorical": ["zipp"]}, "mine.csv has no column 'zipp'; did you mean 'zip'? It has 'zip', 'n', 'y'"),
            (
                {"categorical": ["y"], "target": "y"},
                "mine.csv: column 'y' is not a feature, so it cannot be read as categories (`categorical`)",
            ),
            (
                {"categorical": ["zip"], "drop": ["zip"]},
                "mine.csv: column 'zip' is not a feature, so it cannot be read as categories (`categorical`)",
            ),
        ],
    )
    def test_errors(self, write, refused, arguments, message):
        assert refused(read_frame, write(self.TEXT), **arguments) == message

    def test_leading_zeros_of_numbers(self, write, piped, recwarn):
        read_frame(write(self.TEXT), target="y", categorical=["zip"])
        read_frame(write(self.TEXT), drop=["zip"])
        read_frame(write("x,y,z\n0.5,0,00:30\n0,10,0a\n"))
        assert not recwarn.list
        piped(self.TEXT)
        for source in (write(self.TEXT), "-"):
            with pytest.warns(UserWarning, match="column 'zip' contains numbers with leading zeros, such as '007'"):
                assert read_frame(source, target="y")["zip"].tolist()[:2] == [7, 7]
