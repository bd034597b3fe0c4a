"""Export of fitted models to ONNX."""

try:
    import onnx  # noqa: F401  (imported here to raise one error for the package)
except ImportError:
    raise ImportError("adacc.export needs onnx: pip install 'adacc[onnx]'") from None

from adacc.export.models import to_onnx
from adacc.export.pipelines import register_skl2onnx

__all__ = ["register_skl2onnx", "to_onnx"]
