"""`adacc datasets`: the sets of the paper."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
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

    found = {name: available(name, options.data_dir) for name in CATALOGUE}
    rows = [
        [
            entry.name,
            f"{entry.rows:,}",
            str(entry.paper_features),
            f"{entry.minority:,}",
            f"1:{entry.majority / entry.minority:.1f}",
            "no" if found[entry.name] is None else "yes",
            f"{entry.title}: {entry.target}",
        ]
        for entry in CATALOGUE.values()
    ]
    say(table(["name", "rows", "features", "rare", "ratio", "at hand", "what"], rows, left=(0, 5, 6)))
    folders = Counter(str(path.parent) for path in found.values() if path is not None)
    say("\n" + "".join(f"{count} of {len(found)} are in {folder}.\n" for folder, count in folders.items()), end="")
    if None in found.values():
        say("What is not at hand is downloaded when it is used, or before by `adacc datasets fetch`.")


def fetch(options: Namespace) -> None:
    from adacc import datasets

    for name, path in datasets.fetch(options.names or None, options.dest).items():
        say(f"{name}: {path}")
