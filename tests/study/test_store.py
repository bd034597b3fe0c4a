"""Results are kept whole or not at all, and damage is noticed wherever it is."""

import errno
import os
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from small_study import FEW, command, fake, plan
from support import thinned

from adacc.study import folder as folder_module
from adacc.study.protocol import Task
from adacc.study.store import DamagedResultWarning, Result, Store, StudyError

DAMAGES = {
    "truncated": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-30],
    "flipped in the middle": lambda content: flip(content, len(content) // 2),
    "flipped in the record": lambda content: flip(content, content.rindex(b'"balanced_accuracy"')),
    "flipped in a header": lambda content: flip(content, 30),
    "flipped to want a password": lambda content: locked(content),
    "empty": lambda content: b"",
    "garbage": lambda content: os.urandom(5000),
    "an array": lambda content: b"\x93NUMPY" + bytes(200),
    "another archive": lambda content: EMPTY_ZIP,
}
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)


def locked(content):
    """With the bit set that says so, in the header of each member and in the list of all."""
    changed = bytearray(content)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        begin = content.find(sign)
        while begin >= 0:
            changed[begin + at] |= 1
            begin = content.find(sign, begin + 1)
    return bytes(changed)


def flip(content, at):
    return content[:at] + bytes(255 - byte for byte in content[at : at + 8]) + content[at + 8 :]


@pytest.fixture
def study(tmp_path):
    protocol = plan([tmp_path / "left.csv", tmp_path / "right.csv"], FEW, dialects=("paper",))
    store = Store(tmp_path / "results")
    fake(protocol, store)
    return protocol, store


def snapshot(store):
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(store.folder.glob("*/*"))}


def test_a_result_comes_back_as_it_was(study):
    protocol, store = study
    task = protocol.tasks()[1]
    found = store.read(task)
    again = Store(store.folder.parent / "copy")
    again.write(task, found)
    copied = again.read(task)
    for name in ("rows", "y", "scores"):
        np.testing.assert_array_equal(getattr(copied, name), getattr(found, name))
        assert getattr(copied, name).dtype == getattr(found, name).dtype
    assert copied.series == found.series
    assert len(found.series) == len(found.scores) == len(list(protocol.variants())) * 2 + 1
    assert store.protocol() == protocol


def test_a_new_measure_needs_no_fit(study):
    """From the stored scores and targets the stored measures come out again, by scikit-learn."""
    protocol, store = study
    for task in protocol.tasks():
        result = store.read(task)
        for series, scores in zip(result.series, result.scores, strict=True):
            assert series.measures["balanced_accuracy"] == pytest.approx(
                balanced_accuracy_score(result.y, scores > 0), abs=1e-15
            )
            assert series.measures["auc"] == pytest.approx(roc_auc_score(result.y, scores), abs=1e-15)


def test_the_first_result_stays(study):
    protocol, store = study
    before = snapshot(store)
    fake(protocol, store)
    assert snapshot(store) == before


def test_left_over_files_are_no_results(study):
    protocol, store = study
    tables = command("study", "tables", store.folder)
    for task in protocol.tasks():
        path = store.path(task)
        path.with_name(f".{path.stem}-abc.tmp").write_bytes(path.read_bytes()[:100])
    path.rename(path.with_name(".gone.tmp"))
    assert [task for task in protocol.tasks() if not store.has(task)] == [protocol.tasks()[-1]]
    assert len(list(store.records())) == len(protocol.tasks()) - 1
    fake(protocol, store)
    assert command("study", "tables", store.folder) == tables


def test_a_failing_write_leaves_nothing(study, monkeypatch):
    protocol, store = study
    task = Task("left", 7, 0)

    def fsync(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder_module.os, "fsync", fsync)
    before = set(store.folder.rglob("*"))
    with pytest.raises(OSError, match="No space left"):
        store.write(task, store.read(protocol.tasks()[0]))
    assert set(store.folder.rglob("*")) == before


@pytest.mark.parametrize("damage", thinned(DAMAGES, set(DAMAGES) - {"truncated", "flipped in the middle", "garbage"}))
def test_damage_is_noticed_moved_aside_and_mended(study, damage):
    protocol, store = study
    tables = command("study", "tables", store.folder)
    task = protocol.tasks()[2]
    path = store.path(task)
    broken = DAMAGES[damage](path.read_bytes())
    path.write_bytes(broken)

    code, out, err = command("study", "tables", store.folder)
    if damage in ("flipped in the middle", "flipped in a header"):  # of scores, which tables do not use
        assert (code, out, err) == tables
    else:
        assert (code, out) == (2, "")
        assert err.startswith(f"adacc: error: {path} is damaged (")
        assert err.endswith("): run the study again to recompute it\n")
    with pytest.raises(StudyError, match="is damaged"):
        store.read(task)

    with pytest.warns(DamagedResultWarning, match="left|right") as caught:
        assert not store.has(task)
    assert str(task) in str(caught[0].message)
    assert path.with_suffix(".damaged").read_bytes() == broken
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not store.has(task)
    fake(protocol, store)
    assert store.has(task)
    assert command("study", "tables", store.folder) == tables


