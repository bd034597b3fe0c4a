"""How fast adacc fits, beside scikit-learn's AdaBoost, LightGBM and XGBoost.

Measured, each library boosting 200 stumps on the same rows with the same number of threads:

- **Seconds** of ``fit``, reading and binning of the data included: the median of the repeats. The libraries take turns,
  in a changing order, so that a busy moment of the machine hits all. scikit-learn is slow: at most 3 repeats, and on
  the two larger shapes few rounds, scaled up linearly (each of its rounds does the same work).
- **Balanced accuracy** on held-out rows from the same generator, a third of all rows, so that speed is never bought
  with answers; for LightGBM and XGBoost also with class weights, without which they favour the frequent class.
- **Memory**: the most that the process holds during ``fit`` beyond what it held just before, in a fresh process for
  each library and shape. On Linux that is VmHWM, reset before the fit; elsewhere ru_maxrss. Libraries are loaded and
  have done a small fit by then; what the process holds at that moment (the rows and the libraries) is shown beside it.
- **Start**: the first fit of adacc in a fresh process with an empty kernel cache, in a fresh process with a filled
  one, and later fits; and the time that ``import adacc`` takes once scikit-learn is imported.

The data is dense and continuous (``make_classification``): no equal rows, no sparse columns, nothing that any of the
libraries could save work on.

    python benchmarks/fit.py --shapes 10000x20 --repeats 3
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import report
from data import SHAPES, Data, Shape, make_data, save_training_rows
from fresh import first_fits, imports, memory_of_fit, seconds_of_fit
from peers import ADACC, ROUNDS, Peer, usable_peers
from sklearn.metrics import balanced_accuracy_score

# Enough for a median where a single run takes long.
SLOW_REPEATS = 3


def main() -> None:
    options = read_options()
    peers, skipped = usable_peers()
    if ADACC not in peers:
        sys.exit("adacc is not installed: pip install -e '.[bench]'")
    shapes = [SHAPES[name] for name in options.shapes]
    texts = []

    def show(text: str) -> None:
        texts.append(text)
        print(text, end="\n\n", flush=True)

    show("\n".join([report.machine(peers), *skipped]))
    by_shape = []
    for shape in shapes:
        by_shape.append(measure(shape, peers, options.repeats, options.threads))
        show(report.fit_table(by_shape[-1]))
    smallest = min(shapes, key=lambda shape: shape.cells)
    lines = measure_start(smallest, peers, options.repeats, options.threads)
    show(report.start_table(lines))

    options.out.mkdir(parents=True, exist_ok=True)
    report.write_fit_csv(options.out / "fit.csv", by_shape)
    report.write_start_csv(options.out / "start.csv", lines)
    (options.out / "report.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def read_options() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE", help=", ".join(SHAPES)
    )
    parser.add_argument("--repeats", type=positive, default=5, help="fits of which the median is shown (%(default)s)")
    parser.add_argument("--threads", type=positive, default=1, help="threads of each library (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder of the results")
    return parser.parse_args()


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError("must be a whole number above 0")
    return int(text)


def measure(shape: Shape, peers: list[Peer], repeats: int, threads: int) -> list[report.Result]:
    say(f"{shape.title}: making the data")
    data = make_data(shape)
    fits = FitsInTurn(shape, data, threads)
    fits.run(peers, repeats)
    with tempfile.TemporaryDirectory() as folder:
        training_rows = Path(folder) / "rows.npz"
        save_training_rows(data, training_rows)
        return [fits.result(peer, training_rows) for peer in peers]


class FitsInTurn:
    """Fits of all libraries to the same data, one after the other."""

    def __init__(self, shape: Shape, data: Data, threads: int) -> None:
        self.shape = shape
        self.data = data
        self.threads = threads
        self.seconds: dict[str, list[float]] = {}
        self.models: dict[str, Any] = {}

    def rounds(self, peer: Peer) -> int:
        return self.shape.slow_rounds if peer.slow else ROUNDS

    def run(self, peers: list[Peer], repeats: int) -> None:
        for peer in peers:
            self.seconds[peer.name] = []
            if not peer.slow:
                self.fit(peer)  # kernels and libraries load at the first fit; the start is measured on its own
        for repeat in range(repeats):
            first = repeat % len(peers)
            for peer in peers[first:] + peers[:first]:
                if not peer.slow or repeat < SLOW_REPEATS:
                    say(f"{self.shape.title}: {peer.name}, repeat {repeat + 1}")
                    self.seconds[peer.name].append(self.fit(peer))

    def fit(self, peer: Peer) -> float:
        model = peer.make(self.rounds(peer), self.threads)
        self.models[peer.name] = model
        return seconds_of_fit(model, self.data.X, self.data.y)

    def result(self, peer: Peer, training_rows: Path) -> report.Result:
        say(f"{self.shape.title}: {peer.name}, accuracy and memory")
        model = self.models[peer.name]
        return report.Result(
            shape=self.shape,
            peer=peer,
            threads=self.threads,
            rounds=self.rounds(peer),
            fitted_rounds=peer.fitted_rounds(model),
            run_seconds=self.seconds[peer.name],
            balanced_accuracy=self.balanced_accuracy(model),
            weighted_balanced_accuracy=self.weighted_balanced_accuracy(peer),
            memory=memory_of_fit(peer, training_rows, self.rounds(peer), self.threads),
        )

    def weighted_balanced_accuracy(self, peer: Peer) -> float | None:
        if peer.class_weights is None:
            return None
        model = peer.make(self.rounds(peer), self.threads, **peer.class_weights(self.data.y))
        return self.balanced_accuracy(model.fit(self.data.X, self.data.y))

    def balanced_accuracy(self, model: Any) -> float:
        return float(balanced_accuracy_score(self.data.y_test, model.predict(self.data.X_test)))


def measure_start(shape: Shape, peers: list[Peer], repeats: int, threads: int) -> list[report.Start]:
    say("Start of adacc")
    with tempfile.TemporaryDirectory() as folder:
        training_rows = Path(folder) / "rows.npz"
        save_training_rows(make_data(shape), training_rows)
        fits = first_fits(training_rows, threads, repeats)
    # scikit-learn is what the others are imported on top of.
    modules = [peer.module for peer in peers if not peer.module.startswith("sklearn")]
    return report.starts(fits, imports(modules, repeats), shape)


def say(text: str) -> None:
    """Progress, apart from the results on standard output."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
