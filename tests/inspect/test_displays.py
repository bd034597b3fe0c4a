"""Displays: their numbers against the models', and their pictures against their numbers."""

import itertools
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.tree import DecisionTreeClassifier
from support import run_engine

import adacc
from adacc.algorithms import METHODS
from adacc.datasets import make_toy
from adacc.inspect import (
    BeeswarmDisplay,
    BoundaryDisplay,
    BoundDisplay,
    ConfidenceDisplay,
    ContributionDisplay,
    DependenceDisplay,
    ImportanceDisplay,
    LearningCurveDisplay,
    ShapeDisplay,
    TrainingDisplay,
    WaterfallDisplay,
)
from adacc.inspect.boundary import row_weights
from adacc.inspect.confidence import confidences
from adacc.inspect.contributions import swarm_offsets
from adacc.inspect.style import COMMON, LINES, RARE, line_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("matplotlib_stays_as_it_is"),
]


def fit(method, X, y, rounds=12, **params):
    return adacc.BoostingClassifier(method, n_estimators=rounds, random_state=0, **params).fit(X, y)


@pytest.fixture
def models(rare):
    X, y = rare
    return {"AdaBoost": fit("adaboost", X, y), "AdaCC1": fit("adacc1", X, y), "RareBoost": fit("rareboost", X, y)}


@pytest.mark.parametrize("method", ["adacc1", "adac2", "rareboost", "adan-cc2", "cgada"])
def test_row_weights_are_those_that_boosting_had(rare, method):
    X, y = rare
    recorded = run_engine(X, y, method, n_estimators=8)
    model = fit(method, X, y, 8)
    weights = row_weights(model, X, y)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights[1:], np.array(recorded.weights_after)[: len(weights) - 1], rtol=1e-9)


def test_training_has_the_numbers_of_the_history(models, rare):
    X, y = rare
    frame = TrainingDisplay.from_estimators(models).frame()
    for label, model in models.items():
        own = frame[frame["method"] == label]
        decided = list(model.staged_predict(X))
        tpr, tnr = ([np.mean(each[y == k] == k) for each in decided] for k in (1, 0))
        np.testing.assert_allclose(own["tpr"], tpr)
        np.testing.assert_allclose(own["tnr"], tnr)
        np.testing.assert_allclose(own["balanced_error"], 1 - (np.array(tpr) + tnr) / 2)
        np.testing.assert_allclose(own["error"], [np.mean(each != y) for each in decided])
        np.testing.assert_allclose(own["rare_weight"], [w[y == 1].sum() for w in row_weights(model, X, y)])


@pytest.mark.parametrize(
    "method", [name for name, method in METHODS.items() if method.rule.bounded and not method.sampler]
)
def test_the_bound_lies_above_the_training_error(rare, method):
    frame = TrainingDisplay.from_estimator(fit(method, *rare, 40)).frame()
    assert (frame["error"] <= frame["bound"] + 1e-12).all()


def test_the_rare_class_may_come_first(rare):
    X, y = rare
    one, other = fit("adacc1", X, y), fit("adacc1", X, np.where(y == 1, "a rare", "common"))
    frames = [TrainingDisplay.from_estimators({"m": each}).frame() for each in (one, other)]
    pd.testing.assert_frame_equal(*frames)
    np.testing.assert_allclose(confidences(one, X, y == 1), confidences(other, X, y == 1))


def test_mean_over_sets_carries_on_where_boosting_ended():
    one = pd.DataFrame({"method": ["a"] * 3 + ["b"], "round": [1, 2, 3, 1], "tpr": [0.0, 0.5, 1.0, 0.4]})
    two = pd.DataFrame({"method": ["a"] * 3 + ["b"] * 3, "round": [1, 2, 3] * 2, "tpr": [1.0] * 3 + [0.6, 0.8, 1.0]})
    mean = TrainingDisplay.mean_of([TrainingDisplay(one), TrainingDisplay(two)]).frame()
    assert mean["method"].tolist() == ["a"] * 3 + ["b"] * 3
    np.testing.assert_allclose(mean["tpr"], [0.5, 0.75, 1.0, 0.5, 0.6, 0.7])


