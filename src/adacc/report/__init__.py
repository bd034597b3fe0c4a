"""One HTML file that tells what a comparison found, or what a model has learnt: summarise, draw, render."""

from adacc.report.page import render, render_model, write

__all__ = ["render", "render_model", "write"]
