"""Each baseline beside its library, used directly."""

import builtins
import importlib
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import pairwise

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from imblearn.ensemble import BalancedRandomForestClassifier, EasyEnsembleClassifier, RUSBoostClassifier
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.under_sampling import RandomUnderSampler
from interpret.glassbox import ExplainableBoostingClassifier
from mixed_fold import COLOURS, ROUNDS, make_fold
from scipy.special import expit
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_class_weight
from support import thinned
from threadpoolctl import threadpool_limits

import adacc
from adacc.evaluation import baseline_models
from adacc.evaluation.baselines import BASELINES, Baseline
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.thresholds import best_threshold

BOOSTED = [
    "imblearn-rusboost", "sklearn-adaboost", "lightgbm", "xgboost", "hist-gradient-boosting", "lightgbm-threshold",
    "xgboost-threshold", "adaboost-threshold", "hist-gradient-boosting-threshold",
]  # fmt: skip
PEERS = [name for name, each in BASELINES.items() if each.extra == "peers"]
SLOWEST = [
    "balanced-random-forest-threshold", "bagged-lightgbm", "easy-ensemble", "easy-ensemble-threshold", "lightgbm-tuned",
    *PEERS,
]  # fmt: skip
SLOW = ["balanced-random-forest", *SLOWEST]
QUICK = [name for name in BASELINES if name not in SLOW]
TUNED = [name for name in BASELINES if name.endswith("-threshold") and name != "adaboost-threshold"]
DETERMINISTIC = [
    "lightgbm", "lightgbm-shallow", "xgboost", "hist-gradient-boosting", "logistic-regression", "sklearn-adaboost"
]  # fmt: skip


def coded(fold):
    """Medians for gaps, a column for each colour and one for none: written out."""
    numbers = ["a", "b [%]", "c, d"]
    median = fold.X[numbers].median()
    if fold.X["colour"].dtype != "category":  # codes
        return tuple(X.fillna(median).to_numpy(float) for X in (fold.X, fold.X_test))

    def code(X):
        dummies = [(X["colour"] == colour).to_numpy() for colour in sorted(COLOURS)] + [X["colour"].isna().to_numpy()]
        if not fold.X["colour"].isna().any():
            dummies.pop()
        return np.column_stack([X[numbers].fillna(median), *dummies]).astype(float)

    return code(fold.X), code(fold.X_test)


def native(X):
    return X


def codes(X):
    numbers = X["colour"].map({colour: i for i, colour in enumerate(COLOURS)}).astype(float).fillna(-1)
    return X.assign(colour=numbers)


def one_hot(X):
    dummies = {colour: (X["colour"] == colour) * 1 for colour in sorted(COLOURS)}
    return X.drop(columns="colour").assign(**dummies, none=X["colour"].isna() * 1)


NATIVE = {"native": native, "codes": codes, "one-hot": one_hot}
NUMBERS = {"one-hot": native, "codes": codes}  # `coded` encodes colours


def take(fold, encode):
    return FoldData(encode(fold.X), fold.y, encode(fold.X_test), fold.rounds, fold.seed)


def choosing(method, encodings, then=None):
    """The method on the encoding of best average precision on three inner folds; `then` decides with its scores."""
    found = {}

    def choose(fold):
        precision = {}
        for name in encodings:
            held_out, encode = np.zeros(len(fold.y)), encodings[name]
            with threadpool_limits(1):
                for train, test in StratifiedKFold(3, shuffle=True, random_state=fold.seed).split(fold.X, fold.y):
                    inner = FoldData(fold.X.iloc[train], fold.y[train], fold.X.iloc[test], fold.rounds, fold.seed)
                    held_out[test] = method(take(inner, encode), max(fold.rounds))[0]
            precision[name] = average_precision_score(fold.y, held_out)
        return encodings[max(encodings, key=precision.get)]

    def fit(fold, T):
        key = id(fold)
        if key not in found:
            found[key] = fold, choose(fold)  # the fold is kept, so that no other has its id
        return (then or method)(take(fold, found[key][1]), T)

    return fit


