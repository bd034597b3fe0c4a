"""Where data sets are looked for, what is checked, what is kept."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

from adacc.datasets import (
    CATALOGUE,
    CacheWarning,
    ChecksumWarning,
    DataError,
    MismatchError,
    TableError,
    UnavailableError,
    UnknownSetError,
    available,
    fetch,
    load,
)
from adacc.datasets.store import write


def put(table, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.parquet"
    table[0].assign(target=table[1]).to_parquet(path)
    return path


def assert_same(found, table):
    assert_frame_equal(found[0], table[0], check_dtype=False, check_categorical=False)
    assert_series_equal(found[1], table[1])
    assert found[1].dtype == "int8"


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
class TestOrder:
    def test_data_dir_then_cache(self, toy, cache, tmp_path):
        table = toy("bank")
        put(table, cache, "bank")
        assert available("bank", data_dir=tmp_path) == cache / "bank.parquet"
        assert_same(load("bank", data_dir=tmp_path), table)
        path = put(table, tmp_path, "bank")
        (cache / "bank.parquet").write_bytes(b"not looked at")
        assert available("bank", data_dir=tmp_path) == path
        assert_same(load("bank", data_dir=str(tmp_path), download=False), table)

    def test_environment(self, toy, tmp_path, monkeypatch):
        table = toy("wilt")
        path = put(table, tmp_path / "mine", "wilt")
        assert available("wilt") is None
        monkeypatch.setenv("ADACC_DATA", str(tmp_path / "mine"))
        assert available("wilt") == path
        assert_same(load("wilt"), table)
        # An explicit folder takes the place of the environment's.
        assert available("wilt", data_dir=tmp_path / "other") is None
        monkeypatch.setenv("ADACC_DATA", "")
        assert available("wilt") is None

    def test_given_files_load_as_they_are(self, load_table, monkeypatch):
        frame, y = load_table("bank")
        monkeypatch.setenv("ADACC_DATA", str(load_table.__globals__["DATA"]))  # where the fixture reads from
        found, target = load("bank", download=False)
        assert found.dtypes.tolist() == frame.dtypes.tolist()
        assert found.equals(frame)  # assert_frame_equal takes seconds for categories
        assert target.tolist() == y.tolist()

    def test_strings_become_categories(self, toy, tmp_path):
        table = toy("bank")
        plain = table[0].astype(dict.fromkeys(CATALOGUE["bank"].categorical, object))
        put((plain, table[1].astype("int64")), tmp_path, "bank")
        assert_same(load("bank", data_dir=tmp_path), table)


class TestChecks:
    @pytest.mark.parametrize("kind", ["rows", "features", "classes"])
    def test_wrong_counts(self, toy, tmp_path, kind):
        frame, target = toy("wilt")
        rare = int(target.sum())
        changed, message = {
            "rows": ((frame[:49], target[:49]), "rows: expected 50, got 49"),
            "features": ((frame.iloc[:, 1:], target), "features: expected 5, got 4"),
            "classes": (
                (frame, target.where(target.index > 2, 0)),
                f"minority rows: expected {rare}, got {rare - 1}",
            ),
        }[kind]
        put(changed, tmp_path, "wilt")
        with pytest.raises(MismatchError, match=message) as caught:
            load("wilt", data_dir=tmp_path)
        assert str(tmp_path / "wilt.parquet") in str(caught.value)

    def test_other_content_is_a_warning(self, toy, tmp_path):
        frame, target = toy("scene")
        put((frame.assign(Att7=0.5), target), tmp_path, "scene")
        with pytest.warns(ChecksumWarning, match="may differ from the published") as caught:
            found, _ = load("scene", data_dir=tmp_path)
        assert (found["Att7"] == 0.5).all()
        assert "the labels are no features" in str(caught[0].message)  # the entry's note
        assert caught[0].filename == __file__

    def test_no_target_and_odd_target(self, toy, tmp_path):
        frame, target = toy("wilt")
        frame.to_parquet(tmp_path / "wilt.parquet")
        with pytest.raises(TableError, match=r"wilt\.parquet has no column 'target'"):
            load("wilt", data_dir=tmp_path)
        put((frame, target * 2), tmp_path, "wilt")
        with pytest.raises(TableError, match=r"must contain only 0 and 1, got .*2"):
            load("wilt", data_dir=tmp_path)

    def test_the_users_damaged_file_is_an_error(self, toy, tmp_path):
        toy("wilt")
        (tmp_path / "wilt.parquet").write_bytes(b"PAR1 and no more")
        with pytest.raises(TableError, match=r"wilt\.parquet cannot be read as a Parquet file"):
            load("wilt", data_dir=tmp_path)

    def test_paper_columns_need_their_names(self, toy, tmp_path):
        frame, target = toy("spambase")
        put((frame.rename(columns={"word_freq_all": "all"}), target), tmp_path, "spambase")
        with pytest.raises(MismatchError, match="no column 'word_freq_all'"):
            load("spambase", data_dir=tmp_path, paper_columns=True)


class TestNames:
    @pytest.mark.parametrize(
        ("wrong", "near"), [("abalon", "abalone"), ("Car eval 34", "car_eval_34"), ("thyroid-sick", "thyroid_sick")]
    )
    def test_nearest(self, wrong, near):
        for function in (load, available, fetch):
            with pytest.raises(UnknownSetError, match=f"{wrong!r}; did you mean '{near}'.*adacc datasets list"):
                function(wrong)

    def test_nothing_near(self):
        with pytest.raises(ValueError, match=r"'qqq'; `adacc datasets list`"):
            load("qqq")
        with pytest.raises(UnknownSetError, match="3"):
            load(3)


class TestCache:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: content[: len(content) // 2],
            lambda content: b"",
            lambda content: content[:40] + bytes([content[40] ^ 255]) + content[41:],
        ],
        ids=["truncated", "empty", "a byte"],
    )
    def test_damaged_file_is_fetched_again(self, toy, cache, server, damage):
        table = toy("wilt")
        server.serve_openml(40983, *table)
        load("wilt")
        path, asked = cache / "wilt.parquet", len(server.asked)
        path.write_bytes(damage(path.read_bytes()))
        with pytest.warns(CacheWarning, match=r"wilt\.parquet cannot be read.*downloaded again"):
            assert_same(load("wilt"), table)
        assert len(server.asked) > asked
        asked = len(server.asked)
        assert_same(load("wilt", download=False), table)
        assert len(server.asked) == asked

    def test_outdated_file_is_fetched_again(self, toy, cache, server):
        table = toy("wilt")
        server.serve_openml(40983, *table)
        put((table[0][:30], table[1][:30]), cache, "wilt")
        with pytest.warns(CacheWarning, match="rows: expected 50, got 30"):
            assert_same(load("wilt"), table)

    def test_damaged_and_offline(self, toy, cache):
        toy("wilt")
        cache.mkdir(parents=True)
        (cache / "wilt.parquet").write_bytes(b"")
        with pytest.warns(CacheWarning), pytest.raises(UnavailableError, match=r"wilt\.parquet \(cache\): damaged"):
            load("wilt")

    def test_cache_that_cannot_be_written(self, toy, cache):
        toy("wilt")
        cache.parent.mkdir()
        cache.write_text("a file in its place")
        with pytest.raises(UnavailableError, match=r"Cannot write to the directory.*ADACC_CACHE"):
            load("wilt")

    def test_write_that_fails_leaves_the_file_as_it_was(self, toy, cache, monkeypatch):
        def full(table, where, **options):
            Path(where).write_bytes(b"half")
            raise OSError("no space left")

        path = put(toy("wilt"), cache, "wilt")
        before = path.read_bytes()
        monkeypatch.setattr("pyarrow.parquet.write_table", full)
        with pytest.raises(OSError, match="no space left"):
            write(toy("wilt", seed=1), path)
        assert path.read_bytes() == before
        assert list(cache.iterdir()) == [path]

    def test_written_like_the_given_files(self, toy, cache, server):
        frame, target = toy("credit")
        frame = frame.assign(SEX=1.0, AGE=300.0, PAY_0=-70000.0, PAY_2=0.5, PAY_3=0.1)
        server.serve_openml(42477, frame, target)
        with pytest.warns(ChecksumWarning):
            load("credit")
        found = pd.read_parquet(cache / "credit.parquet")
        kinds = found[["SEX", "AGE", "PAY_0", "PAY_2", "PAY_3", "target"]].dtypes.astype(str).tolist()
        assert kinds == ["int8", "int16", "int32", "float32", "float64", "int8"]
        assert [path.name for path in cache.iterdir()] == ["credit.parquet"]  # nothing else is left


FETCH = """
import sys
sys.path.insert(0, sys.argv[1])
from public_sources import point_openml_to
point_openml_to(sys.argv[2])
from dataclasses import replace
from adacc.datasets import CATALOGUE, fetch, load
CATALOGUE["wilt"] = replace(CATALOGUE["wilt"], minority=8, majority=42, checksum=sys.argv[3])
for _ in range(4):
    fetch("wilt")["wilt"].unlink(missing_ok=True)
    load("wilt")
