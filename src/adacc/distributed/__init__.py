"""More rows than one memory holds: on a Dask cluster, or on the disk of one machine."""

from importlib import import_module
from typing import Any

_ROOMS = {
    "ClusterError": "cluster",
    "fit_parquet": "parquet",
    **{
        f"Dask{name}Classifier": "classifiers"
        for name in (
            "Boosting", "AdaCC1", "AdaCC2", "AdaNCC1", "AdaNCC2", "AdaBoost", "CGAda", "AdaMEC", "AdaCost", "CSB1",
            "CSB2", "AdaC1", "AdaC2", "AdaC3", "RareBoost",
        )
    },
}  # fmt: skip

__all__ = list(_ROOMS)


def __getattr__(name: str) -> Any:
    """Dask is loaded when it is first needed."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name in ("pandas", "pyarrow"):
            raise ImportError(f"{name} needs {error.name}: pip install 'adacc[cli]'") from None
        if error.name not in ("dask", "distributed"):
            raise
        raise ImportError(f"{name} needs Dask: pip install 'adacc[dask]'") from None


def __dir__() -> list[str]:
    return __all__
