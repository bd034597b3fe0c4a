"""`adacc figures`: reproduce the figures of the AdaCC paper."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from itertools import chain
from pathlib import Path
from typing import Any

from adacc.cli.options import count, names
from adacc.cli.terminal import echo


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("figures", help="Reproduce the figures of the AdaCC paper.")
    top.add_argument("what", choices=("paper",), metavar="WHAT", help="Which figures: 'paper'.")
    top.add_argument("--out", required=True, metavar="DIR", help="Output directory for PNG, SVG and CSV files.")
    top.add_argument("--data-dir", metavar="DIR", help="Directory with the data sets (default: ADACC_DATA).")
    top.add_argument(
        "--datasets", type=names, metavar="A,B", help="Names of the data sets to average over (default: all)."
    )
    top.add_argument("--study", metavar="DIR", help="Results of a study, for ranks and learning curves.")
    top.add_argument("--jobs", type=count, default=1, metavar="N", help="Number of threads (default: 1).")
    top.add_argument("--quiet", action="store_true", help="Disable the progress bar.")
    top.set_defaults(run=draw)


def draw(options: Namespace) -> None:
    from tqdm import tqdm

    from adacc.datasets import CATALOGUE
    from adacc.datasets.store import find
    from adacc.inspect.figures import save, set_figures, study_figures, toy_figures
    from adacc.study.summary import read_summary

    sets = [find(name).name for name in options.datasets or CATALOGUE]
    of_study = () if options.study is None else study_figures(read_summary(options.study))
    with tqdm(total=len(sets), disable=options.quiet, file=sys.stderr, unit="set") as bar:
        of_sets = set_figures(sets, options.data_dir, options.jobs, lambda _: bar.update())
        for figure in chain(toy_figures(), of_study, of_sets):
            echo(str(save(figure, Path(options.out))[0]))
