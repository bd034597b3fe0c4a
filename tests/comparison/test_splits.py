"""Which rows are trained on and scored, and what the user's table becomes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from adacc.comparison import BinaryProblem, digits, make_splits, read_problem
from adacc.comparison.splits import describe
from adacc.tables import TableError


def problem(y, **beside):
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float)})
    beside = {name: pd.Series(values, name=name) for name, values in beside.items()}
    return BinaryProblem("a.csv", "ill", "yes", "no", X, np.array(y, dtype=np.int8), len(y), **beside)


RARE = [1, 0, 0, 0, 0] * 20


def test_every_row_is_scored_once_a_repeat_by_scikit_learns_own_folds():
    splits = make_splits(problem(RARE), folds=4, repeats=3, seed=7)
    assert [split.repeat for split in splits] == [0] * 4 + [1] * 4 + [2] * 4
    for repeat in range(3):
        due = StratifiedKFold(4, shuffle=True, random_state=7 + repeat).split(RARE, RARE)
        for split, (train, test) in zip(splits[4 * repeat :], due, strict=False):
            np.testing.assert_array_equal(split.train, train)
            np.testing.assert_array_equal(split.test, test)


def test_groups_are_never_torn_apart():
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(25), 4))
    grouped = problem(RARE, group=group)
    splits = make_splits(grouped, folds=5, repeats=2, seed=0)
    assert describe(grouped) == "grouped by 'group'"
    assert all(not set(group[split.train]) & set(group[split.test]) for split in splits)
    scored = np.sort(np.concatenate([split.test for split in splits if split.repeat == 0]))
    np.testing.assert_array_equal(scored, np.arange(100))


def test_what_is_scored_comes_after_what_is_trained_on():
    day = np.random.default_rng(1).integers(0, 30, 100)  # many rows of a day, in no order
    in_time = problem(RARE, time=day)
    splits = make_splits(in_time, folds=4, repeats=1, seed=0)
    assert describe(in_time) == "in time order of 'time'"
    assert len(splits) == 4
    for split in splits:
        assert day[split.train].max() < day[split.test].min()
    sizes = [len(split.train) for split in splits]
    assert sizes == sorted(sizes)


TIME_FORMS = {
    "ISO dates": "%Y-%m-%d", "ISO times": "%Y-%m-%dT%H:%M:%S", "basic ISO dates": "%Y%m%d", "slashes": "%Y/%-m/%-d",
    "points": "%Y.%m.%d", "US": "%m/%d/%Y", "European": "%d.%m.%Y", "month names": "%Y-%b-%d", "words": "%b %d, %Y",
    "two-digit years": "%d-%b-%y",
}  # fmt: skip
READ_FORMS = ("ISO dates", "ISO times", "basic ISO dates", "slashes", "points")


@pytest.mark.parametrize("form", TIME_FORMS)
def test_folds_follow_the_calendar_or_the_form_is_refused(form):
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(np.random.default_rng(2).permutation(100) * 7, unit="D")
    text = days.strftime(TIME_FORMS[form])
    if form not in READ_FORMS:
        with pytest.raises(TableError, match=rf"a.csv: the column 'time' must hold dates.*got '{text[0]}' in row 1"):
            make_splits(problem(RARE, time=text), folds=4, repeats=1, seed=0)
        return
    for split in make_splits(problem(RARE, time=text), folds=4, repeats=1, seed=0):
        assert days[split.train].max() < days[split.test].min()


@pytest.mark.parametrize("as_text", [False, True])
def test_numbers_are_in_their_order_also_as_text(as_text):
    number = np.random.default_rng(3).permutation(100) / 4
    given = [str(each) for each in number] if as_text else number
    for split in make_splits(problem(RARE, time=given), folds=4, repeats=1, seed=0):
        assert number[split.train].max() < number[split.test].min()


def test_times_with_offsets_are_in_the_order_of_their_instants():
    hours = np.random.default_rng(4).permutation(100)
    instants = pd.to_datetime("2024-03-30 22:00Z") + pd.to_timedelta(hours, unit="h")
    zones = ["Asia/Tokyo", "America/New_York"]  # by the clock, the times of one zone are all later
    text = [instant.tz_convert(zones[i % 2]).isoformat() for i, instant in enumerate(instants)]
    for split in make_splits(problem(RARE, time=text), folds=4, repeats=1, seed=0):
        assert hours[split.train].max() < hours[split.test].min()
    with pytest.raises(TableError, match=r"offset from UTC, or none, got '2024.*' and '2024-01-01 00:00', whose order"):
        make_splits(problem(RARE, time=[*text[1:], "2024-01-01 00:00"]), folds=4, repeats=1, seed=0)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (
            problem([1, 1, 0, 0, 0, 0]),
            {"folds": 3},
            "has 2 rows of 'yes', fewer than the 3 folds; set `folds` to at most 2",
        ),
        (problem([1, 0, 0, 0, 0, 0]), {"folds": 2}, "has 1 row of 'yes', fewer than the 2 folds; more are needed"),
        (problem(RARE, group=np.arange(100) % 2), {"folds": 3}, "'group' has 2 groups, fewer than the 3 folds"),
        (problem(RARE, group=[None] + [1] * 99), {"folds": 2}, "'group', which defines the splits, is empty in row 1"),
        (problem(RARE, group=RARE), {"folds": 2}, "by group the training rows of a fold have only one class"),
        (problem(sorted(RARE), time=range(100)), {"folds": 2}, "by time the training rows of a fold have only one"),
    ],
)
def test_what_cannot_be_split_is_refused(given, options, message):
    with pytest.raises(TableError, match="a.csv.*" + message.replace("(", r"\(")):
        make_splits(given, repeats=1, seed=0, **options)


def test_time_has_no_repeats_and_no_groups():
    with pytest.raises(ValueError, match="`repeats` must be 1"):
        make_splits(problem(RARE, time=range(100)), folds=2, repeats=2, seed=0)
    with pytest.raises(ValueError, match="give only one of them"):
        make_splits(problem(RARE, time=range(100), group=range(100)), folds=2, repeats=1, seed=0)


class TestSample:
    def test_shares_and_rows_stay(self):
        whole = problem(RARE * 10, group=range(1000))
        part = whole.sample(100, seed=3)
        assert (len(part.y), part.y.sum(), part.n_rows_of_source) == (100, 20, 1000)
        rows = part.group.to_numpy()  # which are the rows' numbers here
        np.testing.assert_array_equal(part.X["x"], rows)
        np.testing.assert_array_equal(part.y, whole.y[rows])
        assert len(set(rows)) == 100
        assert not np.array_equal(whole.sample(100, seed=4).X, part.X)

    def test_all_of_a_small_table(self):
        whole = problem(RARE)
        assert whole.sample(100, seed=0) is whole

    def test_the_rare_class_does_not_vanish(self):
        assert problem([1] + [0] * 999).sample(10, seed=0).y.sum() == 1


def test_the_users_table(tmp_path):
    path = tmp_path / "people.csv"
    rows = [
        f"{i % 7}.5,{'ab'[i % 2]},{'yes' if i % 5 == 0 else 'no'},p{i},{i % 10},2024-01-{1 + i % 28:02}"
        for i in range(60)
    ]
    path.write_text("x,kind,ill,name,family,day\n" + "\n".join(rows) + "\n")
    found = read_problem(str(path), "ill", ids="name", group="family", drop=["day"])
    assert (list(found.X), found.positive, found.negative) == (["x", "kind"], "yes", "no")
    assert found.dropped == ("day", "name", "family")
    assert found.group.tolist() == [i % 10 for i in range(60)]
    assert found.y.sum() == 12
    assert read_problem(str(path), "ill", "no", drop=["name", "day"]).y.sum() == 48
    assert read_problem(str(path), "ill", drop=["name"], time="day").dependence.dtype.kind == "M"
    with pytest.raises(TableError, match=r"'name'.*leave it out"):
        read_problem(str(path), "ill", drop=["day"])


def test_built_in():
    assert digits("3").y.sum() == 183
    assert digits().y.sum() == 174