def test_training_draws_a_line_for_each_method(models):
    display = TrainingDisplay.from_estimators(models).plot(["rare_weight", "alpha"])
    assert len(display.ax_) == 2
    frame = display.frame()
    for ax, quantity in zip(display.ax_, ("rare_weight", "alpha"), strict=True):
        lines = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
        assert list(lines) == list(models)
        for label, line in lines.items():
            np.testing.assert_allclose(line.get_ydata(), frame.loc[frame["method"] == label, quantity])
    _, given = plt.subplots()
    assert TrainingDisplay.from_estimators(models).plot("tpr", ax=given).ax_ is given
    with pytest.raises(ValueError, match=r"quantity must be one of rare_weight.*got 'weight'"):
        display.plot("weight")


@pytest.mark.parametrize("rounds", [None, 4, 1000])
def test_confidence_below_zero_is_an_error(models, rare, rounds):
    X, y = rare
    for model in models.values():
        values = confidences(model, X, y == 1, rounds)
        assert np.abs(values).max() <= 1 + 1e-12
        decided = list(model.staged_predict(X))[-1 if rounds is None else min(rounds, model.n_iter_) - 1]
        sure = np.abs(values) > 1e-9  # a tie goes to the common class
        np.testing.assert_array_equal((values < 0)[sure], (decided != y)[sure])


def test_confidence_curves_are_distributions(models, rare):
    X, y = rare
    display = ConfidenceDisplay.from_estimators(models, X, y, rounds=5)
    frame = display.frame()
    for (method, panel), curve in frame.groupby(["method", "panel"]):
        rows = {"rare class": y == 1, "other class": y == 0, "overall": y >= 0}[panel]
        values = confidences(models[method], X, y == 1, 5)[rows]
        np.testing.assert_allclose(curve["share"], [(values <= level).mean() for level in curve["confidence"]])
    display.plot()
    assert [ax.get_title() for ax in display.ax_] == ["rare class", "other class", "overall"]
    twice = ConfidenceDisplay.mean_of([display, display]).frame()
    np.testing.assert_allclose(twice["share"], frame["share"])


def test_importance_has_a_bar_for_each_feature_and_method(models):
    display = ImportanceDisplay.from_estimators(models).plot()
    heights = [[bar.get_height() for bar in bars] for bars in display.ax_.containers]
    np.testing.assert_allclose(heights, display.frame().to_numpy().T)
    np.testing.assert_allclose(display.frame().sum(), 1.0)
    few = ImportanceDisplay.from_estimators(models, max_features=2).frame()
    assert few.index.tolist() == display.frame().mean(axis=1).sort_values(ascending=False).index[:2].tolist()


def test_importance_lies_down_for_long_names(rare):
    X, y = rare
    names = [f"a feature with a very long name, number {i}" for i in range(5)]
    display = ImportanceDisplay.from_estimator(fit("adacc1", pd.DataFrame(X, columns=names), y)).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == names
    widths = [bar.get_width() for bar in display.ax_.containers[0]]
    np.testing.assert_allclose(widths, display.frame().to_numpy()[:, 0])


def test_learning_curves_are_staged_scores(models, rare):
    X, y = rare
    X_new, y_new = X[::-1] + 0.05, y[::-1]
    frame = LearningCurveDisplay.from_estimators(models, X_new, y_new, "tpr").frame()
    for label, model in models.items():
        expected = [np.mean(decided[y_new == 1] == 1) for decided in model.staged_predict(X_new)]
        np.testing.assert_allclose(frame.loc[frame["method"] == label, "tpr"], expected)


