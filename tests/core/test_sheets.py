"""Tables as files: what is written is read back, by code that knows nothing of ours."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from tapete.core.sheets import Table, write_csv, write_sheets

TABLE: Table = [["agent", "WP", "note"], ['a<b & "c"', 0.5, None], ["ä", -3, "x"]]
SPACE = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"


def test_a_spreadsheet_has_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.ods"
    write_sheets(path, {"first": TABLE, "se & cond": [[1]]})
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].filename == "mimetype", "by which others know what it is"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
        assert archive.read("mimetype").endswith(b"spreadsheet")
        root = ET.fromstring(archive.read("content.xml"))
        ET.fromstring(archive.read("META-INF/manifest.xml"))
    sheets = list(root.iter(SPACE % "table" + "table"))
    assert [sheet.get(SPACE % "table" + "name") for sheet in sheets] == ["first", "se & cond"]
    rows = [[value_of(cell) for cell in row] for row in sheets[0].iter(SPACE % "table" + "table-row")]
    assert rows == TABLE


def value_of(cell: ET.Element) -> str | float | None:
    kind = cell.get(SPACE % "office" + "value-type")
    if kind == "float":
        return float(cell.get(SPACE % "office" + "value", ""))
    return "".join(cell.itertext()) if kind == "string" else None


def test_the_same_tables_are_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_sheets(tmp_path / name, {"first": TABLE})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_csv(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", TABLE)
    with (tmp_path / "x.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["agent", "WP", "note"], ['a<b & "c"', "0.5", ""], ["ä", "-3", "x"]]
