"""What MkDocs is told while it builds the site: pages that are made of files elsewhere, and links that lead there.

On a git forge the same files are read as they lie, so links between them are written as a forge wants them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from tapete.core import make
from tapete.core.names import needs_parameters, variants
from tapete.terminal.pages import spec_tables

ROOT = Path(__file__).parents[2]
# Files outside of docs/ that are pages of the site.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(\]\()([^)#\s:]+)([^)]*\))")
EXAMPLE = re.compile(r"(?<=\n\n)>>> .*?(?=\n\n|\n\Z)", re.S)
FENCE = re.compile(r"^\s*```")
LIST = re.compile(r"^(- |\d+\. )")


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made of files elsewhere."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Puts the rules and the Spec of a game behind what is known about it; turns links to where things are here."""
    here = page.file.src_uri
    source = next((source for source, made in PAGES.items() if made == here), f"docs/{here}")
    markdown = _linked(markdown, source, here)
    if here.startswith("games/"):
        folder = f"tapete/games/{Path(here).stem}"
        readme = (ROOT / folder / "README.md").read_text().partition("\n")[2]  # without its title
        markdown += "\n## How it is played\n" + _linked(_demoted(readme), f"{folder}/README.md", here) + _specs(folder)
    return _spaced(markdown)


def _specs(folder: str) -> str:
    """The tables of all variants of a game that can be made without saying more."""
    package = folder.replace("/", ".")
    names = [name for name, variant in variants().items() if variant.package == package]
    specs = [make(name).spec for name in names if not needs_parameters(variants()[name].spec)]
    return "\n\n## What it declares\n\n" + _demoted("\n".join(spec_tables(specs)))


def _linked(markdown: str, source: str, here: str) -> str:
    """Links of a file of the repository, as a page of the site needs them."""

    def turn(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        place = _place(os.path.normpath(os.path.join(os.path.dirname(source), target)))
        return before + os.path.relpath(place, os.path.dirname(here) or ".") + after if place else match.group()

    return "".join(
        part if i % 2 else LINK.sub(turn, part) for i, part in enumerate(re.split(r"(```.*?```)", markdown, flags=re.S))
    )


def _place(path: str) -> str:
    """Where a file or folder of the repository is on the site; "" where it isn't."""
    if path in PAGES:
        return PAGES[path]
    if game := re.fullmatch(r"tapete/games(?:/(\w+)(?:/README\.md)?)?", path):
        return f"games/{game[1]}.md" if game[1] else "games.md"
    if path.startswith("docs/"):
        inside = path.removeprefix("docs/")
        return f"{inside}/README.md" if (ROOT / path).is_dir() else inside
    return ""


def _demoted(markdown: str) -> str:
    """The same with its headings a level lower."""
    parts = re.split(r"(```.*?```)", markdown, flags=re.S)
    return "".join(part if i % 2 else re.sub(r"^#", "##", part, flags=re.M) for i, part in enumerate(parts))


def _spaced(markdown: str) -> str:
    """With an empty line before lists and tables that follow a sentence, and fences around examples: all for MkDocs."""
    markdown = EXAMPLE.sub(lambda example: f"\n```python\n{example[0]}\n```\n", markdown)
    lines: list[str] = []
    is_code = False
    for line in markdown.splitlines():
        is_code ^= bool(FENCE.match(line))
        before = lines[-1] if lines else ""
        begins = (LIST.match(line) and not LIST.match(before) and not before.startswith(" ")) or (
            line.startswith("|") and not before.startswith("|")
        )
        if begins and not is_code and before.strip():
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"
