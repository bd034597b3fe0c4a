"""What is predicted for is read as what was learnt from: piece by piece, in whatever form."""

import csv
import gzip
import io
import json
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import thinned

from adacc import BoostingClassifier
from adacc.tables import kinds_of, open_batches, read_frame

KINDS = {"size": "number", "colour": "category", "ok": "boolean", "seen": "boolean category"}


def as_csv(table):
    lines = csv.writer(text := io.StringIO())
    lines.writerow(table.column_names)
    lines.writerows(zip(*table.to_pydict().values(), strict=True))
    return text.getvalue().encode()


def as_parquet(table):
    pq.write_table(table, buffer := io.BytesIO(), row_group_size=7)
    return buffer.getvalue()


def as_arrow(table, writer=pa.ipc.new_file):
    with writer(buffer := io.BytesIO(), table.schema) as file:
        file.write_table(table, max_chunksize=5)
    return buffer.getvalue()


FORMS = {
    "m.csv": as_csv,
    "m.csv.gz": lambda table: gzip.compress(as_csv(table)),
    "m.parquet": as_parquet,
    "m.arrow": as_arrow,
    "m.feather": lambda table: as_arrow(table, pa.ipc.new_stream),
}


N_ROWS = 12

# Text that is neither nearly numbers nor dates, which are refused in training; but some of it looks like other things.
letters = st.text(st.sampled_from('ab ,;"\n\r\tä'), min_size=1, max_size=3).map(lambda text: f"x{text}")
texts = st.one_of(
    st.lists(
        st.one_of(letters, st.sampled_from(["NA", "", "None", " ", "True", None])), min_size=N_ROWS, max_size=N_ROWS
    ),
    st.lists(st.sampled_from(["true", "False", "TRUE", "False", None, ""]), min_size=N_ROWS, max_size=N_ROWS),
    st.lists(st.sampled_from(["1", "2.50", " 7", "+3", "-0", "1e-3", None]), min_size=N_ROWS, max_size=N_ROWS),
    st.lists(st.sampled_from(["0x1F", "12", "007"]), min_size=N_ROWS, max_size=N_ROWS),
)


def of(values):
    """A column, with gaps in parts of it that may be as long as a batch."""
    full = st.lists(values, min_size=N_ROWS, max_size=N_ROWS)
    gappy = st.tuples(full, st.integers(0, N_ROWS), st.integers(0, N_ROWS)).map(
        lambda drawn: [None if drawn[1] <= i < drawn[2] else value for i, value in enumerate(drawn[0])]
    )
    return full | gappy


# Text of whole numbers beyond 2^53 is refused, as an id that floats merge.
floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 2.0**53 < abs(x) <= 2.0**64)
columns = st.one_of(
    of(floats | st.integers(-5, 5).map(float)).map(lambda x: pa.array(x, pa.float64())),
    of(st.integers(-(2**53), 2**53)).map(lambda x: pa.array(x, pa.int64())),
    of(st.booleans()).map(lambda x: pa.array(x, pa.bool_())),
    texts.map(lambda x: pa.array(x, pa.string())),
    texts.map(lambda x: pa.array(x, pa.string()).dictionary_encode()),
    of(st.integers(0, 3)).map(lambda x: pa.array(x, pa.int8()).dictionary_encode()),
)
tables = st.lists(columns, min_size=2, max_size=4).map(
    lambda drawn: pa.table(drawn, [f"c{j}" for j in range(len(drawn))])
)


