"""`adacc predict`: predictions of a model for a table of any size."""

from __future__ import annotations

import gzip
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from adacc.cli.decisions import other_columns, rule_columns
from adacc.cli.files import check_output
from adacc.cli.model_file import ModelFile, open_model_file
from adacc.cli.options import add_model, add_text_format, add_threshold, path
from adacc.cli.terminal import echo, printable
from adacc.files import whole_file

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.model.decision import Decision

EXAMPLES = """\
examples:
  adacc predict fraud.adacc new.csv                 print the labels
  adacc predict fraud.adacc new.csv --id claim --proba -o scores.csv
  adacc predict fraud.adacc new.parquet --threshold 0.2 -o scores.parquet
  zcat new.csv.gz | adacc predict fraud.adacc - | sort | uniq -c
"""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "predict", help="Predict the rows of a table.", epilog=EXAMPLES,
        description="Predict the rows of a table, in their order. The table can be larger than memory.\n"
        "Columns are matched by name; other columns are ignored. If the model has a decision\n"
        "rule, it is applied, and a message says so; see `adacc decide`.",
    )  # fmt: skip
    add_model(top)
    top.add_argument("data", metavar="DATA", help="Table to predict; - is standard input.")
    top.add_argument("--proba", action="store_true", help="Add the probability of each class as a column p_LABEL.")
    top.add_argument("--id", metavar="COL", help="Column of the table to copy to the output.")
    add_threshold(top)
    add_text_format(top)
    top.add_argument(
        "-o", "--output", type=path, metavar="FILE",
        help="Write to a .csv, .tsv (also .gz), .parquet or .arrow file instead of CSV to stdout.",
    )  # fmt: skip
    top.set_defaults(run=predict)


def predict(options: Namespace) -> None:
    from adacc.tables.sources import ENDINGS

    if options.output is not None:
        check_output(options.output, options.model, options.data)
        if not options.output.name.lower().endswith(ENDINGS):
            raise ValueError(f"--output must end in {', '.join(ENDINGS)}, got {options.output}")
    model_file = open_model_file(options.model)
    if options.threshold is not None:
        model_file.check_two_classes("--threshold")
    _check_id(model_file, options)
    decision = model_file.rule(options)
    others = [] if decision is None else other_columns(decision.spec, model_file.kinds)
    batches = model_file.open(options, dict.fromkeys([*([] if options.id is None else [options.id]), *others]))
    counts: Counter[Any] = Counter()
    with _output(options.output) as output:
        for predictions in _all_predictions(model_file, decision, batches, options):
            counts.update(predictions["prediction"].value_counts().to_dict())
            output.write(predictions)
        if not counts:
            output.write(_empty_predictions(model_file, options))
    if options.output is not None:
        each = ", ".join(f"{counts[label]:,} {printable(label, 40)}" for label in model_file.labels)
        echo(f"{options.output}: {counts.total():,} rows, predicted {each}")


def _check_id(model_file: ModelFile, options: Namespace) -> None:
    if options.id in ("prediction", *(f"p_{label}" for label in model_file.labels if options.proba)):
        raise ValueError(f"--id {options.id} is also a column of the output; rename the column of the table")


def _all_predictions(
    model_file: ModelFile, decision: Decision | None, batches: Iterator[tuple[Any, Any]], options: Namespace
) -> Iterator[pd.DataFrame]:
    """The predictions of each batch; of a rule that ranks the rows of the table, of all batches at once."""
    import numpy as np
    import pandas as pd

    waiting, scores, columns = [], [], []
    for X, kept in batches:
        found = {} if decision is None else rule_columns(decision.spec, X, kept, options.decimal)
        if decision is None or not decision.spec.is_ranked:
            yield _predictions(model_file, X, kept, model_file.class_index(X, options.threshold, found), options)
            continue
        waiting.append(_predictions(model_file, X, kept, np.zeros(len(X), dtype=np.intp), options))
        scores.append(model_file.positive_scores(X))
        columns.append(found)
    if decision is not None and waiting:
        together = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        index = decision.class_index(np.concatenate(scores), lambda: np.empty(0), together)
        yield pd.concat(waiting).assign(prediction=model_file.model.classes_[index])


def _predictions(
    model_file: ModelFile, X: pd.DataFrame, kept: pd.DataFrame, index: NDArray[np.intp], options: Namespace
) -> pd.DataFrame:
    import pandas as pd

    predictions = pd.DataFrame({"prediction": model_file.model.classes_[index]}, index=X.index)
    if options.proba:
        predictions[[f"p_{label}" for label in model_file.labels]] = model_file.model.predict_proba(X)
    if options.id is not None:
        predictions.insert(0, options.id, kept[options.id])
    return predictions


def _empty_predictions(model_file: ModelFile, options: Namespace) -> pd.DataFrame:
    """The output for a table without rows, which models reject."""
    import numpy as np
    import pandas as pd

    predictions = pd.DataFrame({"prediction": model_file.model.classes_[:0]})
    if options.proba:
        predictions[[f"p_{label}" for label in model_file.labels]] = np.empty((0, len(model_file.labels)))
    if options.id is not None:
        predictions.insert(0, options.id, pd.Series(dtype=object))
    return predictions


class Output(Protocol):
    """A writer of predictions in batches."""

    def write(self, frame: pd.DataFrame) -> None: ...

    def close(self) -> None: ...


@contextmanager
def _output(file: Path | None) -> Iterator[Output]:
    if file is None:
        if hasattr(sys.stdout, "reconfigure"):  # data are UTF-8, as in files
            sys.stdout.reconfigure(encoding="utf-8")
        yield TextOutput(sys.stdout, ",")
        return
    from adacc.tables.sources import TEXT

    name = file.name.lower()
    with whole_file(file) as temporary_file:
        if name.endswith(tuple(TEXT)):
            is_gzip = name.endswith(".gz")
            opened = (gzip.open if is_gzip else open)(temporary_file, "wt", encoding="utf-8", newline="")
            output: Output = TextOutput(opened, "\t" if ".tsv" in name else ",")
        else:
            output = ArrowOutput(temporary_file, is_parquet=name.endswith(".parquet"))
        try:
            yield output
        finally:
            output.close()


class TextOutput:
    """Delimited text."""

    def __init__(self, file: IO[str], separator: str) -> None:
        self._file, self._separator, self._has_header = file, separator, False

    def write(self, frame: pd.DataFrame) -> None:
        if frame.columns[0] != "prediction":
            frame = frame.assign(**{frame.columns[0]: _as_text(frame.iloc[:, 0])})
        frame.to_csv(self._file, sep=self._separator, index=False, header=not self._has_header)
        self._has_header = True

    def close(self) -> None:
        self._file.close()


def _as_text(ids: pd.Series) -> pd.Series:
    """Integer ids without decimals: pandas converts integers with missing values to floats."""
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
    """The column types; an id column without values so far is written as text."""
    import pyarrow as pa

    inferred = pa.Schema.from_pandas(frame, preserve_index=False).remove_metadata()
    return pa.schema([field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in inferred])