"""


class TestFetch:
    def test_two_processes_at_once(self, toy, cache, server):
        table = toy("wilt")
        server.serve_openml(40983, *table)
        assert (CATALOGUE["wilt"].minority, CATALOGUE["wilt"].majority) == (8, 42)
        command = [sys.executable, "-W", "error::UserWarning", "-c", FETCH, str(Path(__file__).parent), server.base]
        both = [subprocess.Popen([*command, CATALOGUE["wilt"].checksum], stderr=subprocess.PIPE) for _ in range(2)]
        for process in both:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors.decode()
        assert [path.name for path in cache.iterdir()] == ["wilt.parquet"]
        assert_same(load("wilt", download=False), table)

    def test_cache_and_elsewhere(self, toy, cache, server, tmp_path):
        table = toy("wilt")
        server.serve_openml(40983, *table)
        assert fetch("wilt") == {"wilt": cache / "wilt.parquet"}
        asked = len(server.asked)
        assert fetch(["wilt"], dest=tmp_path / "a" / "b") == {"wilt": tmp_path / "a" / "b" / "wilt.parquet"}
        assert len(server.asked) == asked  # copied
        assert_same(load("wilt", data_dir=tmp_path / "a" / "b", download=False), table)

    def test_from_the_users_folder(self, toy, cache, tmp_path, monkeypatch):
        put(toy("wilt"), tmp_path, "wilt")
        monkeypatch.setenv("ADACC_DATA", str(tmp_path))
        assert fetch("wilt")["wilt"] == cache / "wilt.parquet"
        assert (cache / "wilt.parquet").is_file()

    def test_what_can_be_had_is_there(self, toy, cache, server):
        toy("phoneme")
        toy("skin")
        server.serve_openml(40983, *toy("wilt"))
        with pytest.raises(UnavailableError, match="2 of 3 data sets") as caught:
            fetch(["phoneme", "wilt", "skin"])
        assert "d/1489" in str(caught.value)
        assert "d/1502" in str(caught.value)
        assert [path.name for path in cache.iterdir()] == ["wilt.parquet"]

    def test_other_content_is_a_warning(self, toy, server, monkeypatch):
        server.serve_openml(40983, *toy("wilt"))
        monkeypatch.setitem(CATALOGUE, "wilt", replace(CATALOGUE["wilt"], checksum="another"))
        with pytest.warns(ChecksumWarning, match=r"openml\.org/d/40983"):
            fetch("wilt")
        with pytest.warns(ChecksumWarning, match=r"wilt\.parquet"):
            fetch("wilt")


def test_errors_have_one_root():
    assert all(issubclass(kind, DataError) for kind in (UnknownSetError, MismatchError, UnavailableError, TableError))