def tree_on(sampler):
    def fit(fold, T):
        X, X_test = coded(fold)
        model = DecisionTreeClassifier(random_state=fold.seed).fit(
            *sampler(random_state=fold.seed).fit_resample(X, fold.y)
        )
        probability = model.predict_proba(X_test)[:, 1]
        return probability - 0.5, model.predict(X_test), probability

    return fit


def ensemble(classifier):
    def fit(fold, T):
        X, X_test = coded(fold)
        model = classifier(random_state=fold.seed).fit(X, fold.y)
        probability = model.predict_proba(X_test)[:, 1]
        return probability - 0.5, model.predict(X_test), probability

    return fit


def boosted(classifier):
    def fit(fold, T):
        X, X_test = coded(fold)
        model = classifier(n_estimators=T, random_state=fold.seed).fit(X, fold.y)
        return model.decision_function(X_test), model.predict(X_test), model.predict_proba(X_test)[:, 1]

    return fit


def logistic(fold, T):
    X, X_test = coded(fold)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    model = LogisticRegression(class_weight="balanced", max_iter=1000).fit((X - mean) / spread, fold.y)
    X_test = (X_test - mean) / spread
    return model.decision_function(X_test), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def plain(X):
    return X.rename(columns={"b [%]": "b", "c, d": "c"})


def light(fold, T, weighted=True, **options):
    model = lightgbm.LGBMClassifier(
        n_estimators=T, is_unbalance=weighted, n_jobs=1, verbose=-1, force_col_wise=True, **options
    )
    model.fit(plain(fold.X), fold.y)
    X_test = plain(fold.X_test)
    return model.predict(X_test, raw_score=True), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def bagged(fold, T):
    rng, found = np.random.default_rng(fold.seed), []
    (rare,), (others,) = (fold.y == 1).nonzero(), (fold.y == 0).nonzero()
    for _ in range(20):
        drawn = rng.choice(others, len(rare), replace=False)
        rows = [*drawn, *rng.choice(rare, len(rare), replace=False)]
        found.append(light(FoldData(fold.X.iloc[rows], fold.y[rows], fold.X_test, [], 0), 100, False)[2])
    probability = np.mean(found, axis=0)
    return probability - 0.5, probability > 0.5, probability


def cat(fold, T, weighted=True):
    def text(X):
        return X.assign(colour=["missing" if pd.isna(value) else value for value in X["colour"]])

    weights = compute_class_weight("balanced", classes=np.array([0, 1]), y=fold.y) if weighted else None
    weights = None if weights is None else weights / weights.min()
    model = catboost.CatBoostClassifier(
        class_weights=weights, random_seed=fold.seed, cat_features=["colour"], verbose=0, allow_writing_files=False
    ).fit(text(fold.X), fold.y)
    X_test = text(fold.X_test)
    return model.predict(X_test, "RawFormulaVal"), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def additive(fold, T):
    model = ExplainableBoostingClassifier(random_state=fold.seed).fit(fold.X, fold.y)
    X_test = fold.X_test
    return model.decision_function(X_test), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def shallow(fold, T, weighted=True):
    return light(fold, 200, weighted, num_leaves=8)


def extreme(fold, T, weighted=True):
    weight = (fold.y == 0).sum() / (fold.y == 1).sum() if weighted else 1.0
    model = xgboost.XGBClassifier(n_estimators=T, scale_pos_weight=weight, enable_categorical=True, n_jobs=1)
    model.fit(plain(fold.X), fold.y)
    X_test = plain(fold.X_test)
    return model.predict(X_test, output_margin=True), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def histogram_model(T, class_weight):
    return HistGradientBoostingClassifier(max_iter=T, class_weight=class_weight, early_stopping=False)


