"""Rows in shards: however they are cut, the loop that asks the shards learns what it learns of all rows at once."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import DETERMINISTIC, thinned

import adacc
from adacc.algorithms import METHODS
from adacc.boosting.loop import Boosting
from adacc.boosting.session import make_plan
from adacc.boosting.sharded_backend import BinnedShard, Reweigh, Shard, ShardedBackend, Vote, total
from adacc.data.columns import read
from adacc.data.threads import Threads
from adacc.distributed.training import DataStatistics, boost
from adacc.estimators.input_validation import find_negative_class
from adacc.estimators.settings import read_settings

ROUNDS = 15


class ShardExecutor:
    """Shards in this process, which are given what is new, and all of it where they say so."""

    def __init__(self, shards):
        self.shards, self.n_read = shards, 0

    def ask(self, log):
        answer = total([shard.read(self.n_read, log[self.n_read :]) for shard in self.shards])
        self.n_read = len(log)
        return answer

    def weighted_scores(self, log, class_weight):
        return [shard.weighted_scores(log, class_weight) for shard in self.shards]


class Forgetful(ShardExecutor):
    """Before each question one shard is lost, and a copy in its place."""

    def ask(self, log):
        lost = len(log) % len(self.shards)
        self.shards[lost] = pickle.loads(pickle.dumps(self.shards[lost]))
        answers = [shard.read(self.n_read, log[self.n_read :]) for shard in self.shards]
        assert [p for p, answer in enumerate(answers) if answer is None] == ([lost] if self.n_read else [])
        self.n_read = len(log)
        return total(answers) or total([shard.read(0, log) for shard in self.shards])


def rows(n_classes=2, n_rows=300, seed=3):
    """Numbers with many values, few values and none; a column that is nearly always zero; categories."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_rows, p=[0.8, 0.2] if n_classes == 2 else [0.6, 0.3, 0.1])
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)) + y[:, None] * [0.9, -0.6, 0.3], columns=["a", "b", "c"])
    X.loc[rng.random(n_rows) < 0.15, "b"] = np.nan
    X["few"] = rng.integers(5, size=n_rows) + y
    X["rarely"] = np.where(rng.random(n_rows) < 0.08 + 0.04 * y, rng.integers(1, 4, size=n_rows), 0)
    X["text"] = rng.choice(["u", "v", "w"], n_rows)
    X.loc[y == 0, "text"] = "u"
    X.loc[rng.random(n_rows) < 0.3, "text"] = None
    return X, y


WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(1, 5, size=n).astype(float),
    "fractions": lambda rng, n: rng.uniform(0.5, 3.0, size=n),
}


class Case:
    """A local model, and what it takes to learn it from shards."""

    def __init__(self, X, y, weight, method, n_rounds=ROUNDS, **options):
        if METHODS[method].rule.uses_costs:  # mild ones, with which no method ends at once
            options["costs"] = dict(enumerate(np.linspace(0.7, 1.0, len(np.unique(y)))))
        self.model = adacc.BoostingClassifier(
            method, n_estimators=n_rounds, max_bins=16, multi_class="joint", **options
        )
        self.model.fit(X, y, sample_weight=weight)
        self.settings = read_settings(self.model.get_params(deep=False))
        self.bin_mapper = self.model.fitted_model_.ensemble.models.bin_mapper
        table = read(X)
        self.bins, self.y, self.weight = self.bin_mapper.bins(table, table.every_row, Threads(1)), y, weight
        self.class_weight = np.bincount(y, weight)
        negative_class = find_negative_class(
            self.model.pos_label, self.model.classes_, self.class_weight, np.bincount(y)
        )
        self.plan = make_plan(self.settings, self.model.classes_, self.class_weight, negative_class)

    def shard(self, *pieces):
        coded = [BinnedShard(self.bins[:, some], self.y[some].astype(np.uint8), self.weight[some]) for some in pieces]
        return Shard(coded, self.bin_mapper, self.class_weight)

    def boost(self, executor):
        backend = ShardedBackend(
            self.plan, self.bin_mapper, self.class_weight, len(self.y), self.settings.criterion, executor
        )
        boosting = Boosting(backend)
        boosting.run(self.settings.n_rounds)
        return boosting.ensemble(), backend.log


