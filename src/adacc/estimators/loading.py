"""Loads a fitted estimator from a model file."""

from __future__ import annotations

import os

from adacc.estimators import classifiers, forest
from adacc.estimators.base import BaseAdditiveClassifier, restore
from adacc.estimators.persistence import unpack
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError


def load(path: str | os.PathLike[str]) -> BaseAdditiveClassifier:
    """Load the model that was saved to a file.

    Nothing that the file holds is run, imported or unpickled, and all of it is checked.

    Parameters
    ----------
    path : str or path
        A file that a model's `save` has written.

    Returns
    -------
    classifier
        Of the class, with the parameters and the predictions of the model that was saved, and with ``notes_``.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or holds what no model can have.

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
    """The model that the content of a file describes.

    Parameters that the estimator did not have when the file was written are at their defaults.
    """
    saved = unpack(content)
    module = forest if saved.estimator == forest.AdaCCForestClassifier.__name__ else classifiers
    cls: type[BaseAdditiveClassifier] = getattr(module, saved.estimator)
    known = cls().get_params(deep=False)
    for name in saved.parameters:
        if name not in known:
            raise ModelFileError(f"{saved.estimator} has no parameter {name!r:.80}: is the file of a later adacc?")
    if (saved.model.oob_balanced_accuracy is None) == (cls is forest.AdaCCForestClassifier):
        raise ModelFileError(f"'out_of_bag' is of forests alone, and the model is a {saved.estimator}")
    estimator = restore(cls(**saved.parameters), saved.model)
    estimator.notes_ = saved.notes
    return estimator
