"""Replaces the marked sections of a document."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def fill(document: Path, sections: dict[str, str]) -> None:
    """Put each section between ``<!-- its name -->`` and the next ``<!-- end -->``."""
    text = document.read_text()
    for name, section in sections.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            sys.exit(f"{document.name} has no section {name}")
        text = marked.sub(lambda match, section=section: f"{match[1]}{section}\n{match[2]}", text)
    document.write_text(text)