@contextmanager
def small_batches():
    """So that a batch may be all gaps, or have nothing but whole numbers in a column of others."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("text.BLOCK", 256), ("text.BLOCK_PER_COLUMN", 1), ("arrow.ROWS", 4), ("batches.ROWS", 4)):
            patch.setattr(f"adacc.tables.{name}", size)
        yield


GAP = [None] * 4  # a batch without a value
TRICKY = pa.table(
    {
        "whole numbers first": [1.0, 2.0, 3.0, 4.0, *GAP, 0.1, 1e-300, -0.0, 2.5],
        "numbers as text": ["0x1F", "12", "007", "-1", *GAP, "1", "2", "3", "NA"],
        "truth": [True, False, True, True, *GAP, False, False, False, False],
        "truth as text": ["true", "FALSE", "True", "true", *GAP, "false", "false", "", "None"],
        "text": ["a", "True", "x,\r\n", " b", *GAP, '"', "1", "ä", "NA"],
        "labels": pa.array([1, 2, 3, 1, *GAP, 1, 1, 1, 2]).dictionary_encode(),
    }
)


@settings(max_examples=10, deadline=None)
@example(table=TRICKY, rare={0, 4, 9, 10})
@given(table=tables, rare=st.sets(st.integers(0, N_ROWS - 1), min_size=1, max_size=6))
def test_the_score_of_a_row_depends_on_neither_form_nor_batch(tmp_path_factory, table, rare):
    folder = tmp_path_factory.mktemp("law")
    paths = [folder / name for name in ("m.csv", "m.parquet", "m.arrow")]
    for path in paths:
        path.write_bytes(FORMS[path.name](table))
    y = np.isin(np.arange(N_ROWS), list(rare))
    for learnt_from in paths:
        frame = read_frame(learnt_from)
        model = BoostingClassifier(n_estimators=4).fit(frame, y)
        kinds = json.loads(json.dumps(kinds_of(frame)))
        with small_batches():
            for path in paths:
                found = [model.decision_function(batch) for batch in open_batches(path, kinds)]
                assert len(found) > 2
                np.testing.assert_array_equal(np.concatenate(found), model.decision_function(frame))


def test_a_table_so_read_is_the_frame_that_was_learnt_from(write):
    path = write("a,b,c,d\n1,x,True,\n2.5,NA,False,true\n,y,True,False\n")
    frame = read_frame(path)
    assert kinds_of(frame) == {"a": "number", "b": "category", "c": "boolean", "d": "boolean category"}
    (batch,) = open_batches(path, kinds_of(frame))
    pd.testing.assert_frame_equal(batch, frame)


class TestBatches:
    TEXT = "id,note,colour,size,ok,seen\n007,a,red,1,1,true\n,b,,,,\nNr 9,c,no such,2.5,False,who knows\n"

    @pytest.mark.parametrize("form", ["file", "input", "packed input"])
    def test_columns(self, write, piped, form):
        if form != "file":
            piped(self.TEXT if form == "input" else gzip.compress(self.TEXT.encode()))
        batches = open_batches("-" if form != "file" else write(self.TEXT), KINDS, keep=["id"])
        assert batches.ignored == ("note",)
        (frame,) = batches
        assert list(frame) == [*KINDS, "id"]
        assert frame.astype(object).fillna("-").to_numpy().tolist() == [
            [1.0, "red", True, "True", "007"],
            ["-", "-", "-", "-", "-"],
            [2.5, "no such", False, "who knows", "Nr 9"],
        ]

    def test_typed_columns(self, write):
        table = pa.table(
            {
                "ok": pa.array([1, None, 0]),
                "seen": [True, None, False],
                "colour": [1.5, np.nan, 2.0],
                "size": [True, None, False],
                "when": pa.array([1, None, 3], pa.timestamp("ms")),
                "id": pa.array([2**60 + 1, None, 3]),
                "note": ["", "", ""],
            }
        )
        batches = open_batches(write(as_parquet(table), "m.parquet"), KINDS, keep=["id", "when"])
        assert batches.ignored == ("note",)
        (frame,) = batches
        assert frame.astype(object).fillna("-").to_numpy().tolist() == [
            [1.0, "1.5", True, "True", 2**60 + 1, pd.Timestamp(1, unit="ms")],
            ["-", "-", "-", "-", "-", "-"],
            [0.0, "2.0", False, "False", 3, pd.Timestamp(3, unit="ms")],
        ]

    @pytest.mark.parametrize("name", FORMS)
    def test_rows_are_numbered_throughout(self, write, name):
        path = write(FORMS[name](pa.table({"x": range(100, 130), "id": [f"n{j}" for j in range(30)]})), name)
        with small_batches():
            frame = pd.concat(open_batches(path, {"x": "number"}, keep=["id"]))
        assert frame.index.tolist() == list(range(30))
        assert frame["x"].tolist() == list(range(100, 130))
        assert frame["id"].tolist() == [f"n{j}" for j in range(30)]

    def test_no_rows(self, write):
        for text in ("x\n", "x"):
            assert list(open_batches(write(text), {"x": "number"})) == []
        assert list(open_batches(write("x,y\n\n"), {"x": "number"})) == []

    def test_an_empty_line_of_the_only_column_is_a_missing_value(self, write):
        (frame,) = open_batches(write("x\n\n1\n"), {"x": "number"})
        assert frame["x"].isna().tolist() == [True, False]

    def test_an_index_is_a_column_that_was_not_asked_for(self, tmp_path):
        pd.DataFrame({"x": [1, 2]}, index=pd.Index([5, 6], name="who")).to_parquet(tmp_path / "m.parquet")
        assert open_batches(tmp_path / "m.parquet", {"x": "number"}).ignored == ("who",)
        (frame,) = open_batches(tmp_path / "m.parquet", {"x": "number", "who": "number"})
        assert frame["who"].tolist() == [5.0, 6.0]
        pd.DataFrame({"x": [1, 2]}).to_parquet(tmp_path / "m.parquet")
        assert open_batches(tmp_path / "m.parquet", {"x": "number"}).ignored == ()

    def test_kept_cells_are_as_they_are_written(self, write):
        """Also those of a feature, and words that would be missing values there."""
        batches = open_batches(write("x,id\n007,NA\n8,None\n,\n"), {"x": "number"}, keep=["x", "id"])
        ((features, kept),) = batches.pairs()
        assert features["x"].tolist()[:2] == [7.0, 8.0]
        assert kept.astype(object).fillna("-").to_numpy().tolist() == [["007", "NA"], ["8", "None"], ["-", "-"]]


class TestErrors:
    @pytest.mark.parametrize("name", ["m.csv", "m.parquet"])
    def test_columns_are_missed_before_a_row_is_read(self, write, refused, name):
        table = pa.table({"Size": ["?"], "ok": [1], "other": [1]})
        assert refused(open_batches, write(FORMS[name](table), name), KINDS) == (
            f"{name} lacks 3 of the 4 columns that the model was trained on: 'size' (is it 'Size'?), 'colour', 'seen'; "
            "add or rename them. It has 'Size', 'ok', 'other'"
        )

    def test_many_columns_are_missed(self, write, refused):
        said = refused(open_batches, write("x\n1\n"), {f"c{j}": "number" for j in range(30)})
        assert "lacks 30 of the 30 columns" in said
        assert said.endswith("'c19', ...; add or rename them. It has 'x'")

    def test_kept_columns(self, write, refused):
        said = refused(open_batches, write("x,id\n1,2\n"), {"x": "number"}, keep=["ID"])
        assert said == "mine.csv has no column 'ID'; did you mean 'id'? It has 'x', 'id'"

    @pytest.mark.parametrize("name", FORMS)
    @pytest.mark.parametrize(
        ("kind", "cell", "message"),
        [
            (
                "number",
                "n/a?",
                "'n/a?' must be a number, as in training; leave missing cells ",
            ),
            (
                "number",
                "1,5",
                "'1,5' must be a number, as in training; leave missing cells ",
            ),
            (
                "boolean",
                "yes",
                "'yes' must be True or False, as in training; leave missing cells ",
            ),
        ],
    )
    def test_cells(self, write, refused, name, kind, cell, message):
        table = pa.table({"y": ["a"] * 30, "x": ["1"] * 25 + [None, cell, "??", "1", "1"]})
        with small_batches():
            said = refused(list, open_batches(write(FORMS[name](table), name), {"x": kind}))
        assert said.startswith(f"{name}: row 27, column 'x': {message}")
        assert said.endswith("missing cells empty")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                "x,y\n" + "1,0\n" * 200 + "inf,0\n",
                ": column 'x' has infinite values, first in row 201; leave such cells empty",
            ),
            ("x,y\n" + "1,0\n" * 200 + "1\n", ": row 201 has 1 cell, but must have 2: '1'; fix this row"),
            (
                b"x,y\n" + b"1,0\n" * 200 + b"\xff,0\n",
                ": row 201, column 'x' contains the byte 0xff, which is not UTF-8; save the file as UTF-8",
            ),
        ],
    )
    def test_rows(self, piped, refused, content, message):
        piped(content)
        with small_batches():
            assert refused(list, open_batches("-", {"x": "number"})) == f"standard input{message}"

    @pytest.mark.parametrize(
        ("column", "kind", "message"),
        [
            (pa.array([1], pa.timestamp("s")), "number", "type timestamp[s], but contained numbers in training"),
            (pa.array([[1]]), "category", "type list<item: int64>, but contained categories in training"),
            (pa.array([b"1"]), "boolean", "type binary, but contained booleans in training"),
        ],
    )
    def test_types(self, write, refused, column, kind, message):
        path = write(as_arrow(pa.table({"x": column})), "m.arrow")
        said = refused(list, open_batches(path, {"x": kind}))
        assert said == f"m.arrow: column 'x' has the {message}; convert it to {message.split()[-3]}"

    def test_a_packed_file_that_is_cut_off(self, write, refused):
        packed = gzip.compress(("x\n" + "".join(f"{x}\n" for x in np.random.default_rng(0).normal(size=9999))).encode())
        batches = open_batches(write(packed[:-100], "m.csv.gz"), {"x": "number"})
        assert (
            refused(list, batches)
            == "m.csv.gz is truncated or damaged: decompression failed; download or compress it again"
        )

    def test_kinds(self, write):
        with pytest.raises(ValueError, match=r"kinds must be among 'number', 'boolean', .* got \['text'\]"):
            open_batches(write("x\n1\n"), {"x": "text"})

    def test_only_frames_of_read_frame_have_kinds(self):
        with pytest.raises(TypeError, match="column 'x' must be numeric, boolean or categorical, got datetime64"):
            kinds_of(pd.DataFrame({"x": pd.to_datetime(["2024-01-01"])}))


PEAK = """
import resource, sys
import pyarrow
from adacc.tables import open_batches

