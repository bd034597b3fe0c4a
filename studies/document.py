"""Marked places of a document, and what goes into them."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def fill(document: Path, blocks: dict[str, str]) -> None:
    """Put each block between ``<!-- its name -->`` and the next ``<!-- end -->``."""
    text = document.read_text()
    for name, block in blocks.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not place.search(text):
            sys.exit(f"{document.name} has no place for {name}")
        text = place.sub(lambda found, block=block: f"{found[1]}{block}\n{found[2]}", text)
    document.write_text(text)
