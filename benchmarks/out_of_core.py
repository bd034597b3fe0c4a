"""A fit from a Parquet table larger than the memory it may use: peak memory, time, and whether the model is the same.

python benchmarks/out_of_core.py
python benchmarks/out_of_core.py --gigabytes 1 --limit 600MB --without-memory-run --out try-out

The table is written in batches to --folder, and removed. Each run is a process of its own, the command `adacc train`;
its peak is all that it ever held, libraries included (VmHWM on Linux, elsewhere ru_maxrss).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from report import Report, machine
from tables import aligned, number
from timing import say

import adacc
from adacc.distributed.memory import read_size

N_COLUMNS, BATCH, ROUNDS = 30, 500_000, 100
HERE = Path(__file__).resolve().parent

CHILD = """
import json, sys
from pathlib import Path
from adacc.cli import main
code = main(sys.argv[1:])
status = Path("/proc/self/status")
if status.exists():
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    peak = int(fields["VmHWM"].removesuffix("kB")) * 1024
else:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([code, peak]))
"""


def write_table(path: Path, n_bytes: float) -> int:
    """Random normals and a rare class, until the file has this size; the rows."""
    rng, n_rows = np.random.default_rng(0), 0
    schema = pa.schema([*((f"x{j}", pa.float64()) for j in range(N_COLUMNS)), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        while path.stat().st_size < n_bytes:
            X = rng.normal(size=(BATCH, N_COLUMNS))
            y = (X[:, :5].sum(axis=1) + 2 * rng.normal(size=BATCH) > 4.5).astype(np.int64)
            writer.write_table(pa.table([*X.T.copy(), y], schema=schema))
            n_rows += BATCH
    return n_rows


def train(what: str, *arguments: object, cache: str | None = None) -> dict[str, Any]:
    """The seconds and the peak of a command in a process of its own."""
    say(what)
    environment = {**os.environ, **({} if cache is None else {"NUMBA_CACHE_DIR": cache})}
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "train", *map(str, arguments)],
        stdout=subprocess.PIPE,
        check=True,
        env=environment,
    )
    code, peak = json.loads(done.stdout.splitlines()[-1])
    if code:
        raise SystemExit(f"{what}: adacc train failed")
    return {"what": what, "seconds": round(perf_counter() - began, 1), "peak_mb": round(peak / 1e6)}


def apart(some: Path, other: Path) -> tuple[bool, float]:
    """Whether two models have the same splits, and how far apart their votes are at most."""
    a, b = adacc.load(some), adacc.load(other)
    same = a.estimators_ == b.estimators_
    return same, float(
        np.abs(a.fitted_model_.ensemble.votes - b.fitted_model_.ensemble.votes).max()
    ) if same else np.inf


def measure(options: Namespace, folder: Path, report: Report) -> None:
    table, models = folder / "big.parquet", [folder / f"{name}.adacc" for name in "abcd"]
    n_rows = write_table(table, options.gigabytes * 1e9)
    size = table.stat().st_size
    common = [table, "--target", "y", "--rounds", ROUNDS]
    limited = [*common, "--memory-limit", options.limit, "--scratch", folder]
    records = [train(f"adacc1, --memory-limit {options.limit}", *limited, "--model", models[0])]
    with tempfile.TemporaryDirectory() as cache:
        what = f"the same, kernels compiled first, --memory-limit {options.limit}"
        records.append(train(what, *limited, "--model", models[1], cache=cache))
    what = f"cgada, ten costs tried, --memory-limit {options.limit}"
    records.append(train(what, *limited, "--method", "cgada", "--model", models[2]))
    if not options.without_memory_run:
        records.append(train("adacc1, in memory", *common, "--model", models[3]))
        same, distance = apart(models[0], models[3])
        report.show(f"Same splits as in memory: {'yes' if same else 'no'}; votes apart by at most {distance:.1e}")
        if not same or distance > 1e-12:
            report.fail("the model is not the one that a fit in memory makes")
    rows = [[each["what"], number(each["seconds"]), f"{each['peak_mb']:,}"] for each in records]
    title = f"{n_rows:,} rows × {N_COLUMNS} columns of float64, {size / 1e9:.2f} GB of Parquet, {ROUNDS} rounds"
    report.show(f"{title}\n{aligned([['', 'seconds', 'peak MB']], rows)}")
    report.write_csv("out_of_core.csv", [{"rows": n_rows, "file_bytes": size, **each} for each in records])
    most = max(each["peak_mb"] for each in records if "limit" in each["what"])
    report.headline("peak memory with --memory-limit", most, "MB", at_most=read_size(options.limit) / 1e6)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the Parquet file (%(default)s)")
    parser.add_argument("--limit", default="1GB", help="memory to be used (%(default)s)")
    parser.add_argument("--folder", type=Path, help="where table and coded rows go (the system's temporary folder)")
    parser.add_argument("--without-memory-run", action="store_true", help="leave out the fit of all rows in memory")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "out_of_core", help="folder of the results")
    options = parser.parse_args()
    report = Report(options.out)
    report.show(machine([], 1))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure(options, Path(folder), report)
    report.close()
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
