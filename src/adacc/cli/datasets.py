"""`adacc datasets`: the sets of the paper."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from adacc.cli.show import say, table


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("datasets", help="the 27 data sets of the AdaCC paper")
    actions = top.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="what they are, and which of them are at hand")
    listing.add_argument("--data-dir", help="a folder with <name>.parquet files (default: ADACC_DATA)")
    listing.set_defaults(run=show_all)
    fetching = actions.add_parser("fetch", help="download them into the cache")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="which (default: all)")
    fetching.add_argument("--dest", help="another folder than the cache, to be given as --data-dir later")
    fetching.set_defaults(run=fetch)


def show_all(options: Namespace) -> None:
    from adacc.datasets import CATALOGUE, available

    rows = [
        [
            entry.name,
            f"{entry.rows:,}",
            str(entry.paper_features),
            f"{entry.minority:,}",
            f"1:{entry.majority / entry.minority:.1f}",
            str(available(entry.name, options.data_dir) or "to be downloaded"),
            f"{entry.title}: {entry.target}",
        ]
        for entry in CATALOGUE.values()
    ]
    say(table(["name", "rows", "features", "rare", "ratio", "where", "what"], rows, left=(0, 5, 6)))


def fetch(options: Namespace) -> None:
    from adacc import datasets

    for name, path in datasets.fetch(options.names or None, options.dest).items():
        say(f"{name}: {path}")