kinds = {"x": "number", "colour": "category"}
batches = iter(open_batches(sys.argv[1], kinds, keep=["note"]))
rows, before = len(next(batches)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows += sum(map(len, batches))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(rows, grown * 1024, pyarrow.default_memory_pool().max_memory())
"""


@pytest.mark.parametrize("form", thinned(["input", "parquet"], ["parquet"]))
def test_memory_does_not_grow_with_the_file(tmp_path, form):
    lines, times = 10_000, 100
    note = "n" * 200
    block = "".join(f"{j / 7!r},c{j % 5},{note}{j}\n" for j in range(lines)).encode()
    size = times * len(block)
    if form == "parquet":
        column = pa.array([f"{note}{j}" for j in range(lines)])
        table = pa.table({"x": np.arange(lines) / 7, "colour": ["c"] * lines, "note": column})
        pq.write_table(
            pa.concat_tables([table] * times), tmp_path / "m.parquet", compression="none", use_dictionary=False
        )
    command = [sys.executable, "-c", PEAK, "-" if form == "input" else str(tmp_path / "m.parquet")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) as child:
        if form == "input":
            child.stdin.write(b"x,colour,note\n")
            for _ in range(times):
                child.stdin.write(block)
        found, _ = child.communicate()
    n_rows, grown, peak = map(int, found.split())
    assert n_rows == lines * times
    assert size > 2e8
    assert grown < size / 2
    assert peak < size / 3
