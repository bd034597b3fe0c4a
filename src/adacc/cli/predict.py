"""`adacc predict`: a model's answers for a table of any size."""

from __future__ import annotations

import gzip
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from adacc.cli.files import check_output
from adacc.cli.options import add_model, add_text_format, add_threshold, path
from adacc.cli.saved import Saved, read_saved
from adacc.cli.show import plain, say
from adacc.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """\
examples:
  adacc predict fraud.adacc new.csv                 labels, to the terminal
  adacc predict fraud.adacc new.csv --id claim --proba -o scores.csv
  adacc predict fraud.adacc new.parquet --threshold 0.2 -o scores.parquet
  zcat new.csv.gz | adacc predict fraud.adacc - | sort | uniq -c
"""


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "predict", help="a model's answers for new rows", epilog=EXAMPLES,
        description="Predict the rows of a table, in their order. It may be larger than memory; columns go\n"
        "by their names, in any order, and others may stand among them.",
    )  # fmt: skip
    add_model(top)
    top.add_argument("data", metavar="DATA", help="the table; '-' is standard input")
    top.add_argument("--proba", action="store_true", help="add the probability of each class, a column p_LABEL each")
    top.add_argument("--id", metavar="COL", help="a column of the table that is to stand beside the answers")
    add_threshold(top)
    add_text_format(top)
    top.add_argument(
        "-o", "--output", type=path, metavar="FILE",
        help="write to .csv, .tsv (.gz packs them), .parquet or .arrow instead of CSV to the terminal",
    )  # fmt: skip
    top.set_defaults(run=predict)


def predict(options: Namespace) -> None:
    from adacc.tables.sources import ENDINGS

    if options.output is not None:
        check_output(options.output, options.model, options.data)
        if not options.output.name.lower().endswith(ENDINGS):
            raise ValueError(f"{options.output}: output files end in {', '.join(ENDINGS)}; name one of these")
    saved = read_saved(options.model)
    if options.threshold is not None:
        saved.check_two_classes("--threshold")
    _check_id(saved, options)
    batches = saved.open(options, [] if options.id is None else [options.id])
    counts: Counter[Any] = Counter()
    with _output(options.output) as output:
        for X, kept in batches:
            answers = _answers(saved, X, kept, options)
            counts.update(answers["prediction"].value_counts().to_dict())
            output.write(answers)
        if not counts:
            output.write(_no_answers(saved, options))
    if options.output is not None:
        each = ", ".join(f"{counts[label]:,} {plain(label, 40)}" for label in saved.labels)
        say(f"{options.output}: {counts.total():,} rows, predicted {each}")


def _check_id(saved: Saved, options: Namespace) -> None:
    if options.id in ("prediction", *(f"p_{label}" for label in saved.labels if options.proba)):
        raise ValueError(f"--id {options.id}: the answers have a column of this name; rename that of the table")


def _answers(saved: Saved, X: pd.DataFrame, kept: pd.DataFrame, options: Namespace) -> pd.DataFrame:
    import pandas as pd

    answers = pd.DataFrame({"prediction": saved.model.classes_[saved.class_index(X, options.threshold)]}, index=X.index)
    if options.proba:
        answers[[f"p_{label}" for label in saved.labels]] = saved.model.predict_proba(X)
    if options.id is not None:
        answers.insert(0, options.id, kept[options.id])
    return answers


def _no_answers(saved: Saved, options: Namespace) -> pd.DataFrame:
    """For a table without rows, which a model would refuse."""
    import numpy as np
    import pandas as pd

    answers = pd.DataFrame({"prediction": saved.model.classes_[:0]})
    if options.proba:
        answers[[f"p_{label}" for label in saved.labels]] = np.empty((0, len(saved.labels)))
    if options.id is not None:
        answers.insert(0, options.id, pd.Series(dtype=object))
    return answers


class Output(Protocol):
    """Where answers go, some rows at a time."""

    def write(self, frame: pd.DataFrame) -> None: ...

    def close(self) -> None: ...


@contextmanager
def _output(file: Path | None) -> Iterator[Output]:
    if file is None:
        yield TextOutput(sys.stdout, ",")
        return
    from adacc.tables.sources import TEXT

    name = file.name.lower()
    with whole_file(file) as scratch:
        if name.endswith(tuple(TEXT)):
            packed = name.endswith(".gz")
            opened = (gzip.open if packed else open)(scratch, "wt", encoding="utf-8", newline="")
            output: Output = TextOutput(opened, "\t" if ".tsv" in name else ",")
        else:
            output = ArrowOutput(scratch, is_parquet=name.endswith(".parquet"))
        try:
            yield output
        finally:
            output.close()


class TextOutput:
    """Delimited text."""

    def __init__(self, file: IO[str], separator: str) -> None:
        self._file, self._separator, self._begun = file, separator, False

    def write(self, frame: pd.DataFrame) -> None:
        if frame.columns[0] != "prediction":
            frame = frame.assign(**{frame.columns[0]: _as_text(frame.iloc[:, 0])})
        frame.to_csv(self._file, sep=self._separator, index=False, header=not self._begun)
        self._begun = True

    def close(self) -> None:
        self._file.close()


def _as_text(ids: pd.Series) -> pd.Series:
    """Ids as text has them: pandas makes floats of whole numbers with gaps, and 79.0 is no id."""
    if ids.dtype.kind != "f":
        return ids
    return ids.map(lambda each: f"{each:.0f}" if each.is_integer() else each, na_action="ignore").astype(object)


class ArrowOutput:
    """A Parquet or an Arrow file."""

    def __init__(self, file: Path, is_parquet: bool) -> None:
        self._file, self._is_parquet = file, is_parquet
        self._writer: Any = None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa

        if self._writer is None:
            self._schema = _schema(frame)
            self._writer = self._open()
        self._writer.write_table(pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False))

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._is_parquet:
            return pq.ParquetWriter(self._file, self._schema)
        return pa.ipc.new_file(str(self._file), self._schema)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _schema(frame: pd.DataFrame) -> Any:
    """Types of the columns; one that is empty so far can only be the id column, which may turn out to be text."""
    import pyarrow as pa

    found = pa.Schema.from_pandas(frame, preserve_index=False).remove_metadata()
    return pa.schema([field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in found])