@pytest.mark.compiled
def test_boundaries_show_the_weak_learners_and_the_ensemble():
    X, y = make_toy(10, 30)
    model = fit("adacc1", X, y, 5)
    display = BoundaryDisplay.from_estimator(model, X, y)
    panels = display.panels["adacc1"]
    grid = np.stack(np.meshgrid(*display.sides), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(panels[-1].regions, model.predict(grid) == 1)
    for t, (panel, stump) in enumerate(zip(panels[:-1], model.estimators_, strict=True), start=1):
        assert panel.title == f"round {t}"
        if stump.feature is not None:
            left = grid[:, stump.feature] <= stump.threshold
            np.testing.assert_array_equal(panel.regions, np.where(left, stump.left, stump.right) == 1)
        np.testing.assert_allclose(panel.weights, row_weights(model, X, y)[t - 1])
    display.plot()
    sizes = display.ax_[0, 2].collections[-1].get_sizes()  # the rare points, in the third round
    order = np.argsort(panels[2].weights[y == 1])
    assert (np.diff(sizes[order]) >= 0).all()


@pytest.mark.compiled
def test_boundaries_of_many_models_stand_side_by_side():
    X, y = make_toy(10, 30)
    models = {method: fit(method, X, y, 5) for method in adacc.methods()[:7]}
    display = BoundaryDisplay.from_estimators(models, X, y, rounds=[]).plot()
    titles = [ax.get_title() for ax in display.ax_.ravel() if ax.get_title()]
    assert titles == list(models)
    rows = BoundaryDisplay.from_estimators(models, X, y).plot()
    assert rows.ax_.shape == (len(models), 6)
    assert all(ax.axison for ax in rows.ax_[:, -1])  # the ensemble is in the last column, whoever ended early


def test_every_method_has_a_look_of_its_own():
    looks = [tuple(line_of(name)[key] for key in ("color", "linestyle", "marker")) for name in LINES]
    assert len(set(looks)) == len(LINES)
    assert set(LINES) <= set(adacc.methods())
    assert line_of("AdaMEC-Cal.") == line_of("adamec-cal")


def test_svg_keeps_text_as_text(models, tmp_path):
    from adacc.inspect.figures import Figure, save

    display = TrainingDisplay.from_estimators(models)
    paths = save(Figure("f", "A title to find", display, lambda: display.plot("tpr")), tmp_path)
    assert [path.suffix for path in paths] == [".png", ".svg", ".csv"]
    text = paths[1].read_text()
    assert re.search(r"<text[^>]*>[^<]*A title to find", text)
    again = save(Figure("g", "A title to find", display, lambda: display.plot("tpr")), tmp_path)
    assert again[1].read_text() == text
    assert len(pd.read_csv(paths[2])) == len(display.frame())
    assert not plt.get_fignums()


def test_wrong_input_is_named(models, rare, three):
    X, y = rare
    with pytest.raises(TypeError, match=r"tree must be a fitted boosting classifier of adacc"):
        TrainingDisplay.from_estimators({"tree": DecisionTreeClassifier().fit(X, y)})
    with pytest.raises(ValueError, match="at least one"):
        TrainingDisplay.from_estimators([])
    with pytest.raises(ValueError, match=r"two classes, got 3"):
        TrainingDisplay.from_estimator(fit("adacc1", *three))
    with pytest.raises(ValueError, match=r"two features, got the shape \(240, 5\)"):
        BoundaryDisplay.from_estimators(models, X, y)
    with pytest.raises(ValueError, match=r"y must have labels of \[0, 1\], got 7"):
        ConfidenceDisplay.from_estimators(models, X, y + 6 * y)
    with pytest.raises(ValueError, match=r"measure must be one of .*got 'auc'"):
        LearningCurveDisplay.from_estimators(models, X, y, "auc")


def test_a_search_is_drawn_as_its_best_model(rare):
    X, y = rare
    search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=10), cv="training").fit(X, y)
    found = TrainingDisplay.from_estimator(search).frame()
    assert found["method"].unique().tolist() == ["cgada"]
    np.testing.assert_allclose(found["alpha"], search.best_estimator_.history_["alpha"])


def test_toy_set_is_the_papers():
    from sklearn.datasets import make_circles

    X, y = make_toy(5, 20)
    everything, inner = make_circles(200, noise=0.3, factor=0.3, random_state=415)
    known = {tuple(point): label for point, label in zip(everything.tolist(), inner.tolist(), strict=True)}
    assert [known[tuple(point)] for point in X.tolist()] == y.tolist()
    assert np.bincount(y).tolist() == [20, 5]
    with pytest.raises(ValueError, match="n_rare must be from 1 to 100, got 0"):
        make_toy(0, 20)


