"""`make guarantees`: the tests' own attacks and comparisons at greater length, and what came of them as a table.

The figures of docs/guarantees.md are its output. Of a wrong answer or a crash it prints what led to it, and fails.
"""

import argparse
import importlib.util
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))  # what pytest is told in pyproject.toml

import adacc  # noqa: E402

EXPORTERS = ("ONNX", "model file", "pickle")
CALIBRATIONS = (None, "sigmoid", "isotonic")
LONGER = partial(settings, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def tests_of(path):
    """A file of tests as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, TESTS / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def at_length(test, n_examples, **arguments):
    """A property of the tests, tried more often than there."""
    inner = test.hypothesis.inner_test
    if "data" in inner.__code__.co_varnames:

        @given(data=st.data())
        def test(data):
            inner(**arguments, data=data)

    LONGER(max_examples=n_examples)(test)()


def attacked_files(n_examples):
    """Model files edited and damaged: how many were refused, and how many loaded and then answered safely."""
    counts = Counter()
    models, containers = tests_of("estimators/test_model_file.py"), tests_of("model/test_archive.py")
    use, unpack = models.use_if_it_loads, containers.archive.unpack

    def counted_use(content, X):
        model = use(content, X)
        counts["refused" if model is None else "loaded and safe"] += 1
        return model

    def counted_unpack(content):
        try:
            unpacked = unpack(content)
        except adacc.ModelFileError:
            counts["refused"] += 1
            raise
        counts["loaded and safe"] += 1
        return unpacked

    models.use_if_it_loads = counted_use
    containers.archive = SimpleNamespace(**{**vars(containers.archive), "unpack": counted_unpack})
    for host in models.HOSTS:
        at_length(models.test_an_edited_document_is_refused_or_a_model, n_examples, host=host)
        at_length(models.test_an_edited_array_is_refused_or_of_a_model_that_predicts_and_learns, n_examples, host=host)
    at_length(models.test_a_damaged_file_is_refused_or_unharmed, n_examples)
    at_length(containers.test_damage_is_noticed_or_harmless, n_examples)
    at_length(containers.test_any_bytes_are_no_archive, n_examples)
    with tempfile.TemporaryDirectory() as folder:
        for fault, (change, _) in models.HOSTILE.items():
            try:
                models.load_content(models.packed(change), Path(folder))
            except adacc.ModelFileError:
                counts["refused"] += 1
            else:
                raise AssertionError(f"a hostile file was loaded: {fault}")
    return counts


def compared_exports():
    """Every method by every way out; of ONNX labels, scores and probabilities, of the others all that can be asked."""
    counts, done = Counter(), set()
    graphs, models = tests_of("export/test_onnx.py"), tests_of("estimators/test_model_file.py")
    kinds = product(adacc.methods(), graphs.LABELS, graphs.TABLES, CALIBRATIONS)
    for method, classes, table, calibration in kinds:
        X = graphs.rows(method, table)
        model = adacc.BoostingClassifier(method, n_estimators=15, random_state=0, calibration=calibration)
        model.fit(X, graphs.LABELS[classes])
        graphs.assert_same(model, X)
        with tempfile.TemporaryDirectory() as folder:
            models.assert_same(model, models.saved(model, Path(folder)), X)
        models.assert_same(model, pickle.loads(pickle.dumps(model)), X)
        done.add(method)
        counts["models"] += 1
        counts["rows"] += len(EXPORTERS) * len(X)
    counts["methods x exporters"] = len(done) * len(EXPORTERS)
    return counts


def hostile_frames(n_examples):
    """Tables of all kinds, types and labels: each is learnt from with sound results, or refused in words."""
    from hostile.hostile_law import TRIED, judge
    from hostile.hostile_tables import cases

    @LONGER(max_examples=n_examples)
    @given(cases())
    def every_table_works_or_is_refused_in_words(case):
        judge(case)

    every_table_works_or_is_refused_in_words()
    return Counter(frames=TRIED.total())


def rounds_without_drift():
    """Sums kept up from round to round, beside the same sums made from scratch."""
    runs, made = tests_of("boosting/test_long_runs.py"), []
    test, make = runs.test_ten_thousand_rounds_neither_overflow_nor_drift, runs.boosting_of

    def kept(*args):
        made.append(make(*args))
        return made[-1]

    runs.boosting_of = kept
    marks = [mark.args for mark in test.pytestmark if mark.name == "parametrize"]
    pairs = next(values for names, values in marks if "n_classes" in names)
    for name, (n_classes, learning_rate) in product(runs.DETERMINISTIC, pairs):
        test(name, n_classes, learning_rate)
    return Counter(rounds=sum(len(boosting.rounds) for boosting in made))


def tried(part, *args):
    """What a part has counted; what it has found is told in full, and counted too."""
    start = time.perf_counter()
    try:
        counts = part(*args)
    except Exception as error:
        traceback.print_exc()
        counts = Counter({"wrong answers" if isinstance(error, AssertionError) else "crashes": 1})
    counts["seconds"] = round(time.perf_counter() - start)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=1500, help="of each kind, of which there are seven")
    parser.add_argument("--frames", type=int, default=1500)
    sizes = parser.parse_args()
    warnings.simplefilter("ignore")
    total = tried(attacked_files, sizes.mutations) + tried(compared_exports)
    total += tried(hostile_frames, sizes.frames) + tried(rounds_without_drift)
    table = {
        "model files mutated": total["refused"] + total["loaded and safe"],
        "  refused": total["refused"],
        "  loaded and safe": total["loaded and safe"],
        f"methods x exporters compared ({len(EXPORTERS)} exporters)": total["methods x exporters"],
        "  models": total["models"],
        "  rows answered alike": total["rows"],
        "frames tried": total["frames"],
        "rounds without drift": total["rounds"],
        "crashes": total["crashes"],
        "wrong answers": total["wrong answers"],
        "seconds": total["seconds"],
    }
    for name, figure in table.items():
        sys.stdout.write(f"{name:45}{figure:>10,}\n")
    sys.exit(bool(table["crashes"] or table["wrong answers"]))


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