def histogram(fold, T):
    with threadpool_limits(1):  # of so few rows threads only wait for each other
        model = histogram_model(T, "balanced").fit(fold.X, fold.y)
        X_test = fold.X_test
        return model.decision_function(X_test), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def thresholded(make, per_odds, n_folds):
    """The same of a classifier, whose scores are log-odds over `per_odds`."""

    def score(fold, T):
        return (make(T).fit(fold.X, fold.y).decision_function(fold.X_test),)

    return tuned(score, lambda scores: 1 / (1 + np.exp(-per_odds * scores)), n_folds)


def tuned(method, probability, n_folds=3):
    """Every threshold between two held-out scores of a method is tried, the one nearest to 0 first."""

    def fit(fold, T):
        held_out = np.zeros(len(fold.y))
        with threadpool_limits(1):
            for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=fold.seed).split(fold.X, fold.y):
                inner = FoldData(fold.X.iloc[train], fold.y[train], fold.X.iloc[test], fold.rounds, fold.seed)
                held_out[test] = method(inner, T)[0]
            scores = method(fold, T)[0].astype(float)  # float32 less a float64 stays float32 before NumPy 2
        levels = sorted(set(held_out))
        tries = sorted(((low + high) / 2 for low, high in pairwise(levels)), key=abs)
        threshold = max(tries, key=lambda at: round(balanced_accuracy_score(fold.y, held_out > at), 12))
        return scores - threshold, scores > threshold, probability(scores)

    return fit


def forest(fold, T):
    model = adacc.AdaCCForestClassifier(random_state=fold.seed).fit(fold.X, fold.y)
    X_test = fold.X_test
    return model.decision_function(X_test), model.predict(X_test), model.predict_proba(X_test)[:, 1]


def half(scores):
    return scores + 0.5


def choosing_with_threshold(method, encodings, probability):
    return choosing(method, encodings, tuned(method, probability))


def histogram_scores(fold, T):
    return (histogram_model(T, None).fit(fold.X, fold.y).decision_function(fold.X_test),)


DIRECTLY = {
    "adacc-forest": forest,
    "smote-tree": tree_on(SMOTE),
    "ros-tree": tree_on(RandomOverSampler),
    "rus-tree": tree_on(RandomUnderSampler),
    "imblearn-rusboost": boosted(RUSBoostClassifier),
    "sklearn-adaboost": choosing(boosted(AdaBoostClassifier), NUMBERS),
    "lightgbm": choosing(light, NATIVE),
    "xgboost": choosing(extreme, NATIVE),
    "hist-gradient-boosting": choosing(histogram, NATIVE),
    "balanced-random-forest": choosing(ensemble(BalancedRandomForestClassifier), NUMBERS),
    "easy-ensemble": choosing(ensemble(EasyEnsembleClassifier), NUMBERS),
    "bagged-lightgbm": choosing(bagged, NATIVE),
    "catboost": cat,
    "ebm": additive,
    "lightgbm-shallow": choosing(shallow, NATIVE),
    "balanced-random-forest-threshold": choosing_with_threshold(
        ensemble(BalancedRandomForestClassifier), NUMBERS, half
    ),
    "easy-ensemble-threshold": choosing_with_threshold(ensemble(EasyEnsembleClassifier), NUMBERS, half),
    "lightgbm-threshold": choosing_with_threshold(partial(light, weighted=False), NATIVE, expit),
    "lightgbm-shallow-threshold": choosing_with_threshold(partial(shallow, weighted=False), NATIVE, expit),
    "xgboost-threshold": choosing_with_threshold(partial(extreme, weighted=False), NATIVE, expit),
    "catboost-threshold": tuned(partial(cat, weighted=False), expit),
    "adaboost-threshold": thresholded(lambda T: adacc.AdaBoostClassifier(n_estimators=T), 2, 5),
    "hist-gradient-boosting-threshold": choosing_with_threshold(histogram_scores, NATIVE, expit),
    "logistic-regression": logistic,
}


@pytest.fixture(scope="module")
def found():
    """Scores of every baseline, each computed when it is first asked for."""

    class Scores(dict):
        def __missing__(self, name):
            self[name] = scores_of(name, make_fold())
            return self[name]

    return Scores()