@pytest.fixture
def table():
    """Numbers with gaps, a category, a long name, and a column that says nothing."""
    rng = np.random.default_rng(5)
    y = (np.arange(300) % 5 == 0).astype(int)
    frame = pd.DataFrame(rng.normal(size=(300, 3)) + y[:, None] * [1.0, 0.6, 0.0], columns=["a", "b", "c" * 60])
    frame.loc[::9, "a"] = np.nan
    frame["town"] = pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], 300, p=[0.5, 0.3, 0.2]))
    frame["nothing"] = 1.0
    return frame, y, adacc.AdaCC1Classifier(n_estimators=60).fit(frame, y)


def test_shape_frames_add_up_to_the_score(table):
    frame, _, model = table
    display = ShapeDisplay.from_estimator(model, frame)
    steps = display.frame()
    total = np.full(len(frame), float(model.shape_functions().intercept))
    for feature, own in steps.groupby("feature"):
        for i, value in enumerate(frame[feature]):
            if pd.isna(value):
                (chosen,) = own.loc[own["category"].eq("missing"), "value"]
            elif isinstance(value, str):
                (chosen,) = own.loc[own["category"].eq(value), "value"]
            else:
                (chosen,) = own.loc[(own["above"] < value) & (value <= own["up_to"]), "value"]
            total[i] += chosen
    np.testing.assert_allclose(total, model.decision_function(frame), atol=1e-9)
    assert "nothing" not in set(steps["feature"])


def test_shapes_are_drawn_by_importance_with_gaps_shown_where_there_are_some(table):
    frame, _, model = table
    display = ShapeDisplay.from_estimator(model, frame).plot()
    importance = model.explain(frame, background=frame).importance().sort_values(ascending=False)
    titles = [ax.get_title() for ax in display.ax_.ravel() if ax.get_title()]
    assert [title.rstrip("…") for title in titles] == [
        name[: len(title.rstrip("…"))] for name, title in zip(importance.index, titles, strict=False)
    ]
    by_title = dict(zip(titles, display.ax_.ravel(), strict=False))
    assert [text.get_text() for text in by_title["a"].texts] == ["missing"]
    assert not by_title["b"].texts
    stairs = by_title["b"].patches[0].get_data()
    curve = model.shape_functions()["b"]
    np.testing.assert_allclose(stairs.values, curve.values)
    np.testing.assert_allclose(stairs.edges[1:-1], curve.thresholds)
    assert [t.get_text() for t in by_title["town"].get_xticklabels()] != []
    two = ShapeDisplay.from_estimator(model, features=["b", 3])
    assert two.features == [1, 3]


def test_waterfall_goes_from_the_mean_to_the_score(table):
    frame, _, model = table
    display = WaterfallDisplay.from_estimator(model, frame, row=7, background=frame, max_features=2)
    assert display.intercept == pytest.approx(model.decision_function(frame).mean())
    assert display.intercept + display.frame()["contribution"].sum() == pytest.approx(model.decision_function(frame)[7])
    display.plot()
    bars = display.ax_.patches
    assert bars[0].get_x() == pytest.approx(display.intercept)
    for before, after in itertools.pairwise(bars):
        assert after.get_x() == pytest.approx(before.get_x() + before.get_width())
    assert display.ax_.get_yticklabels()[-1].get_text() == "2 others"
    with pytest.raises(ValueError, match="row must be an index of the 300 rows of X, got 300"):
        WaterfallDisplay.from_estimator(model, frame, row=300)


@pytest.mark.parametrize("labels", [("fine", "fraud"), ("ok", "fraud")])
def test_what_speaks_for_the_rare_class_has_its_colour(table, labels):
    """Whichever label sorts first: `decision_function` is above 0 for the second."""
    frame, y, _ = table
    model = adacc.AdaCC1Classifier(n_estimators=20).fit(frame, np.where(y == 1, labels[1], labels[0]))
    sign = 1 if model.classes_[1] == "fraud" else -1
    shown = ShapeDisplay.from_estimator(model, features=["town", "b"]).plot()
    bars, steps = shown.ax_.ravel()
    assert to_hex(steps.patches[0].get_edgecolor()).upper() == (RARE if sign > 0 else COMMON)
    falling = WaterfallDisplay.from_estimator(model, frame, row=7).plot()
    drawn = [(bar.get_height(), bar) for bar in bars.patches] + [(bar.get_width(), bar) for bar in falling.ax_.patches]
    drawn = [(sign * value, to_hex(bar.get_facecolor()).upper()) for value, bar in drawn if value]
    assert {value > 0 for value, _ in drawn} == {True, False}
    assert [color for _, color in drawn] == [RARE if value > 0 else COMMON for value, _ in drawn]


