"""`adacc datasets`: list and download the data sets of the paper."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from adacc.cli.terminal import echo, format_table


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("datasets", help="List or download the 27 data sets of the AdaCC paper.")
    actions = top.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="List the data sets and whether each is available locally.")
    listing.add_argument("--data-dir", help="Directory with <name>.parquet files (default: ADACC_DATA).")
    listing.set_defaults(run=show_all)
    fetching = actions.add_parser("fetch", help="Download data sets into the cache.")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="Names of data sets (default: all).")
    fetching.add_argument("--dest", help="Target directory instead of the cache; pass it as --data-dir later.")
    fetching.set_defaults(run=fetch)


def show_all(options: Namespace) -> None:
    from adacc.datasets import CATALOGUE, available

    paths = {name: available(name, options.data_dir) for name in CATALOGUE}
    rows = [
        [
            entry.name,
            f"{entry.rows:,}",
            str(entry.paper_features),
            f"{entry.minority:,}",
            f"1:{entry.majority / entry.minority:.1f}",
            "no" if paths[entry.name] is None else "yes",
            f"{entry.title}: {entry.target}",
        ]
        for entry in CATALOGUE.values()
    ]
    echo(format_table(["name", "rows", "features", "minority", "ratio", "local", "description"], rows, left=(0, 5, 6)))
    folders = Counter(str(path.parent) for path in paths.values() if path is not None)
    echo(
        "\n" + "".join(f"{count} of {len(paths)} data sets are in {folder}.\n" for folder, count in folders.items()),
        end="",
    )
    if None in paths.values():
        echo("Other data sets are downloaded when first used, or by `adacc datasets fetch`.")


def fetch(options: Namespace) -> None:
    from adacc import datasets

    for name, path in datasets.fetch(options.names or None, options.dest).items():
        echo(f"{name}: {path}")