def scores_of(name, fold):
    return {T: each.scores for T, each in BASELINES[name].predict(fold).items()}


def check(name, fold):
    found = BASELINES[name].predict(fold)
    assert list(found) == (ROUNDS if name in BOOSTED else [1])
    for T, (score, probabilities, *_) in found.items():
        expected, predicted, probability = DIRECTLY[name](fold, T)
        np.testing.assert_allclose(probabilities, probability, rtol=1e-5, atol=1e-9)
        assert ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
        assert score.dtype == np.float64
        np.testing.assert_allclose(score, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(score > 0, predicted)


@pytest.mark.parametrize("name", thinned(DIRECTLY, SLOWEST))
def test_scores_and_their_signs_are_the_librarys_own_for_so_many_rounds(name):
    check(name, make_fold())


@pytest.mark.parametrize("name", thinned([name for name in QUICK if name in DIRECTLY], TUNED))
def test_the_same_without_gaps(name):
    check(name, make_fold(gaps=False))


@pytest.mark.parametrize("name", thinned([name for name in BASELINES if name not in SLOWEST], [*SLOW, *TUNED]))
def test_the_seed_decides(found, name):
    again = scores_of(name, make_fold())
    for T, score in found[name].items():
        np.testing.assert_array_equal(again[T], score)
    # The seed also shuffles the inner folds that choose the encoding: here the colours are left as they are.
    fixed, draws = replace(BASELINES[name], encodings=()), name not in DETERMINISTIC
    first, *others = ({T: each.scores for T, each in fixed.predict(make_fold(seed=s)).items()} for s in (5, 6, 7, 8))
    assert draws == any((other[T] != score).any() for other in others for T, score in first.items())


@pytest.mark.parametrize("name", BOOSTED)
def test_rounds_come_in_any_order(found, name):
    scores = scores_of(name, make_fold(rounds=[20, 3]))
    assert list(scores) == [20, 3]
    for T in scores:
        np.testing.assert_array_equal(scores[T], found[name][T])


def test_every_tree_of_a_self_paced_ensemble_has_balanced_classes_and_no_row_twice(monkeypatch):
    fold, samples = make_fold(), []

    class Watched(DecisionTreeClassifier):
        def fit(self, X, y):
            samples.append((X, y))
            return super().fit(X, y)

    monkeypatch.setattr(baseline_models, "DecisionTreeClassifier", Watched)
    replace(BASELINES["self-paced-ensemble"], encodings=()).predict(fold)
    n_rare = int(fold.y.sum())
    assert len(samples) == 50
    for X, y in samples:
        assert (y == 1).sum() == n_rare
        assert len(np.unique(X[y == 0], axis=0)) == (y == 0).sum() <= n_rare + 5  # each bin is rounded up
    assert (samples[0][1] == 0).sum() == n_rare


@pytest.mark.parametrize(("tree", "shares"), [(1, [0.9, 0.1]), (49, [0.5, 0.5])])
def test_a_self_paced_ensemble_draws_easy_rows_first_and_all_bins_alike_at_last(tree, shares):
    """Liu et al. 2020, algorithm 1: a bin's share is one over its mean error plus tan(pi / 2 * tree / n_trees)."""
    errors = np.repeat([0.0, 0.3], [900, 900])
    pace = np.tan(np.pi * tree / 100)
    due = np.array([1 / (0.0 + pace), 1 / (0.3 + pace)])
    drawn = baseline_models._draw_by_error(errors, tree, 100, np.random.default_rng(0))
    counts = [(drawn < 900).sum(), (drawn >= 900).sum()]
    np.testing.assert_array_equal(counts, np.ceil(100 * due / due.sum()))
    np.testing.assert_allclose(np.array(counts) / 100, shares, atol=0.03)


@pytest.mark.parametrize("trials", [4, pytest.param(30, marks=pytest.mark.thorough)])
def test_tuned_lightgbm_has_the_encoding_and_the_parameters_of_best_average_precision(monkeypatch, trials):
    fold, models = make_fold(n=480), []
    make = baseline_models.lightgbm_model

    def watched(seed, **parameters):
        models.append((parameters, make(seed, **parameters)))
        return models[-1][1]

    monkeypatch.setattr(baseline_models, "lightgbm_model", watched)
    monkeypatch.setattr(baseline_models, "TRIALS", trials)
    (found,) = BASELINES["lightgbm-tuned"].predict(fold).values()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=fold.seed).split(fold.X, fold.y))
    assert len(models) == (3 + trials - 1) * 3 + 1  # three encodings with the defaults, then the other parameters
    assert [parameters == {} for parameters, _ in models[:10]] == [True] * 9 + [False]

    def held_out(i, encode):
        scores = np.zeros(len(fold.y))
        for (_, test), (_, model) in zip(folds, models[3 * i : 3 * i + 3], strict=True):
            X = encode(plain(fold.X.iloc[test])).set_axis(model.feature_name_, axis=1)
            scores[test] = model.predict(X, raw_score=True)
        return scores

    def precision(scores):
        return average_precision_score(fold.y, scores)

    first = max(range(3), key=lambda i: precision(held_out(i, list(NATIVE.values())[i])))
    assert found.encoding == list(NATIVE)[first]
    encode = NATIVE[found.encoding]
    scores = {i: held_out(i, encode) for i in (first, *range(3, trials + 2))}
    best = max(scores, key=lambda i: precision(scores[i]))
    assert models[-1][0] == models[3 * best][0]
    X_test = encode(plain(fold.X_test)).set_axis(models[-1][1].feature_name_, axis=1)
    raw = models[-1][1].predict(X_test, raw_score=True)
    np.testing.assert_allclose(found.scores, raw - best_threshold(fold.y, scores[best]))
    np.testing.assert_allclose(found.probabilities, expit(raw))  # the threshold moves the decision only