def test_contributions_are_ordered_mean_absolute_shap_values(table):
    frame, _, model = table
    display = ContributionDisplay.from_estimator(model, frame).plot()
    contributions = model.explain(frame, background=frame).contributions
    expected = pd.Series(np.abs(contributions).mean(axis=0), index=frame.columns).sort_values(ascending=False)
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], expected)
    assert display.frame()["feature"].tolist() == expected.index.tolist()


@pytest.mark.parametrize("labels", [("fine", "fraud"), ("ok", "fraud")])
def test_a_beeswarm_has_the_contributions_to_the_rare_class(table, labels):
    """Whichever label sorts first."""
    frame, y, _ = table
    model = adacc.AdaCC1Classifier(n_estimators=20).fit(frame, np.where(y == 1, labels[1], labels[0]))
    sign = 1 if model.classes_[1] == "fraud" else -1
    explained = model.explain(frame, background=frame)
    display = BeeswarmDisplay.from_estimator(model, frame, max_features=3).plot()
    order = explained.importance().sort_values(ascending=False).index[:3].tolist()
    assert [tick.get_text()[:29] for tick in display.ax_.get_yticklabels()] == [name[:29] for name in order]
    assert "fraud" in display.ax_.get_xlabel()
    points = display.frame()
    drawn = np.concatenate([part.get_offsets()[:, 0] for part in display.ax_.collections])
    np.testing.assert_allclose(np.sort(drawn), np.sort(points["contribution"]))
    for name in order:
        of_feature = points[points["feature"] == name].reset_index()
        np.testing.assert_allclose(of_feature["contribution"], sign * explained.frame()[name])
        if name in ("a", "b"):
            known = of_feature.dropna(subset="level")
            by_value = known.assign(value=known["value"].astype(float)).sort_values("value")
            assert by_value["level"].is_monotonic_increasing
            assert (by_value["level"].iloc[0], by_value["level"].iloc[-1]) == (0.0, 1.0)


def test_swarm_offsets_separate_points_of_equal_value():
    x = np.repeat([0.0, 1.0], [9, 3])
    offsets = swarm_offsets(x)
    assert len(set(offsets[:9])) == 9
    assert len(set(offsets[9:])) == 3
    assert np.ptp(offsets[:9]) > np.ptp(offsets[9:])
    assert np.abs(offsets).max() <= 1.0
    assert swarm_offsets(np.empty(0)).shape == (0,)


def test_dependence_shows_the_contribution_by_value(table):
    frame, _, model = table
    explained = model.explain(frame, background=frame)
    display = DependenceDisplay.from_estimator(model, frame, "b", color_feature="a").plot()
    points = display.ax_.collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 0], frame["b"])
    np.testing.assert_allclose(points[:, 1], explained.frame()["b"])
    towns = DependenceDisplay.from_estimator(model, frame, "town").plot()
    means = towns.frame().groupby("value", observed=True)["contribution"].mean()
    ticks = [tick.get_text() for tick in towns.ax_.get_xticklabels()]
    assert means[[tick for tick in ticks if tick != "missing"]].is_monotonic_increasing
    with pytest.raises(ValueError, match="feature must be the name of a column, got 'nope'"):
        DependenceDisplay.from_estimator(model, frame, "nope")
    with pytest.raises(ValueError, match="color_feature must be an index of the"):
        DependenceDisplay.from_estimator(model, frame, 0, color_feature=99)


def test_the_bound_is_drawn_beside_the_error(models):
    display = BoundDisplay.from_estimators({"AdaBoost": models["AdaBoost"]}).plot()
    error, bound = (line.get_ydata() for line in display.ax_.lines)
    frame = display.frame()
    np.testing.assert_allclose(bound, frame["bound"])
    np.testing.assert_allclose(error, frame["error"].where(frame["error"] > 0))
    assert display.ax_.get_yscale() == "log"
