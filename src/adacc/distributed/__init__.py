"""Training on data larger than memory: on a Dask cluster, or out of core on one machine."""

from importlib import import_module
from typing import Any

_MODULES = {
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

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Import Dask on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name in ("pandas", "pyarrow"):
            raise ImportError(f"{name} needs {error.name}: pip install 'adacc[cli]'") from None
        if error.name not in ("dask", "distributed"):
            raise
        raise ImportError(f"{name} needs Dask: pip install 'adacc[dask]'") from None


def __dir__() -> list[str]:
    return __all__