@pytest.mark.parametrize("n_rare", [1, 2, 5])
@pytest.mark.parametrize("sampler", ["smote-tree", "ros-tree", "rus-tree"])
def test_few_rare_rows(monkeypatch, sampler, n_rare):
    fold = make_fold()
    keep = np.sort(np.append(np.flatnonzero(fold.y == 1)[:n_rare], np.flatnonzero(fold.y == 0)))
    few = FoldData(fold.X.iloc[keep], fold.y[keep], fold.X_test, ROUNDS, 0)
    counts = []

    class Watched(DecisionTreeClassifier):
        def fit(self, X, y):
            counts.extend(np.bincount(y))
            return super().fit(X, y)

    monkeypatch.setattr(baseline_models, "DecisionTreeClassifier", Watched)
    assert np.isfinite(scores_of(sampler, few)[1]).all()
    n_others = int((few.y == 0).sum())
    assert counts == ([n_rare] * 2 if sampler == "rus-tree" else [n_others] * 2)


@pytest.mark.filterwarnings("error:The least populated class")
def test_few_rare_rows_have_fewer_folds_for_the_threshold():
    fold = make_fold(n=40, every=10, rounds=[5])
    assert (fold.y == 1).sum() == 3
    assert np.isfinite(scores_of("adaboost-threshold", fold)[5]).all()


@pytest.mark.parametrize("name", thinned(QUICK, TUNED))
def test_categories_that_training_rows_lack(found, name):
    """In the test rows alone; in the type of the column alone, whose categories may be in any order."""
    fold = make_fold()
    colour = fold.X_test["colour"].cat.add_categories("violet")
    colour.iloc[:5] = "violet"
    new = FoldData(fold.X, fold.y, fold.X_test.assign(colour=colour), ROUNDS, fold.seed)
    turned = new.X_test.assign(colour=colour.cat.set_categories(["violet", "unused", *COLOURS[::-1]]))
    scores = scores_of(name, new)
    again = scores_of(name, FoldData(fold.X, fold.y, turned, ROUNDS, fold.seed))
    for T in scores:
        np.testing.assert_array_equal(again[T], scores[T])
        np.testing.assert_array_equal(scores[T][5:], found[name][T][5:])


