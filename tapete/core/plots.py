"""Pictures, drawn by matplotlib where it is installed: each is there as a whole or not at all."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tapete.core.errors import TapeteError
from tapete.core.files import check_writable, replacing


def check_plots(path: Path | None = None) -> None:
    """Raises where plots can't be drawn, or not into that file: before hours are spent on what is to be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise TapeteError("a plot needs matplotlib, which comes with: pip install 'tapete[plots]'")
    if path is None:
        return
    if path.suffix.lower() != ".png":
        raise TapeteError(f"a plot is written as PNG: {path} should end in .png")
    check_writable(path)


@contextmanager
def picture(path: Path, columns: int = 1, rows: int = 1, *, size: tuple[float, float], **options: Any) -> Iterator[Any]:
    """Axes to draw on, in columns and rows; the file is written at the end.

    :param size: of the whole picture, in inches.
    :param options: of `pyplot.subplots`, as `sharey=True`.
    """
    import matplotlib

    matplotlib.use("Agg")  # needs no screen
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, columns, figsize=size, **options)
    try:
        yield axes
        figure.tight_layout()
        with replacing(path) as draft:
            figure.savefig(draft, dpi=110, format="png")
    finally:
        pyplot.close(figure)
