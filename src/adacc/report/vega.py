"""The JavaScript libraries that draw the charts of a report."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from tempfile import TemporaryFile


def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed in the version that Altair supports, in one script."""
    return bundle_of(_version())


def _version() -> str:
    """The version of Vega-Lite that Altair supports."""
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


@cache
def bundle_of(version: str) -> str:
    """`bundle` for a version of Vega-Lite; does not import Altair."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)


@contextmanager
def bundled_in_background() -> Iterator[Callable[[], str]]:
    """Make the bundle, which takes seconds, in another process; the block receives the function that returns it.

    The process has a session of its own, so that Ctrl-C does not reach it, and ends with the block.
    """
    command = [sys.executable, "-c", f"from adacc.report.vega import bundle_of; print(bundle_of({_version()!r}))"]
    with TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
        )

        def finished() -> str:
            if process.wait():
                return bundle()
            output.seek(0)
            return output.read()

        try:
            yield finished
        finally:
            process.kill()
            process.wait()
