"""Benchmark of adacc against other libraries that boost stumps; see `README.md`.

python benchmarks/run.py
python benchmarks/run.py --quick
python benchmarks/run.py --only sets predict --sets wilt,adult --repeats 3
"""

from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from time import perf_counter

import answers
import classes
import explain
import growth
import predict
import search
import sets
import shapes
import start
import trees
from data import choose, default_folder, find_sets
from peers import ADACC, limited_threads, usable_peers
from report import Report, machine
from settings import Settings
from timing import say

HERE = Path(__file__).resolve().parent
PARTS = {
    "sets": sets.measure,
    "shapes": shapes.measure,
    "predict": predict.measure,
    "search": search.measure,
    "growth": growth.measure,
    "answers": answers.measure,
    "start": start.measure,
    "trees": trees.measure,
    "explain": explain.measure,
    "classes": classes.measure,
}
REPEATS = 5
QUICK_REPEATS = 1
QUICK_SETS = ["car_eval_34", "wilt", "adult"]


def main() -> None:
    options = read_options()
    peers, remarks = usable_peers()
    if ADACC not in peers:
        sys.exit("adacc is not installed: pip install -e '.[bench]'")
    found = find_sets(options.data_dir)
    if not found:
        remarks.append(f"sets: skipped, no Parquet files in {options.data_dir}; give --data-dir or set ADACC_DATA")
    if options.quick:
        remarks.append("quick: small data and few repeats, to see that all works; the figures say little")
    wanted = options.sets or ([name for name in QUICK_SETS if name in found] if options.quick else list(found))
    try:
        files = choose(found, wanted) if found else []
    except ValueError as error:
        sys.exit(str(error))
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    settings = Settings(peers, files, repeats, options.threads, options.quick)

    gc.freeze()  # or each collection before a measurement looks through all that the libraries loaded
    report = Report(options.out)
    report.show("\n".join([machine(peers, options.threads), *remarks]))
    with limited_threads(options.threads):
        for part in options.only:
            began = perf_counter()
            PARTS[part](settings, report)
            say(f"{part}: {perf_counter() - began:.0f} s")
    report.close()
    sys.exit(1 if report.failures else 0)


def read_options() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument("--sets", type=names, help="names of the sets, with commas between (all)")
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=default_folder(),
        help="folder of the sets (ADACC_DATA, or shared/datasets beside the repository)",
    )
    parser.add_argument("--repeats", type=positive, help=f"runs of which the median is shown ({REPEATS})")
    parser.add_argument("--threads", type=positive, default=1, help="threads of each library (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="small data, one repeat: to see that all works")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the results")
    return parser.parse_args()


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError("must be a whole number above 0")
    return int(text)


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    main()
