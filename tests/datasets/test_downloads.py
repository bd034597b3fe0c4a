"""Downloads from a real server on this machine, in the formats of OpenML and Zenodo."""

import warnings

import numpy as np
import pandas as pd
import pytest
from public_sources import ARCHIVE

from adacc.datasets import CATALOGUE, MismatchError, UnavailableError, checksum, load
from adacc.datasets.sources import prepare


def renamed(frame):
    return frame.set_axis([f"V{j}" for j in range(1, frame.shape[1] + 1)], axis=1)


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
class TestOpenML:
    def test_real_content_survives_the_text(self, load_table, server):
        frame, y = load_table("phoneme")
        order = np.random.default_rng(0).permutation(len(y))
        server.serve_openml(1489, renamed(frame).iloc[order], 1 + y[order])
        found, target = load("phoneme")  # a wrong last bit would be a ChecksumWarning
        np.testing.assert_array_equal(found.to_numpy(), frame.to_numpy()[order])
        assert target.tolist() == y[order].tolist()
        assert list(found) == list(frame)

    def test_divorced_rows_are_dropped(self, toy, server):
        frame, target = toy("bank")
        more = frame[:7].assign(marital="divorced")
        marital = pd.concat([frame["marital"].astype(object), more["marital"]]).astype("category")
        raw = pd.concat([frame, more]).assign(marital=marital, day=pd.concat([frame, more])["day"].astype("category"))
        server.serve_openml(1461, renamed(raw), [*(1 + target), *[1] * 7])
        found, labels = load("bank")
        assert len(found) == 50
        assert labels.tolist() == target.tolist()
        assert "divorced" not in found["marital"].cat.categories
        assert found["day"].dtype.kind == "f"  # OpenML may call numbers categories

    def test_missing_then_repeated_rows_are_dropped(self, toy, server, monkeypatch):
        frame, target = toy("adult")
        raw = pd.concat([frame, frame[:5], frame[10:14]], ignore_index=True).astype({"occupation": object})
        raw.loc[len(frame) : len(frame) + 4, "occupation"] = None
        raw = raw.astype({"occupation": "category"})
        labels = pd.concat([target, target[:5], target[10:14]]).map({0: "<=50K", 1: ">50K"})
        server.serve_openml(1590, raw.rename(columns=lambda name: name.replace("_", "-")), labels)
        found, found_target = load("adult")
        assert found["occupation"].tolist() == frame["occupation"].tolist()
        assert found_target.tolist() == target.tolist()

    def test_columns_that_are_no_features(self, toy, server):
        toy("musk2")
        rng = np.random.default_rng(0)
        whole = pd.DataFrame(rng.integers(-300, 300, (50, 166)), columns=[f"f{j}" for j in range(1, 167)])
        names = pd.Categorical([f"MUSK-{j}" for j in range(50)])
        raw = pd.concat([pd.DataFrame({"ID": range(50), "molecule_name": names}), whole], axis=1)
        server.serve_openml(1116, raw, (np.arange(50) % 6 == 2).astype(int))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the toy's checksum is of other numbers
            found, _ = load("musk2")
        values = found.to_numpy()
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(values.std(axis=0, ddof=1), 1, atol=1e-5)
        assert float(f"{values[0, 0]:.6g}") == values[0, 0]


class TestZenodo:
    @pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
    def test_real_content_and_one_download_for_all(self, load_table, server, cache):
        tables = {name: load_table(name) for name in ("abalone", "wine_quality")}
        server.serve_archive(**tables)
        for name, (frame, y) in tables.items():
            found, target = load(name)
            pd.testing.assert_frame_equal(found, frame)
            assert target.tolist() == y.tolist()
        assert server.asked == [ARCHIVE]
        assert sorted(path.name for path in cache.iterdir()) == ["abalone.parquet", "wine_quality.parquet"]

    def test_others_of_the_archive_that_do_not_fit_do_no_harm(self, toy, server, cache):
        server.serve_archive(abalone=toy("abalone"), ozone_level=toy("wine_quality"))
        load("abalone")
        assert [path.name for path in cache.iterdir()] == ["abalone.parquet"]
        with pytest.raises(MismatchError, match="features: expected 72, got 11"):
            load("ozone_level")

    def test_absent_from_the_archive(self, toy, server):
        server.serve_archive(abalone=toy("abalone"))
        toy("us_crime")
        with pytest.raises(UnavailableError, match=r"zenodo\.org/record/61452: FileNotFoundError"):
            load("us_crime")


