"""The catalogue beside the paper's table and the prepared files."""

import numpy as np
import pandas as pd
import pytest

from adacc.datasets import CATALOGUE, checksum, load
from adacc.datasets.catalog import OpenML


def test_counts_are_the_papers(paper_table):
    table = paper_table("datasets")
    entries = list(CATALOGUE.values())
    assert [entry.name[:2] for entry in entries] == [name[:2] for name in table["dataset"]]
    assert [entry.paper_features for entry in entries] == table["features"].tolist()
    assert [entry.minority for entry in entries] == table["minority"].tolist()
    assert [entry.majority for entry in entries] == table["majority"].tolist()


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
def test_prepared_file_is_the_catalogues(load_table, name):
    frame, y = load_table(name)
    assert tuple(frame) == CATALOGUE[name].columns
    assert tuple(frame.select_dtypes("category")) == CATALOGUE[name].categorical
    assert checksum(frame, pd.Series(y)) == CATALOGUE[name].checksum


def test_entries_are_whole():
    assert len(CATALOGUE) == 27
    assert len({entry.checksum for entry in CATALOGUE.values()}) == 27
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.minority < entry.majority
        assert len(set(entry.columns)) == entry.features
        assert set(entry.categorical) | set(entry.paper_drops) <= set(entry.columns)
        assert entry.title
        assert entry.target
        assert entry.source.address.startswith("https://")
        if isinstance(entry.source, OpenML) and entry.source.drop_level:
            assert entry.source.drop_level[0] in entry.columns


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"n": rng.integers(0, 9, 40), "x": rng.normal(size=40), "c": pd.Categorical(rng.choice(["u", "v"], 40))}
    )
    frame.loc[3, "x"] = np.nan
    frame.loc[4, "c"] = None
    return frame, pd.Series(rng.integers(0, 2, 40))


class TestChecksum:
    def test_blind_to_order_names_width_and_the_order_of_levels(self, table):
        frame, y = table
        order = np.random.default_rng(0).permutation(40)
        other = frame.astype({"n": np.float32}).set_axis(["p", "q", "r"], axis=1).iloc[order]
        other["r"] = other["r"].cat.reorder_categories(["v", "u"]).cat.add_categories(["never"])
        assert checksum(other, y.iloc[order].astype(np.int8)) == checksum(frame, y)

    def test_zero_has_no_sign(self, table):
        frame, y = table
        frame["n"] = 0.0
        assert checksum(frame.assign(n=-0.0), y) == checksum(frame, y)

    @pytest.mark.parametrize(
        "change",
        [
            lambda frame, y: (frame.assign(x=frame["x"].where(frame.index != 7, np.nextafter(frame["x"][7], 9))), y),
            lambda frame, y: (frame.assign(x=frame["x"].fillna(0)), y),
            lambda frame, y: (frame.assign(c=frame["c"].fillna("u")), y),
            lambda frame, y: (frame.assign(c=frame["c"].cat.rename_categories({"u": "U"})), y),
            lambda frame, y: (frame.assign(c=frame["c"].cat.rename_categories({"u": "v", "v": "u"})), y),
            lambda frame, y: (frame[["x", "n", "c"]], y),
            lambda frame, y: (frame, 1 - y),
            lambda frame, y: (frame, y.sample(frac=1, random_state=1)),
            lambda frame, y: (frame.assign(x=np.roll(frame["x"], 1)), y),
            lambda frame, y: (frame[:39], y[:39]),
            lambda frame, y: (pd.concat([frame, frame[:1], frame[:1]]), pd.concat([y, y[:1], y[:1]])),
            lambda frame, y: (frame.assign(more=0.0), y),
        ],
    )
    def test_sees_every_change(self, table, change):
        assert checksum(*change(*table)) != checksum(*table)


def test_paper_columns(toy, cache, tmp_path):
    frame, target = toy("spambase")
    frame.assign(target=target).to_parquet(tmp_path / "spambase.parquet")
    whole, _ = load("spambase", data_dir=tmp_path)
    papers, _ = load("spambase", data_dir=tmp_path, paper_columns=True)
    assert whole.shape[1] == 57
    assert papers.shape[1] == 53
    assert list(papers) == list(whole)[4:]