def assert_same(found, local):
    np.testing.assert_array_equal(found.models.records, local.models.records)
    np.testing.assert_allclose(found.votes, local.votes, rtol=1e-12, atol=1e-12)
    assert found.finished == local.finished
    assert found.history.keys() == local.history.keys()
    for name, values in local.history.items():
        np.testing.assert_allclose(found.history[name], values, rtol=1e-11, atol=1e-12, err_msg=name)


def cut(n_rows, n_shards, seed=0):
    """Rows dealt to shards, some of which may be small."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(n_shards, 0.7))
    of = rng.choice(n_shards, n_rows, p=share)
    return [np.flatnonzero(of == p) for p in range(n_shards) if (of == p).any()]


def bits(answer):
    return [None if part is None else part.tobytes() for part in answer]


@pytest.mark.parametrize("kind", ["one_vs_one", "one_vs_rest"])
@pytest.mark.parametrize("calibration", [None, "sigmoid"])
def test_shards_learn_the_two_class_problems_of_the_local_model(kind, calibration):
    """Some shards have no rows of some problems; a shard that starts anew reads only the last problem of the log."""
    X, y = rows(3)
    weight = WEIGHTS["whole"](np.random.default_rng(5), len(y))
    options = {
        "n_estimators": 6,
        "max_bins": 16,
        "multi_class": kind,
        "calibration": calibration,
        "calibration_cv": "training",
    }
    model = adacc.AdaCC1Classifier(**options).fit(X, y, sample_weight=weight)
    ensemble = model.fitted_model_.ensemble
    table, bin_mapper = read(X), ensemble.models.bin_mapper
    bins, class_weight = bin_mapper.bins(table, table.every_row, Threads(1)), np.bincount(y, weight)
    by_class = [np.flatnonzero(y == k) for k in range(3)]
    pieces = [by_class[0][::2], np.concatenate([by_class[0][1::2], by_class[1]]), by_class[2][::2], by_class[2][1::2]]
    shards = [
        Shard([BinnedShard(bins[:, some], y[some].astype(np.uint8), weight[some])], bin_mapper, class_weight)
        for some in pieces
    ]
    statistics = DataStatistics(model.classes_, class_weight, np.bincount(y), np.array([len(y)]), bin_mapper, ())
    settings = read_settings({"method": "adacc1", **model.get_params(deep=False)})
    found, failed = boost(settings, statistics, Forgetful(shards), model)
    assert not failed
    assert_same(found.ensemble, ensemble)
    np.testing.assert_allclose(found.probabilities(found.scores(table)), model.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", thinned(DETERMINISTIC))
def test_shards_learn_the_local_model(method, n_classes, weights):
    X, y = rows(n_classes)
    case = Case(X, y, WEIGHTS[weights](np.random.default_rng(5), len(y)), method)
    for n_shards in (1, 3, 11):
        shards = [case.shard(some) for some in cut(len(y), n_shards)]
        assert_same(case.boost(ShardExecutor(shards))[0], case.model.fitted_model_.ensemble)
    assert len(case.model.fitted_model_.ensemble) >= 3, "hardly boosted"


@given(
    seed=st.integers(0, 2**32 - 1), n_shards=st.integers(1, 40), method=st.sampled_from(["adacc1", "adacc2", "csb1"])
)
def test_any_cut_learns_the_local_model(seed, n_shards, method):
    """Sorted by class, too, so that most shards lack one."""
    X, y = rows(3, n_rows=80, seed=seed % 1000)
    if seed % 2:
        order = np.argsort(y, kind="stable")
        X, y = X.iloc[order], y[order]
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(seed), len(y)), method, n_rounds=6)
    pieces = cut(len(y), n_shards, seed) if seed % 3 else np.array_split(np.arange(len(y)), n_shards)
    assert_same(case.boost(ShardExecutor([case.shard(some) for some in pieces]))[0], case.model.fitted_model_.ensemble)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("options", [{"learning_rate": 0.3}, {"dialect": "authors"}], ids=str)
def test_options_reach_the_shards(criterion, options):
    X, y = rows()
    case = Case(X, y, np.ones(len(y)), "adacc2", criterion=criterion, **options)
    assert_same(
        case.boost(ShardExecutor([case.shard(some) for some in cut(len(y), 4)]))[0], case.model.fitted_model_.ensemble
    )


def test_pieces_of_one_shard_are_as_good_as_shards():
    """The same rows in the same order: to the last bit what one piece of them gives."""
    X, y = rows()
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(5), len(y)), "adacc1")
    _, log = case.boost(ShardExecutor([case.shard(np.arange(len(y)))]))
    pieces = np.array_split(np.arange(len(y)), 5)
    assert bits(case.shard(*pieces).read(0, log)) == bits(case.shard(np.arange(len(y))).read(0, log))


@pytest.mark.parametrize("method", ["adacc1", "adacc2", "adaboost", "rareboost"])
def test_shards_that_are_lost_all_the_time_change_no_bit(method):
    X, y = rows()
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(5), len(y)), method)
    pieces = cut(len(y), 4)
    undisturbed, log = case.boost(ShardExecutor([case.shard(some) for some in pieces]))
    disturbed, same_log = case.boost(Forgetful([case.shard(some) for some in pieces]))
    assert disturbed.votes.tobytes() == undisturbed.votes.tobytes()
    assert disturbed.models.records.tobytes() == undisturbed.models.records.tobytes()
    assert len(log) == len(same_log)


@pytest.mark.parametrize("n_before", [1, 4, 9])
def test_a_copy_must_read_from_the_beginning(n_before):
    X, y = rows(3)
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(5), len(y)), "adacc2")
    _, log = case.boost(ShardExecutor([case.shard(np.arange(len(y)))]))
    shard = case.shard(cut(len(y), 3)[0])
    shard.read(0, log[:n_before])
    copy = pickle.loads(pickle.dumps(shard))
    assert copy.read(n_before, log[n_before:]) is None
    assert bits(copy.read(0, log)) == bits(shard.read(n_before, log[n_before:]))


def test_what_was_read_is_not_read_again():
    X, y = rows()
    case = Case(X, y, WEIGHTS["whole"](np.random.default_rng(5), len(y)), "adacc1")
    _, log = case.boost(ShardExecutor([case.shard(np.arange(len(y)))]))
    shard = case.shard(cut(len(y), 2)[0])
    once = bits(shard.read(0, log))
    for first in (0, 3, len(log) - 1, 0):
        assert bits(shard.read(first, log[first:])) == once
    one_by_one = case.shard(cut(len(y), 2)[0])
    answers = [one_by_one.read(at, log[at : at + 1]) for at in range(len(log))]
    assert bits(answers[-1]) == once
    assert [answer.histogram is None for answer in answers] == [isinstance(entry, Vote) for entry in log]


def test_an_answer_is_of_the_rows_of_the_shard():
    """What the votes decide rightly and what the latest stump gets wrong, by the model's own predictions."""
    X, y = rows(3)
    weight = WEIGHTS["fractions"](np.random.default_rng(5), len(y))
    case = Case(X, y, weight, "adan-cc1")  # whose costs follow the stump's errors
    ensemble, log = case.boost(ShardExecutor([case.shard(np.arange(len(y)))]))
    some = cut(len(y), 3)[0]
    answer = case.shard(some).read(0, log)

    def weight_where(rows):
        return np.bincount(y[some], (weight * rows)[some], 3)

    leaves, lookup = list(ensemble.models.leaves(read(X), np.arange(len(y), dtype=np.uint32)))[-1]
    np.testing.assert_allclose(answer.right, weight_where(case.model.predict(X) == y), rtol=1e-12)
    np.testing.assert_allclose(answer.wrong, weight_where(lookup[leaves] != y), rtol=1e-12)