class TestPreparation:
    """From raw tables made of the prepared ones, at full size."""

    def test_adult(self, load_table):
        frame, y = load_table("adult")
        raw = pd.concat([frame, frame[:900], frame[5:52]], ignore_index=True)
        raw["workclass"] = raw["workclass"].astype(object)
        raw.loc[len(frame) : len(frame) + 899, "workclass"] = " ?"
        raw["workclass"] = " " + raw["workclass"]
        labels = np.concatenate([y, y[:900], y[5:52]])
        assert checksum(*prepare(CATALOGUE["adult"], raw, labels)) == CATALOGUE["adult"].checksum

    def test_musk2_from_whole_numbers(self, load_table):
        frame, y = load_table("musk2")
        whole = frame.apply(whole_numbers)
        assert (whole.nunique() == frame.nunique()).all()
        assert checksum(*prepare(CATALOGUE["musk2"], whole, y)) == CATALOGUE["musk2"].checksum


def whole_numbers(scores):
    """The whole numbers whose z-scores these are, up to a constant: multiples of the step between them."""
    values = np.unique(scores)
    steps = np.diff(values)
    step = np.median(steps[steps < 1.5 * steps.min()])
    for n in np.geomspace(5, len(values), 12).astype(int):  # ever more exactly, from ever more values
        multiples = np.rint((values[:n] - values[0]) / step)
        step = ((values[:n] - values[0]) * multiples).sum() / (multiples**2).sum()
    return np.rint((scores - values[0]) / step)


class TestFailures:
    @pytest.mark.parametrize(("name", "address"), [("wilt", "openml.org/d/40983"), ("abalone", "zenodo.org/record")])
    def test_offline(self, toy, cache, tmp_path, name, address):
        toy(name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UnavailableError) as caught:
                load(name, data_dir=tmp_path / "mine")
        message = str(caught.value)
        assert f"{tmp_path / 'mine' / name}.parquet (data_dir): does not exist" in message
        assert f"{cache / name}.parquet (cache): does not exist" in message
        assert address in message
        assert "refused" in message
        assert f"adacc datasets fetch {name}" in message
        assert f"{name}.parquet" in message
        assert "ADACC_DATA" in message
        assert list(cache.iterdir()) == []

    def test_not_asked_to(self, toy, server, cache):
        toy("wilt")
        with pytest.raises(OSError, match="download=False"):
            load("wilt", download=False)
        assert server.asked == []
        assert not cache.exists()

    @pytest.mark.parametrize(
        ("name", "path"),
        [("wilt", "/data/v1/download/40983"), ("wilt", "/api/v1/json/data/40983"), ("abalone", ARCHIVE)],
    )
    def test_server_breaks_off(self, toy, server, cache, name, path):
        table = toy(name)
        server.serve_openml(40983, *table) if name == "wilt" else server.serve_archive(abalone=table)
        server.broken.add(path)
        with pytest.raises(UnavailableError, match=name):
            load(name)
        assert list(cache.iterdir()) == []
        server.broken.clear()
        pd.testing.assert_series_equal(load(name)[1], table[1])

    def test_nothing_there(self, toy, server):
        toy("wilt")
        with pytest.raises(UnavailableError, match="HTTP Error 404"):
            load("wilt")

    def test_silent_server(self, toy, monkeypatch):
        import socket

        from public_sources import point_to

        monkeypatch.setattr("adacc.datasets.sources.TIMEOUT", 0.2)
        toy("abalone")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            point_to(f"http://127.0.0.1:{silent.getsockname()[1]}", monkeypatch.setattr)
            with pytest.raises(UnavailableError, match="timed out"):
                load("abalone")
        assert socket.getdefaulttimeout() is None

    def test_wrong_counts_are_not_kept(self, toy, server, cache):
        frame, target = toy("wilt")
        server.serve_openml(40983, frame[:49], target[:49])
        with pytest.raises(MismatchError, match=r"openml\.org/d/40983 .* rows: expected 50, got 49"):
            load("wilt")
        server.serve_openml(40983, frame.assign(more=1.0), target)
        with pytest.raises(MismatchError, match="features: expected 5, got 6"):
            load("wilt")
        server.serve_openml(40983, frame, np.arange(50) % 3)
        with pytest.raises(MismatchError, match="must have 2 labels, got 3"):
            load("wilt")
        assert list(cache.iterdir()) == []

    def test_without_imbalanced_learn(self, toy, monkeypatch):
        toy("abalone")
        monkeypatch.setitem(__import__("sys").modules, "imblearn.datasets", None)
        with pytest.raises(ImportError, match=r"pip install \"adacc\[resampling\]\""):
            load("abalone")
