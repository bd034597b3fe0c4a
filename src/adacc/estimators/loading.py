"""Loading of fitted estimators from model files."""

from __future__ import annotations

import os

from adacc.estimators import classifiers, forest
from adacc.estimators.base import BaseAdditiveClassifier, restore
from adacc.estimators.saving import unpack
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError


def load(path: str | os.PathLike[str]) -> BaseAdditiveClassifier:
    """Load a fitted model from a file.

    No content of the file is executed, imported or unpickled, and all of it is validated.

    Parameters
    ----------
    path : str or path
        Path of a file that the `save` method of a classifier has written.

    Returns
    -------
    classifier
        A fitted classifier with the class, the parameters and the predictions of the saved one, and with ``notes_``.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or has invalid content.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import adacc
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["fine", "fine", "fine", "fraud"]
    >>> with TemporaryDirectory() as folder:
    ...     adacc.CGAdaClassifier(costs={"fine": 1, "fraud": 20}).fit(X, y).save(f"{folder}/fraud.adacc")
    ...     model = adacc.load(f"{folder}/fraud.adacc")
    >>> model
    CGAdaClassifier(costs={'fine': 1, 'fraud': 20})
    >>> model.predict([[2.9]])
    array(['fraud'], dtype='<U5')
    """
    content = archive.read(path)
    with archive.naming(path):
        return loads(content)


def loads(content: bytes) -> BaseAdditiveClassifier:
    """Load a fitted model from the content of a file.

    Parameters that did not exist when the file was written have their defaults.
    """
    saved = unpack(content)
    module = forest if saved.estimator == forest.AdaCCForestClassifier.__name__ else classifiers
    cls: type[BaseAdditiveClassifier] = getattr(module, saved.estimator)
    known = cls().get_params(deep=False)
    for name in saved.parameters:
        if name not in known:
            raise ModelFileError(
                f"{saved.estimator} has no parameter {name!r:.80}; a later adacc may have written the file"
            )
    if (saved.model.oob_balanced_accuracy is None) == (cls is forest.AdaCCForestClassifier):
        raise ModelFileError(
            f"'out_of_bag' must be present for forests and absent otherwise, but the model is a {saved.estimator}"
        )
    parameters = dict(saved.parameters)
    if "multi_class" in known and len(saved.model.classes) > 2 and saved.model.ensemble.coding is None:
        parameters.setdefault("multi_class", "joint")  # the only way when files did not name it
    estimator = restore(cls(**parameters), saved.model)
    estimator.notes_ = saved.notes
    return estimator
