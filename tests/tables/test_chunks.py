"""Parquet tables some rows at a time, and folders of them."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adacc.tables import check_features, kinds_of, open_batches, read_frame, read_labels
from adacc.tables.chunks import Chunks
from adacc.tables.features import check_chunks
from adacc.tables.target import count_labels


def table(n=500):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "id": np.arange(n, 0, -1) - 7,
            "price": pa.array([None if i % 9 == 0 else i / 8 for i in range(n)]).cast(pa.decimal128(12, 3)),
            "town": rng.choice(["Bonn", "Köln", "NA"], n),
            "code": pa.array(rng.integers(0, 4, n)).dictionary_encode(),
            "flag": rng.random(n) < 0.5,
            "gaps": pa.array([None if i == n - 1 else i % 3 == 0 for i in range(n)]),
            "words": pa.array(rng.choice(["True", "False"], n), pa.large_string()),
            "nothing": pa.nulls(n),
            "y": rng.integers(0, 2, n),
        }
    )


def joined(chunks, rows):
    frames = list(chunks.frames(list(chunks.kinds), ["y"], rows))
    assert [len(frame) for frame in frames[:-1]] == [rows] * (len(frames) - 1)
    assert len(frames[-1]) <= rows
    as_text = [frame.astype(dict.fromkeys(chunks.kinds, object)) for frame in frames]
    return pd.concat(as_text)


@pytest.mark.parametrize("rows", [1000, 64, 7])
def test_chunks_are_the_frame(tmp_path, rows):
    pq.write_table(table(), tmp_path / "t.parquet", row_group_size=90)
    frame = read_frame(tmp_path / "t.parquet", drop=["id"], target="y")
    chunks = Chunks(tmp_path / "t.parquet", drop=["id"], target="y")
    assert chunks.n_rows == 500
    expected = frame.astype(dict.fromkeys(chunks.kinds, object))
    for _ in range(2):  # as often as wanted
        pd.testing.assert_frame_equal(joined(chunks, rows), expected, check_dtype=False)
    chunks.note_labels({"words": {"True", "False"}, "town": {"Bonn", "Köln"}})
    assert chunks.kinds == kinds_of(frame.drop(columns="y"))


def test_some_columns_alone(tmp_path):
    pq.write_table(table(), tmp_path / "t.parquet")
    chunks = Chunks(tmp_path / "t.parquet", target="y")
    assert [list(frame) for frame in chunks.frames(["town"], rows=300)] == [["town"], ["town"]]
    assert [list(frame) for frame in chunks.frames([], ["y"])] == [["y"]]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([datetime.date(2024, 1, 31)] * 3, "t.parquet: column 'x' contains dates or times; convert it to numbers"),
        ([[1], [2], [3]], "t.parquet: column 'x' has the type 'list<"),
    ],
)
def test_columns_that_will_not_do_are_refused_alike(tmp_path, refused, values, said):
    pq.write_table(pa.table({"x": values, "y": [0, 1, 1]}), tmp_path / "t.parquet")
    assert refused(Chunks, tmp_path / "t.parquet", target="y").startswith(said)
    assert refused(Chunks, tmp_path / "t.parquet", target="y") == refused(read_frame, tmp_path / "t.parquet")


def test_no_rows(tmp_path, refused):
    pq.write_table(table()[:0], tmp_path / "t.parquet")
    assert refused(Chunks, tmp_path / "t.parquet", target="y") == refused(read_frame, tmp_path / "t.parquet")


class TestFolders:
    @pytest.fixture
    def parts(self, tmp_path):
        for number, rows in enumerate([slice(0, 120), slice(120, 120), slice(120, 500)]):
            pq.write_table(table()[rows], tmp_path / f"{number}.parquet")
        return tmp_path

    def test_a_folder_is_one_table(self, parts, tmp_path_factory):
        whole = tmp_path_factory.mktemp("whole") / "t.parquet"
        pq.write_table(table(), whole)
        pd.testing.assert_frame_equal(read_frame(parts), read_frame(whole))
        kinds = kinds_of(read_frame(whole))
        for some, others in zip(open_batches(parts, kinds), [slice(0, 120), slice(120, 500)], strict=True):
            whole_frame = pd.concat(open_batches(whole, kinds))
            assert some["price"].equals(whole_frame["price"][others])

    def test_an_index_of_pandas_is_no_column(self, tmp_path):
        for number in range(2):
            pd.DataFrame({"x": [1, 2]}, index=pd.Index(["a", "b"], name="who")).to_parquet(
                tmp_path / f"{number}.parquet"
            )
        with pytest.warns(UserWarning, match="'who' is the index of a pandas frame and is not used as a feature"):
            assert list(read_frame(tmp_path)) == ["x"]

    def test_a_column_without_a_value_in_some_file(self, parts):
        blank = table()[:50].set_column(2, "town", pa.nulls(50))
        pq.write_table(blank, parts / "0.parquet")
        frame = read_frame(parts)
        assert frame["town"][:50].isna().all()
        assert set(frame["town"].cat.categories) == {"Bonn", "Köln"}

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda t: t.drop_columns(["town"]), "3.parquet has no column 'town', but 0.parquet has; all files of a"),
            (lambda t: t.append_column("more", t["y"]), "0.parquet has no column 'more', but 3.parquet has; all files"),
            (
                lambda t: t.set_column(2, "town", t["y"]),
                "3.parquet: column 'town' has the type 'int64', but 'string' in 0.parquet; all files of a",
            ),
        ],
    )
    def test_files_that_differ(self, parts, refused, change, said):
        pq.write_table(change(table()), parts / "3.parquet")
        assert refused(read_frame, parts).startswith(said)

    def test_odd_folders(self, parts, refused, tmp_path):
        (parts / "9.parquet").write_bytes(b"")
        assert refused(read_frame, parts).startswith("9.parquet cannot be read as Parquet: ")
        (parts / "9.parquet").unlink()
        (parts / "year=2024").mkdir()
        assert len(read_frame(parts)) == 500
        pq.write_table(table(), parts / "year=2024" / "t.parquet")
        assert "has Parquet files in subdirectories, such as 'year=2024'; give one" in refused(read_frame, parts)
        (tmp_path / "empty").mkdir()
        assert (
            refused(read_frame, tmp_path / "empty")
            == "empty is a directory without .parquet files; give the path of a file"
        )


# Faults are found and told as they are of a frame.


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"a": np.arange(10_000)[::-1] - 50},
        {"a": np.arange(10_000).astype(np.uint16), "b": np.nan},
        {"a": np.where(np.arange(10_000) == 9_999, 0, np.arange(10_000))},
        {"a": pd.array(np.arange(10_000), dtype="Int64").astype("Int64")},
        {"a": [str(i) for i in range(10_000)], "b": [f"t{i % 5_001}" for i in range(10_000)]},
        {"a": [f"t{i % 5_000}" for i in range(10_000)]},
        {"a": pd.Series([None] * 10_000, dtype=object), "b": pd.Series([""] * 10_000)},
    ],
)
def test_columns_that_say_nothing(tmp_path, change):
    frame = pd.DataFrame({"x": np.arange(10_000) % 9, "y": np.arange(10_000) % 2}).assign(**change)
    frame.to_parquet(tmp_path / "t.parquet")
    chunks = Chunks(tmp_path / "t.parquet", target="y")
    read = read_frame(tmp_path / "t.parquet", drop=["y"])
    n_labels = {name: read[name].nunique() for name, kind in chunks.kinds.items() if "category" in kind}
    said = []
    for check, *given in ((check_features, read, tmp_path / "t.parquet"), (check_chunks, chunks, n_labels)):
        try:
            check(*given)
        except ValueError as error:
            said.append(str(error))
    assert len(said) in (0, 2)
    assert len(set(said)) == bool(said)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(300) % 3,
        np.where(np.arange(300) % 7, "no", "yes"),
        np.arange(300) % 2 == 0,
        pd.Categorical(np.where(np.arange(300) % 7, "no", "yes")),
        np.where(np.arange(300) == 250, None, "yes"),
        pd.array(np.where(np.arange(300) % 100 == 90, None, np.arange(300) % 2), dtype="Int64"),
        ["one"] * 300,
        np.arange(300) / 2,
        np.arange(300),
        [f"label {i}" for i in range(300)],
        pd.date_range("2024-01-01", periods=300),
    ],
)
def test_labels_are_counted(tmp_path, labels):
    pd.DataFrame({"x": 1.0, "y": labels}).to_parquet(tmp_path / "t.parquet")
    path = tmp_path / "t.parquet"
    said = []
    for count in (
        lambda: np.unique(read_labels(read_frame(path, target="y"), "y", path), return_counts=True),
        lambda: count_labels(Chunks(path, target="y"), "y"),
    ):
        try:
            found, n_rows = count()
            said.append((found.tolist(), found.dtype, n_rows.tolist()))
        except ValueError as error:
            said.append(str(error))
    assert said[0] == said[1]