@pytest.mark.parametrize(("method", "n_classes"), [("adaboost", 2), ("adacc2", 2), ("adacc2", 3), ("adac1", 2)])
def test_weighted_scores_hold_the_scores_of_all_rows(method, n_classes):
    """Of `adac1` boosting ends with a stump that is heard of by none."""
    X, y = rows(n_classes)
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(5), len(y)), method)
    executor = ShardExecutor([case.shard(some) for some in cut(len(y), 4)])
    backend = ShardedBackend(case.plan, case.bin_mapper, case.class_weight, len(y), "gini", executor)
    Boosting(backend).run(ROUNDS)
    multiplied = np.linspace(1.0, 2.0, n_classes)
    scores = case.model.decision_function(X).reshape(len(y), -1)
    outputs = [1] if n_classes == 2 else range(n_classes)
    found = backend.scores(multiplied)
    assert len(found) == len(outputs)
    for at, (k, (values, positive, weight)) in enumerate(zip(outputs, found, strict=True)):
        for side in (False, True):
            own = (y == k) == side
            expected = pd.Series((case.weight * multiplied[y])[own]).groupby(scores[own, at].round(9)).sum()
            found = pd.Series(weight[positive == side]).groupby(values[positive == side].round(9)).sum()
            np.testing.assert_allclose(found.index, expected.index, rtol=0, atol=1e-9)
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def binary_columns(seed, n_rows=60):
    """Two binary columns and three classes: boosting ends early, with rounds that are discarded."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, size=(n_rows, 2)).astype(float), columns=["a", "b"])
    return X, (X["a"] + X["b"] * rng.integers(0, 2, n_rows)).astype(int).to_numpy()


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rareboost", {}),
        ("adac1", {}),
        ("adacc1", {}),
        ("adacc1", {"alpha": "cost"}),
        ("adacc2", {"learning_rate": 0.3}),
        ("adan-cc2", {"alpha": "cost"}),
    ],
)
def test_calibrated_probabilities_of_pairs_are_those_of_the_local_model(method, options):
    """The votes of a round are summed before their size is taken: provisional, correcting and discarded ones."""
    for X, y in (rows(3), *map(binary_columns, range(4))):
        estimator = adacc.BoostingClassifier(
            method, n_estimators=6, max_bins=16, calibration="sigmoid", calibration_cv="training", **options
        )
        local = estimator.fit(X, y)
        settings, classes = read_settings(local.get_params(deep=False)), local.classes_
        bin_mapper, table = local.fitted_model_.ensemble.models.bin_mapper, read(X)
        bins, counts = bin_mapper.bins(table, table.every_row, Threads(1)), np.bincount(y)
        shards = [
            Shard(
                [BinnedShard(bins[:, some], y[some].astype(np.uint8), np.ones(len(y))[some])], bin_mapper, counts / 1.0
            )
            for some in cut(len(y), 3)
        ]
        statistics = DataStatistics(classes, counts / 1.0, counts, np.array([len(y)]), bin_mapper, ())
        found, _ = boost(settings, statistics, ShardExecutor(shards), local)
        expected = local.predict_proba(X)
        np.testing.assert_allclose(found.probabilities(found.scores(table)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["adacc1", "csb2", "rareboost"])
def test_300_rounds_do_not_drift(method):
    """Histograms that follow the weights are those that the rows would give, and all weights sum to 1."""
    X, y = rows(n_rows=500)
    case = Case(X, y, WEIGHTS["fractions"](np.random.default_rng(5), len(y)), method, n_rounds=300)
    shards = [case.shard(some) for some in cut(len(y), 3)]
    ensemble, log = case.boost(ShardExecutor(shards))
    assert len(ensemble) == 300, "boosting ended early, and shows nothing"
    assert isinstance(log[-1], Reweigh)
    whole = 0.0
    for shard in shards:
        kept, now = shard.binned, shard.state
        weights = now.weights.values
        whole += weights.sum()
        fresh = np.zeros_like(now.histogram)
        for j in range(len(case.bin_mapper.features)):
            np.add.at(fresh, (kept.rows.true, case.bin_mapper.offsets[j] + kept.column(j).astype(int)), weights)
        np.testing.assert_allclose(now.histogram, fresh, rtol=0, atol=1e-12)
    assert whole == pytest.approx(1.0, abs=1e-10)