@pytest.mark.parametrize("name", ["smote-tree", "lightgbm", "xgboost", "hist-gradient-boosting", "adaboost-threshold"])
@pytest.mark.parametrize("columns", [["a", "c, d"], ["colour"]])
def test_numbers_or_categories_alone(name, columns):
    fold = make_fold()
    part = FoldData(fold.X[columns], fold.y, fold.X_test[columns], ROUNDS, fold.seed)
    assert all(np.isfinite(score).all() for score in scores_of(name, part).values())


def test_hist_gradient_boosting_takes_codes_of_a_column_of_too_many_levels():
    fold = make_fold(n=600)
    town = pd.Categorical([f"town {i:03}" for i in range(len(fold.X))])
    assert len(town.categories) > 255
    wide = FoldData(fold.X.assign(town=town), fold.y, fold.X_test.assign(town=town[: len(fold.X_test)]), [6], 0)
    coded = FoldData(fold.X.assign(town=town.codes), fold.y, wide.X_test.assign(town=range(len(fold.X_test))), [6], 0)
    baseline = replace(BASELINES["hist-gradient-boosting"], encodings=())
    np.testing.assert_allclose(baseline.predict(wide)[6].scores, histogram(coded, 6)[0])


def test_a_column_of_gaps_alone_says_nothing():
    fold = make_fold()
    empty, constant = (FoldData(fold.X.assign(a=a), fold.y, fold.X_test.assign(a=a), [], 0) for a in (np.nan, 0.0))
    np.testing.assert_array_equal(scores_of("rus-tree", empty)[1], scores_of("rus-tree", constant)[1])


def test_where_boosting_ends_early_the_last_scores_stay(found):
    """imbalanced-learn's ends where a stump is no better than chance, adacc's where one makes no mistake."""
    fold = make_fold(rounds=[20, 50])
    scores = scores_of("imblearn-rusboost", fold)
    model = RUSBoostClassifier(n_estimators=50, random_state=fold.seed).fit(coded(fold)[0], fold.y)
    assert 6 < len(model.estimators_) < 20
    np.testing.assert_array_equal(scores[50], scores[20])
    assert (found["imblearn-rusboost"][6] != scores[20]).any()
    X = pd.DataFrame({"a": np.arange(60.0)})
    easy = scores_of("adaboost-threshold", FoldData(X, (X["a"] < 10).to_numpy().astype(np.int8), X, [1, 25], 0))
    np.testing.assert_array_equal(easy[25], easy[1])


def test_what_a_library_refuses_is_told():
    """Of the positive rows all are at 0, of the others most: what halves of them tell apart is wrong on the whole."""
    fold = make_fold()
    X = pd.DataFrame({"a": np.where((fold.y == 0) & (np.arange(len(fold.y)) % 10 > 6), 1.0, 0.0)})
    with pytest.raises(ValueError, match="worse than random"):
        scores_of("imblearn-rusboost", FoldData(X, fold.y, X, ROUNDS, 0))


@pytest.mark.parametrize(
    ("y", "scores", "threshold"),
    [
        ([0, 0, 1, 1], [-2.0, -1.0, 1.0, 3.0], 0.0),
        ([0, 0, 1, 1], [-9.0, -8.0, -6.0, -5.0], -7.0),
        ([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0], 1.5),  # -3.5 is as good
        ([1, 1, 0, 0], [-2.0, -1.0, 1.0, 3.0], 3.0),  # the wrong way round: none is positive
        ([0, 1], [0.5, 0.5], 0.5),
        ([0] * 9 + [1], [*range(9), 4.0], 3.5),  # most of the accuracy, but not of the balanced one, is at 8
    ],
)
def test_threshold(y, scores, threshold):
    assert best_threshold(np.array(y, np.int8), np.array(scores)) == threshold