def test_no_flipped_byte_changes_what_is_read(study):
    """Either the file is found damaged, or what is read is what was written."""
    protocol, store = study
    task = protocol.tasks()[0]
    path, sound = store.path(task), store.read(task)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    ends = [*range(120), *range(len(content) - 400, len(content))]
    noticed = 0
    for at in [*ends, *rng.integers(len(content), size=150)]:
        path.write_bytes(content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamagedResultWarning)
            if not store.has(task):
                noticed += 1
                continue
        found = store.read(task)
        np.testing.assert_array_equal(found.scores, sound.scores)
        np.testing.assert_array_equal(found.y, sound.y)
        assert found.series == sound.series
    assert noticed > 300


def test_two_runs_that_find_the_same_damage_do_not_fall_over_each_other(study, monkeypatch):
    protocol, store = study
    path = store.path(protocol.tasks()[0])
    path.write_bytes(b"garbage")
    really_open = zipfile.ZipFile

    def other_run_is_quicker(*args):
        path.unlink()
        return really_open(__file__)

    monkeypatch.setattr(folder_module.zipfile, "ZipFile", other_run_is_quicker)
    with pytest.warns(DamagedResultWarning):
        assert not store.has(protocol.tasks()[0])


def test_sets_and_repeats_may_be_added(study):
    protocol, store = study
    before = snapshot(store)
    more = replace(protocol, datasets=("right", "wilt"), repeats=3, files={"right": protocol.files["right"]})
    store.adopt(more)
    kept = store.protocol()
    assert kept.datasets == ("left", "right", "wilt")
    assert (kept.repeats, kept.files) == (3, protocol.files)
    store.adopt(protocol)
    assert store.protocol() == kept
    assert snapshot(store) == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rounds": (3, 9)}, "rounds: 3, 6 there, 3, 9 now"),
        ({"folds": 3}, "folds: 2 there, 3 now"),
        ({"folds": 3, "seed": 4}, "folds: 2 there, 3 now; seed: 0 there, 4 now"),
        ({"max_bins": None}, "max_bins: 255 there, None now"),
        ({"dialects": ("paper", "authors")}, "dialects: paper there, paper, authors now"),
        ({"methods": ("adacc1",)}, "methods differ in adaboost, adacc2, cgada-cal, csb1"),
        ({"baselines": {}}, "baselines differ in smote-tree"),
        ({"files": {}}, "left.csv, column ill there, of the paper now"),
    ],
)
def test_another_study_is_refused_and_the_difference_named(study, changes, said):
    protocol, store = study
    before = (store.folder / "plan.json").read_bytes()
    with pytest.raises(StudyError) as caught:
        store.adopt(replace(protocol, **changes))
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{store.folder} holds another study. ")
    assert str(caught.value).endswith("Use another folder, or the same study.")
    assert (store.folder / "plan.json").read_bytes() == before


@pytest.mark.parametrize("content", ["", "[]", "3", '{"name": 1}', '{"name": ', "null"])
def test_a_damaged_plan_is_named(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(StudyError, match=r"plan\.json cannot be read: "):
        Store(tmp_path).protocol()


def test_no_study_and_no_result(tmp_path, study):
    with pytest.raises(StudyError, match=r"holds no study: it has no plan\.json"):
        Store(tmp_path / "nothing").protocol()
    (tmp_path / "file").touch()
    with pytest.raises(StudyError, match="holds no study"):
        Store(tmp_path / "file").protocol()
    with pytest.raises(StudyError, match="there is no result of left, repeat 9, fold 0"):
        study[1].read(Task("left", 9, 0))


def test_files_are_readable_by_others_and_say_where_they_come_from(study):
    protocol, store = study
    (_, record), *_ = store.records()
    assert store.path(protocol.tasks()[0]).stat().st_mode & 0o777 == 0o644
    assert {"python", "machine", "adacc", "numpy", "numba", "scikit-learn"} == set(record["environment"])
    assert record["task"] == {"dataset": "left", "repeat": 0, "fold": 0}
    assert Result.__annotations__.keys() == {"rows", "y", "scores", "series", "seconds"}
