"""Reports of a comparison or of a fitted model, as one HTML file."""

from adacc.report.page import render, render_model, write

__all__ = ["render", "render_model", "write"]