@pytest.mark.parametrize(
    "name", ["smote-tree", "imblearn-rusboost", "easy-ensemble", "lightgbm", "xgboost", "catboost"]
)
def test_a_missing_library_is_named(monkeypatch, name):
    def missing(module):
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(baseline_models, "import_module", missing)
    library = name if name in ("lightgbm", "xgboost", "catboost") else "imblearn"
    extra = BASELINES[name].extra
    with pytest.raises(ImportError, match=rf'needs {library}: pip install "adacc\[{extra}\]"'):
        scores_of(name, make_fold())


def test_the_module_itself_needs_none_of_them(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] in ("imblearn", "lightgbm", "xgboost", "catboost", "interpret", "pandas"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    spec = importlib.util.find_spec("adacc.evaluation.baselines")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_versions_and_names():
    assert all(isinstance(each, Baseline) and version(each.library) for each in BASELINES.values())
    assert [name for name, each in BASELINES.items() if each.boosts] == BOOSTED
    assert len({each.name for each in BASELINES.values()}) == len(BASELINES) == 27


def test_a_tuned_threshold_leaves_the_probabilities_those_of_scikit_learns_own():
    """TunedThresholdClassifierCV moves the decision and nothing else."""
    fold = make_fold(gaps=False)
    X, X_test = (each.drop(columns="colour") for each in (fold.X, fold.X_test))
    (found,) = BASELINES["hist-gradient-boosting-threshold"].predict(FoldData(X, fold.y, X_test, [20], 0)).values()
    with threadpool_limits(1):
        theirs = TunedThresholdClassifierCV(histogram_model(20, None)).fit(X.to_numpy(), fold.y)
        probability = theirs.predict_proba(X_test.to_numpy())[:, 1]
    np.testing.assert_allclose(found.probabilities, probability, atol=1e-12)
    assert ((found.scores > 0.0) != (found.probabilities > 0.5)).any()  # the threshold has moved


def grouped_fold(in_time):
    fold = make_fold()
    groups = np.arange(len(fold.y)) // 6
    return FoldData(fold.X, fold.y, fold.X_test, [10], 4, groups, in_time)


@pytest.mark.parametrize("name", ["lightgbm-threshold", "adaboost-threshold"])
def test_the_threshold_is_tuned_on_groups_that_the_model_has_not_seen(name):
    fold, n_folds = grouped_fold(in_time=False), BASELINES[name].threshold_folds
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=4).split(fold.X, fold.y, fold.groups)
    check_threshold(name, fold, list(folds))


@pytest.mark.parametrize("name", ["lightgbm-threshold", "adaboost-threshold"])
def test_the_threshold_is_tuned_on_rows_later_than_those_trained_on(name):
    fold, n_folds = grouped_fold(in_time=True), BASELINES[name].threshold_folds
    n = len(fold.y)
    size = n // (n_folds + 1)
    starts = [n - size * (n_folds - k) for k in range(n_folds)]
    folds = [(np.flatnonzero(fold.groups < fold.groups[start]), np.arange(start, start + size)) for start in starts]
    check_threshold(name, fold, folds)


def check_threshold(name, fold, folds):
    def scores(fold):
        return BASELINES[name].fit_scorer(fold)(fold.X_test)

    held_out = [
        scores(FoldData(fold.X.iloc[train], fold.y[train], fold.X.iloc[test], [10], fold.seed))[10]
        for train, test in folds
    ]
    y = fold.y[np.concatenate([test for _, test in folds])]
    threshold = best_threshold(y, np.concatenate(held_out))
    np.testing.assert_allclose(BASELINES[name].predict(fold)[10].scores, scores(fold)[10] - threshold, atol=1e-9)


def test_too_few_groups_of_a_class_for_a_threshold_are_named():
    fold = make_fold()
    alone = FoldData(fold.X, fold.y, fold.X_test, [5], 0, np.where(fold.y == 1, -1, np.arange(len(fold.y))))
    with pytest.raises(
        ValueError, match="inner folds, which need at least 2 groups of each class, got 1; use a method without"
    ):
        BASELINES["adaboost-threshold"].predict(alone)
