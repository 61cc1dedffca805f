"""Tables as files: CSV, and a spreadsheet of several (OpenDocument, which LibreOffice, Excel and others open)."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tapete.core.files import replacing

Cell = str | float | int | None
Table = Sequence[Sequence[Cell]]  # rows; the first has the headings

MIME = "application/vnd.oasis.opendocument.spreadsheet"
NAMES = "urn:oasis:names:tc:opendocument:xmlns"
MANIFEST = (
    f'<manifest:manifest xmlns:manifest="{NAMES}:manifest:1.0" manifest:version="1.3">'
    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{MIME}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)
SPACES = " ".join(f'xmlns:{name}="{NAMES}:{name}:1.0"' for name in ("office", "table", "text"))
WHEN = (1980, 1, 1, 0, 0, 0)  # the same tables are the same file


def write_csv(path: Path, table: Table) -> None:
    """Writes a table."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(table)


def write_sheets(path: Path, tables: Mapping[str, Table]) -> None:
    """Writes tables as the sheets of an .ods file, by their names."""
    body = "".join(_sheet(name, table) for name, table in tables.items())
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {SPACES} office:version="1.3"><office:body>'
        f"<office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    )
    with replacing(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, text in (("mimetype", MIME), ("content.xml", content), ("META-INF/manifest.xml", MANIFEST)):
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, WHEN), text, kind)


def _sheet(name: str, table: Table) -> str:
    rows = "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in table)
    return f"<table:table table:name={quoteattr(name)}>{rows}</table:table>"


def _cell(value: Cell) -> str:
    if value is None:
        return "<table:table-cell/>"
    text = f"<text:p>{escape(str(value))}</text:p>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}">{text}</table:table-cell>'
